//! `seenbefore._kernel`: the core as Python sees it. The whole surface is in `python/seenbefore/_kernel.pyi`.

mod batch;
mod columns;
mod convert;
mod copying;
mod error;
mod functions;
mod judged;
mod memory;
mod provisional;
mod rows;
mod rules;
mod splitting;
mod sqlite;
mod verdict;
mod verify;

use pyo3::prelude::*;

/// Keys, verdicts and receipts for scraped records.
#[pymodule]
mod _kernel {
    #[pymodule_export]
    use super::batch::Batch;
    #[pymodule_export]
    use super::columns::Columns;
    #[pymodule_export]
    use super::copying::{copy_blocks, copy_contents, copy_places, copy_sightings};
    #[pymodule_export]
    use super::functions::{canonical_json, canonical_url, normalise};
    #[pymodule_export]
    use super::judged::{Blocks, Judged};
    #[pymodule_export]
    use super::memory::Memory;
    #[pymodule_export]
    use super::provisional::Provisional;
    #[pymodule_export]
    use super::rules::{KeyBatch, Keys, Ruleset};
    #[pymodule_export]
    use super::splitting::{Array, Records, Table};
    #[pymodule_export]
    use super::sqlite::{Rows, Sqlite, SqliteError, SqliteReader, read_later, unpack};
    #[pymodule_export]
    use super::verdict::{Reference, Verdict};
    #[pymodule_export]
    use super::verify::Verifier;

    use pyo3::prelude::*;
    use pyo3::types::PyTuple;
    use seenbefore_core::error::{Code, Problem};
    use seenbefore_core::judge::Verdict as Decisions;
    use seenbefore_core::verify::Check;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let closed = |names: Vec<&'static str>| PyTuple::new(module.py(), names);
        module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
        module.add("UNICODE_VERSION", seenbefore_core::unicode::UNICODE_VERSION)?;
        module.add("KINDS", closed(seenbefore_core::kinds::KINDS.iter().map(|(name, _)| *name).collect())?)?;
        module.add("TEXT_STEPS", closed(seenbefore_core::normalise::STEPS.iter().map(|step| step.name).collect())?)?;
        module.add("URL_STEPS", closed(seenbefore_core::urls::STEP_NAMES.to_vec())?)?;
        module.add("URL_STRENGTHS", closed(vec!["exact", "page", "site"])?)?;
        module.add("VERDICTS", closed(Decisions::ALL.iter().map(|verdict| verdict.code()).collect())?)?;
        module.add("REFUSAL_CODES", closed(Code::ALL.iter().map(|code| code.code()).collect())?)?;
        module.add("PROBLEM_CODES", closed(Problem::ALL.iter().map(|problem| problem.code()).collect())?)?;
        module.add("RECORD_CHECKS", closed(Check::ALL.iter().map(|check| check.code()).collect())?)
    }
}

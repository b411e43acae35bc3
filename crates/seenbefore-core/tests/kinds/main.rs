//! The kinds as rulesets use them: the vectors of the specification, laws over generated values, and data of others.
#![allow(clippy::unwrap_used, clippy::panic)] // a test stops where it finds something wrong

mod conformance;
mod laws;
#[path = "../spec/mod.rs"]
mod spec;
mod vectors;

use seenbefore_core::error::{Problem, Problems};
use seenbefore_core::json::{Tape, parse};
use seenbefore_core::kinds::{self, Context, Presence, Work};
use seenbefore_core::ruleset::{Identity, Ruleset};
use seenbefore_core::urls::UrlRules;
use serde_json::Value as Json;

/// A field of a kind, made once and asked many times.
pub(crate) struct Field {
    rules: Ruleset,
    urls: UrlRules,
}

/// What a field makes of a value.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    /// The form as JSON; none where it is absent; or the code of the refusal.
    pub form: Result<Option<String>, &'static str>,
    /// What the receipt would remark.
    pub problems: Vec<&'static str>,
}

impl Field {
    /// `settings` are lines of TOML.
    pub(crate) fn new(kind: &str, settings: &str) -> Self {
        let toml = format!("name = \"t\"\nversion = 1\nidentity = [\"v\"]\n[fields.v]\nkind = \"{kind}\"\n{settings}");
        let rules = Ruleset::from_toml(&toml).unwrap_or_else(|mistakes| panic!("{toml}: {mistakes:?}"));
        Self { rules, urls: UrlRules::default() }
    }

    /// What it makes of member `v` of a record.
    pub(crate) fn read(&self, record: &str) -> Outcome {
        let mut tape = Tape::new();
        if let Err(refusal) = parse(record, &mut tape) {
            panic!("{record}: {refusal}");
        }
        let root = tape.root(record).unwrap();
        let (_, value) = root.members().find(|(name, _)| name.is("v")).unwrap();
        let Identity::Fields(fields) = &self.rules.identity else { panic!("one field") };
        let (mut problems, mut out) = (Problems::default(), Vec::new());
        let mut context = Context {
            work: &mut Work::default(),
            problems: &mut problems,
            record: root,
            urls: &self.urls,
            recorder: None,
        };
        let form = match kinds::write(&*fields[0].kind, value, &mut context, &mut out) {
            Ok(Presence::Present) => Ok(Some(String::from_utf8(out).unwrap())),
            Ok(Presence::Absent) => Ok(None),
            Err(refusal) => Err(refusal.code.code()),
        };
        Outcome { form, problems: problems.iter().map(Problem::code).collect() }
    }

    /// What it makes of a string.
    pub(crate) fn text(&self, text: &str) -> Outcome {
        self.read(&format!("{{\"v\":{}}}", Json::from(text)))
    }
}

/// A JSON value as TOML.
pub(crate) fn toml(value: &Json) -> String {
    match value {
        Json::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, member)| format!("{} = {}", Json::from(name.as_str()), toml(member)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Settings of a vector as lines of TOML.
pub(crate) fn settings(value: &Json) -> String {
    let settings = value.as_object().into_iter().flatten();
    let lines = settings.map(|(name, setting)| format!("{} = {}\n", Json::from(name.as_str()), toml(setting)));
    lines.collect::<Vec<_>>().concat()
}

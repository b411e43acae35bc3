//! The core of seenbefore: from a scraped record's bytes to its keys, its verdict and its receipt.
//!
//! The path is the list of modules, in this order; `spec/` says what each must give.
//!
//! 1. [`splitting`], [`boundary`] and [`json`]: bytes to one record, strictly; what cannot be read is refused with a code.
//!    Character references are decoded here, once, where the ruleset says so ([`entities`]).
//! 2. [`normalise`] and [`kinds`]: a field's value to its canonical form, by the ruleset's policy ([`ruleset`]).
//! 3. [`canonicalise`], [`decimal`], [`urls`], [`times`]: exact canonical JSON, exact numbers, canonical URLs, times of fetching.
//! 4. [`keys`]: content key, URL key, payload digest.
//! 5. [`judge`] and [`batch`]: the verdict table over many records, keyed on all cores, judged in order.
//! 6. [`receipt`]: what is written about each record. [`columns`]: rows that were kept as tables.
//! 7. [`verify`]: the same read back, recomputed and replayed.
//!
//! Nothing here knows Python, reads a clock, draws a random number or computes with binary floats.

pub mod batch;
pub mod boundary;
pub mod canonicalise;
pub mod columns;
pub mod decimal;
pub mod entities;
pub mod error;
pub mod json;
pub mod judge;
pub mod keys;
pub mod kinds;
pub mod normalise;
pub mod receipt;
pub mod ruleset;
pub mod splitting;
pub mod times;
pub mod unicode;
pub mod urls;
pub mod verify;

//! Which numbers of a written record were binary floats: its text does not say so, but the content key that it was given does.

use super::{Maker, content};
use crate::error::Problems;
use crate::json::Value;
use crate::keys::{Digest, sha256};
use crate::kinds::holds_float;
use crate::ruleset::{Identity, Ruleset};

/// With more fields in question than this, either all of them held floats or none.
const MOST: usize = 8;

impl Maker {
    /// From now on numbers in these fields are taken for spellings of binary floats, where the ruleset says how to round them.
    pub fn read_as_floats(&mut self, fields: Vec<String>) {
        self.floats = fields;
    }

    /// The fields whose numbers must have been binary floats so that the record's content key is `wanted`; none where no
    /// choice of fields gives it. A columnar file may hold one field in binary and the next as decimals.
    pub fn float_reading(&mut self, rules: &Ruleset, record: Value<'_>, wanted: &Digest) -> Option<Vec<String>> {
        let (Identity::Fields(fields) | Identity::Everything { declared: fields, .. }) = &rules.identity else {
            return None;
        };
        let holds = |name: &str| record.members().any(|(member, value)| member.is(name) && holds_float(value, true));
        let names = fields.iter().filter(|field| field.kind.rounds() && holds(&field.name));
        let names: Vec<&String> = names.map(|field| &field.name).collect();
        let all = 1_usize.checked_shl(u32::try_from(names.len()).ok()?)? - 1;
        let fewest = if names.len() > MOST { all } else { 1 };
        (fewest..=all).rev().find_map(|choice| {
            let chosen = names.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1);
            let chosen: Vec<String> = chosen.map(|(_, name)| (*name).clone()).collect();
            let buffers = (&mut self.work, &mut self.finder, chosen.as_slice());
            let written = content::write(rules, record, buffers, &mut Problems::default(), None, &mut self.canonical);
            (written.is_ok_and(|present| present) && sha256(&self.canonical) == *wanted).then_some(chosen)
        })
    }
}

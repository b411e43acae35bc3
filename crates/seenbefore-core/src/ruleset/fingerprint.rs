//! The two digests of a ruleset, over canonical JSON of its settings.

use crate::canonicalise::{compare_names, write_string};
use crate::keys::{Digest, sha256};
use toml::{Table, Value};

/// Canonical JSON of a table: members sorted by UTF-16 code units, no white space.
///
/// Rulesets hold no floats and no dates: reading one has refused them.
#[must_use]
pub fn canonical(table: &Table) -> String {
    let mut out = Vec::new();
    write_table(table, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// SHA-256 of [`canonical`].
#[must_use]
pub fn digest(table: &Table) -> Digest {
    sha256(canonical(table).as_bytes())
}

fn write_table(table: &Table, out: &mut Vec<u8>) {
    let mut members: Vec<_> = table.iter().collect();
    members.sort_unstable_by(|a, b| compare_names(a.0, b.0));
    out.push(b'{');
    for (index, (name, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(name, out);
        out.push(b':');
        write_value(value, out);
    }
    out.push(b'}');
}

fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::String(text) => write_string(text, out),
        Value::Integer(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Boolean(truth) => out.extend_from_slice(truth.to_string().as_bytes()),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_value(item, out);
            }
            out.push(b']');
        }
        Value::Table(table) => write_table(table, out),
        Value::Float(_) | Value::Datetime(_) => out.extend_from_slice(b"null"),
    }
}

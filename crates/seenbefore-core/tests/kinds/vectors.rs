//! Each vector of a kind has the outcome that it states.

use super::spec::vectors;
use super::{Field, Outcome, settings};
use seenbefore_core::ruleset::Ruleset;
use seenbefore_core::urls::{Strength, UrlRules};
use serde_json::{Value as Json, json};

/// The kinds whose vectors are read here; those of text, name, id, code and decimal are read beside the other basic vectors.
const KINDS: [&str; 14] = [
    "isbn",
    "issn",
    "gtin",
    "integer",
    "decimal",
    "money",
    "timestamp",
    "date",
    "boolean",
    "url",
    "list",
    "set",
    "object",
    "auto",
];

fn expected(vector: &Json) -> Outcome {
    let form = match vector["refused"].as_str() {
        Some(code) => Err(seenbefore_core::error::Code::ALL.iter().find(|known| known.code() == code).unwrap().code()),
        None => Ok(vector["out"].as_str().map(str::to_owned)),
    };
    let problems = vector["problems"].as_array().into_iter().flatten();
    let known =
        |code: &Json| seenbefore_core::error::Problem::ALL.iter().find(|known| known.code() == code).unwrap().code();
    Outcome { form, problems: problems.map(known).collect() }
}

#[test]
fn every_vector_of_a_kind() {
    let mut wrong = Vec::new();
    for kind in KINDS {
        for vector in vectors(kind) {
            let mut field = Field::new(kind, &settings(&vector["settings"]));
            if let Some(strength) = vector["url"]["strength"].as_str() {
                field.urls = UrlRules { strength: Strength::from_name(strength).unwrap(), hosts: Vec::new() };
            }
            // The record's other members, and the value as it is spelt: read as JSON it would lose its spelling.
            let record = if vector["record"].is_object() { vector["record"].clone() } else { json!({}) };
            let mut members: Vec<String> = record
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(name, _)| *name != "v")
                .map(|(name, member)| format!("{}:{member}", json!(name)))
                .collect();
            members.push(format!("\"v\":{}", vector["in"].as_str().unwrap()));
            let found = field.read(&format!("{{{}}}", members.join(",")));
            if found != expected(&vector) {
                wrong.push(format!("{kind} {}: {vector} gives {found:?}", vector["name"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_fingerprint_covers_what_it_states() {
    for vector in vectors("fingerprints") {
        let rules = Ruleset::from_toml(vector["in"].as_str().unwrap())
            .unwrap_or_else(|mistakes| panic!("{vector}: {mistakes:?}"));
        assert_eq!(rules.identity_json, vector["out"], "{vector}");
        assert_eq!(rules.fingerprint_text(), vector["fingerprint"], "{vector}");
    }
}

//! The vectors of `spec/vectors` for `text`, `name`, `id` and `code`, held against the fast way and the list of steps.

#![allow(clippy::expect_used)] // A test that cannot read its vectors has failed.

mod spec;

use seenbefore_core::normalise::{self, Scratch, TextPolicy};
use serde_json::Value;
use spec::{unhex, vectors};

/// The string in `member`, held against its bytes in hex; nothing for null.
fn text_of<'a>(vector: &'a Value, member: &str) -> Option<&'a str> {
    let text = vector[member].as_str();
    if let (Some(text), Some(bytes)) = (text, vector[format!("{member}_hex")].as_str()) {
        assert_eq!(text.as_bytes(), unhex(bytes), "{member} of {} differs from its hex", vector["name"]);
    }
    text
}

fn setting(vector: &Value, name: &str) -> Option<bool> {
    vector["settings"][name].as_bool()
}

/// What a vector's text stands for: in `text` and `code` itself, in the files of the other kinds a JSON value. Nothing for
/// values that are no strings: those are not a matter of normalising.
fn string_in(kind: &str, text: &str) -> Option<String> {
    match kind {
        "text" | "code" => Some(text.to_owned()),
        _ => serde_json::from_str::<Value>(text).expect("a JSON value").as_str().map(str::to_owned),
    }
}

/// Runs every string vector of a kind through `form`, which gives its results by each way there is.
fn hold(kind: &str, form: impl Fn(&str, &Value) -> Vec<String>) {
    let mut failures = Vec::new();
    for vector in vectors(kind) {
        let Some(input) = text_of(&vector, "in").and_then(|text| string_in(kind, text)) else { continue };
        let expected = text_of(&vector, "out").and_then(|text| string_in(kind, text)).unwrap_or_default();
        for found in form(&input, &vector) {
            if found != expected {
                failures.push(format!("{}: {input:?} gives {found:?}, not {expected:?}", vector["name"]));
            }
        }
    }
    assert!(failures.is_empty(), "{kind}:\n{}", failures.join("\n"));
}

fn both_ways(input: &str, policy: TextPolicy) -> Vec<String> {
    let mut fast = String::new();
    normalise::text(input, policy, &mut Scratch::default(), &mut fast);
    vec![fast, normalise::text_plain(input, policy)]
}

fn policy(vector: &Value, casefold: bool) -> TextPolicy {
    TextPolicy {
        compatibility: setting(vector, "compatibility").unwrap_or(false),
        casefold: setting(vector, "casefold").unwrap_or(casefold),
    }
}

#[test]
fn texts() {
    hold("text", |input, vector| both_ways(input, policy(vector, true)));
}

#[test]
fn names() {
    hold("name", |input, vector| both_ways(input, policy(vector, false)));
}

#[test]
fn identifiers() {
    hold("id", |input, _| {
        let mut out = String::new();
        normalise::id(input, &mut out);
        vec![out]
    });
}

#[test]
fn codes() {
    hold("code", |input, vector| {
        let strip = setting(vector, "strip_punctuation").unwrap_or(false);
        let mut fast = String::new();
        normalise::code(input, strip, &mut Scratch::default(), &mut fast);
        vec![fast, normalise::code_traced(input, strip, |_, _, _| {})]
    });
}

//! The files of `spec/`, for every test that reads vectors or tables. One that is missing or empty fails the test.

#![allow(dead_code, clippy::unwrap_used, clippy::indexing_slicing)] // no test needs all of it; one that cannot read it has failed

use serde_json::Value as Json;

/// A JSON file of `spec/`, by its path there without `.json`.
pub fn file(path: &str) -> Json {
    let path = format!("{}/../../spec/{path}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
}

/// The vectors of one file of `spec/vectors`.
pub fn vectors(name: &str) -> Vec<Json> {
    let vectors = file(&format!("vectors/{name}"))["vectors"].as_array().unwrap().clone();
    assert!(!vectors.is_empty(), "{name} holds no vectors");
    vectors
}

/// The bytes that a text of hexadecimal digits stands for.
pub fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

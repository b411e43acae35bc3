//! The vectors of `spec/vectors` that say how lines are read, numbers and JSON written, and values of the basic kinds formed.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test that fails to unwrap has failed

mod spec;

use seenbefore_core::boundary;
use seenbefore_core::canonicalise::{canonical_json, write_value};
use seenbefore_core::error::{Problems, Refusal};
use seenbefore_core::json::{Builder, Kind, Tape, Value, parse};
use seenbefore_core::kinds::{self, Context, Presence, Work};
use seenbefore_core::ruleset::{Identity, Ruleset};
use serde_json::Value as Json;
use spec::{unhex, vectors};

/// Compares what was found with `out` or `refused` of the vector.
fn check(vector: &Json, found: &Result<Option<String>, Refusal>) {
    let expected = match vector.get("refused") {
        Some(code) => Err(code.as_str().unwrap()),
        None => Ok(vector["out"].as_str()),
    };
    let found = found.as_ref().map(Option::as_deref).map_err(|refusal| refusal.code.code());
    assert_eq!(found, expected, "{}", vector["name"]);
}

/// Any JSON text, put into an object so that the reader takes it.
fn within<T>(text: &str, read: impl FnOnce(Value<'_>) -> T) -> Result<T, Refusal> {
    let text = format!("{{\"v\":{text}}}");
    let mut tape = Tape::new();
    parse(&text, &mut tape)?;
    let (_, value) = tape.root(&text).unwrap().members().next().unwrap();
    Ok(read(value))
}

#[test]
fn canonical_json_has_one_form() {
    for vector in vectors("canonical") {
        let long = vector.get("long_numbers").is_some_and(|long| long == true);
        let found = within(vector["in"].as_str().unwrap(), |value| {
            if long {
                let mut out = Vec::new();
                write_value(value, &mut out).map(|()| out)
            } else {
                canonical_json(value)
            }
        });
        check(&vector, &found.and_then(|out| out).map(|out| Some(String::from_utf8(out).unwrap())));
    }
}

fn read_line(line: &[u8], limit: usize) -> Result<Option<String>, Refusal> {
    let mut tape = Tape::new();
    let text = boundary::read(line, limit, false, &mut tape)?;
    let mut out = Vec::new();
    write_value(tape.root(text).unwrap(), &mut out)?;
    Ok(Some(String::from_utf8(out).unwrap()))
}

#[test]
fn a_line_is_one_record_or_refused_with_its_first_fault() {
    for vector in vectors("reading") {
        let limit = vector.get("limit").map_or(64 << 20, |limit| usize::try_from(limit.as_u64().unwrap()).unwrap());
        check(&vector, &read_line(&unhex(vector["in_hex"].as_str().unwrap()), limit));
    }
}

#[test]
fn an_input_is_split_at_line_feeds_only() {
    for vector in vectors("framing") {
        let data = unhex(vector["in_hex"].as_str().unwrap());
        let (mut at, mut number, mut found) = (if data.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }, 0, Vec::new());
        while at < data.len() {
            let (end, next) = boundary::line_end(&data, at);
            number += 1;
            if !boundary::is_blank(&data[at..end]) {
                found.push((number, at, end - at, read_line(&data[at..end], 64 << 20)));
            }
            at = next;
        }
        let expected = vector["lines"].as_array().unwrap();
        assert_eq!(found.len(), expected.len(), "{}", vector["name"]);
        for ((number, offset, length, read), line) in found.iter().zip(expected) {
            assert_eq!(
                (*number, *offset as u64, *length as u64),
                (line["line"].as_u64().unwrap(), line["offset"].as_u64().unwrap(), line["length"].as_u64().unwrap()),
                "{}",
                vector["name"]
            );
            let mut line = line.clone();
            line["name"] = vector["name"].clone();
            check(&line, read);
        }
    }
}

/// The canonical form of a value of a kind with settings, as JSON text.
fn form(kind: &str, settings: &Json, value: Value<'_>) -> Result<Option<String>, Refusal> {
    let mut toml = format!("name = \"v\"\nversion = 1\nidentity = [\"v\"]\n[fields.v]\nkind = \"{kind}\"\n");
    for (name, setting) in settings.as_object().into_iter().flatten() {
        toml.extend([name.as_str(), " = ", &setting.to_string(), "\n"]);
    }
    let rules = Ruleset::from_toml(&toml).unwrap_or_else(|mistakes| panic!("{toml}: {mistakes:?}"));
    let Identity::Fields(fields) = &rules.identity else { panic!("no fields") };
    let mut context = Context {
        work: &mut Work::default(),
        problems: &mut Problems::default(),
        record: value,
        urls: &rules.url,
        recorder: None,
    };
    let mut out = Vec::new();
    let presence = kinds::write(&*fields[0].kind, value, &mut context, &mut out)?;
    Ok((presence == Presence::Present).then(|| String::from_utf8(out).unwrap()))
}

/// A JSON string's own text; other JSON as it is.
fn bare(form: Option<String>) -> Option<String> {
    form.map(|form| serde_json::from_str::<String>(&form).unwrap_or(form))
}

#[test]
fn strings_have_one_form() {
    for kind in ["text", "code"] {
        for vector in vectors(kind) {
            let mut builder = Builder::new();
            builder.string(vector["in"].as_str().unwrap());
            let (text, tape) = builder.finish().unwrap();
            check(&vector, &form(kind, &vector["settings"], tape.root(&text).unwrap()).map(bare));
        }
    }
}

#[test]
fn values_have_one_form() {
    for kind in ["name", "id", "decimal", "auto"] {
        for vector in vectors(kind) {
            let found = within(vector["in"].as_str().unwrap(), |value| form(kind, &vector["settings"], value));
            check(&vector, &found.and_then(|found| found));
        }
    }
}

#[test]
fn a_programs_values_read_as_the_same_json_would() {
    let mut builder = Builder::new();
    builder.open(Kind::Object).unwrap();
    builder.string("a\"b");
    builder.open(Kind::Array).unwrap();
    builder.token(Kind::Number, "1.50");
    builder.token(Kind::Null, "null");
    builder.open(Kind::Object).unwrap();
    builder.close();
    builder.string("\u{1f600}\n");
    builder.close();
    builder.string("c");
    builder.token(Kind::True, "true");
    builder.close();
    let (text, tape) = builder.finish().unwrap();
    let mut again = Tape::new();
    parse(&text, &mut again).unwrap();
    let write = |tape: &Tape| {
        let mut out = Vec::new();
        write_value(tape.root(&text).unwrap(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(write(&tape), write(&again));
    assert_eq!(write(&tape), "{\"a\\\"b\":[1.5,null,{},\"\u{1f600}\\n\"],\"c\":true}");
}

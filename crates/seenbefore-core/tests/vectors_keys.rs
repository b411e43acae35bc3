//! The vectors of `spec/vectors/keys.json`: a ruleset and a line give keys and facts, or a refusal with its field.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test that fails to unwrap has failed

mod spec;

use seenbefore_core::boundary;
use seenbefore_core::error::Refusal;
use seenbefore_core::json::Tape;
use seenbefore_core::keys::{Given, Maker, Texts, Told, hex};
use seenbefore_core::ruleset::{Identity, Ruleset};
use seenbefore_core::times::write_utc;
use seenbefore_core::urls::canonical_url;
use serde_json::{Map, Value as Json, json};

fn text(vector: &Json, name: &str) -> Option<String> {
    vector["given"][name].as_str().map(str::to_owned)
}

/// Everything that a vector may state about a line.
fn found(rules: &Ruleset, vector: &Json) -> Result<Map<String, Json>, Refusal> {
    let line = vector["in"].as_str().unwrap();
    let mut tape = Tape::new();
    let replace = vector["given"]["replace_seen"] == true;
    let record = boundary::read(line.as_bytes(), 64 << 20, replace, &mut tape)?;
    let root = tape.root(record).unwrap();
    let (url, source, fetched_at) = (text(vector, "url"), text(vector, "source"), text(vector, "fetched_at"));
    let input = text(vector, "input").unwrap_or_default();
    let given =
        Given { url: url.as_deref(), source: source.as_deref(), fetched_at: fetched_at.as_deref(), input: &input };
    let mut texts = Texts::default();
    let keyed = Maker::new().keys(rules, root, &given, true, &mut texts)?;
    let form = Maker::new().explain(rules, root, &mut |_: Told<'_>| {})?;
    let utc = keyed.fetched_at.map(|time| {
        let mut out = Vec::new();
        write_utc(time, &mut out);
        String::from_utf8(out).unwrap()
    });
    let own = given.url_of(rules, root).and_then(Result::ok);
    let labelled = |infix: &str, digest: Option<[u8; 32]>| {
        digest.map(|digest| format!("{}{infix}:sha256:{}", rules.label, hex(&digest)))
    };
    let mut out = Map::new();
    let mut set = |name: &str, value: Json| out.insert(name.to_owned(), value);
    set("identity", json!(form.map(|form| String::from_utf8(form).unwrap())));
    set("content_key", json!(labelled("", keyed.content)));
    set("url_key", json!(labelled(":url", keyed.place)));
    set("payload_digest", json!(keyed.payload.map(|digest| format!("sha256:{}", hex(&digest)))));
    set("problems", json!(keyed.problems.iter().map(seenbefore_core::error::Problem::code).collect::<Vec<_>>()));
    let canonical =
        own.and_then(|url| canonical_url(&url, &rules.url).ok().map(|canonical| canonical.url.into_owned()));
    set("canonical_url", json!(canonical));
    set("url", json!(texts.get(keyed.url)));
    set("source", json!(texts.get(keyed.source)));
    set("fetched_at", json!(utc));
    if matches!(rules.identity, Identity::Payload) {
        set("identity", Json::Null);
    }
    Ok(out)
}

#[test]
fn a_ruleset_and_a_line_give_keys_or_a_refusal() {
    let vectors = spec::vectors("keys");
    assert!(vectors.len() > 100);
    let mut wrong = Vec::new();
    for vector in &vectors {
        let name = vector["name"].as_str().unwrap();
        let rules = match Ruleset::from_toml(vector["ruleset"].as_str().unwrap()) {
            Ok(rules) => rules,
            Err(mistakes) => {
                wrong.push(format!("{name}: {mistakes:?}"));
                continue;
            }
        };
        match (found(&rules, vector), vector.get("refused")) {
            (Ok(found), None) => {
                for (member, expected) in vector["out"].as_object().unwrap() {
                    if found[member] != *expected {
                        wrong.push(format!("{name}.{member}: {} instead of {expected}", found[member]));
                    }
                }
            }
            (Err(refusal), Some(code)) => {
                let found = json!([refusal.code.code(), refusal.field]);
                if found != json!([code, vector["field"]]) {
                    wrong.push(format!("{name}: {found} instead of {code} {}", vector["field"]));
                }
            }
            (found, refused) => wrong.push(format!("{name}: {found:?} instead of {refused:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

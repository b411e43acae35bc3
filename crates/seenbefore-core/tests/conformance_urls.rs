//! URLs of others: hard cases from public reports and the web platform tests, where `SEENBEFORE_SHARED` names them.

#![allow(clippy::unwrap_used)]

use seenbefore_core::urls::{Strength, UrlProblem, UrlRules, canonical_url};
use serde_json::Value;
use std::path::PathBuf;

fn shared(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("SEENBEFORE_SHARED").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: SEENBEFORE_SHARED is not set, and {path} is read from there");
    }
    folder.map(|folder| folder.join(path))
}

fn canonical(text: &str, strength: Strength) -> Result<String, &'static str> {
    let rules = UrlRules { strength, hosts: Vec::new() };
    canonical_url(text, &rules).map(|found| found.url.into_owned()).map_err(UrlProblem::code)
}

fn page(text: &str) -> Result<String, &'static str> {
    let once = canonical(text, Strength::Page);
    if let Ok(once) = &once {
        assert_eq!(canonical(once, Strength::Page).as_ref(), Ok(once), "canonical(canonical({text})) differs");
    }
    once
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().map(|text| text.as_str().unwrap()).collect()
}

fn pairs(list: &Value) -> Vec<(&str, &str)> {
    list.as_array().into_iter().flatten().map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap())).collect()
}

/// The URL cases of public reports, at the default strength.
#[test]
fn cases() {
    let mut done = 0;
    for file in ["cases/acceptance.ndjson", "cases/decided.ndjson"] {
        let Some(path) = shared(file) else { return };
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let (id, input, expected) = (&case["id"], &case["input"], &case["expected"]);
            if input["op"] != "url" {
                continue;
            }
            done += 1;
            for (url, expected) in strings(&input["urls"]).into_iter().zip(strings(&expected["canonical"])) {
                assert_eq!(page(url).as_deref(), Ok(expected), "{id}");
            }
            for (a, b) in pairs(&input["pairs_same"]) {
                assert_eq!(page(a).unwrap(), page(b).unwrap(), "{id}");
            }
            for (a, b) in pairs(&input["pairs_different"]) {
                assert_ne!(page(a).unwrap(), page(b).unwrap(), "{id}");
            }
            for ((a, b), same) in
                pairs(&input["pairs"]).into_iter().zip(expected["same"].as_array().into_iter().flatten())
            {
                assert_eq!(page(a).unwrap() == page(b).unwrap(), *same == true, "{id}: {a} {b}");
            }
        }
    }
    assert!(done >= 4, "only {done} URL cases were found");
}

/// Odd URLs of one public report: credentials, other schemes, long links, impossible hosts.
#[test]
fn odd_urls() {
    let long = |tail: char| format!("https://example.com/?q={}{tail}", "x1Y_".repeat(3000));
    assert_eq!(page("https://demo:pw-1234@example.com/a").as_deref(), Ok("https://example.com/a"));
    assert_eq!(page("data:text/plain,hello"), Err("url-scheme"));
    assert_eq!(page(&long('1')), Ok(long('1')));
    assert_ne!(page(&long('1')), page(&long('2')));
    assert_eq!(page("https://a..b/").as_deref(), Ok("https://a..b/"));
    assert_eq!(page("not a url"), Err("url-relative"));
}

/// Whether `host` has a label that is said to be an encoded name.
///
/// The standard has let such labels pass unchecked in hosts of ASCII alone since 2025; `url/1` wants them valid.
fn has_encoded_label(url: &str) -> bool {
    url.to_ascii_lowercase().contains("xn--")
}

/// The web platform's URL tests: every http and https URL, resolved where it is relative, has the serialisation that they
/// state at `exact`, but for credentials and for a `%` without two hexadecimal digits.
#[test]
fn web_platform_tests() {
    let Some(path) = shared("data/conformance/url/wpt/urltestdata.json") else { return };
    let tests: Vec<Value> = serde_json::from_str(&readable(&std::fs::read_to_string(path).unwrap())).unwrap();
    let (mut same, mut refused, mut schemes) = (0, 0, 0);
    for test in tests.iter().filter(|test| test.is_object()) {
        // Resolving relative references is not part of the rule, so where a base is given its result is taken as stated.
        let (given, href) = (test["input"].as_str().unwrap(), test["href"].as_str());
        let text = if test["base"].is_string() { href } else { Some(given) };
        let Some(found) = text.map(|text| canonical(text, Strength::Exact)) else { continue };
        if test["failure"] == true {
            assert!(found.is_err(), "{given:?} gives {found:?}");
            refused += 1;
        } else if !matches!(test["protocol"].as_str(), Some("http:" | "https:")) {
            assert_eq!(found, Err("url-scheme"), "{given:?}");
            schemes += 1;
        } else if !(found == Err("url-invalid") && has_encoded_label(given)) {
            assert_eq!(found, Ok(expected(test)), "{given:?}");
            assert_eq!(canonical(href.unwrap(), Strength::Exact), Ok(expected(test)), "{given:?}");
            same += 1;
        }
    }
    assert!(
        same > 200 && refused > 200 && schemes > 200,
        "compared only {same} URLs, {refused} failures and {schemes} other schemes"
    );
}

/// The stated serialisation without credentials, a stray `%` written `%25`.
fn expected(test: &Value) -> String {
    let href = test["href"].as_str().unwrap();
    let given = |member: &str| test[member].as_str().is_some_and(|text| !text.is_empty());
    let href = if given("username") || given("password") {
        let (scheme, rest) = href.split_once("//").unwrap();
        format!("{scheme}//{}", rest.split_once('@').unwrap().1)
    } else {
        href.to_owned()
    };
    let mut pieces = href.split('%');
    let mut out = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let escape = piece.len() >= 2 && piece.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        out.push_str(if escape { "%" } else { "%25" });
        out.push_str(piece);
    }
    out
}

/// The tests with lone surrogates, which no UTF-8 text holds, replaced as a browser replaces them.
fn readable(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, after)) = rest.split_once("\\u") {
        out.push_str(before);
        let unit = u16::from_str_radix(&after[..4], 16).unwrap();
        let low = after[4..].strip_prefix("\\u").and_then(|low| u16::from_str_radix(low.get(..4)?, 16).ok());
        let paired = (0xD800..0xDC00).contains(&unit) && low.is_some_and(|low| (0xDC00..0xE000).contains(&low));
        let taken = if paired { 10 } else { 4 };
        let lone = (0xD800..0xE000).contains(&unit) && !paired;
        out.push_str("\\u");
        out.push_str(if lone { "fffd" } else { &after[..taken] });
        rest = &after[taken..];
    }
    out.push_str(rest);
    out
}

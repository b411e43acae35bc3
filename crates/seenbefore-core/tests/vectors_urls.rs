//! The vectors of `spec/vectors` that say what a URL's canonical form is and how it is shown.

#![allow(clippy::unwrap_used)]

mod spec;

use seenbefore_core::urls::{
    HostRule, PathRewrite, Strength, TRACKING_LIST_DATE, TRACKING_NAMES, TRACKING_PREFIXES, UrlProblem, UrlRules,
    canonical_url, redact,
};
use serde_json::Value;
use spec::vectors;

fn text<'a>(vector: &'a Value, member: &str) -> &'a str {
    let text = vector[member].as_str().unwrap();
    let hex = text.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    assert_eq!(hex, vector[format!("{member}_hex")], "{}", vector["name"]);
    text
}

fn names(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// A `[[url.host]]` table as JSON.
fn host_rule(table: &Value) -> HostRule {
    let mut rule = HostRule::new(table["match"].as_str().unwrap(), table["subdomains"] == true).unwrap();
    if let Some(keep) = table.get("keep") {
        rule = rule.keep(names(keep));
    }
    if let Some(drop) = table.get("drop") {
        rule = rule.drop(names(drop));
    }
    let paths = table.get("path").and_then(Value::as_array).into_iter().flatten();
    let rewrite =
        |path: &Value| PathRewrite::new(path["from"].as_str().unwrap(), path["to"].as_str().unwrap()).unwrap();
    rule.paths(paths.map(rewrite).collect())
}

/// Every text has the canonical URL that its vector states, or no key for the reason that it states.
#[test]
fn canonical_urls() {
    for vector in vectors("urls") {
        let strength = Strength::from_name(vector["strength"].as_str().unwrap()).unwrap();
        let hosts = vector.get("hosts").and_then(Value::as_array).into_iter().flatten().map(host_rule).collect();
        let rules = UrlRules { strength, hosts };
        let found = canonical_url(text(&vector, "in"), &rules);
        if let Some(code) = vector.get("code") {
            assert_eq!(found.map_err(UrlProblem::code).unwrap_err(), code, "{}", vector["name"]);
        } else {
            let expected = text(&vector, "out");
            assert_eq!(found.as_ref().map(|found| &*found.url), Ok(expected), "{}", vector["name"]);
            assert_eq!(canonical_url(expected, &rules).unwrap().url, expected, "{}", vector["name"]);
        }
    }
}

/// Every text is shown as its vector states, without credentials.
#[test]
fn redacted_urls() {
    for vector in vectors("redact") {
        assert_eq!(redact(text(&vector, "in")), text(&vector, "out"), "{}", vector["name"]);
    }
}

/// The tracking list of the code is the published one.
#[test]
fn tracking_list() {
    let table = spec::file("tables/tracking");
    assert_eq!(table["list_date"], TRACKING_LIST_DATE);
    let published = |member: &str| -> Vec<(String, String)> {
        let pairs = table[member].as_object().unwrap().iter();
        pairs.map(|(name, by)| (name.clone(), by.as_str().unwrap().to_owned())).collect()
    };
    let own = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        list.iter().map(|(name, by)| ((*name).to_owned(), (*by).to_owned())).collect()
    };
    assert_eq!(published("names"), own(&TRACKING_NAMES));
    assert_eq!(published("prefixes"), own(&TRACKING_PREFIXES));
}

//! The sections of a ruleset beside its identity: where facts are, how members are read, URLs, actions.

use super::load::insert;
use super::settings::{Read, Settings};
use super::{Actions, Identity, RecordFields};
use crate::times::parse_offset;
use crate::urls::{HostRule, Strength, UrlRules};
use toml::{Table, Value};

pub(super) fn record(top: &mut Settings<'_>) -> (RecordFields, Read) {
    let Some(table) = top.table("record") else { return (RecordFields::default(), Read::default()) };
    let mut settings = top.within("record", table);
    let (url, fetched_at, source) = (settings.text("url"), settings.text("fetched_at"), settings.text("source"));
    let assume_offset = settings.text("assume_offset").and_then(|text| {
        let minutes = parse_offset(&text);
        if minutes.is_none() {
            settings.mistake("assume_offset", "an offset such as \"+02:00\" is needed");
        }
        minutes
    });
    (RecordFields { url, fetched_at, source, assume_offset }, settings.finish())
}

/// What is done to a member's strings as they are read: `[boundary.title] entities = "decode"`.
pub(super) fn boundary(top: &mut Settings<'_>, identity: &Identity, url: Option<&str>) -> (Vec<String>, Read) {
    let mut decode = Vec::new();
    let mut read = Read::default();
    for (name, table) in top.table("boundary").into_iter().flatten() {
        let path = format!("boundary.{name}");
        let used = url == Some(name)
            || match identity {
                Identity::Fields(fields) => fields.iter().any(|field| field.name == *name),
                Identity::Everything { .. } => true,
                Identity::Payload => false,
            };
        if !used {
            top.mistake(
                &path,
                "is neither an identity field nor the record's url, so nothing would be read differently",
            );
        }
        let Value::Table(table) = table else {
            top.wrong(&path, "a table such as { entities = \"decode\" }", table, ());
            continue;
        };
        let mut settings = top.within(&path, table);
        if settings.choice("entities", &["keep", "decode"], "keep") == "decode" {
            decode.push(name.clone());
        }
        let settings = settings.finish();
        insert(&mut read.stated, name, settings.stated);
        insert(&mut read.in_force, name, settings.in_force);
    }
    decode.sort_unstable();
    (decode, read)
}

pub(super) fn url(top: &mut Settings<'_>) -> (UrlRules, Read) {
    let empty = Table::new();
    let table = top.table("url").unwrap_or(&empty);
    let mut settings = top.within("url", table);
    let strength = match settings.choice("strength", &["exact", "page", "site"], "page") {
        "exact" => Strength::Exact,
        "site" => Strength::Site,
        _ => Strength::Page,
    };
    let hosts = hosts(&mut settings);
    (UrlRules { strength, hosts }, settings.finish())
}

fn hosts(settings: &mut Settings<'_>) -> Vec<HostRule> {
    let rules = match settings.ask("host") {
        Some(Value::Array(rules)) => rules,
        Some(other) => return settings.wrong("host", "a list of tables, [[url.host]],", other, Vec::new()),
        None => return Vec::new(),
    };
    let mut hosts = Vec::new();
    let mut stated = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let path = format!("host[{index}]");
        let Value::Table(table) = rule else {
            settings.wrong(&path, "a table", rule, ());
            continue;
        };
        let mut within = settings.within(&path, table);
        hosts.extend(HostRule::from_settings(&mut within));
        stated.push(Value::Table(within.finish().stated));
    }
    settings.note("host", Value::Array(stated), !rules.is_empty());
    hosts
}

pub(super) fn actions(top: &mut Settings<'_>) -> (Actions, Read) {
    let empty = Table::new();
    let table = top.table("actions").unwrap_or(&empty);
    let mut settings = top.within("actions", table);
    let mut keep = |name, other| settings.choice(name, &["keep", other], "keep") == "keep";
    let actions = Actions {
        keep_syndicated: keep("syndicated", "skip"),
        keep_changed: keep("changed", "skip"),
        keep_unkeyed: keep("unkeyed", "refuse"),
    };
    (actions, settings.finish())
}

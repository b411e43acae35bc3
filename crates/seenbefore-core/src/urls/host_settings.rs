//! One `[[url.host]]` of a ruleset, read into a [`HostRule`].
//!
//! ```toml
//! [[url.host]]
//! match = "shop.example"                  # this host
//! subdomains = true                       # and those under it; false by default
//! keep = ["id"]                           # keep only these parameters
//! drop = ["colour"]                       # drop these
//! path = [{ from = "/en/", to = "/" }]    # paths that start with the one start with the other
//! ```

use super::host_rules::{HostRule, HostRuleMistake, PathRewrite};
use crate::ruleset::Settings;
use toml::{Table, Value};

impl HostRule {
    /// The rule that `settings` hold; none, with the mistakes noted, where there is no such rule.
    pub fn from_settings(settings: &mut Settings<'_>) -> Option<Self> {
        let host = settings.text("match");
        if host.is_none() {
            settings.mistake("match", "is missing; name the host that the rule is for, such as \"shop.example\"");
        }
        let subdomains = settings.boolean("subdomains", false);
        let keep = names("keep", settings);
        let drop = names("drop", settings);
        let paths = paths(settings);
        if keep.is_none() && drop.is_none() && paths.is_none() {
            settings.mistake("", "does nothing; give it keep, drop or path");
        }
        match HostRule::new(&host?, subdomains) {
            Ok(mut rule) => {
                if let Some(keep) = keep {
                    rule = rule.keep(keep);
                }
                Some(rule.drop(drop.unwrap_or_default()).paths(paths.unwrap_or_default()))
            }
            Err(HostRuleMistake { setting, message }) => {
                settings.mistake(setting, message);
                None
            }
        }
    }
}

/// A list of names; none where it is not given. Only `keep` may be empty: it keeps nothing then.
fn names(setting: &'static str, settings: &mut Settings<'_>) -> Option<Vec<String>> {
    let given = settings.ask(setting)?;
    let items = given.as_array().and_then(|items| items.iter().map(|item| item.as_str()).collect::<Option<Vec<_>>>());
    let Some(names) = items else {
        return settings.wrong(setting, "a list of names, all of them texts,", given, None);
    };
    if names.is_empty() && setting != "keep" {
        settings.mistake(setting, "is empty; leave it out");
    }
    settings.note(setting, given.clone(), true);
    Some(names.into_iter().map(str::to_owned).collect())
}

/// The path rewrites, in order; none where no `path` is given.
fn paths(settings: &mut Settings<'_>) -> Option<Vec<PathRewrite>> {
    let given = settings.ask("path")?;
    let Value::Array(items) = given else {
        return settings.wrong("path", "a list such as [{ from = \"/s/\", to = \"/\" }]", given, None);
    };
    if items.is_empty() {
        settings.mistake("path", "is empty; leave it out");
    }
    let mut rewrites = Vec::with_capacity(items.len());
    let mut stated = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let at = format!("path[{index}]");
        let Some((from, to)) = ends(item) else {
            settings.mistake(&at, "has to be a table of two texts, { from = \"/s/\", to = \"/\" }");
            continue;
        };
        match PathRewrite::new(from, to) {
            Ok(rewrite) => rewrites.push(rewrite),
            Err(mistake) => settings.mistake(&at, mistake.message),
        }
        let table = [("from", from), ("to", to)].map(|(name, path)| (name.to_owned(), Value::String(path.to_owned())));
        stated.push(Value::Table(Table::from_iter(table)));
    }
    settings.note("path", Value::Array(stated), true);
    Some(rewrites)
}

/// The two texts of `{ from = …, to = … }`, where the table holds those and nothing else.
fn ends(item: &Value) -> Option<(&str, &str)> {
    let table = item.as_table().filter(|table| table.len() == 2)?;
    Some((table.get("from")?.as_str()?, table.get("to")?.as_str()?))
}

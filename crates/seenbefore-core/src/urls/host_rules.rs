//! Step `host-rules`: what the ruleset says about single hosts (`[[url.host]]`).
//!
//! What it folds: parameters that a host does not need, and paths that it answers alike, each named by the ruleset.
//!
//! Why: only the owner of a crawl knows that two addresses of one site show the same page.
//!
//! Example: with `match = "t.me"` and `path = [{ from = "/s/", to = "/" }]`, `https://t.me/s/x` → `https://t.me/x`.
//!
//! What it must not fold: anything at another host. A rule for `e.example` covers its subdomains only where it says so.
//!
//! Since: url/1, at every strength: these rules are asked for one by one.

use super::parse::Parts;
use super::percent::decode;
use super::{Strength, UrlRules, canonical_url, query};
use std::borrow::Cow;
use url::Host;

/// Names for the trace, by place in the ruleset.
const NAMES: [&str; 32] = [
    "host-rule-1",
    "host-rule-2",
    "host-rule-3",
    "host-rule-4",
    "host-rule-5",
    "host-rule-6",
    "host-rule-7",
    "host-rule-8",
    "host-rule-9",
    "host-rule-10",
    "host-rule-11",
    "host-rule-12",
    "host-rule-13",
    "host-rule-14",
    "host-rule-15",
    "host-rule-16",
    "host-rule-17",
    "host-rule-18",
    "host-rule-19",
    "host-rule-20",
    "host-rule-21",
    "host-rule-22",
    "host-rule-23",
    "host-rule-24",
    "host-rule-25",
    "host-rule-26",
    "host-rule-27",
    "host-rule-28",
    "host-rule-29",
    "host-rule-30",
    "host-rule-31",
    "host-rule-32",
];
/// The name of every rule after those.
const LATER_NAME: &str = "host-rule";

/// What is wrong with a host rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {message}")]
pub struct HostRuleMistake {
    /// The setting within the rule: `match` or `path`.
    pub setting: &'static str,
    /// What is wrong and what would be right.
    pub message: String,
}

/// One `[[url.host]]` of a ruleset. Made by [`HostRule::new`] and the methods that follow it; a rule without any does
/// nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRule {
    host: String,
    subdomains: bool,
    keep: Option<Vec<String>>,
    drop: Vec<String>,
    paths: Vec<PathRewrite>,
}

impl HostRule {
    /// A rule for `host`, and for every host under it where `subdomains` is set. International names may be given in
    /// letters; they are compared in their `xn--` form.
    ///
    /// # Errors
    ///
    /// A mistake at `match` where that is no host.
    pub fn new(host: &str, subdomains: bool) -> Result<Self, HostRuleMistake> {
        let mistake = |message: String| HostRuleMistake { setting: "match", message };
        if host.contains('*') {
            return Err(mistake(format!("\"{host}\" has a *; give the host alone and subdomains = true")));
        }
        let host = Host::parse(host).map_err(|_| {
            mistake(format!("\"{host}\" is no host; give one such as \"shop.example\", without scheme, port or path"))
        })?;
        Ok(Self { host: host.to_string(), subdomains, keep: None, drop: Vec::new(), paths: Vec::new() })
    }

    /// Keeps only the parameters of these names (without percent-encoding, whatever the case of ASCII letters).
    #[must_use]
    pub fn keep(mut self, names: Vec<String>) -> Self {
        self.keep = Some(names);
        self
    }

    /// Drops the parameters of these names, compared as for [`HostRule::keep`].
    #[must_use]
    pub fn drop(mut self, names: Vec<String>) -> Self {
        self.drop = names;
        self
    }

    /// Rewrites the beginning of paths, in this order.
    #[must_use]
    pub fn paths(mut self, paths: Vec<PathRewrite>) -> Self {
        self.paths = paths;
        self
    }

    /// The host as it is compared: the WHATWG serialisation.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether the rule is for this host, given as the parser writes it.
    pub(super) fn matches(&self, host: &str) -> bool {
        host.strip_suffix(self.host.as_str())
            .is_some_and(|before| before.is_empty() || self.subdomains && before.ends_with('.'))
    }

    /// Applies the rule to a URL of a host that it matches.
    pub(super) fn apply(&self, parts: &mut Parts<'_>) {
        if parts.query.as_ref().is_some_and(|query| !query.is_empty()) {
            query::retain(parts, |name| {
                let name = decode(name, true);
                let listed = |names: &[String]| names.iter().any(|listed| name.eq_ignore_ascii_case(listed.as_bytes()));
                !listed(&self.drop) && self.keep.as_deref().is_none_or(listed)
            });
            query::drop_empty(parts);
        }
        for rewrite in &self.paths {
            rewrite.apply(parts);
        }
    }
}

/// A beginning of a path that counts as another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRewrite {
    from: String,
    to: String,
}

impl PathRewrite {
    /// Paths that start with `from` start with `to` instead.
    ///
    /// # Errors
    ///
    /// A mistake at `path` where one of the two does not start and end with `/` or is not canonical, or where `to` is longer
    /// than `from`, or as long and not before it in byte order: a rewrite has to lead downhill, so that no two can chase
    /// each other for ever. The shorter of two spellings is the one to keep.
    pub fn new(from: &str, to: &str) -> Result<Self, HostRuleMistake> {
        let mistake = |message: String| HostRuleMistake { setting: "path", message };
        for path in [from, to] {
            if !(path.starts_with('/') && path.ends_with('/')) {
                return Err(mistake(format!(
                    "\"{path}\" has to start and end with /, so that only whole segments match"
                )));
            }
            let whole = format!("https://e.example{path}");
            let rules = UrlRules { strength: Strength::Page, hosts: Vec::new() };
            match canonical_url(&whole, &rules) {
                Ok(canonical) if canonical.url == whole => {}
                Ok(canonical) => {
                    let right = canonical.url.trim_start_matches("https://e.example");
                    return Err(mistake(format!("\"{path}\" is not canonical; write \"{right}\"")));
                }
                Err(_) => return Err(mistake(format!("\"{path}\" cannot be a path"))),
            }
        }
        if (to.len(), to) >= (from.len(), from) {
            return Err(mistake(format!(
                "\"{from}\" to \"{to}\" does not get shorter (or, at equal length, earlier in byte order); turn it round"
            )));
        }
        Ok(Self { from: from.to_owned(), to: to.to_owned() })
    }

    /// Rewrites a path for as long as it starts with `from`.
    fn apply(&self, parts: &mut Parts<'_>) {
        let Some(mut rest) = parts.path.strip_prefix(self.from.as_str()) else {
            return;
        };
        // It can start with `from` again only where `from` goes on from `to`.
        if let Some(tail) = self.from.strip_prefix(self.to.as_str()) {
            while let Some(shorter) = rest.strip_prefix(tail) {
                rest = shorter;
            }
        }
        parts.path = Cow::Owned(format!("{}{rest}", self.to));
    }
}

/// Gives every rule of the URL's host, in order, to `run`, until the path stays as it is.
pub(super) fn apply<'a>(
    rules: &[HostRule],
    parts: &mut Parts<'a>,
    mut run: impl FnMut(&'static str, &mut Parts<'a>, &HostRule),
) {
    while rules.iter().any(|rule| rule.matches(&parts.host)) {
        let path = parts.path.clone().into_owned();
        for (index, rule) in rules.iter().enumerate() {
            if rule.matches(&parts.host) {
                run(NAMES.get(index).copied().unwrap_or(LATER_NAME), parts, rule);
            }
        }
        if path == parts.path {
            break;
        }
    }
}

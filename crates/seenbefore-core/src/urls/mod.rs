//! URL rule `url/1`: which texts name the same place.
//!
//! Three named strengths, each a visible superset of the one before: [`Strength::Exact`] ⊂ [`Strength::Page`] ⊂
//! [`Strength::Site`]. A strength is the list of [`STEPS`] up to its own; there is no other list, and the trace
//! ([`trace_url`]) runs the very same one with a recorder. The steps repeat, starting with the parse, until nothing
//! changes, so that a canonical URL is its own canonical URL.
//!
//! The standard behind the parse is the WHATWG URL Standard (<https://url.spec.whatwg.org/>), behind the
//! percent-encoding RFC 3986 section 6.2.2.

mod credentials;
mod dot_segments;
mod fragment;
mod host_rules;
mod host_settings;
mod parse;
mod percent;
mod plain;
mod query;
mod redact;
mod session;
mod site;
mod tracking;
mod tracking_names;

use std::borrow::Cow;
use std::fmt;

pub use host_rules::{HostRule, HostRuleMistake, PathRewrite};
use parse::Parts;
pub use redact::redact;
pub use tracking_names::{TRACKING_LIST_DATE, TRACKING_NAMES, TRACKING_PREFIXES};

/// The most bytes of UTF-8 that a URL may have, as given and in canonical form: 64 KiB.
pub const MAX_URL_BYTES: usize = 64 * 1024;

/// Rounds after which a URL that still changes is given up as invalid. Three is the most that any known text needs.
const MAX_ROUNDS: usize = 64;

/// How much of a URL is folded: each strength folds what the one before it folds, and more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// What a browser would request, written in one way.
    Exact,
    /// The same page: parameter order, tracking marks and session ids make no difference.
    #[default]
    Page,
    /// The same page on most sites: also `http`, `www.`, index pages and trailing slashes make no difference.
    Site,
}

impl Strength {
    /// Every strength, weakest first.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Page, Self::Site];

    /// The strength's name in rulesets and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Page => "page",
            Self::Site => "site",
        }
    }

    /// The strength of that name, or nothing.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|strength| strength.name() == name)
    }
}

impl fmt::Display for Strength {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Why a text has no URL key. Such a record is still judged by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum UrlProblem {
    /// No scheme: a relative reference, or no URL at all.
    #[error("the URL has no scheme; resolve relative links against their page before keying")]
    Relative,
    /// A scheme other than `http` and `https`.
    #[error("only http and https URLs are keyed")]
    Scheme,
    /// The WHATWG URL parser fails, for instance on an impossible host or port.
    #[error("the URL cannot be parsed (WHATWG URL Standard)")]
    Invalid,
    /// More than [`MAX_URL_BYTES`], as given or in canonical form.
    #[error("the URL is longer than 64 KiB")]
    TooLong,
}

impl UrlProblem {
    /// Every problem, in the order of the specification.
    pub const ALL: [Self; 4] = [Self::Relative, Self::Scheme, Self::Invalid, Self::TooLong];

    /// The code on receipts.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Relative => "url-relative",
            Self::Scheme => "url-scheme",
            Self::Invalid => "url-invalid",
            Self::TooLong => "url-too-long",
        }
    }
}

/// The URL part of a ruleset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlRules {
    /// Which steps run.
    pub strength: Strength,
    /// Rules of single hosts, applied in this order at every strength.
    pub hosts: Vec<HostRule>,
}

/// A canonical URL: what the URL key is the SHA-256 of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical<'a> {
    /// The canonical URL, ASCII only, without user and password; borrowed where the text is canonical already.
    pub url: Cow<'a, str>,
    /// The host as `exact` writes it: the WHATWG serialisation (`[::1]` with brackets), without port, `www.` kept. It names
    /// the source of a record that states none.
    pub host: Cow<'a, str>,
}

/// What a step changes.
enum Apply {
    /// The parsed URL, the same for every ruleset.
    Parts(fn(&mut Parts<'_>)),
    /// The parsed URL by the ruleset's host rules, each recorded under a name of its own.
    HostRules,
}

/// One step of the rule after the parse.
struct Step {
    /// The step's name, as in the rule, in explanations and in the docs.
    name: &'static str,
    /// The weakest strength that has this step.
    since: Strength,
    apply: Apply,
}

const fn step(name: &'static str, since: Strength, apply: fn(&mut Parts<'_>)) -> Step {
    Step { name, since, apply: Apply::Parts(apply) }
}

/// What runs after the parse, in this order: the steps of the strength and of the weaker ones.
static STEPS: [Step; 16] = [
    step("credentials", Strength::Exact, credentials::remove),
    step("stray-percent", Strength::Exact, percent::escape_stray),
    step("percent-encoding", Strength::Page, percent::normalise),
    step("query-pieces", Strength::Page, query::pieces),
    step("query-spaces", Strength::Page, query::spaces),
    step("tracking", Strength::Page, tracking::remove),
    step("session-query", Strength::Page, session::remove_from_query),
    step("session-path", Strength::Page, session::remove_from_path),
    step("query-order", Strength::Page, query::order),
    step("query-empty", Strength::Page, query::drop_empty),
    step("fragment", Strength::Page, fragment::remove),
    Step { name: "host-rules", since: Strength::Exact, apply: Apply::HostRules },
    step("https", Strength::Site, site::https),
    step("www", Strength::Site, site::www),
    step("index-page", Strength::Site, site::index_page),
    step("trailing-slash", Strength::Site, site::trailing_slash),
];

/// The names of all steps in their order, the parse first.
pub const STEP_NAMES: [&str; 17] = [
    parse::STEP_NAME,
    "credentials",
    "stray-percent",
    "percent-encoding",
    "query-pieces",
    "query-spaces",
    "tracking",
    "session-query",
    "session-path",
    "query-order",
    "query-empty",
    "fragment",
    "host-rules",
    "https",
    "www",
    "index-page",
    "trailing-slash",
];

/// A step's name, the URL before it and after it.
type Recorder<'a> = dyn FnMut(&'static str, &str, &str) + 'a;

/// The canonical URL of `text` under `rules`.
///
/// # Errors
///
/// The [`UrlProblem`] that leaves the text without a URL key.
pub fn canonical_url<'a>(text: &'a str, rules: &UrlRules) -> Result<Canonical<'a>, UrlProblem> {
    let first = match plain::parts(text).filter(|_| text.len() <= MAX_URL_BYTES) {
        Some(parts) if parts.query.is_none() && parts.fragment.is_none() && plain::is_settled(&parts, rules) => {
            return Ok(Canonical { url: Cow::Borrowed(text), host: parts.host });
        }
        Some(parts) => steps(&parts, rules, None),
        None => {
            parse::check(text)?;
            round(text, rules, None)?
        }
    };
    // The steps on queries and fragments leave themselves nothing to do, and what the parser has written it reads in the same
    // way. So another round is needed only where a step has changed what stands before the query into something unusual.
    let start = first.url.split(['?', '#']).next().unwrap_or_default();
    let stable = first.as_parsed || plain::parts(start).is_some_and(|parts| plain::is_settled(&parts, rules));
    repeat(first, stable, rules, None)
}

/// As [`canonical_url`], telling `recorder` the name of each step that changed something, the URL before, and the URL after.
///
/// Where the steps are repeated, later rounds follow under the same names. Host rules are recorded as `host-rule-1` and so
/// on, by their place in the ruleset. User and password are shown as `***`, never as they are.
///
/// # Errors
///
/// As [`canonical_url`]; what was recorded until then stays recorded.
pub fn trace_url(
    text: &str,
    rules: &UrlRules,
    mut recorder: impl FnMut(&'static str, &str, &str),
) -> Result<Canonical<'static>, UrlProblem> {
    parse::check(text)?;
    let first = round(text, rules, Some(&mut recorder))?;
    let stable = first.url == text;
    repeat(first, stable, rules, Some(&mut recorder))
}

/// What one round made of a text.
struct Round {
    url: String,
    /// The host as parsed.
    host: String,
    /// Whether scheme, host and path are as the parser wrote them, so that it would read them in the same way again.
    as_parsed: bool,
}

/// Runs further rounds until the URL stays as it is.
fn repeat(
    first: Round,
    mut stable: bool,
    rules: &UrlRules,
    mut recorder: Option<&mut Recorder<'_>>,
) -> Result<Canonical<'static>, UrlProblem> {
    let Round { mut url, host, .. } = first;
    for _ in 1..MAX_ROUNDS {
        if stable {
            break;
        }
        let after = round(&url, rules, recorder.as_deref_mut())?.url;
        stable = after == url;
        url = after;
    }
    match (stable, url.len() <= MAX_URL_BYTES) {
        (true, true) => Ok(Canonical { url: Cow::Owned(url), host: Cow::Owned(host) }),
        (true, false) => Err(UrlProblem::TooLong),
        (false, _) => Err(UrlProblem::Invalid),
    }
}

/// Parses `text` and runs each step once.
fn round(text: &str, rules: &UrlRules, mut recorder: Option<&mut Recorder<'_>>) -> Result<Round, UrlProblem> {
    let url = parse::parse(text)?;
    let parts = Parts::of(&url)?;
    if let Some(recorder) = recorder.as_deref_mut() {
        parse::record(text, &parts, recorder);
    }
    let mut round = steps(&parts, rules, recorder);
    // The parser has not written a path that had to be put right.
    round.as_parsed &= *parts.path == *url.path();
    Ok(round)
}

/// Runs each step after the parse once.
fn steps(parsed: &Parts<'_>, rules: &UrlRules, mut recorder: Option<&mut Recorder<'_>>) -> Round {
    let mut parts = parsed.clone();
    for step in STEPS.iter().filter(|step| step.since <= rules.strength) {
        match &step.apply {
            Apply::Parts(apply) => watched(step.name, &mut parts, recorder.as_deref_mut(), apply),
            Apply::HostRules => host_rules::apply(&rules.hosts, &mut parts, |name, parts, rule| {
                watched(name, parts, recorder.as_deref_mut(), |parts| rule.apply(parts));
            }),
        }
    }
    let as_parsed = parts.https == parsed.https && parts.host == parsed.host && parts.path == parsed.path;
    Round { url: parts.text(), host: parsed.host.clone().into_owned(), as_parsed }
}

/// Runs one step, telling the recorder if there is one and the step changed something.
fn watched<'a>(
    name: &'static str,
    parts: &mut Parts<'a>,
    recorder: Option<&mut Recorder<'_>>,
    apply: impl FnOnce(&mut Parts<'a>),
) {
    let Some(recorder) = recorder else {
        return apply(parts);
    };
    let before = parts.text();
    apply(parts);
    let after = parts.text();
    if before != after {
        recorder(name, &before, &after);
    }
}

#[cfg(test)]
mod tests;

//! The facts about a record: where it was, who published it, when it was fetched.

use super::find::{FETCHED_AT, Finder, SOURCE, URL};
use super::{Digest, sha256};
use crate::decimal::Decimal;
use crate::entities::{Place, decode};
use crate::error::{Problem, Problems};
use crate::json::{Kind, Value};
use crate::normalise::trim_spaces;
use crate::ruleset::Ruleset;
use crate::times::read_fetched_at;
use crate::urls::{UrlProblem, canonical_url, redact};
use std::borrow::Cow;

/// Facts for records that do not carry them, and the name of their input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given<'a> {
    /// The URL of a record without one.
    pub url: Option<&'a str>,
    /// The source of a record without one.
    pub source: Option<&'a str>,
    /// The time of fetching of a record without one, as text.
    pub fetched_at: Option<&'a str>,
    /// The input's name; its last part is the source where nothing else says it.
    pub input: &'a str,
}

impl<'a> Given<'a> {
    /// The record's URL, else the one given, its character references decoded where the ruleset says so; none where there is neither.
    ///
    /// # Errors
    /// `url-invalid` for a member that is not text.
    #[must_use]
    pub fn url_of(&self, rules: &Ruleset, record: Value<'a>) -> Option<Result<Cow<'a, str>, Problem>> {
        self.url_found(rules, record, &mut Finder::default())
    }

    fn url_found(
        &self,
        rules: &Ruleset,
        record: Value<'a>,
        finder: &mut Finder,
    ) -> Option<Result<Cow<'a, str>, Problem>> {
        let name = rules.record.url.as_deref();
        match find(finder, URL, record, name) {
            Fact::None => match Fact::from_given(self.url) {
                Fact::Text(url) => Some(Ok(url)),
                _ => None,
            },
            Fact::Text(url) if name.is_some_and(|name| rules.decodes(name)) => {
                Some(Ok(Cow::Owned(decode(&url, Place::Attribute).into_owned())))
            }
            Fact::Text(url) => Some(Ok(url)),
            Fact::Other | Fact::Number(_) => Some(Err(Problem::UrlInvalid)),
        }
    }

    /// The source of a line that could not be read: the one given, else the last part of the input's name.
    pub fn fallback_source(&self, texts: &mut Texts) -> Span {
        texts.push(self.source.unwrap_or_else(|| last_part(self.input)))
    }

    /// The source of a record whose keys were refused.
    pub fn source_of(&self, rules: &Ruleset, record: Value<'_>, texts: &mut Texts) -> Span {
        read(rules, record, self, (&mut Finder::default(), texts), &mut Problems::default()).source
    }
}

/// The texts of many records, one after the other.
#[derive(Debug, Default)]
pub struct Texts(String);

/// Where a text stands in [`Texts`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Span(Option<(u32, u32)>);

impl Texts {
    /// The text at `span`; none where there is none.
    #[must_use]
    pub fn get(&self, span: Span) -> Option<&str> {
        span.0.and_then(|(start, end)| self.0.get(start as usize..end as usize))
    }

    /// A text of other texts, held here too.
    pub fn copy(&mut self, from: &Self, span: Span) -> Span {
        from.get(span).map_or_else(Span::default, |text| self.push(text))
    }

    fn push(&mut self, text: &str) -> Span {
        let start = u32::try_from(self.0.len());
        self.0.push_str(text);
        match (start, u32::try_from(self.0.len())) {
            (Ok(start), Ok(end)) => Span(Some((start, end))),
            _ => Span(None),
        }
    }
}

pub(super) struct Facts {
    pub place: Option<Digest>,
    pub url: Span,
    pub source: Span,
    pub fetched_at: Option<i64>,
}

/// Reads the facts that the ruleset names, else those given. What cannot be read is a problem, never a refusal.
pub(super) fn read(
    rules: &Ruleset,
    record: Value<'_>,
    given: &Given<'_>,
    (finder, texts): (&mut Finder, &mut Texts),
    problems: &mut Problems,
) -> Facts {
    let names = &rules.record;
    let mut facts = Facts { place: None, url: Span::default(), source: Span::default(), fetched_at: None };
    let mut host = None;
    let url = given.url_found(rules, record, finder);
    match url {
        None => {}
        Some(Err(problem)) => problems.add(problem),
        Some(Ok(ref url)) => {
            facts.url = texts.push(&redact(url));
            match canonical_url(url, &rules.url) {
                Ok(canonical) => {
                    facts.place = Some(sha256(canonical.url.as_bytes()));
                    host = Some(canonical.host);
                }
                Err(problem) => problems.add(url_problem(problem)),
            }
        }
    }
    let time = match find(finder, FETCHED_AT, record, names.fetched_at.as_deref()) {
        Fact::None => Fact::from_given(given.fetched_at),
        found => found,
    };
    match time {
        Fact::None => {}
        Fact::Text(time) => {
            facts.fetched_at = read_fetched_at(&time, names.assume_offset);
            if facts.fetched_at.is_none() {
                problems.add(Problem::BadFetchedAt);
            }
        }
        Fact::Other | Fact::Number(_) => problems.add(Problem::BadFetchedAt),
    }
    let stated = match find(finder, SOURCE, record, names.source.as_deref()) {
        Fact::Text(source) | Fact::Number(source) => Some(source),
        Fact::None | Fact::Other => None,
    };
    let source = stated.as_deref().map(trim_spaces).or(given.source).or(host.as_deref());
    facts.source = texts.push(source.unwrap_or_else(|| last_part(given.input)));
    facts
}

/// A fact as the record states it.
enum Fact<'a> {
    None,
    Text(Cow<'a, str>),
    Number(Cow<'a, str>),
    Other,
}

impl<'a> Fact<'a> {
    fn from_given(text: Option<&'a str>) -> Self {
        text.filter(|text| !trim_spaces(text).is_empty()).map_or(Fact::None, |text| Fact::Text(Cow::Borrowed(text)))
    }
}

/// The fact of that name. Null and blank are "none given", so that what the caller gives counts.
fn find<'a>(finder: &mut Finder, which: usize, record: Value<'a>, name: Option<&str>) -> Fact<'a> {
    name.and_then(|name| finder.find(which, record, name)).map_or(Fact::None, fact)
}

fn fact(value: Value<'_>) -> Fact<'_> {
    match value.kind() {
        Kind::Null => Fact::None,
        Kind::String => {
            let text = value.string();
            if trim_spaces(&text).is_empty() { Fact::None } else { Fact::Text(text) }
        }
        Kind::Number => {
            let mut plain = Vec::new();
            match Decimal::read(value.raw()).and_then(|number| number.write_plain(&mut plain)) {
                Ok(()) => Fact::Number(Cow::Owned(String::from_utf8_lossy(&plain).into_owned())),
                Err(_) => Fact::Other,
            }
        }
        _ => Fact::Other,
    }
}

fn url_problem(problem: UrlProblem) -> Problem {
    match problem {
        UrlProblem::Relative => Problem::UrlRelative,
        UrlProblem::Scheme => Problem::UrlScheme,
        UrlProblem::Invalid => Problem::UrlInvalid,
        UrlProblem::TooLong => Problem::UrlTooLong,
    }
}

fn last_part(input: &str) -> &str {
    input.rsplit('/').next().unwrap_or(input)
}

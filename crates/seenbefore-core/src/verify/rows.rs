//! Kept rows: whether each is that of its receipt, and what is recomputed from it.

use super::findings::{Check, Finding};
use super::replay::Known;
use super::stated::Judged;
use crate::boundary;
use crate::error::{Problem, Problems, Refusal};
use crate::json::{Tape, Value};
use crate::keys::{Digest, Given, Keyed, Maker, Texts, hex};
use crate::ruleset::Ruleset;
use crate::times::utc_text;
use std::sync::Arc;

/// A fact that no record and no input gives, but whoever called the program.
pub const GIVEN: &str = "a fact that the caller gave: it stands on the receipt alone";
/// `first_seen` where the earlier sightings are not here.
pub const EARLIER: &str = "first_seen rests on earlier runs that are not here";

/// A row that a receipt asks for.
pub struct Expected {
    pub(super) rules: Arc<Ruleset>,
    pub(super) stated: Box<Judged>,
    pub(super) first_seen: Known<Option<i64>>,
    pub(super) file: Arc<str>,
    pub(super) line: u64,
}

impl Expected {
    /// `1:7`
    pub fn name(&self) -> String {
        format!("{}:{}", self.stated.this.run, self.stated.this.seq)
    }

    /// The end of the row, from `"_seen"` on; `stated` stands in for a `first_seen` that is not known.
    fn tail(&self, stated: Option<i64>) -> Vec<u8> {
        let first_seen = match self.first_seen {
            Known::Is(time) => time,
            Known::Unknown => stated,
        };
        let mut out = b"\"_seen\":".to_vec();
        self.stated.receipt(&self.rules.label, first_seen).write_seen(&mut out);
        out.push(b'}');
        out
    }
}

/// What one thread keeps from row to row.
#[derive(Default)]
pub struct Worker {
    tape: Tape,
    maker: Maker,
}

/// What a row comes to.
pub struct Checked {
    /// Whether it is the row of that receipt at all: the same `_seen`, or the same payload.
    pub is_of: bool,
    /// Whether it can be read.
    pub is_record: bool,
    /// What is wrong with its `_seen`.
    pub seen: Vec<Finding>,
    /// What is wrong with its keys and facts.
    pub keys: Vec<Finding>,
    /// What cannot be decided.
    pub unchecked: Option<&'static str>,
    /// The same of its `_seen`.
    pub seen_unchecked: Option<&'static str>,
}

/// Where a row stands.
pub struct Where<'a> {
    pub(super) file: &'a Arc<str>,
    pub(super) line: u64,
}

impl Where<'_> {
    fn finding(&self, check: Check, what: String, expected: impl Into<String>, found: impl Into<String>) -> Finding {
        let (expected, found) = (expected.into(), found.into());
        Finding { check, file: Arc::clone(self.file), line: self.line, what, expected, found }
    }
}

/// Checks a row against the receipt that asks for it.
pub fn check(worker: &mut Worker, expected: &Expected, line: &[u8], place: &Where<'_>) -> Checked {
    let name = expected.name();
    let mut checked = Checked {
        is_of: false,
        is_record: false,
        seen: Vec::new(),
        keys: Vec::new(),
        unchecked: None,
        seen_unchecked: None,
    };
    let Worker { tape, maker } = worker;
    let text = match boundary::read(line, usize::MAX, true, tape) {
        Ok(text) => text,
        Err(refusal) => {
            let found = refusal.to_string();
            checked.seen.push(place.finding(Check::Rows, format!("row of {name}"), "one JSON object", found));
            return checked;
        }
    };
    let Some(root) = tape.root(text) else { return checked };
    checked.is_record = true;
    let is_same = seen(expected, root, text, place, &name, &mut checked);
    let digest = keys(maker, expected, root, place, &name, &mut checked);
    checked.is_of = is_same || (digest.is_some() && digest == expected.stated.payload);
    checked
}

/// Compares the row's `_seen` with what it must be, byte for byte. True where it is that.
fn seen(
    expected: &Expected,
    root: Value<'_>,
    text: &str,
    place: &Where<'_>,
    name: &str,
    checked: &mut Checked,
) -> bool {
    let members: Vec<_> = root.members().collect();
    let Some((member, value)) = members.last().filter(|(member, _)| member.is("_seen")) else {
        let found = "no _seen at the end";
        checked.seen.push(place.finding(Check::Rows, format!("_seen of {name}"), "the last member", found));
        return false;
    };
    let stated = value.members().find(|(member, _)| member.is("first_seen")).map(|(_, value)| value.string());
    let stated = stated.and_then(|time| crate::times::read_fetched_at(&time, None));
    let tail = expected.tail(stated);
    if expected.first_seen == Known::Unknown {
        checked.seen_unchecked = Some(EARLIER);
    }
    let start = member.span().start;
    let before = text.get(..start).unwrap_or_default();
    let parted = if members.len() == 1 { before.trim_end().ends_with('{') } else { before.ends_with(',') };
    let ends = text.as_bytes().get(start..).is_some_and(|end| end == tail);
    if parted && ends && text.starts_with('{') {
        return true;
    }
    let mut wanted = Tape::new();
    let tail = String::from_utf8_lossy(&tail).into_owned();
    let tail = format!("{{{tail}");
    let read = crate::json::parse(&tail, &mut wanted).ok().and_then(|()| wanted.root(&tail));
    let wanted: Vec<_> =
        read.and_then(|root| root.members().next()).map(|(_, seen)| seen.members().collect()).unwrap_or_default();
    let before = checked.seen.len();
    for (wanted_name, wanted_value) in &wanted {
        let given = value.members().find(|(member, _)| member.is(wanted_name.raw())).map(|(_, value)| value.source());
        if given != Some(wanted_value.source()) {
            let what = format!("{} in _seen of {name}", wanted_name.raw());
            checked.seen.push(place.finding(
                Check::Rows,
                what,
                wanted_value.source(),
                given.unwrap_or("no such member"),
            ));
        }
    }
    if checked.seen.len() == before {
        let found = text.get(start.saturating_sub(1)..).unwrap_or_default();
        checked.seen.push(place.finding(
            Check::Rows,
            format!("spelling of _seen of {name}"),
            format!(",{}", &tail[1..]),
            found,
        ));
    }
    false
}

/// Recomputes keys and facts → the payload digest, where there is a payload.
fn keys(
    maker: &mut Maker,
    expected: &Expected,
    root: Value<'_>,
    place: &Where<'_>,
    name: &str,
    checked: &mut Checked,
) -> Option<Digest> {
    let stated = &*expected.stated;
    let (rules, input) = (&*expected.rules, stated.input.as_deref().unwrap_or_default());
    let alone = Given { url: None, source: None, fetched_at: None, input };
    let first = match read(maker, rules, root, &alone, stated) {
        Ok(first) => first,
        Err(refusal) => {
            let found = refusal.to_string();
            checked.keys.push(place.finding(Check::Keys, format!("row of {name}"), "a record that is judged", found));
            return None;
        }
    };
    let payload = first.keyed.payload;
    if first.differences(stated).is_empty() {
        return payload;
    }
    // What the record doesn't say may have been given by the caller, and then the receipt alone says what.
    let time = stated.this.fetched_at.map(utc_text);
    let unreadable = stated.problems.iter().any(|problem| problem == Problem::BadFetchedAt).then_some("?");
    let given = Given {
        url: stated.this.url.as_deref(),
        source: stated.source.as_deref(),
        fetched_at: time.as_deref().or(unreadable),
        input,
    };
    let Ok(second) = read(maker, rules, root, &given, stated) else { return payload };
    let differences = second.differences(stated);
    if differences.is_empty() {
        checked.unchecked = Some(GIVEN);
    }
    for (member, wanted, found) in differences {
        checked.keys.push(place.finding(Check::Keys, format!("{member} of {name}"), wanted, found));
    }
    payload
}

/// The keys and facts of a row; where its numbers as they are written don't give the stated content key, but give it as
/// spellings of binary floats, then so.
fn read<'a>(
    maker: &mut Maker,
    rules: &'a Ruleset,
    root: Value<'_>,
    given: &Given<'_>,
    stated: &Judged,
) -> Result<Facts<'a>, Refusal> {
    let once = |maker: &mut Maker| {
        let mut texts = Texts::default();
        maker.keys(rules, root, given, true, &mut texts).map(|keyed| Facts { rules, keyed, texts })
    };
    let written = once(maker);
    let Some(wanted) =
        stated.content.filter(|wanted| !written.as_ref().is_ok_and(|facts| facts.keyed.content == Some(*wanted)))
    else {
        return written;
    };
    let Some(fields) = maker.float_reading(rules, root, &wanted) else { return written };
    maker.read_as_floats(fields);
    let as_floats = once(maker);
    maker.read_as_floats(Vec::new());
    as_floats
}

struct Facts<'a> {
    rules: &'a Ruleset,
    keyed: Keyed,
    texts: Texts,
}

impl Facts<'_> {
    /// The members of the receipt that are not what was recomputed.
    fn differences(&self, stated: &Judged) -> Vec<(&'static str, String, String)> {
        let keyed = &self.keyed;
        let mut out = Vec::new();
        if keyed.payload != stated.payload {
            out.push(("payload digest", digest(keyed.payload), digest(stated.payload)));
        }
        if keyed.content != stated.content {
            out.push(("content key", self.key("", keyed.content), self.key("", stated.content)));
        }
        let url = self.texts.get(keyed.url);
        if url != stated.this.url.as_deref() {
            out.push(("URL", text(url), text(stated.this.url.as_deref())));
        }
        if keyed.place != stated.place {
            out.push(("URL key", self.key(":url", keyed.place), self.key(":url", stated.place)));
        }
        let source = self.texts.get(keyed.source).filter(|source| !source.is_empty());
        if source != stated.source.as_deref() {
            out.push(("source", text(source), text(stated.source.as_deref())));
        }
        if keyed.fetched_at != stated.this.fetched_at {
            let time = |time: Option<i64>| text(time.map(utc_text).as_deref());
            out.push(("fetched_at", time(keyed.fetched_at), time(stated.this.fetched_at)));
        }
        if keyed.problems != stated.problems {
            out.push(("problems", problems(keyed.problems), problems(stated.problems)));
        }
        out
    }

    fn key(&self, infix: &str, key: Option<Digest>) -> String {
        key.map_or_else(|| "null".to_owned(), |key| format!("{}{infix}:sha256:{}", self.rules.label, hex(&key)))
    }
}

fn digest(digest: Option<Digest>) -> String {
    digest.map_or_else(|| "null".to_owned(), |digest| format!("sha256:{}", hex(&digest)))
}

fn text(text: Option<&str>) -> String {
    text.unwrap_or("null").to_owned()
}

fn problems(problems: Problems) -> String {
    problems.iter().map(Problem::code).collect::<Vec<_>>().join(", ")
}

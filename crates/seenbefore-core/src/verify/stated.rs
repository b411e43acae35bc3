//! What a receipt or a line of prior state says, read member by member in the order of the specification.
//!
//! What was read is written again by the code that writes receipts: a line of another spelling is none.

use super::members::{Fault, Members, fault, key_of, same_bytes, text_of};
use crate::error::{Code, Problems};
use crate::json::Tape;
use crate::judge::Verdict;
use crate::keys::{Digest, sha256};
use crate::receipt::{Object, Receipt, RefusedLine, Sighting};

/// Sixteen bytes that stand for a sighting as it is shown: run, seq, URL and time of fetching.
pub type Mark = [u8; 16];

/// A sighting as receipts name it.
#[derive(Clone, Debug)]
pub struct Named {
    /// Ordinal of its run.
    pub run: u64,
    /// Ordinal in its run.
    pub seq: u64,
    /// URL as shown.
    pub url: Option<String>,
    /// When it was fetched.
    pub fetched_at: Option<i64>,
}

impl Named {
    /// The same, borrowed.
    #[must_use]
    pub fn sighting(&self) -> Sighting<'_> {
        Sighting { run: self.run, seq: self.seq, url: self.url.as_deref(), fetched_at: self.fetched_at }
    }

    /// What stands for it.
    #[must_use]
    pub fn mark(&self) -> Mark {
        let mut out = Vec::new();
        Object::open(&mut out).sighting("", Some(self.sighting()));
        let digest = sha256(&out);
        let mut mark = Mark::default();
        mark.copy_from_slice(digest.split_at(16).0);
        mark
    }
}

/// The receipt of a judged record.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The record itself.
    pub this: Named,
    /// The input's name; none for a program's record.
    pub input: Option<String>,
    /// Its line there; 0 where there is no input.
    pub line: u64,
    /// Who published it.
    pub source: Option<String>,
    /// URL key.
    pub place: Option<Digest>,
    /// Payload digest.
    pub payload: Option<Digest>,
    /// Content key.
    pub content: Option<Digest>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether it was kept.
    pub keep: bool,
    /// Whether its content was seen before.
    pub seen_before: bool,
    /// True for `payload`, false for `content`.
    pub matched_on: Option<bool>,
    /// The content's first sighting.
    pub refers_to: Option<Named>,
    /// What the URL showed before.
    pub previous: Option<Named>,
    /// Remarks.
    pub problems: Problems,
}

impl Judged {
    /// The same as what the kernel writes receipts from; `first_seen` is on rows only.
    #[must_use]
    pub fn receipt<'a>(&'a self, label: &'a str, first_seen: Option<i64>) -> Receipt<'a> {
        Receipt {
            this: self.this.sighting(),
            label,
            input: self.input.as_deref(),
            line: self.line,
            source: self.source.as_deref(),
            place: self.place.as_ref(),
            payload: self.payload.as_ref(),
            content: self.content.as_ref(),
            verdict: self.verdict.code(),
            keep: self.keep,
            seen_before: self.seen_before,
            matched_on: self.matched_on.map(|payload| if payload { "payload" } else { "content" }),
            refers_to: self.refers_to.as_ref().map(Named::sighting),
            previous: self.previous.as_ref().map(Named::sighting),
            problems: self.problems,
            first_seen,
        }
    }
}

/// A line of receipts.
#[derive(Clone, Debug)]
pub enum Stated {
    /// Of a record.
    Judged(Box<Judged>),
    /// Of a refused line: its run, its ordinal there, its code.
    Refused(u64, u64, &'static str),
}

impl Stated {
    /// Run and ordinal.
    #[must_use]
    pub fn name(&self) -> (u64, u64) {
        match self {
            Self::Judged(judged) => (judged.this.run, judged.this.seq),
            Self::Refused(run, seq, _) => (*run, *seq),
        }
    }
}

/// A line of prior state.
#[derive(Clone, Debug)]
pub struct Prior {
    /// The sighting.
    pub this: Named,
    /// Label of its keys.
    pub label: String,
    /// URL key.
    pub place: Option<Digest>,
    /// Payload digest.
    pub payload: Option<Digest>,
    /// Content key.
    pub content: Digest,
    /// Whether it is the first sighting of that content.
    pub first: bool,
    /// If so, the earliest time of fetching by then.
    pub first_seen: Option<i64>,
    /// Whether it is the latest sighting at that URL.
    pub latest: bool,
}

/// Reads a receipt; `label_of` gives the label of a run's ruleset.
///
/// # Errors
/// The first member that is not as `spec/receipt-1.md` has it.
pub fn receipt<'r>(line: &[u8], tape: &mut Tape, label_of: impl Fn(u64) -> Option<&'r str>) -> Result<Stated, Fault> {
    let text = text_of(line, tape)?;
    let mut members = Members::of(tape, text)?;
    let run = members.number("run")?;
    let seq = members.number("seq")?;
    let Some(label) = label_of(run) else { return fault("run", "a run of those named", run.to_string()) };
    let input = members.text("input")?;
    let mut out = Vec::new();
    let stated = if members.is_next("line") && members.after_is("verdict") {
        let line = members.number("line")?;
        members.word("verdict", &["refused"])?;
        members.word("action", &["refuse"])?;
        let code = members.one_of("code", Code::ALL.iter().map(|code| code.code()))?;
        let Some(sha256) = members.digest("sha256")? else { return fault("sha256", "a digest", "null") };
        let (input, detail, bytes) = (input.as_deref(), "", Err(0));
        let refused = RefusedLine { run, seq, input, line, offset: 0, length: 0, code, detail, sha256, bytes };
        refused.write_receipt(&mut out);
        Stated::Refused(run, seq, code)
    } else {
        let judged = judged(&mut members, run, seq, input, label)?;
        judged.receipt(label, None).write(&mut out);
        Stated::Judged(Box::new(judged))
    };
    members.end()?;
    same_bytes(&out, line)?;
    Ok(stated)
}

fn judged(members: &mut Members<'_>, run: u64, seq: u64, input: Option<String>, label: &str) -> Result<Judged, Fault> {
    let line = if input.is_some() { members.number("line")? } else { members.null("line")? };
    let source = members.text("source")?;
    let url = members.text("url")?;
    let place = members.key("url_key", label, ":url")?;
    let fetched_at = members.time("fetched_at")?;
    let payload = members.digest("payload_digest")?;
    let content = members.key("content_key", label, "")?;
    let verdicts = Verdict::ALL.iter().filter(|verdict| **verdict != Verdict::Refused);
    let word = members.one_of("verdict", verdicts.clone().map(|verdict| verdict.code()))?;
    let verdict = verdicts.clone().find(|verdict| verdict.code() == word).copied().unwrap_or(Verdict::Unkeyed);
    Ok(Judged {
        this: Named { run, seq, url, fetched_at },
        input,
        line,
        source,
        place,
        payload,
        content,
        verdict,
        keep: members.word("action", &["keep", "skip"])? == "keep",
        seen_before: members.truth("seen_before")?,
        matched_on: members.optional("matched_on", &["payload", "content"])?.map(|word| word == "payload"),
        refers_to: members.named("refers_to")?,
        previous: members.named("previous")?,
        problems: members.problems()?,
    })
}

/// Reads a line of prior state.
///
/// # Errors
/// The first member that is not as `spec/bundle-1.md` §4 has it.
pub fn prior(line: &[u8], tape: &mut Tape) -> Result<Prior, Fault> {
    let text = text_of(line, tape)?;
    let mut members = Members::of(tape, text)?;
    let (run, seq) = (members.number("run")?, members.number("seq")?);
    let url = members.text("url")?;
    let place_text = members.text("url_key")?;
    let fetched_at = members.time("fetched_at")?;
    let payload = members.digest("payload_digest")?;
    let content_text = members.text("content_key")?.unwrap_or_default();
    let label = content_text.split(':').next().unwrap_or_default().to_owned();
    let place = place_text.as_deref().map(|text| key_of("url_key", text, &label, ":url")).transpose()?;
    let content = key_of("content_key", &content_text, &label, "")?;
    let first = members.truth("first")?;
    let first_seen = members.time("first_seen")?;
    let latest = members.truth("latest")?;
    members.end()?;
    if !first && (first_seen.is_some() || !latest) {
        return fault("first", "a first or a latest sighting, and first_seen with a first one only", "neither");
    }
    if latest && place.is_none() {
        return fault("url_key", "a key, because it is the latest of its URL", "null");
    }
    let this = Named { run, seq, url, fetched_at };
    let mut out = Vec::new();
    let mut object = Object::open(&mut out);
    object.number("run", run);
    object.number("seq", seq);
    object.text("url", this.url.as_deref());
    object.key("url_key", &label, ":url", place.as_ref());
    object.time("fetched_at", fetched_at);
    object.digest("payload_digest", payload.as_ref());
    object.key("content_key", &label, "", Some(&content));
    object.truth("first", first);
    object.time("first_seen", first_seen);
    object.truth("latest", latest);
    object.close();
    out.push(b'\n');
    same_bytes(&out, line)?;
    Ok(Prior { this, label, place, payload, content, first, first_seen, latest })
}

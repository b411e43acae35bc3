//! Evidence checked record by record (`spec/bundle-1.md` §7): receipts are read strictly and replayed, rows recomputed.
//!
//! Reading and recomputing use all cores; the replay goes through receipts one by one, in their order.

mod findings;
mod members;
mod pairing;
mod replay;
mod rows;
mod stated;

pub use findings::{Check, Finding, Findings, LISTED, Tally};

use crate::json::Tape;
use crate::judge::Verdict;
use crate::keys::{Digest, sha256};
use crate::ruleset::Ruleset;
use crate::urls::canonical_url;
use members::Fault;
use pairing::Pairing;
use rayon::prelude::*;
use replay::Replay;
use rows::Expected;
use sha2::{Digest as _, Sha256};
use stated::{Judged, Stated};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Lines that one thread takes at a time.
const CHUNK: usize = 256;
/// A row whose payload nobody has.
const NOT_SHIPPED: &str = "records that were not kept are not here, so their keys can't be recomputed";
/// A receipt whose URL may have lost its credentials.
const CUT_URL: &str = "a URL without a key is shown without credentials, and may have been another";
/// A verdict that rests on other runs.
const NO_HISTORY: &str = "what earlier runs saw is not here: their part is believed";

/// What is known of a run.
struct Run {
    rules: Arc<Ruleset>,
    /// Index of its label among all.
    label: u32,
    records: u64,
    /// The last `seq`.
    last: u64,
    receipts: Sha256,
    counts: BTreeMap<&'static str, u64>,
}

/// Reads receipts and rows as they come, and notes what is not as it must be.
pub struct Verifier<P> {
    runs: BTreeMap<u64, Run>,
    labels: BTreeMap<String, u32>,
    replay: Replay,
    pairing: Pairing<P>,
    findings: Findings,
    /// The last ordinal of prior state by run.
    before: BTreeMap<u64, u64>,
    with_rows: bool,
}

/// What a run's receipts come to.
pub struct RunDigest {
    /// Its ordinal.
    pub run: u64,
    /// How many receipts it has.
    pub records: u64,
    /// SHA-256 of them.
    pub receipts: Digest,
    /// How many have a verdict, an action, a refusal code or a problem; and `changed_seen_before`.
    pub counts: BTreeMap<&'static str, u64>,
}

impl<P: AsRef<[u8]> + Send + Sync> Verifier<P> {
    /// A verifier of whole history, or, with `open`, of runs whose earlier ones are not here; `rows`: the kept rows are here.
    #[must_use]
    pub fn new(open: bool, rows: bool) -> Self {
        Self {
            runs: BTreeMap::new(),
            labels: BTreeMap::new(),
            replay: Replay::new(open),
            pairing: Pairing::default(),
            findings: Findings::default(),
            before: BTreeMap::new(),
            with_rows: rows,
        }
    }

    /// Names a run and the ruleset that it was judged by.
    pub fn add_run(&mut self, run: u64, rules: Arc<Ruleset>) {
        let label = self.label(&rules.label);
        self.runs
            .insert(run, Run { rules, label, records: 0, last: 0, receipts: Sha256::new(), counts: BTreeMap::new() });
    }

    /// The index of a label among all, so that keys of two rulesets never meet.
    fn label(&mut self, label: &str) -> u32 {
        let next = u32::try_from(self.labels.len()).unwrap_or(u32::MAX);
        self.labels.get(label).copied().unwrap_or_else(|| *self.labels.entry(label.to_owned()).or_insert(next))
    }

    /// Whole lines of prior state; `line` lines of the file came before.
    pub fn prior(&mut self, data: &[u8], file: &str, line: u64) {
        let file: Arc<str> = file.into();
        let lines: Vec<_> = lines(data).collect();
        let read: Vec<_> =
            lines.par_iter().with_min_len(CHUNK).map_init(Tape::new, |tape, line| stated::prior(line, tape)).collect();
        for (number, prior) in (line + 1..).zip(read) {
            let finding = |what: String, expected: &str, found: &str| Finding {
                check: Check::Prior,
                file: Arc::clone(&file),
                line: number,
                what,
                expected: expected.to_owned(),
                found: found.to_owned(),
            };
            let prior = match prior {
                Ok(prior) => prior,
                Err(fault) => {
                    self.findings.add(finding(fault.member.to_owned(), &fault.expected, &fault.found));
                    continue;
                }
            };
            let (run, seq) = (prior.this.run, prior.this.seq);
            let name = format!("{run}:{seq}");
            let last = self.before.insert(run, seq).unwrap_or(0);
            let label = self.label(&prior.label);
            let mut found = Vec::new();
            if seq <= last {
                let expected = format!("one behind {run}:{last}");
                found.push(finding(format!("order of {name}"), &expected, &name));
            }
            if self.runs.contains_key(&run) {
                found.push(finding(format!("run of {name}"), "an earlier run", "a run whose receipts are here"));
            }
            if !self.replay.remember(label, &prior) {
                found.push(finding(format!("sighting {name}"), "one first and one latest for each key", "another one"));
            }
            self.findings.settle(Check::Prior, found);
        }
    }

    /// Whole lines of receipts in the order of sightings; `line` lines of the file came before.
    pub fn receipts(&mut self, data: &[u8], file: &str, line: u64) {
        let file: Arc<str> = file.into();
        let lines: Vec<_> = lines(data).collect();
        let runs = &self.runs;
        let read: Vec<_> = lines
            .par_iter()
            .with_min_len(CHUNK)
            .map_init(Tape::new, |tape, line| {
                let label = |run| runs.get(&run).map(|run: &Run| run.rules.label.as_str());
                let stated = stated::receipt(line, tape, label)?;
                let url = match &stated {
                    Stated::Judged(judged) => runs.get(&judged.this.run).map(|run| url_of(&run.rules, judged)),
                    Stated::Refused(..) => None,
                };
                Ok::<_, Fault>((stated, url))
            })
            .collect();
        for ((number, read), text) in (line + 1..).zip(read).zip(lines) {
            let place = |check, what: String, expected: String, found: String| Finding {
                check,
                file: Arc::clone(&file),
                line: number,
                what,
                expected,
                found,
            };
            match read {
                Ok((stated, url)) => {
                    self.findings.passed(Check::Receipts, 1);
                    match url {
                        Some(Url::Right) => self.findings.passed(Check::Urls, 1),
                        Some(Url::Cut) => self.findings.unchecked(Check::Urls, CUT_URL, 1),
                        Some(Url::Wrong(expected, found)) => {
                            let (run, seq) = stated.name();
                            self.findings.add(place(Check::Urls, format!("URL key of {run}:{seq}"), expected, found));
                        }
                        Some(Url::NoneGiven) | None => {}
                    }
                    self.count(&stated, text, &place);
                    if let Stated::Judged(judged) = stated {
                        self.judge(judged, &place, &file, number);
                    } else {
                        self.findings.unchecked(Check::Keys, NOT_SHIPPED, 1);
                    }
                }
                Err(fault) => {
                    self.findings.add(place(Check::Receipts, fault.member.to_owned(), fault.expected, fault.found));
                    // It may be that of a run all the same, whose digest is then another one.
                    if let Some(run) = run_of(text).and_then(|run| self.runs.get_mut(&run)) {
                        run.add(text);
                    }
                }
            }
        }
    }

    fn count(&mut self, stated: &Stated, line: &[u8], place: &dyn Fn(Check, String, String, String) -> Finding) {
        let (run, seq) = stated.name();
        let Some(known) = self.runs.get_mut(&run) else { return };
        known.add(line);
        known.tally(stated);
        if known.last == seq {
            self.findings.passed(Check::Runs, 1);
        } else {
            let (expected, found) = (format!("{run}:{}", known.last), format!("{run}:{seq}"));
            self.findings.add(place(Check::Runs, format!("seq of run {run}"), expected, found));
            known.last = seq;
        }
    }

    fn judge(
        &mut self,
        stated: Box<Judged>,
        place: &dyn Fn(Check, String, String, String) -> Finding,
        file: &Arc<str>,
        line: u64,
    ) {
        let Some(run) = self.runs.get(&stated.this.run) else { return };
        let replayed = self.replay.step(run.label, run.rules.actions, &stated);
        let name = format!("{}:{}", stated.this.run, stated.this.seq);
        let differences = replayed.differences.into_iter();
        let found: Vec<_> = differences
            .map(|(member, expected, found)| place(Check::Replay, format!("{member} of {name}"), expected, found))
            .collect();
        if replayed.assumed && found.is_empty() {
            self.findings.unchecked(Check::Replay, NO_HISTORY, 1);
        } else {
            self.findings.settle(Check::Replay, found);
        }
        if stated.keep && self.with_rows {
            let (rules, file) = (Arc::clone(&run.rules), Arc::clone(file));
            self.pairing.expect(Expected { rules, stated, first_seen: replayed.first_seen, file, line });
        } else {
            self.findings.unchecked(Check::Keys, NOT_SHIPPED, 1);
        }
    }

    /// Whole lines of kept rows; `line` lines of the file came before.
    pub fn rows(&mut self, data: P, file: &str, line: u64) {
        self.pairing.rows(data, &file.into(), line);
    }

    /// Checks the rows that wait against the receipts that ask for rows; all of them once no more will come.
    pub fn check(&mut self, no_more_receipts: bool, no_more_rows: bool) {
        self.pairing.check(no_more_receipts, no_more_rows, &mut self.findings);
    }

    /// How many receipts wait for their rows, and how many rows for their receipts.
    #[must_use]
    pub fn waiting(&self) -> (usize, usize) {
        self.pairing.waiting()
    }

    /// What was found and counted.
    pub fn findings(&mut self) -> &mut Findings {
        &mut self.findings
    }

    /// The digests of the runs' receipts so far.
    #[must_use]
    pub fn runs(&self) -> Vec<RunDigest> {
        let digest = |run: &Run| run.receipts.clone().finalize().into();
        let of = |(run, state): (&u64, &Run)| RunDigest {
            run: *run,
            records: state.records,
            receipts: digest(state),
            counts: state.counts.clone(),
        };
        self.runs.iter().map(of).collect()
    }
}

impl Run {
    fn tally(&mut self, stated: &Stated) {
        let mut one = |name| *self.counts.entry(name).or_default() += 1;
        match stated {
            Stated::Judged(judged) => {
                one(judged.verdict.code());
                one(if judged.keep { "keep" } else { "skip" });
                if judged.verdict == Verdict::Changed && judged.seen_before {
                    one("changed_seen_before");
                }
                judged.problems.iter().for_each(|problem| one(problem.code()));
            }
            Stated::Refused(_, _, code) => {
                one(Verdict::Refused.code());
                one(code);
            }
        }
    }

    fn add(&mut self, line: &[u8]) {
        self.records += 1;
        self.last += 1;
        self.receipts.update(line);
        self.receipts.update(b"\n");
    }
}

/// The lines of `data`, each without its LF.
fn lines(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = data.strip_suffix(b"\n").unwrap_or(data);
    let none = data.is_empty();
    whole.split(|byte| *byte == b'\n').filter(move |_| !none)
}

/// The run that a line that is no receipt says it is of: `{"run":7,…`.
fn run_of(line: &[u8]) -> Option<u64> {
    let digits = line.strip_prefix(b"{\"run\":")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}

enum Url {
    NoneGiven,
    Right,
    Cut,
    Wrong(String, String),
}

/// Whether the URL key of a receipt is that of the URL on it.
fn url_of(rules: &Ruleset, judged: &Judged) -> Url {
    let shown = |key: Option<Digest>| {
        key.map_or_else(|| "null".to_owned(), |key| format!("{}:url:sha256:{}", rules.label, crate::keys::hex(&key)))
    };
    let Some(url) = judged.this.url.as_deref() else {
        return if judged.place.is_none() {
            Url::NoneGiven
        } else {
            Url::Wrong("null".to_owned(), shown(judged.place))
        };
    };
    let canonical = canonical_url(url, &rules.url).ok().map(|canonical| sha256(canonical.url.as_bytes()));
    let invalid = judged.problems.iter().any(|problem| problem.code().starts_with("url-"));
    match (canonical, judged.place) {
        (one, other) if one == other => Url::Right,
        (Some(_), None) if invalid => Url::Cut,
        (one, other) => Url::Wrong(shown(one), shown(other)),
    }
}

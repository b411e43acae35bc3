//! The vectors of verdicts, receipts, fingerprints and times, wherever batches are cut.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test that fails to unwrap has failed

mod spec;

use seenbefore_core::batch::{Batch, Block, Earlier, KnownContent, KnownPlace, Setting};
use seenbefore_core::keys::{Digest, sha256};
use seenbefore_core::ruleset::Ruleset;
use seenbefore_core::times::{parse_offset, read_fetched_at, write_utc};
use serde_json::{Value as Json, json};
use spec::{unhex, vectors};
use std::collections::HashMap;
use std::sync::Arc;

/// Where batches are cut, in records.
const CUTS: [usize; 4] = [1, 2, 7, 200_000];

/// The simplest store there can be.
#[derive(Default)]
struct Store {
    contents: HashMap<Digest, (i64, Option<i64>)>,
    places: HashMap<Digest, (i64, i64, i64)>,
    sightings: Vec<Earlier>,
}

/// What a run wrote.
#[derive(Default)]
struct Written {
    receipts: Vec<u8>,
    kept: Vec<u8>,
    refused: Vec<u8>,
}

impl Store {
    /// Judges a whole input in batches of `cut` records; gives the ordinal of the next record.
    fn run(
        &mut self,
        rules: &Arc<Ruleset>,
        base: &Setting,
        name: &str,
        data: &[u8],
        cut: usize,
        written: &mut Written,
    ) -> u64 {
        let mut at = if data.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let (mut line, mut seq) = (0, base.first_seq);
        while at < data.len() {
            let setting = Setting {
                first_seq: seq,
                max_records: cut,
                max_bytes: usize::MAX,
                max_line: 64 << 20,
                digests: true,
                ..base.clone()
            };
            let mut batch = Batch::new(Arc::clone(rules), setting);
            let (next, lines) = batch.feed(data.to_vec(), at, name, 0, line);
            (at, line, seq) = (next, line + lines, seq + batch.records() as u64);
            for block in self.judge(&mut batch) {
                written.receipts.extend(block.receipts);
                written.kept.extend(block.kept);
                written.refused.extend(block.refused);
            }
        }
        seq
    }

    fn judge(&mut self, batch: &mut Batch<Vec<u8>>) -> Vec<Block> {
        batch.key();
        let contents: Vec<_> = (0..)
            .zip(batch.content_keys())
            .filter_map(|(key, digest)| {
                self.contents.get(digest).map(|(id, first_seen)| KnownContent { key, id: *id, first_seen: *first_seen })
            })
            .collect();
        let places: Vec<_> = (0..)
            .zip(batch.place_keys())
            .filter_map(|(key, digest)| {
                self.places.get(digest).map(|(id, latest, content)| KnownPlace {
                    key,
                    id: *id,
                    latest: *latest,
                    content: *content,
                })
            })
            .collect();
        let first = i64::try_from(self.sightings.len()).unwrap() + 1;
        let needed = batch.judge(first, &contents, &places);
        let earlier: Vec<_> =
            needed.iter().map(|id| self.sightings[usize::try_from(*id).unwrap() - 1].clone()).collect();
        let blocks = batch.render(&earlier);
        for (key, id, first_seen) in batch.contents_new() {
            assert!(self.contents.insert(*key, (id, first_seen)).is_none(), "a content is new once");
        }
        for (key, _, first_seen) in batch.contents_earlier() {
            self.contents.get_mut(key).unwrap().1 = Some(first_seen);
        }
        for (key, id, latest, content) in batch.places_now() {
            self.places.insert(*key, (id, latest, content));
        }
        for row in batch.sightings() {
            let url = row.url.map(str::to_owned);
            self.sightings.push(Earlier {
                id: row.id,
                run: batch.setting().run,
                seq: row.seq,
                url,
                fetched_at: row.fetched_at,
                payload: row.payload,
            });
        }
        blocks
    }
}

fn rules(vector: &Json) -> Arc<Ruleset> {
    let toml = vector["ruleset"].as_str().unwrap();
    Arc::new(Ruleset::from_toml(toml).unwrap_or_else(|mistakes| panic!("{}: {mistakes:?}", vector["name"])))
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line)).collect()
}

fn sighting(receipt: &Json, name: &str) -> Json {
    if receipt[name].is_null() { Json::Null } else { json!([receipt[name]["run"], receipt[name]["seq"]]) }
}

#[test]
fn records_get_the_verdicts_of_the_table() {
    for vector in vectors("verdicts") {
        let rules = rules(&vector);
        let steps = vector["steps"].as_array().unwrap();
        for cut in CUTS {
            let (mut store, mut written, mut at) = (Store::default(), Written::default(), 0);
            while at < steps.len() {
                let run = steps[at]["run"].as_u64().unwrap();
                let of_run: Vec<_> = steps[at..].iter().take_while(|step| step["run"].as_u64() == Some(run)).collect();
                let data: Vec<u8> = of_run
                    .iter()
                    .flat_map(|step| [unhex(step["in_hex"].as_str().unwrap()), vec![b'\n']].concat())
                    .collect();
                let base = Setting { run, first_seq: 1, ..Setting::default() };
                store.run(&rules, &base, "in", &data, cut, &mut written);
                at += of_run.len();
            }
            let mut kept = lines(&written.kept).into_iter();
            for (step, receipt) in steps.iter().zip(lines(&written.receipts)) {
                let receipt: Json = serde_json::from_slice(receipt).unwrap();
                let name = format!("{} at cut {cut}: {receipt}", vector["name"]);
                for member in ["verdict", "action", "code", "seen_before", "matched_on", "problems"] {
                    if let Some(expected) = step.get(member) {
                        assert_eq!(receipt[member], *expected, "{member} of {name}");
                    }
                }
                for member in ["refers_to", "previous"] {
                    if let Some(expected) = step.get(member) {
                        assert_eq!(sighting(&receipt, member), *expected, "{member} of {name}");
                    }
                }
                if receipt["action"] == "keep" {
                    let row: Json = serde_json::from_slice(kept.next().unwrap()).unwrap();
                    if let Some(expected) = step.get("first_seen") {
                        assert_eq!(row["_seen"]["first_seen"], *expected, "first_seen of {name}");
                    }
                }
            }
            assert!(kept.next().is_none());
        }
    }
}

#[test]
fn receipts_and_rows_are_these_bytes() {
    for vector in vectors("receipts") {
        let rules = rules(&vector);
        let option = |name: &str| vector["options"][name].as_str().map(str::to_owned);
        for cut in CUTS {
            let (mut store, mut written, mut seqs) = (Store::default(), Written::default(), HashMap::new());
            for input in vector["inputs"].as_array().unwrap() {
                let run = input["run"].as_u64().unwrap();
                let first_seq = *seqs.get(&run).unwrap_or(&1);
                let replace_seen = vector["options"]["replace_seen"] == true;
                let base = Setting {
                    run,
                    first_seq,
                    source: option("source"),
                    fetched_at: option("fetched_at"),
                    replace_seen,
                    ..Setting::default()
                };
                let data = unhex(input["in_hex"].as_str().unwrap());
                let next = store.run(&rules, &base, input["name"].as_str().unwrap(), &data, cut, &mut written);
                seqs.insert(run, next);
            }
            let name = format!("{} at cut {cut}", vector["name"]);
            let text = |bytes: &[u8]| {
                json!(
                    lines(bytes).into_iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect::<Vec<_>>()
                )
            };
            assert_eq!(text(&written.receipts), vector["receipts"], "receipts of {name}");
            assert_eq!(text(&written.kept), vector["kept"], "kept rows of {name}");
            let digest = format!("sha256:{}", seenbefore_core::keys::hex(&sha256(&written.receipts)));
            assert_eq!(json!(digest), vector["receipts_sha256"], "{name}");
            let refused: Vec<Json> =
                lines(&written.refused).into_iter().map(|line| serde_json::from_slice(line).unwrap()).collect();
            for (found, expected) in refused.iter().zip(vector["refused_lines"].as_array().unwrap()) {
                let without_detail: Vec<_> =
                    found.as_object().unwrap().iter().filter(|(member, _)| *member != "detail").collect();
                let expected: Vec<_> = expected.as_object().unwrap().iter().collect();
                assert_eq!(without_detail, expected, "refused line of {name}");
                assert!(!found["detail"].as_str().unwrap().is_empty());
            }
            assert_eq!(refused.len(), vector["refused_lines"].as_array().unwrap().len(), "{name}");
        }
    }
}

#[test]
fn a_fingerprint_covers_what_can_change_a_key() {
    for vector in vectors("fingerprints") {
        let rules = Ruleset::from_toml(vector["in"].as_str().unwrap())
            .unwrap_or_else(|mistakes| panic!("{}: {mistakes:?}", vector["name"]));
        assert_eq!(json!(rules.identity_json), vector["out"], "{}", vector["name"]);
        assert_eq!(json!(rules.fingerprint_text()), vector["fingerprint"], "{}", vector["name"]);
    }
}

#[test]
fn times_of_fetching_are_read_leniently() {
    for vector in vectors("fetched_at") {
        let offset = vector["assume_offset"].as_str().map(|text| parse_offset(text).unwrap());
        let found = read_fetched_at(vector["in"].as_str().unwrap(), offset);
        assert_eq!(json!(found), vector["micros"], "{}", vector["name"]);
        if let Some(micros) = found {
            let mut out = Vec::new();
            write_utc(micros, &mut out);
            assert_eq!(json!(String::from_utf8(out).unwrap()), vector["out"], "{}", vector["name"]);
        }
    }
}

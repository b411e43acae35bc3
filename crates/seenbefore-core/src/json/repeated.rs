//! Member names that stand twice in one object (RFC 7493 2.3).

use super::parse::length;
use super::text::unescape;
use super::{Kind, Tape};
use crate::error::{Code, Refusal};
use std::sync::OnceLock;

/// Above this many members, repeated names are found by sorting instead of comparing each with each.
const FEW_MEMBERS: usize = 16;

/// The member names of a record in which none stands twice, as they are written, one behind the other.
///
/// Most records of an input have the names of the record before, in the same order: then nothing is left to look for.
#[derive(Debug, Default)]
pub(super) struct Names {
    written: Vec<u8>,
    ends: Vec<usize>,
    /// A bit for each byte that a name starts with.
    starts: [u64; 4],
    /// The places of the members in the order of their names, worked out where somebody asks for it.
    pub(super) order: OnceLock<Vec<usize>>,
}

impl Names {
    fn are(&self, text: &str, tape: &Tape) -> bool {
        let mut start = 0;
        self.ends.len() == tape.members.len()
            && self.ends.iter().zip(&tape.members).all(|(end, at)| {
                let same = self.written.get(start..*end) == Some(raw(text, tape, *at));
                start = *end;
                same
            })
    }

    fn learn(&mut self, text: &str, tape: &Tape) {
        self.written.clear();
        self.ends.clear();
        self.starts = [0; 4];
        self.order.take();
        for at in &tape.members {
            let name = raw(text, tape, *at);
            self.written.extend_from_slice(name);
            self.ends.push(self.written.len());
            if let Some(first) = name.first()
                && let Some(starts) = self.starts.get_mut(usize::from(first / 64))
            {
                *starts |= 1 << (first % 64);
            }
        }
    }

    /// Whether a name may start with this byte, as it is written or by an escape.
    pub(super) fn may_start_with(&self, byte: u8) -> bool {
        let has =
            |byte: u8| self.starts.get(usize::from(byte / 64)).is_some_and(|starts| starts >> (byte % 64) & 1 == 1);
        has(byte) || has(b'\\')
    }
}

/// Refuses an object, at any depth, in which a member name stands twice. Notes where the record's own members stand.
pub(super) fn unrepeated(text: &str, tape: &mut Tape) -> Result<(), Refusal> {
    let mut names = std::mem::take(&mut tape.names);
    note_members(tape);
    let record = tape.node(0).kind == Kind::Object;
    let known = record && tape.known.are(text, tape);
    let nested = tape.objects > u32::from(record);
    let others = if nested { length(tape.nodes.len()) } else { 1 };
    let repeated = (u32::from(known)..others)
        .filter(|at| tape.node(*at).kind == Kind::Object)
        .find_map(|at| repeated_name(text, tape, at, &mut names));
    tape.names = names;
    if let Some(name) = repeated {
        return Err(Refusal::line(Code::RepeatedMember, format!("member \"{name}\" stands twice in one object")));
    }
    if record && !known {
        let mut known = std::mem::take(&mut tape.known);
        known.learn(text, tape);
        tape.known = known;
    }
    Ok(())
}

fn note_members(tape: &mut Tape) {
    let mut members = std::mem::take(&mut tape.members);
    members.clear();
    let record = tape.node(0);
    if record.kind == Kind::Object {
        let mut at = 1;
        while at < record.next {
            members.push(at);
            at = tape.node(at + 1).next;
        }
    }
    tape.members = members;
}

/// The inside of a string as it is written.
fn raw<'a>(text: &'a str, tape: &Tape, at: u32) -> &'a [u8] {
    let node = tape.node(at);
    text.as_bytes().get(node.start as usize..node.end as usize).unwrap_or_default()
}

fn repeated_name(text: &str, tape: &Tape, object: u32, names: &mut Vec<u32>) -> Option<String> {
    names.clear();
    let (mut at, end) = (object + 1, tape.node(object).next);
    let mut escaped = false;
    while at < end {
        names.push(at);
        escaped |= tape.node(at).escaped;
        at = tape.node(at + 1).next;
    }
    let raw = |at: u32| raw(text, tape, at);
    let shown = |at: u32| String::from_utf8_lossy(raw(at)).into_owned();
    if escaped {
        let mut read: Vec<String> = names.iter().map(|at| unescape(&shown(*at))).collect();
        read.sort_unstable();
        return read.windows(2).find_map(|pair| match pair {
            [a, b] if a == b => Some(a.clone()),
            _ => None,
        });
    }
    if names.len() <= FEW_MEMBERS {
        // Most names differ in a hash of six bits from all earlier ones; only the others are compared.
        let mut hashes = 0_u64;
        return names.iter().enumerate().find_map(|(index, at)| {
            let name = raw(*at);
            let bit = 1
                << (name.iter().take(12).fold(name.len(), |hash, byte| hash.wrapping_mul(31) ^ usize::from(*byte))
                    & 63);
            let met = hashes & bit != 0;
            hashes |= bit;
            (met && names.iter().take(index).any(|earlier| raw(*earlier) == name)).then(|| shown(*at))
        });
    }
    names.sort_unstable_by(|a, b| raw(*a).cmp(raw(*b)));
    names.windows(2).find_map(|pair| match pair {
        [a, b] if raw(*a) == raw(*b) => Some(shown(*a)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Tape, parse};

    #[test]
    fn repeated_names_are_found_however_long_they_are() {
        let long = "Z".repeat(200);
        let mut tape = Tape::new();
        assert!(parse(&format!("{{\"{long}\":1,\"{long}a\":2}}"), &mut tape).is_ok());
        let repeated = parse(&format!("{{\"{long}\":1,\"b\":0,\"{long}\":2}}"), &mut tape);
        assert_eq!(repeated.map_err(|refusal| refusal.code.code()), Err("repeated-member"));
    }

    #[test]
    fn names_of_the_record_before_say_nothing_about_others() {
        let mut tape = Tape::new();
        for (text, code) in [
            (r#"{"a":1,"b":2}"#, None),
            (r#"{"a":1,"b":{"x":1,"x":2}}"#, Some("repeated-member")),
            (r#"{"a":1,"a":2}"#, Some("repeated-member")),
            (r#"{"a":1,"a":2}"#, Some("repeated-member")),
            (r#"{"ab":1,"":2}"#, None),
            (r#"{"a":1,"b":2}"#, None),
            (r#"{"a":[{"b":1,"b":1}],"b":2}"#, Some("repeated-member")),
            (r#"{"\u0061":1,"b":2}"#, None),
            (r#"{"\u0061":1,"b":2,"a":3}"#, Some("repeated-member")),
            ("{}", None),
            (r#"{"b":2,"a":1}"#, None),
        ] {
            let found = parse(text, &mut tape).err().map(|refusal| refusal.code.code());
            assert_eq!(found, code, "{text}");
        }
    }
}

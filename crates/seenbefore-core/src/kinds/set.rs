//! Kind `set`: values of one kind whose order and repeats do not count.

use super::declared::item_kind;
use super::{Context, FieldKind, Presence, write, wrong_type};
use crate::error::Refusal;
use crate::json::{Kind, Value};
use crate::ruleset::Settings;

/// # Takes
/// A list. `of` is the kind of its items, as in `list`.
/// # Canonical form
/// The list of the items' canonical forms, absent items and repeats dropped, sorted by the bytes of their exact canonical JSON.
/// # Absent
/// An empty list, and a list of nothing but absent items.
/// # Refuses
/// Other JSON types: `wrong-type`; and what the items' kind refuses.
#[derive(Debug)]
pub struct Set {
    of: Box<dyn FieldKind>,
}

impl Set {
    pub(super) fn from_settings(settings: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(Self { of: item_kind(settings) })
    }
}

impl FieldKind for Set {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        if value.kind() != Kind::Array {
            return Err(wrong_type(value.kind(), "a list"));
        }
        let mut items: Vec<Vec<u8>> = Vec::new();
        for item in value.elements() {
            let mut form = Vec::new();
            if write(&*self.of, item, context, &mut form)? == Presence::Present {
                items.push(form);
            }
        }
        if items.is_empty() {
            return Ok(Presence::Absent);
        }
        let as_given = context.recorder.is_some().then(|| joined(&items));
        items.sort_unstable();
        items.dedup();
        let form = joined(&items);
        if let (Some(record), Some(before)) = (context.recorder.as_deref_mut(), as_given)
            && before != form
        {
            record("set", &String::from_utf8_lossy(&before), &String::from_utf8_lossy(&form));
        }
        out.extend_from_slice(&form);
        Ok(Presence::Present)
    }

    fn rounds(&self) -> bool {
        self.of.rounds()
    }
}

fn joined(items: &[Vec<u8>]) -> Vec<u8> {
    [b"[".as_slice(), &items.join(&b','), b"]"].concat()
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{form, steps};

    #[test]
    fn order_and_repeats_do_not_count() {
        for (settings, given, expected) in [
            ("", "[\"b\", \"A\", \"B\", null, \"\"]", "[\"a\",\"b\"]"),
            ("", "[10, 9, \"9\", true, [1], {\"a\":1}]", "[\"9\",10,9,[1],true,{\"a\":1}]"),
            ("of = \"integer\"", "[\"1\", 1.0, 1e0]", "[1]"),
            ("of = \"name\"", "[\"\u{ffff}\", \"\u{10000}\"]", "[\"\u{ffff}\",\"\u{10000}\"]"),
            ("of = { kind = \"set\" }", "[[2,1],[1,2],[]]", "[[1,2]]"),
            ("", "[]", "absent"),
            ("", "[null]", "absent"),
            ("", "5", "wrong-type"),
        ] {
            assert_eq!(form("set", settings, given), expected, "{settings} {given}");
        }
    }

    #[test]
    fn sorting_is_told() {
        assert_eq!(steps("set", "of = \"integer\"", "[2, 1, 2]"), ["set: [2,1,2] > [1,2]"]);
        assert!(steps("set", "of = \"integer\"", "[1, 2]").is_empty());
    }
}

//! Kind `object`: members, each of a kind of its own.

use super::declared::{declared_in, undeclared};
use super::nested::write_object;
use super::{Context, FieldKind, Presence, write, wrong_type};
use crate::error::Refusal;
use crate::json::{Kind, Value as Json};
use crate::ruleset::Settings;
use std::collections::BTreeMap;

/// # Takes
/// An object. `members` declares members as `[fields]` of a ruleset declares fields (`members = { isbn = { kind = "isbn" } }`); other
/// members are `auto`.
/// # Canonical form
/// The object of present members in canonical form, their names unchanged.
/// # Absent
/// An object of nothing but absent members.
/// # Refuses
/// Other JSON types: `wrong-type`; and what the members' kinds refuse, in canonical order of the names.
#[derive(Debug)]
pub struct Object {
    fields: BTreeMap<String, Box<dyn FieldKind>>,
    other: Box<dyn FieldKind>,
}

impl Object {
    pub(super) fn from_settings(settings: &mut Settings<'_>) -> Box<dyn FieldKind> {
        let (members, read) = declared_in(settings, "members");
        let stated = (!read.stated.is_empty()).then_some(read.stated);
        settings.note_table("members", read.in_force, stated);
        let fields = members.into_iter().map(|member| (member.name, member.kind)).collect();
        Box::new(Self { fields, other: undeclared(settings) })
    }
}

impl FieldKind for Object {
    fn write(&self, value: Json<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        if value.kind() != Kind::Object {
            return Err(wrong_type(value.kind(), "an object"));
        }
        write_object(value, context, out, |name, member, context, out| {
            let kind = self.fields.get(name).unwrap_or(&self.other);
            write(&**kind, member, context, out)
        })
    }

    fn rounds(&self) -> bool {
        self.other.rounds() || self.fields.values().any(|kind| kind.rounds())
    }
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{form, mistakes};

    #[test]
    fn members_have_kinds_of_their_own() {
        let fields = "members = { sku = { kind = \"code\" }, \"n\" = { kind = \"integer\" }, t = {} }";
        for (settings, given, expected) in [
            ("", "{\"b\": \"X\", \"a\": 1.0, \"gone\": null, \"B\": []}", "{\"a\":1,\"b\":\"x\"}"),
            (
                fields,
                "{\"sku\": \"SKU-1\", \"n\": \"5\", \"t\": 7, \"u\": \"7\"}",
                "{\"n\":5,\"sku\":\"sku1\",\"t\":\"7\",\"u\":\"7\"}",
            ),
            (fields, "{\"sku\": \" \", \"n\": null}", "absent"),
            (fields, "{\"sku\": true, \"n\": \"x\"}", "bad-number"),
            ("", "{}", "absent"),
            ("", "[]", "wrong-type"),
            ("", "\"{}\"", "wrong-type"),
            (
                "members = { o = { kind = \"object\", members = { i = { kind = \"issn\" } } } }",
                "{\"o\":{\"i\":\"2434-561x\"}}",
                "{\"o\":{\"i\":\"2434561X\"}}",
            ),
        ] {
            assert_eq!(form("object", settings, given), expected, "{settings} {given}");
        }
    }

    #[test]
    fn mistakes_have_their_path() {
        assert!(
            mistakes("kind = \"object\"\nmembers = { a = { kind = \"cod\" } }")[0]
                .starts_with("fields.v.members.a.kind: ")
        );
        assert!(mistakes("kind = \"object\"\nmembers = { a = \"code\" }")[0].starts_with("fields.v.members.a: "));
        assert!(mistakes("kind = \"object\"\nmember = {}")[0].contains("did you mean \"members\""));
    }
}

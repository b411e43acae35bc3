//! Kind `object`: members, each of a kind of its own.

use super::declared::{declared, undeclared, write_item};
use super::{Context, FieldKind, Presence, wrong_type};
use crate::canonicalise::{sorted_members, write_string};
use crate::error::Refusal;
use crate::json::{Kind, Value as Json};
use crate::ruleset::Settings;
use std::collections::BTreeMap;
use toml::{Table, Value};

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
        let mut fields = BTreeMap::new();
        let (mut in_force, mut stated) = (Table::new(), Table::new());
        for (name, value) in settings.table("members").into_iter().flatten() {
            let path = format!("members.{name}");
            let Value::Table(table) = value else {
                settings.wrong(&path, "a table such as { kind = \"code\" }", value, ());
                continue;
            };
            let mut within = settings.within(&path, table);
            let Some((_, kind)) = declared(&mut within) else { continue };
            let read = within.finish();
            fields.insert(name.clone(), kind);
            in_force.insert(name.clone(), Value::Table(read.in_force));
            stated.insert(name.clone(), Value::Table(read.stated));
        }
        let stated = (!stated.is_empty()).then_some(stated);
        settings.note_table("members", in_force, stated);
        Box::new(Self { fields, other: undeclared(settings) })
    }
}

impl FieldKind for Object {
    fn write(&self, value: Json<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        if value.kind() != Kind::Object {
            return Err(wrong_type(value.kind(), "an object"));
        }
        let mut presence = Presence::Absent;
        out.push(b'{');
        for (name, member) in sorted_members(value) {
            let start = out.len();
            if presence == Presence::Present {
                out.push(b',');
            }
            write_string(&name, out);
            out.push(b':');
            let kind = self.fields.get(&*name).unwrap_or(&self.other);
            if write_item(&**kind, member, context, out)? == Presence::Present {
                presence = Presence::Present;
            } else {
                out.truncate(start);
            }
        }
        out.push(b'}');
        Ok(presence)
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

//! Kind `list`: values of one kind, in their order.

use super::declared::item_kind;
use super::nested::write_list;
use super::{Context, FieldKind, Presence, write, wrong_type};
use crate::error::Refusal;
use crate::json::{Kind, Value};
use crate::ruleset::Settings;

/// # Takes
/// A list. `of` names the kind of its items (`of = "code"`), or is a table with the kind and its settings
/// (`of = { kind = "text", casefold = false }`); without it they are `auto`.
/// # Canonical form
/// The list of the items' canonical forms in their order, absent items as null.
/// # Absent
/// An empty list, and a list of nothing but absent items.
/// # Refuses
/// Other JSON types: `wrong-type`; and what the items' kind refuses.
#[derive(Debug)]
pub struct List {
    of: Box<dyn FieldKind>,
}

impl List {
    pub(super) fn from_settings(settings: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(Self { of: item_kind(settings) })
    }
}

impl FieldKind for List {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        if value.kind() != Kind::Array {
            return Err(wrong_type(value.kind(), "a list"));
        }
        write_list(value, context, out, |item, context, out| write(&*self.of, item, context, out))
    }

    fn rounds(&self) -> bool {
        self.of.rounds()
    }
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{form, mistakes};

    #[test]
    fn order_and_gaps_count() {
        for (settings, given, expected) in [
            ("", "[\"B\", 1.0, null, \" \", true]", "[\"b\",1,null,null,true]"),
            ("of = \"code\"", "[\"SKU-1\", 5]", "[\"sku1\",\"5\"]"),
            ("of = { kind = \"text\", casefold = false }", "[\"B\", \"a\"]", "[\"B\",\"a\"]"),
            ("of = { kind = \"list\", of = \"integer\" }", "[[\"1\"], [null], []]", "[[1],null,null]"),
            ("", "[]", "absent"),
            ("", "[null, \"\", []]", "absent"),
            ("", "\"a\"", "wrong-type"),
            ("", "{}", "wrong-type"),
            ("of = \"integer\"", "[1, 1.5]", "wrong-type"),
        ] {
            assert_eq!(form("list", settings, given), expected, "{settings} {given}");
        }
    }

    #[test]
    fn the_kind_of_the_items_is_checked() {
        let found = mistakes("kind = \"list\"\nof = \"cod\"");
        assert!(
            found[0].starts_with("fields.v.of.kind: \"cod\" is none of") && found[0].contains("did you mean \"code\""),
            "{found:?}"
        );
        assert!(mistakes("kind = \"list\"\nof = 5")[0].starts_with("fields.v.of: "));
        assert!(
            mistakes("kind = \"list\"\nof = { kind = \"id\", casefold = true }")[0]
                .starts_with("fields.v.of.casefold: is not a setting here")
        );
    }
}

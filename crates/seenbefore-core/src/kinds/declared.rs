//! A kind from the table that declares it: `[fields.NAME]`, `of` of a list, a member's table of an object.

use super::float::{Rounded, places};
use super::{Auto, FieldKind, KINDS};
use crate::ruleset::{Read, Scope, Settings};
use toml::{Table, Value};

/// The name and the kind that the table `settings` declares; none, with the mistakes noted, where there is no such kind.
///
/// `float` holds for everything in the field for which no table within says otherwise.
fn declared(settings: &mut Settings<'_>) -> Option<(&'static str, Box<dyn FieldKind>)> {
    let kinds: Vec<&'static str> = KINDS.iter().map(|(kind, _)| *kind).collect();
    let kind = settings.choice("kind", &kinds, "text");
    let scope = settings.scope();
    let places = places(settings).or(scope.places);
    settings.set_scope(Scope { places, ..scope });
    let (_, constructor) = KINDS.iter().find(|(known, _)| *known == kind)?;
    let made = constructor(settings);
    // The kinds of what stands in them round for themselves; auto is rounded as a whole.
    let passes_on = matches!(kind, "list" | "set" | "object");
    Some((kind, if passes_on { made } else { rounded(made, settings.scope()) }))
}

/// The kinds that the tables in `section` declare, by name in the order of the text, and what the section was read as.
pub fn declared_in(settings: &mut Settings<'_>, section: &'static str) -> (Vec<Declared>, Read) {
    let (mut found, mut all) = (Vec::new(), Read::default());
    for (name, value) in settings.table(section).into_iter().flatten() {
        let path = format!("{section}.{name}");
        let Value::Table(table) = value else {
            settings.wrong(&path, "a table such as { kind = \"code\" }", value, ());
            continue;
        };
        let mut within = settings.within(&path, table);
        let Some((kind_name, kind)) = declared(&mut within) else { continue };
        let read = within.finish();
        all.in_force.insert(name.clone(), Value::Table(read.in_force));
        all.stated.insert(name.clone(), Value::Table(read.stated));
        found.push(Declared { name: name.clone(), kind_name, kind });
    }
    (found, all)
}

/// A kind that a table declares for a name.
pub struct Declared {
    /// The field's or member's name.
    pub name: String,
    /// The kind's name.
    pub kind_name: &'static str,
    /// The kind with its settings.
    pub kind: Box<dyn FieldKind>,
}

/// A kind that takes binary floats where the scope says how to round them.
fn rounded(kind: Box<dyn FieldKind>, scope: Scope) -> Box<dyn FieldKind> {
    match scope.places {
        Some(places) => Box::new(Rounded::new(kind, places)),
        None => kind,
    }
}

/// What undeclared values in a field are.
pub(super) fn undeclared(settings: &mut Settings<'_>) -> Box<dyn FieldKind> {
    rounded(Auto::from_settings(settings), settings.scope())
}

/// The kind of a list's items: setting `of`, a kind's name or its table; `auto` where it is not given.
pub(super) fn item_kind(settings: &mut Settings<'_>) -> Box<dyn FieldKind> {
    let named;
    let table = match settings.ask("of") {
        None => return undeclared(settings),
        Some(Value::String(kind)) => {
            named = Table::from_iter([("kind".to_owned(), Value::String(kind.clone()))]);
            &named
        }
        Some(Value::Table(table)) => table,
        Some(other) => {
            return settings.wrong(
                "of",
                "the name of a kind, or a table such as { kind = \"code\" },",
                other,
                Box::new(Auto::folding()),
            );
        }
    };
    let mut within = settings.within("of", table);
    let made = declared(&mut within);
    let read = within.finish();
    // An empty table declares the kind `text`, so it is stated; auto without settings is what stands without it.
    let default = read.stated.len() == 1 && matches!(made, Some(("auto", _)));
    settings.note_table("of", read.in_force, (!default).then_some(read.stated));
    made.map_or_else(|| undeclared(settings), |(_, kind)| kind)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test stops where it finds something wrong
mod tests {
    use crate::json::{Builder, Kind};
    use crate::kinds::tests::{fingerprinted, form_built, form_under_star};

    #[test]
    fn undeclared_strings_keep_their_case_where_everything_is_identity() {
        for (settings, value, expected) in [
            ("kind = \"auto\"", "[\"B\"]", "[\"B\"]"),
            ("kind = \"set\"", "[\"b\",\"B\"]", "[\"B\",\"b\"]"),
            ("kind = \"list\"\nof = \"text\"", "[\"B\"]", "[\"b\"]"),
            (
                "kind = \"object\"\nmembers = { t = {} }",
                "{\"t\":\"T\",\"u\":{\"w\":\"W\"}}",
                "{\"t\":\"t\",\"u\":{\"w\":\"W\"}}",
            ),
        ] {
            assert_eq!(form_under_star(settings, &format!("{{\"v\":{value}}}")), expected, "{settings}");
        }
    }

    #[test]
    fn a_table_within_may_round_otherwise() {
        let two = |builder: &mut Builder| {
            builder.open(Kind::Array).unwrap();
            builder.token(Kind::Float, "0.125");
            builder.open(Kind::Array).unwrap();
            builder.token(Kind::Float, "2.5");
            builder.token(Kind::Number, "0.0001");
            builder.close();
            builder.close();
        };
        for (kind, settings, expected) in [
            ("auto", "", "float"),
            ("auto", "float = { places = 2 }", "[0.12,[2.5,0.0001]]"),
            ("list", "float = { places = 0 }", "[0,[2,0.0001]]"),
            ("list", "float = { places = 0 }\nof = { kind = \"auto\", float = { places = 1 } }", "[0.1,[2.5,0.0001]]"),
            ("list", "float = { places = 0 }\nof = \"decimal\"", "wrong-type"),
            ("set", "", "float"),
        ] {
            assert_eq!(form_built(kind, settings, two), expected, "{kind} {settings}");
        }
    }

    #[test]
    fn only_what_differs_from_its_default_is_in_the_fingerprint() {
        for (settings, expected) in [
            ("", "{}"),
            ("kind = \"text\"\ncasefold = true", "{}"),
            ("kind = \"list\"", "{\"kind\":\"list\"}"),
            ("kind = \"list\"\nof = \"auto\"", "{\"kind\":\"list\"}"),
            ("kind = \"list\"\nof = {}", "{\"kind\":\"list\",\"of\":{}}"),
            ("kind = \"set\"\nof = \"code\"", "{\"kind\":\"set\",\"of\":{\"kind\":\"code\"}}"),
            (
                "kind = \"set\"\nof = { kind = \"code\", strip_punctuation = false }",
                "{\"kind\":\"set\",\"of\":{\"kind\":\"code\"}}",
            ),
            ("kind = \"object\"\nmembers = {}", "{\"kind\":\"object\"}"),
            ("kind = \"object\"\nmembers = { a = {} }", "{\"kind\":\"object\",\"members\":{\"a\":{}}}"),
            ("kind = \"decimal\"\nfloat = { places = 2 }", "{\"float\":{\"places\":2},\"kind\":\"decimal\"}"),
            (
                "kind = \"list\"\nof = { kind = \"auto\", float = { places = 0 } }",
                "{\"kind\":\"list\",\"of\":{\"float\":{\"places\":0},\"kind\":\"auto\"}}",
            ),
        ] {
            assert_eq!(fingerprinted(settings), expected, "{settings}");
        }
    }
}

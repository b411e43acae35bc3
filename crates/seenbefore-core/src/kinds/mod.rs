//! Field kinds: what counts as the same value of a field, one file a kind.
//!
//! To add one: write its file with a constructor from [`Settings`], add its row to [`KINDS`], its vectors to
//! `spec/vectors/`, and its section to `spec/keys-1.md`.

mod auto;
mod boolean;
mod check_digit;
mod code;
mod date;
mod decimal;
mod declared;
mod entities;
mod float;
mod gtin;
mod id;
mod integer;
mod isbn;
mod issn;
mod list;
mod money;
mod name;
mod nested;
mod object;
mod set;
mod text;
mod timestamp;
mod url;

#[cfg(test)]
mod tests;

pub use auto::Auto;
pub use declared::{Declared, declared_in};
pub(crate) use float::holds_float;
pub use money::LIST_DATE as CURRENCY_LIST_DATE;

use crate::decimal::Decimal;
use crate::error::{Code, Problems, Refusal};
use crate::json::{Kind, Value};
use crate::normalise::{Scratch, trim_spaces};
use crate::ruleset::Settings;
use crate::urls::UrlRules;
use std::borrow::Cow;
use std::fmt;

/// Whether a value is there at all, once in its canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The canonical form was appended to the output.
    Present,
    /// Null, empty or blank: the same as not being there. What was appended to the output is to be cut off.
    Absent,
}

/// Called with a step's name and the text before and after it.
pub type Recorder<'a> = dyn FnMut(&'static str, &str, &str) + 'a;

/// What a kind may use beside the value itself.
pub struct Context<'a> {
    /// Reused buffers.
    pub work: &'a mut Work,
    /// Remarks for the receipt.
    pub problems: &'a mut Problems,
    /// The whole record, for kinds that need a second member of it.
    pub record: Value<'a>,
    /// The ruleset's URL rules.
    pub urls: &'a UrlRules,
    /// Told of each step where somebody wants an explanation.
    pub recorder: Option<&'a mut Recorder<'a>>,
}

/// Buffers that are kept from record to record, so that a field allocates nothing.
#[derive(Debug, Default)]
pub struct Work {
    /// For the text steps.
    pub scratch: Scratch,
    /// Holds a normalised text.
    pub text: String,
    /// Holds a number's plain spelling.
    pub number: Vec<u8>,
    /// Whether numbers are taken for spellings of binary floats where their kind rounds those.
    pub as_floats: bool,
}

/// One kind with its settings.
pub trait FieldKind: fmt::Debug + Send + Sync {
    /// Appends the value's canonical form to `out` as JSON. `value` is never null.
    ///
    /// # Errors
    /// A value that this kind refuses.
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal>;

    /// Whether binary floats in such a value, or in a part of it, count as the decimals that they round to.
    fn rounds(&self) -> bool {
        false
    }
}

/// Makes a kind from its settings; mistakes are noted in the settings.
type Constructor = fn(&mut Settings<'_>) -> Box<dyn FieldKind>;

/// Every kind by name, in the order of `spec/keys-1.md`.
pub const KINDS: &[(&str, Constructor)] = &[
    ("text", text::Text::from_settings),
    ("name", name::Name::from_settings),
    ("id", id::Id::from_settings),
    ("code", code::CodeKind::from_settings),
    ("isbn", isbn::Isbn::from_settings),
    ("issn", issn::Issn::from_settings),
    ("gtin", gtin::Gtin::from_settings),
    ("integer", integer::Integer::from_settings),
    ("decimal", decimal::DecimalKind::from_settings),
    ("money", money::Money::from_settings),
    ("timestamp", timestamp::Timestamp::from_settings),
    ("date", date::Date::from_settings),
    ("boolean", boolean::Boolean::from_settings),
    ("url", url::Url::from_settings),
    ("list", list::List::from_settings),
    ("set", set::Set::from_settings),
    ("object", object::Object::from_settings),
    ("auto", Auto::from_settings),
];

/// Appends a value's canonical form. Null and blank strings are absent under every kind.
///
/// # Errors
/// As [`FieldKind::write`].
pub fn write(
    kind: &dyn FieldKind,
    value: Value<'_>,
    context: &mut Context<'_>,
    out: &mut Vec<u8>,
) -> Result<Presence, Refusal> {
    if value.kind() == Kind::Null || is_blank(value) { Ok(Presence::Absent) } else { kind.write(value, context, out) }
}

/// True for a string of nothing but spaces. What cannot begin with one is not looked at further.
fn is_blank(value: Value<'_>) -> bool {
    let may_be = |first: u8| first <= b' ' || first == b'\\' || !first.is_ascii();
    value.kind() == Kind::String
        && value.raw().bytes().next().is_none_or(may_be)
        && trim_spaces(&value.string()).is_empty()
}

/// The text of a string, or a number's exact decimal: what the text-like kinds take.
fn spelling<'a>(value: Value<'a>, number: &'a mut Vec<u8>) -> Result<Cow<'a, str>, Refusal> {
    match value.kind() {
        Kind::String => Ok(value.string()),
        Kind::Number => {
            number.clear();
            Decimal::read(value.raw())?.write_plain(number)?;
            Ok(String::from_utf8_lossy(number))
        }
        other => Err(wrong_type(other, "text or a number")),
    }
}

/// The refusal of a JSON type that a kind does not take.
fn wrong_type(found: Kind, wanted: &str) -> Refusal {
    let found = match found {
        Kind::Float => {
            return Refusal::line(
                Code::Float,
                "a binary float cannot be hashed; give a Decimal or text, or declare how to round it",
            );
        }
        Kind::Null => "null",
        Kind::True | Kind::False => "true or false",
        Kind::Number => "a number",
        Kind::String => "text",
        Kind::Array => "a list",
        Kind::Object => "an object",
    };
    Refusal::line(Code::WrongType, format!("{found} where {wanted} is needed"))
}

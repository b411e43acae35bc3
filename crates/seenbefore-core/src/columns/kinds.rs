//! What a column holds, and the narrowest type that holds all of it exactly.

use crate::json::{Kind, Value};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Strings alone, or nothing.
    Text,
    /// `true` and `false`.
    Boolean,
    /// Whole numbers of 64 bits.
    Integer,
    /// Decimals with so many digits, so many of them behind the point.
    Decimal(usize, usize),
    /// Numbers as they are spelled: too long, or with an exponent.
    Spelling,
    /// JSON text: lists, objects, or values of several types.
    Json,
}

/// The most digits of a decimal of 256 bits.
const MAX_DIGITS: usize = 76;

/// What was seen in a column.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // a set of what was seen, each on its own
pub(super) struct Held {
    text: bool,
    truth: bool,
    nested: bool,
    number: bool,
    /// A number with an exponent.
    exponent: bool,
    /// A number that is not a whole one of 64 bits.
    other: bool,
    whole: usize,
    fraction: usize,
}

impl Held {
    pub fn see(&mut self, value: Value<'_>) {
        match value.kind() {
            Kind::Null => {}
            Kind::True | Kind::False => self.truth = true,
            Kind::String => self.text = true,
            Kind::Array | Kind::Object => self.nested = true,
            Kind::Number | Kind::Float => self.see_number(value.raw()),
        }
    }

    fn see_number(&mut self, number: &str) {
        self.number = true;
        self.exponent |= number.bytes().any(|byte| matches!(byte, b'e' | b'E'));
        self.other |= number.parse::<i64>().is_err();
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        self.whole = self.whole.max(whole.trim_start_matches('-').len());
        self.fraction = self.fraction.max(fraction.len());
    }

    pub fn as_type(&self) -> Type {
        match (self.text, self.truth, self.number, self.nested) {
            (_, false, false, false) => Type::Text,
            (false, true, false, false) => Type::Boolean,
            (false, false, true, false) if !self.other => Type::Integer,
            (false, false, true, false) if self.exponent || self.whole + self.fraction > MAX_DIGITS => Type::Spelling,
            (false, false, true, false) => Type::Decimal(self.whole + self.fraction, self.fraction),
            _ => Type::Json,
        }
    }
}

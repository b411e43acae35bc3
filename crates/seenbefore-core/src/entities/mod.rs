//! Character references decoded once, where the ruleset says that a field holds HTML text (HTML Standard §13.2.5.72 to .80).
//!
//! This is the boundary, not normalisation: nothing here runs unless `[boundary.NAME] entities = "decode"` is said.

mod table;

use crate::error::Refusal;
use crate::json::{Builder, Kind, Tape, Value};
use std::borrow::Cow;
use table::NAMES;

/// The longest name of the table, its `;` included.
const LONGEST: usize = 32;

/// What numeric references to C1 controls mean: windows-1252 (HTML Standard §13.2.5.80); 0 where they mean themselves.
const C1: [u16; 32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D,
    0, //
    0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
    0x0178,
];

/// Where a text stands in HTML: in attributes a name without `;` before `=`, a letter or a digit is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Text between tags.
    Text,
    /// An attribute's value, such as a link.
    Attribute,
}

/// Decodes every character reference in `text`, once. What a reference gives is not looked at again.
#[must_use]
pub fn decode(text: &str, place: Place) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let mut from = 0;
    for at in memchr::memchr_iter(b'&', text.as_bytes()) {
        let after = text.get(at + 1..).unwrap_or_default();
        if let Some((decoded, length)) = reference(after, place) {
            let out = out.get_or_insert_with(|| String::with_capacity(text.len()));
            out.push_str(text.get(from..at).unwrap_or_default());
            out.push_str(&decoded);
            from = at + 1 + length;
        }
    }
    match out {
        None => Cow::Borrowed(text),
        Some(mut out) => {
            out.push_str(text.get(from..).unwrap_or_default());
            Cow::Owned(out)
        }
    }
}

/// The value with every string in it decoded, as text and tape of its own; none where nothing would change.
///
/// # Errors
/// As [`Builder::open`] and [`Builder::finish`].
pub fn decode_value(value: Value<'_>, place: Place) -> Result<Option<(String, Tape)>, Refusal> {
    if memchr::memchr(b'&', value.source().as_bytes()).is_none() && !value.source().contains("\\u0026") {
        return Ok(None);
    }
    let mut builder = Builder::new();
    rebuild(value, place, &mut builder)?;
    builder.finish().map(Some)
}

fn rebuild(value: Value<'_>, place: Place, builder: &mut Builder) -> Result<(), Refusal> {
    match value.kind() {
        Kind::String => builder.string(&decode(&value.string(), place)),
        Kind::Array => {
            builder.open(Kind::Array)?;
            for element in value.elements() {
                rebuild(element, place, builder)?;
            }
            builder.close();
        }
        Kind::Object => {
            builder.open(Kind::Object)?;
            for (name, member) in value.members() {
                builder.string(&name.string());
                rebuild(member, place, builder)?;
            }
            builder.close();
        }
        kind => builder.token(kind, value.raw()),
    }
    Ok(())
}

/// What the reference at the start of `after` (the text after `&`) stands for, and its length.
fn reference(after: &str, place: Place) -> Option<(Cow<'static, str>, usize)> {
    match after.as_bytes() {
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16, 2),
        [b'#', digits @ ..] => number(digits, 10, 1),
        bytes => named(after, bytes, place),
    }
}

fn number(bytes: &[u8], radix: u32, before: usize) -> Option<(Cow<'static, str>, usize)> {
    let digits = bytes.iter().map_while(|byte| char::from(*byte).to_digit(radix));
    let count = digits.clone().count();
    if count == 0 {
        return None;
    }
    let code = digits.fold(0_u32, |sum, digit| sum.saturating_mul(radix).saturating_add(digit));
    let code = match code {
        0x80..=0x9F => {
            C1.get(code as usize - 0x80).filter(|mapped| **mapped != 0).map_or(code, |mapped| u32::from(*mapped))
        }
        code => code,
    };
    // Zero, surrogates and numbers beyond Unicode are U+FFFD by the standard.
    let scalar = char::from_u32(code).filter(|scalar| *scalar != '\0').unwrap_or('\u{FFFD}');
    let semicolon = usize::from(bytes.get(count) == Some(&b';'));
    Some((Cow::Owned(scalar.to_string()), before + count + semicolon))
}

fn named(after: &str, bytes: &[u8], place: Place) -> Option<(Cow<'static, str>, usize)> {
    let letters = bytes.iter().take(LONGEST).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let longest = letters + usize::from(bytes.get(letters) == Some(&b';'));
    let (name, value) = (1..=longest).rev().find_map(|length| {
        let name = after.get(..length)?;
        NAMES.binary_search_by(|(known, _)| (*known).cmp(name)).ok().and_then(|at| NAMES.get(at))
    })?;
    let next = bytes.get(name.len());
    let continues = next.is_some_and(|next| *next == b'=' || next.is_ascii_alphanumeric());
    if place == Place::Attribute && !name.ends_with(';') && continues {
        return None;
    }
    Some((Cow::Borrowed(value), name.len()))
}

#[cfg(test)]
mod tests {
    use super::table::NAMES;
    use super::{LONGEST, Place, decode};

    #[test]
    fn the_table_is_sorted_and_its_names_are_short_enough() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(NAMES.iter().map(|(name, _)| name.len()).max(), Some(LONGEST));
        assert_eq!(NAMES.len(), 2_231);
    }

    #[test]
    fn decodes_once() {
        for (text, expected) in [
            ("AT&amp;T", "AT&T"),
            ("&amp;amp;", "&amp;"),
            ("&lt;b&gt;", "<b>"),
            ("&ampx", "&x"),
            ("&notit;", "\u{ac}it;"),
            ("&notin;", "\u{2209}"),
            ("&#65;&#x42;&#X43", "ABC"),
            ("&#128;", "\u{20ac}"),
            ("&#0;", "\u{fffd}"),
            ("&#xD800;", "\u{fffd}"),
            ("&#99999999999;", "\u{fffd}"),
            ("&#;", "&#;"),
            ("&#x;", "&#x;"),
            ("& &", "& &"),
            ("&unknown;", "&unknown;"),
            ("&CounterClockwiseContourIntegral;", "\u{2233}"),
            ("&", "&"),
        ] {
            assert_eq!(decode(text, Place::Text), expected, "{text}");
        }
    }

    #[test]
    fn leaves_names_inside_links_alone() {
        let link = "?a=1&copy=2&reg=3&amp;x=4&copy";
        assert_eq!(decode(link, Place::Attribute), "?a=1&copy=2&reg=3&x=4\u{a9}");
        assert_eq!(decode(link, Place::Text), "?a=1\u{a9}=2\u{ae}=3&x=4\u{a9}");
    }
}

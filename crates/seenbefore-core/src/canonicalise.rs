//! Exact canonical JSON: the layout of RFC 8785, with numbers as their exact decimal.
//!
//! Members are sorted by UTF-16 code units (RFC 8785 §3.2.3), there is no white space, and strings have the escapes of §3.2.2.2.

use crate::decimal::Decimal;
use crate::error::{Code, Refusal};
use crate::json::{Kind, Value, plain_until};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Writes `text` as a JSON string (RFC 8785 §3.2.2.2): only `"`, `\` and controls below U+0020 are escaped.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    write_inside(text, out);
    out.push(b'"');
}

fn write_inside(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        let plain = plain_until(bytes, at);
        out.extend_from_slice(bytes.get(at..plain).unwrap_or_default());
        let Some(byte) = bytes.get(plain) else { return };
        at = plain + 1;
        write_escape(*byte, out);
    }
}

/// Writes the escape of `"`, `\` or a control below U+0020.
pub fn write_escape(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        0x08 => out.extend_from_slice(b"\\b"),
        0x09 => out.extend_from_slice(b"\\t"),
        0x0A => out.extend_from_slice(b"\\n"),
        0x0C => out.extend_from_slice(b"\\f"),
        0x0D => out.extend_from_slice(b"\\r"),
        control => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
    }
}

/// The order of member names: by UTF-16 code units (RFC 8785 §3.2.3).
///
/// It differs from the order of UTF-8 bytes only where a name outside the BMP meets one in U+E000–U+FFFF.
#[must_use]
pub fn compare_names(a: &str, b: &str) -> Ordering {
    // Where two texts first differ stand lead bytes, or continuation bytes after the same lead. Leads from F0 on are surrogate
    // pairs in UTF-16 (D800-DFFF): after ED, before EE. Everything else is in the same order in both.
    let rank = |lead: u8| if lead >= 0xF0 { (0xED, lead) } else { (lead, 0) };
    match a.bytes().zip(b.bytes()).find(|(a, b)| a != b) {
        Some((a, b)) => rank(a).cmp(&rank(b)),
        None => a.len().cmp(&b.len()),
    }
}

/// Writes a value unnormalised: strings as they are, numbers exact. A number too long to write out keeps an exponent.
///
/// # Errors
/// `number-too-long` for an exponent of more than 18 digits.
pub fn write_value(value: Value<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    match value.kind() {
        Kind::Null | Kind::True | Kind::False => out.extend_from_slice(value.raw().as_bytes()),
        Kind::Number | Kind::Float => Decimal::read(value.raw())?.write_any(out),
        Kind::String => write_read(value, out),
        Kind::Array => {
            out.push(b'[');
            for (index, element) in value.elements().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_value(element, out)?;
            }
            out.push(b']');
        }
        Kind::Object => write_members(value, |_| true, out)?,
    }
    Ok(())
}

/// Writes an object with only those members whose name `wanted` accepts.
///
/// # Errors
/// As [`write_value`].
pub fn write_members(object: Value<'_>, wanted: impl Fn(&str) -> bool, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let mut first = true;
    let mut write = |name: Value<'_>, value: Value<'_>, out: &mut Vec<u8>| {
        if wanted(&name.string()) {
            if !first {
                out.push(b',');
            }
            first = false;
            write_read(name, out);
            out.push(b':');
            write_value(value, out)?;
        }
        Ok(())
    };
    out.push(b'{');
    if let Some(order) = object.order(compare_names) {
        for (name, value) in order.iter().filter_map(|place| object.member(*place)) {
            write(name, value, out)?;
        }
    } else {
        for (name, value) in sorted(object) {
            write(name, value, out)?;
        }
    }
    out.push(b'}');
    Ok(())
}

/// Writes a string that was read. Without escapes it is written as it stands: there is nothing in it to escape.
fn write_read(string: Value<'_>, out: &mut Vec<u8>) {
    let Some(inside) = string.unescaped() else { return write_string(&string.string(), out) };
    out.push(b'"');
    out.extend_from_slice(inside.as_bytes());
    out.push(b'"');
}

/// An object's members in canonical order, names read.
#[must_use]
pub fn sorted_members(object: Value<'_>) -> Vec<(Cow<'_, str>, Value<'_>)> {
    sorted(object).map(|(name, value)| (name.string(), value)).collect()
}

fn sorted(object: Value<'_>) -> impl Iterator<Item = (Value<'_>, Value<'_>)> {
    let mut members: Vec<_> = object.members().map(|(name, value)| (name.string(), (name, value))).collect();
    members.sort_unstable_by(|a, b| compare_names(&a.0, &b.0));
    members.into_iter().map(|(_, member)| member)
}

/// Exact canonical JSON of any value, as [`write_value`] but with plain numbers only.
///
/// # Errors
/// `number-too-long`; `float` for a binary floating-point value.
pub fn canonical_json(value: Value<'_>) -> Result<Vec<u8>, Refusal> {
    refuse_inexact(value)?;
    let mut out = Vec::new();
    write_value(value, &mut out)?;
    Ok(out)
}

fn refuse_inexact(value: Value<'_>) -> Result<(), Refusal> {
    match value.kind() {
        Kind::Float => Err(Refusal::line(Code::Float, "a binary float; give a Decimal or text")),
        Kind::Number => Decimal::read(value.raw())?.write_plain(&mut Vec::new()),
        Kind::Array => value.elements().try_for_each(refuse_inexact),
        Kind::Object => value.members().try_for_each(|(_, member)| refuse_inexact(member)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{compare_names, write_value};
    use crate::json::{Tape, parse};
    use proptest::prelude::*;

    proptest! {
        /// The record's own members come out in the order of their names, whatever was read before; objects within, too.
        #[test]
        fn members_are_in_order(records in prop::collection::vec(prop::collection::btree_map("[ab\u{FB33}\u{1F600}]{1,2}", 0..9_u8, 0..5), 1..6)) {
            let mut tape = Tape::new();
            for record in &records {
                let members: Vec<String> = record.iter().rev().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                let mut sorted: Vec<_> = record.iter().collect();
                sorted.sort_by(|a, b| compare_names(a.0, b.0));
                let sorted: Vec<String> = sorted.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                for (given, expected) in [
                    (format!("{{{}}}", members.join(", ")), format!("{{{}}}", sorted.join(","))),
                    (format!("{{\"x\":{{{}}}}}", members.join(", ")), format!("{{\"x\":{{{}}}}}", sorted.join(","))),
                ] {
                    parse(&given, &mut tape).unwrap();
                    let mut out = Vec::new();
                    write_value(tape.root(&given).unwrap(), &mut out).unwrap();
                    prop_assert_eq!(String::from_utf8(out).unwrap(), expected);
                }
            }
        }

        /// Comparing UTF-8 gives the order of UTF-16 code units.
        #[test]
        fn names_are_in_utf16_order(a in "[a-z\u{7FF}\u{D7FF}\u{E000}\u{FB33}\u{FFFF}\u{10000}\u{1F600}\u{10FFFF}]{0,4}", b in "[a-z\u{7FF}\u{D7FF}\u{E000}\u{FB33}\u{FFFF}\u{10000}\u{1F600}\u{10FFFF}]{0,4}") {
            prop_assert_eq!(compare_names(&a, &b), a.encode_utf16().cmp(b.encode_utf16()));
        }
    }
}

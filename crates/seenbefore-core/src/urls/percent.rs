//! Steps `stray-percent` and `percent-encoding`: one spelling for what is percent-encoded.

use super::parse::Parts;
use std::borrow::Cow;

/// What it folds: a `%` that two hexadecimal digits do not follow becomes `%25`.
///
/// Why: servers read both as a percent sign, and without it a later step could make new escapes out of old pieces.
///
/// Example: `https://e.example/100%` → `https://e.example/100%25`.
///
/// What it must not fold: `%25` and what follows it: nothing is decoded here.
///
/// Since: url/1, from strength `exact`.
pub(super) fn escape_stray(parts: &mut Parts<'_>) {
    each(parts, |text| {
        let stray = |piece: &str| escape(piece).is_none();
        text.split('%').skip(1).any(stray).then(|| {
            join(text, |piece, out| {
                out.push_str(if stray(piece) { "%25" } else { "%" });
                out.push_str(piece);
            })
        })
    });
}

/// What it folds: percent-encoded letters, digits, `-`, `.`, `_` and `~` are decoded; hexadecimal digits are upper case.
///
/// Why: RFC 3986 6.2.2.1 and 6.2.2.2: these spellings are equivalent for every scheme.
///
/// Example: `https://e.example/%7euser/%2fdocs` → `https://e.example/~user/%2Fdocs`.
///
/// What it must not fold: reserved characters (`%2F` is not `/`, `%26` is not `&`); nothing is decoded twice (`%2541`
/// stays).
///
/// Since: url/1, from strength `page`.
pub(super) fn normalise(parts: &mut Parts<'_>) {
    each(parts, |text| {
        let settled = |piece: &str| {
            escape(piece).is_none_or(|(digits, value, _)| {
                !is_unreserved(value) && !digits.bytes().any(|digit| digit.is_ascii_lowercase())
            })
        };
        (!text.split('%').skip(1).all(settled)).then(|| {
            join(text, |piece, out| match escape(piece) {
                Some((_, value, rest)) if is_unreserved(value) => {
                    out.push(char::from(value));
                    out.push_str(rest);
                }
                Some((digits, _, rest)) => {
                    out.push('%');
                    out.extend(digits.chars().map(|digit| digit.to_ascii_uppercase()));
                    out.push_str(rest);
                }
                None => {
                    out.push('%');
                    out.push_str(piece);
                }
            })
        })
    });
}

/// The bytes that `text` stands for: escapes decoded once, and `+` as a space where `plus` says so.
pub(super) fn decode(text: &str, plus: bool) -> Cow<'_, [u8]> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let plain = |text: &str, bytes: &mut Vec<u8>| {
        bytes.extend(text.bytes().map(|byte| if plus && byte == b'+' { b' ' } else { byte }));
    };
    let mut pieces = text.split('%');
    plain(pieces.next().unwrap_or_default(), &mut bytes);
    for piece in pieces {
        if let Some((_, value, rest)) = escape(piece) {
            bytes.push(value);
            plain(rest, &mut bytes);
        } else {
            bytes.push(b'%');
            plain(piece, &mut bytes);
        }
    }
    Cow::Owned(bytes)
}

/// Puts what `change` makes of path, query and fragment in their place. Text without a `%` is not looked at.
fn each(parts: &mut Parts<'_>, change: impl Fn(&str) -> Option<String>) {
    let texts = [Some(&mut parts.path), parts.query.as_mut(), parts.fragment.as_mut()];
    for text in texts.into_iter().flatten().filter(|text| text.contains('%')) {
        if let Some(changed) = change(text) {
            *text = Cow::Owned(changed);
        }
    }
}

/// `text` with what follows each `%` written by `write`, the sign included.
fn join(text: &str, write: impl Fn(&str, &mut String)) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut pieces = text.split('%');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        write(piece, &mut out);
    }
    out
}

/// The two hexadecimal digits after a `%`, their value and what follows; none where they aren't there.
fn escape(piece: &str) -> Option<(&str, u8, &str)> {
    let (digits, rest) = piece.split_at_checked(2)?;
    let mut value = 0_u8;
    for digit in digits.chars() {
        value = value << 4 | u8::try_from(digit.to_digit(16)?).ok()?;
    }
    Some((digits, value, rest))
}

/// RFC 3986 2.3.
const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

//! Step 4 of `text/1`.

use super::TextPolicy;

/// # What it folds
/// Single quotes U+2018 to U+201B become `'`, double quotes U+201C to U+201F become `"`, hyphens and dashes U+2010 to U+2015
/// and the minus sign U+2212 become `-`, the ellipsis U+2026 becomes `...`.
/// # Why
/// Editors and templates restyle these by themselves; the author typed the ASCII sign.
/// # Example
/// `it’s late…` → `it's late...`
/// # What it must not fold
/// Primes (6′ is six feet), guillemets, U+02BB and U+02BC (letters), backtick and acute accent.
/// # Since
/// `text/1`
pub(super) fn typography(input: &str, _: TextPolicy, out: &mut String) {
    for c in input.chars() {
        match plain_sign(c) {
            Some(sign) => out.push_str(sign),
            None => out.push(c),
        }
    }
}

/// The ASCII sign that stands for the typographic one, if `c` is one.
pub(super) const fn plain_sign(c: char) -> Option<&'static str> {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some("-"),
        '\u{2018}'..='\u{201B}' => Some("'"),
        '\u{201C}'..='\u{201F}' => Some("\""),
        '\u{2026}' => Some("..."),
        _ => None,
    }
}

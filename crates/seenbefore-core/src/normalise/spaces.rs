//! Step 2 of `text/1`.

use super::TextPolicy;
use crate::unicode::is_space;

/// # What it folds
/// Every space of the written set (U+0009 to U+000D, U+001C to U+0020, U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028,
/// U+2029, U+202F, U+205F, U+3000) becomes U+0020.
/// # Why
/// Line breaks, no-break and thin spaces are layout. The set is `White_Space` (UAX #44) and the four C0 separators; it is
/// written out because each language has its own idea of a space.
/// # Example
/// `hello` U+00A0 `world` → `hello world`
/// # What it must not fold
/// What only looks blank: U+3164 (a letter), U+2800 (a Braille cell), U+180E (not a space since Unicode 6.3).
/// # Since
/// `text/1`
pub(super) fn spaces(input: &str, _: TextPolicy, out: &mut String) {
    out.extend(input.chars().map(|c| if is_space(c) { ' ' } else { c }));
}

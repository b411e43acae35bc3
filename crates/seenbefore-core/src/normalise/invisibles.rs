//! Step 3 of `text/1`.

use super::TextPolicy;
use crate::unicode::is_invisible;

/// # What it folds
/// Removes the written set of characters that show nothing: U+0000 to U+0008, U+000E to U+001B, U+007F, U+00AD, U+034F,
/// U+061C, U+180E, U+200B, U+200E, U+200F, U+202A to U+202E, U+2060 to U+206F, U+FE0E, U+FE0F, U+FEFF, U+1D173 to U+1D17A,
/// U+E0001.
/// # Why
/// Soft hyphens, byte-order marks, direction marks, zero-width spaces and the choice between text and emoji style come and go
/// with templates and copying; the reader sees the same text.
/// # Example
/// `desk` U+00AD `top` → `desktop`; U+2764 U+FE0F → U+2764
/// # What it must not fold
/// C1 controls and U+FFFD, which are evidence of a damaged text; U+115F, U+1160, U+3164, U+FFA0 and U+2800, which take up
/// room; U+FE00 to U+FE0D and U+E0100 to U+E01EF, which choose another shape of a character. U+200C and U+200D have a step of
/// their own.
/// # Since
/// `text/1`
pub(super) fn invisibles(input: &str, _: TextPolicy, out: &mut String) {
    out.extend(input.chars().filter(|&c| !is_invisible(c)));
}

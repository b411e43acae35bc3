//! Steps 1 and 7 of `text/1`.

use super::TextPolicy;
use crate::unicode::{NFC, NFKC};

/// # What it folds
/// Canonically equivalent spellings: Normalization Form C (UAX #15). With `compatibility = true` also compatibility
/// characters: Normalization Form KC.
/// # Why
/// A letter and its accent may come as one character or as two, depending on the keyboard, the file system or the template;
/// nobody can see which. It comes first because later steps look at whole characters, and again at the end because removing
/// and folding characters can leave a text that is no longer composed.
/// # Example
/// `e` U+0301 → `é`; U+212B → `Å`; with `compatibility` also `x²` → `x2`
/// # What it must not fold
/// Without `compatibility`: superscripts, full-width forms, ligatures, Roman numerals. x² is not x2.
/// # Since
/// `text/1`
pub(super) fn compose(input: &str, policy: TextPolicy, out: &mut String) {
    let form = if policy.compatibility { &NFKC } else { &NFC };
    // Writing to a String cannot fail.
    let _ = form.normalize_to(input, out);
}

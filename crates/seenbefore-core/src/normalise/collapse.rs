//! Step 8 of `text/1`.

use super::TextPolicy;

/// # What it folds
/// Runs of U+0020 become one, and the ends are trimmed.
/// # Why
/// How many spaces stand between two words is layout. It comes last, because removed characters leave spaces side by side.
/// # Example
/// `  one   two ` → `one two`
/// # What it must not fold
/// Whether there is a space at all: `a b` is not `ab`.
/// # Since
/// `text/1`
pub(super) fn collapse(input: &str, _: TextPolicy, out: &mut String) {
    for (nth, word) in input.split(' ').filter(|word| !word.is_empty()).enumerate() {
        if nth > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
}

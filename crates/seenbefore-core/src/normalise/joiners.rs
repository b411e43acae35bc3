//! Step 5 of `text/1`: characters that are content in some contexts and noise in all others.

use super::TextPolicy;
use crate::unicode::{
    JOINER, NON_JOINER, combining_class, is_emoji_modifier, is_joiner, is_pictographic, is_tag, is_transparent,
    is_virama, joins_back, joins_onward,
};

const BLACK_FLAG: char = '\u{1F3F4}';
const CANCEL_TAG: char = '\u{E007F}';

/// # What it folds
/// First removes tag characters outside flags. Then makes of each run of U+200C and U+200D at most one: U+200D where it is
/// allowed and occurs in the run, else U+200C where that is allowed and occurs, else nothing. U+200D is allowed between an
/// `Extended_Pictographic` or emoji modifier and an `Extended_Pictographic` (UTS #51), and after a virama
/// and marks; U+200C after a virama and marks, and between joining letters (RFC 5892 A.1 and A.2, UAX #31 section 2.3).
/// # Why
/// A joiner makes one family out of three people, and a non-joiner keeps two halves of a Persian word apart: that is content.
/// Anywhere else nothing is seen of them.
/// # Example
/// `tab` U+200D `le` → `table`; U+1F468 U+200D U+1F469 stays
/// # What it must not fold
/// Joined emoji, flags made of tags, Persian words written with a non-joiner, Indic conjuncts.
/// # Since
/// `text/1`
pub(super) fn joiners(input: &str, _: TextPolicy, out: &mut String) {
    if input.chars().any(is_tag) {
        let mut untagged = String::with_capacity(input.len());
        drop_stray_tags(input, &mut untagged);
        settle_joiners(&untagged, out);
    } else {
        settle_joiners(input, out);
    }
}

/// Appends `input` without the tag characters that belong to no flag. A flag is U+1F3F4, one or more of U+E0020 to U+E007E,
/// and the first U+E007F (UTS #51 section C.1).
fn drop_stray_tags(input: &str, out: &mut String) {
    let mut rest = input;
    while let Some(c) = rest.chars().next() {
        let kept = if is_tag(c) { 0 } else { c.len_utf8() + if c == BLACK_FLAG { flag_tail(rest) } else { 0 } };
        out.push_str(rest.get(..kept).unwrap_or_default());
        rest = rest.get(kept.max(c.len_utf8())..).unwrap_or_default();
    }
}

/// The length in bytes of the tags that make a flag of the U+1F3F4 at the start of `text`; 0 where it is no flag.
fn flag_tail(text: &str) -> usize {
    let mut length = 0;
    for tag in text.chars().skip(1).take_while(|&c| is_tag(c)) {
        if tag == CANCEL_TAG {
            return if length == 0 { 0 } else { length + tag.len_utf8() };
        }
        length += tag.len_utf8();
    }
    0
}

/// Appends `input` with each run of joiners made into what its context allows. All contexts are read from `input`, so no
/// decision depends on another.
fn settle_joiners(input: &str, out: &mut String) {
    let mut done = 0;
    while let Some(start) = next_joiner(input, done) {
        let (before, run_on) = input.split_at(start);
        let run_length: usize = run_on.chars().take_while(|&c| is_joiner(c)).map(char::len_utf8).sum();
        let (run, after) = run_on.split_at(run_length);
        out.push_str(before.get(done..).unwrap_or_default());
        out.extend(settled(before, run, after));
        done = start + run_length;
    }
    out.push_str(input.get(done..).unwrap_or_default());
}

fn next_joiner(input: &str, from: usize) -> Option<usize> {
    input.get(from..)?.find(is_joiner).map(|at| from + at)
}

/// What stays of a run of joiners between the texts before and after it.
fn settled(before: &str, run: &str, after: &str) -> Option<char> {
    // Marks of other classes may stand between (UAX #31 2.3 A2): looked at only up to the base, whatever order they are in.
    let after_virama = before.chars().rev().take_while(|&c| combining_class(c) != 0).any(is_virama);
    if run.contains(JOINER) && (after_virama || between_emoji(before, after)) {
        Some(JOINER)
    } else if run.contains(NON_JOINER) && (after_virama || between_joining_letters(before, after)) {
        Some(NON_JOINER)
    } else {
        None
    }
}

fn between_emoji(before: &str, after: &str) -> bool {
    before.chars().next_back().is_some_and(|c| is_pictographic(c) || is_emoji_modifier(c))
        && after.chars().next().is_some_and(is_pictographic)
}

fn between_joining_letters(before: &str, after: &str) -> bool {
    before.chars().rev().find(|&c| !is_transparent(c)).is_some_and(joins_onward)
        && after.chars().find(|&c| !is_transparent(c)).is_some_and(joins_back)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(input: &str) -> String {
        let mut out = String::new();
        joiners(input, TextPolicy::TEXT, &mut out);
        out
    }

    #[test]
    fn a_flag_keeps_its_tags_and_everything_else_loses_them() {
        let scotland = "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}";
        assert_eq!(step(scotland), scotland);
        assert_eq!(step(&format!("{scotland}\u{E007F}")), scotland, "only the first cancel tag belongs to the flag");
        assert_eq!(step("\u{1F3F4}\u{E0067}"), "\u{1F3F4}", "a flag that is not ended");
        assert_eq!(step("\u{1F3F4}\u{E007F}"), "\u{1F3F4}", "a flag without a name");
        assert_eq!(step("a\u{E0067}\u{E007F}b"), "ab");
        assert_eq!(step("\u{1F3F4}\u{E0067}\u{1F3F4}\u{E0067}\u{E007F}"), "\u{1F3F4}\u{1F3F4}\u{E0067}\u{E007F}");
    }

    #[test]
    fn joiners_stay_in_emoji_sequences_only_between_emoji() {
        for kept in ["\u{1F468}\u{200D}\u{1F469}", "\u{1F44B}\u{1F3FD}\u{200D}\u{2764}", "\u{1F3F3}\u{200D}\u{1F308}"] {
            assert_eq!(step(kept), kept);
        }
        assert_eq!(step("\u{1F468}\u{200D}"), "\u{1F468}");
        assert_eq!(step("\u{1F468}\u{200D}\u{1F3FD}"), "\u{1F468}\u{1F3FD}", "a modifier does not begin an emoji");
        assert_eq!(step("\u{1F468}\u{200C}\u{1F469}"), "\u{1F468}\u{1F469}");
        assert_eq!(step("tab\u{200D}le"), "table");
    }

    #[test]
    fn a_run_becomes_the_one_that_is_allowed() {
        assert_eq!(step("\u{1F468}\u{200C}\u{200D}\u{200C}\u{1F469}"), "\u{1F468}\u{200D}\u{1F469}");
        assert_eq!(step("\u{0645}\u{200D}\u{200C}\u{0631}"), "\u{0645}\u{200C}\u{0631}");
        assert_eq!(step("\u{0915}\u{094D}\u{200C}\u{200D}"), "\u{0915}\u{094D}\u{200D}");
        assert_eq!(step("\u{0915}\u{094D}\u{200C}\u{200C}\u{0937}"), "\u{0915}\u{094D}\u{200C}\u{0937}");
    }

    #[test]
    fn non_joiners_stay_between_joining_letters_whatever_marks_lie_between() {
        assert_eq!(step("\u{0645}\u{064E}\u{200C}\u{064E}\u{0631}"), "\u{0645}\u{064E}\u{200C}\u{064E}\u{0631}");
        assert_eq!(step("\u{0631}\u{200C}\u{0645}"), "\u{0631}\u{0645}", "U+0631 joins with nothing after it");
        assert_eq!(step("\u{0645}\u{200C} \u{0631}"), "\u{0645} \u{0631}");
        assert_eq!(step("\u{0645}\u{200C}"), "\u{0645}");
    }
}

//! Text to its normal form: rule `text/1`, and the forms for identifiers and codes that build on it.
//!
//! The rule is [`STEPS`], a visible list of small functions, repeated until the text stops changing. The normal form is that
//! fixed point, which makes the rule idempotent by construction. [`text_plain`] and [`text_traced`] run this very list.
//! [`text`] gives the same bytes faster: it is held to the list by tests over every character and over random texts.

mod casefold;
mod collapse;
mod compose;
mod fast;
mod identifier;
mod invisibles;
mod joiners;
mod separators;
mod spaces;
mod typography;

pub use identifier::{id, trim_spaces};
pub use separators::{append_plain_code, code, code_traced};

/// What a field may decide about `text/1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextPolicy {
    /// NFKC instead of NFC: x² becomes x2, ① becomes 1, ｆｕｌｌ becomes full.
    pub compatibility: bool,
    /// Whether capitals and small letters are one.
    pub casefold: bool,
}

impl TextPolicy {
    /// Kind `text`: NFC, folded.
    pub const TEXT: Self = Self { compatibility: false, casefold: true };
    /// Kind `name`: NFC, capitals kept.
    pub const NAME: Self = Self { compatibility: false, casefold: false };
}

impl Default for TextPolicy {
    fn default() -> Self {
        Self::TEXT
    }
}

/// One step of `text/1`.
pub struct Step {
    /// The step's name, as in the rule, in explanations and in the docs.
    pub name: &'static str,
    /// Appends the text, changed by this step, to the buffer.
    apply: fn(&str, TextPolicy, &mut String),
}

/// The steps of `text/1` in their order.
pub static STEPS: [Step; 8] = [
    Step { name: "compose", apply: compose::compose },
    Step { name: "spaces", apply: spaces::spaces },
    Step { name: "invisibles", apply: invisibles::invisibles },
    Step { name: "typography", apply: typography::typography },
    Step { name: "joiners", apply: joiners::joiners },
    Step { name: "casefold", apply: casefold::casefold },
    Step { name: "recompose", apply: compose::compose },
    Step { name: "collapse", apply: collapse::collapse },
];

/// Buffers kept from text to text, so that normalising allocates nothing once they have grown.
#[derive(Debug, Default)]
pub struct Scratch {
    before: String,
    after: String,
    round: String,
    code: String,
}

/// Puts the normal form of `input` by `text/1` into `out`, which is cleared first. Empty means absent.
pub fn text(input: &str, policy: TextPolicy, scratch: &mut Scratch, out: &mut String) {
    if fast::copy_plain_ascii(input, policy, out) {
        return;
    }
    let composes_only = !policy.compatibility || input.is_ascii();
    if composes_only && fast::scan(input, policy, scratch, out) {
        return;
    }
    rounds(input, policy, scratch, out);
}

/// Appends the normal form of `input` to `out` where that is the form of a JSON string's inside too, and `input` can hold no
/// character reference: true for most plain ASCII. False, and `out` as it was, where [`text`] has to be asked.
pub fn append_plain(input: &str, policy: TextPolicy, out: &mut Vec<u8>) -> bool {
    fast::append_plain_ascii(input, policy, out)
}

/// The normal form of `input` by the written list of steps alone: slow, plain, and what [`text`] is measured against.
#[must_use]
pub fn text_plain(input: &str, policy: TextPolicy) -> String {
    text_traced(input, policy, |_, _, _| {})
}

/// As [`text_plain`], telling `recorder` the name of each step that changed the text, the text before, and the text after.
/// Where the steps are repeated, later rounds follow under the same names. A round that ends as it began is not told, although
/// its `casefold` may have taken letters apart that its `recompose` put together again.
pub fn text_traced(input: &str, policy: TextPolicy, mut recorder: impl FnMut(&'static str, &str, &str)) -> String {
    let mut text = input.to_owned();
    loop {
        let mut states: Vec<(&'static str, String)> = Vec::with_capacity(STEPS.len());
        for step in &STEPS {
            let before = states.last().map_or(&text, |(_, state)| state);
            let mut after = String::with_capacity(before.len());
            (step.apply)(before, policy, &mut after);
            states.push((step.name, after));
        }
        if states.last().is_none_or(|(_, end)| *end == text) {
            return text;
        }
        for (name, after) in states {
            if after != text {
                recorder(name, &text, &after);
                text = after;
            }
        }
    }
}

/// The steps over whole texts, repeated until stable, in buffers that are kept.
fn rounds(input: &str, policy: TextPolicy, scratch: &mut Scratch, out: &mut String) {
    let Scratch { before, after, round, .. } = scratch;
    out.clear();
    out.push_str(input);
    loop {
        round.clone_from(out);
        before.clone_from(out);
        for step in &STEPS {
            after.clear();
            (step.apply)(before, policy, after);
            std::mem::swap(before, after);
        }
        std::mem::swap(before, out);
        if out == round {
            return;
        }
    }
}

#[cfg(test)]
mod tests;

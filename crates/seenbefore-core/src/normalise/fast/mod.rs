//! The same bytes as the list of steps, in one pass over the text.
//!
//! Most characters of most texts are *simple* (see [`class::Class`]): what becomes of them does not depend on their neighbours, so stretches
//! of them are copied as they are. Where a character does depend on its neighbours, the steps are run over just the combining
//! sequence around it. Joiners are judged here where both neighbours are simple; where they are not, the scan gives up and
//! the caller repeats the steps over the whole text.

mod ascii;
mod class;
mod joining;
mod sequence;

pub(super) use ascii::{append_plain_ascii, copy_plain_ascii};

use super::casefold::fold_full;
use super::typography::plain_sign;
use super::{Scratch, TextPolicy};
use ascii::{ascii_stretch, settled_stretch};
use class::{Class, Classes, EXPANDS, INVISIBLE, JOINER, SIGN, SPACE, is_simple, mark_class};

/// Puts the normal form of `input` into `out` and says true, or says false where a joiner or tag needs the whole text.
pub(super) fn scan(input: &str, policy: TextPolicy, scratch: &mut Scratch, out: &mut String) -> bool {
    out.clear();
    let scan = Scan {
        input,
        classes: Classes::load(),
        casefold: policy.casefold,
        scratch,
        out,
        copy_from: 0,
        base_in: 0,
        base_out: 0,
        composed: (0, ' '),
        combining: 0,
        virama: false,
        after_space: true,
    };
    scan.run().is_some()
}

/// The combining class of viramas.
const VIRAMA: u8 = 9;

/// The text judged so far, and where its last combining sequence began.
struct Scan<'a> {
    input: &'a str,
    classes: Classes,
    casefold: bool,
    scratch: &'a mut Scratch,
    out: &'a mut String,
    /// Everything from here on is to be copied as it is and has not been yet.
    copy_from: usize,
    /// Where in `input` the last combining sequence begins: its base, or the start of the text.
    base_in: usize,
    /// Where in `out` it begins, if that lies before `copy_from`.
    base_out: usize,
    /// What the base and what follows it up to this place in `input` have been composed into.
    composed: (usize, char),
    /// The combining class of the last mark; 0 after a base.
    combining: u8,
    /// Whether a virama is among the marks since the base.
    virama: bool,
    /// Whether what was put out last is a space, or nothing.
    after_space: bool,
}

impl Scan<'_> {
    fn run(mut self) -> Option<()> {
        let bytes = self.input.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte < 0x80
                && let Some(stretch) = ascii_stretch(bytes, at, self.after_space)
            {
                at += stretch;
                self.base(at - 1);
                self.after_space = bytes.get(at - 1) == Some(&b' ');
                continue;
            }
            if let Some(stretch) = settled_stretch(bytes, at, self.classes) {
                at += stretch;
                self.base(at - 2);
                continue;
            }
            let (mut code, mut length) = decode(bytes, at, byte);
            let mut class = self.classes.of(code);
            if class == code {
                let mut last = at;
                while class == code {
                    last = at;
                    at += length;
                    let Some(&byte) = bytes.get(at).filter(|&&byte| byte >= 0x80) else { break };
                    (code, length) = decode(bytes, at, byte);
                    class = self.classes.of(code);
                }
                self.base(last);
                continue;
            }
            let end = at + length;
            if is_simple(class) && !self.casefold {
                self.base(at);
            } else if is_simple(class) {
                self.replace(at, end);
                self.out.extend(char::from_u32(class));
            } else if let Some(combining) = mark_class(class).filter(|&combining| combining >= self.combining) {
                self.mark(combining);
            } else {
                at = self.special(class, at, end)?;
                continue;
            }
            at = end;
        }
        self.copy_until(bytes.len());
        if self.out.ends_with(' ') {
            self.out.pop();
        }
        if self.casefold {
            self.out.make_ascii_lowercase();
        }
        Some(())
    }

    /// Deals with a character that is neither simple nor a mark in its place; gives where to go on.
    fn special(&mut self, class: Class, at: usize, end: usize) -> Option<usize> {
        match class {
            SPACE => self.space(at, end),
            INVISIBLE => self.drop(at, end),
            SIGN => {
                self.replace(at, end);
                self.out.push_str(char_at(self.input, at).and_then(plain_sign).unwrap_or_default());
            }
            EXPANDS if self.casefold => {
                self.replace(at, end);
                self.out.push_str(char_at(self.input, at).and_then(fold_full).unwrap_or_default());
            }
            EXPANDS => self.base(at),
            JOINER => return self.joiners(at),
            _ => return self.complex(class, at, end),
        }
        Some(end)
    }

    /// The character at `at` begins a combining sequence and is copied.
    #[inline]
    fn base(&mut self, at: usize) {
        self.base_in = at;
        self.combining = 0;
        self.virama = false;
        self.after_space = false;
    }

    /// A mark of this combining class goes on with the combining sequence.
    #[inline]
    fn mark(&mut self, combining: u8) {
        self.combining = combining;
        self.virama |= combining == VIRAMA;
        self.after_space = false;
    }

    /// The character at `at` begins a combining sequence, and the caller puts out something else for it.
    fn replace(&mut self, at: usize, end: usize) {
        self.copy_until(at);
        self.base(at);
        self.base_out = self.out.len();
        self.copy_from = end;
    }

    /// A space that is not copied as it is: it follows another, or is none of U+0020.
    fn space(&mut self, at: usize, end: usize) {
        let doubled = self.after_space;
        self.replace(at, end);
        if !doubled {
            self.out.push(' ');
        }
        self.after_space = true;
    }

    /// Nothing is put out for what stands between `at` and `end`.
    fn drop(&mut self, at: usize, end: usize) {
        self.copy_until(at);
        self.copy_from = end;
    }

    fn copy_until(&mut self, at: usize) {
        if self.base_in >= self.copy_from {
            self.base_out = self.out.len() + (self.base_in - self.copy_from);
        }
        self.out.push_str(self.input.get(self.copy_from..at).unwrap_or_default());
        self.copy_from = at;
    }

    /// Takes back what was put out for the last combining sequence.
    fn take_back_base(&mut self) {
        if self.copy_from <= self.base_in {
            self.copy_until(self.base_in);
        }
        self.out.truncate(self.base_out);
    }
}

/// The scalar value of the character that begins with `first` at `at`, and its length in bytes. `bytes` are UTF-8.
#[inline]
fn decode(bytes: &[u8], at: usize, first: u8) -> (u32, usize) {
    let continued = |nth: usize| bytes.get(at + nth).map_or(0, |&byte| u32::from(byte & 0x3F));
    let first = u32::from(first);
    match first {
        0..0x80 => (first, 1),
        0x80..0xE0 => ((first & 0x1F) << 6 | continued(1), 2),
        0xE0..0xF0 => ((first & 0x0F) << 12 | continued(1) << 6 | continued(2), 3),
        _ => ((first & 0x07) << 18 | continued(1) << 12 | continued(2) << 6 | continued(3), 4),
    }
}

fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

#[cfg(test)]
mod tests;

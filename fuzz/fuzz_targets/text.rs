//! text/1 and code: the fast way gives the bytes of the list of steps, forms are fixed points, equivalent texts meet.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seenbefore_core::normalise::{Scratch, TextPolicy, code, text, text_plain};
use seenbefore_core::unicode::{NFC, NFD};

fuzz_target!(|input: (u8, &str)| {
    let (settings, given) = input;
    let policy = TextPolicy { compatibility: settings & 1 == 1, casefold: settings & 2 == 2 };
    let mut scratch = Scratch::default();
    let mut form = |given: &str| {
        let mut out = String::new();
        text(given, policy, &mut scratch, &mut out);
        out
    };
    let first = form(given);
    assert_eq!(first, text_plain(given, policy), "the fast way is the plain way");
    assert_eq!(form(&first), first, "a form is its own form");
    assert_eq!(form(&NFD.normalize(given)), first, "decomposed");
    assert_eq!(form(&NFC.normalize(given)), first, "composed");
    let mut as_code = |given: &str| {
        let mut out = String::new();
        code(given, settings & 4 == 4, &mut scratch, &mut out);
        out
    };
    let first = as_code(given);
    assert_eq!(as_code(&first), first, "a code is its own form");
});

//! Reading and keys: whatever the bytes, a line is one record or refused; its canonical JSON reads as the same record.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seenbefore_core::boundary;
use seenbefore_core::canonicalise::write_value;
use seenbefore_core::json::Tape;
use seenbefore_core::keys::{Given, Maker, Texts};
use seenbefore_core::ruleset::Ruleset;
use std::sync::OnceLock;

const RULES: &str = r#"
name = "fuzz"
version = 1
identity = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
[record]
url = "u"
fetched_at = "t"
source = "s"
[fields]
a = { kind = "text" }
b = { kind = "code" }
c = { kind = "decimal" }
d = { kind = "url" }
e = { kind = "set", of = "name" }
f = { kind = "money", currency = "EUR", decimal = "," }
g = { kind = "isbn" }
h = { kind = "timestamp", epoch = "ms" }
[boundary.a]
entities = "decode"
"#;

/// The canonical JSON of a line, unless a number's exponent is too long; and its keys and facts, or why it is refused.
fn read(line: &[u8]) -> Option<(Option<Vec<u8>>, String)> {
    static READ: OnceLock<Ruleset> = OnceLock::new();
    let rules = READ.get_or_init(|| Ruleset::from_toml(RULES).expect("the ruleset above is well"));
    let mut tape = Tape::new();
    let text = boundary::read(line, 1 << 20, false, &mut tape).ok()?;
    let record = tape.root(text)?;
    let mut texts = Texts::default();
    let keyed = Maker::new().keys(rules, record, &Given::default(), true, &mut texts);
    let mut canonical = Vec::new();
    let written = write_value(record, &mut canonical).is_ok();
    Some((written.then_some(canonical), format!("{keyed:?} {texts:?}")))
}

fuzz_target!(|line: &[u8]| {
    let Some((Some(canonical), found)) = read(line) else { return };
    let again = read(&canonical).expect("canonical JSON is read again");
    // A number too long to write out keeps an exponent, which may be longer than one that can be read.
    if again.0.is_none() && canonical.windows(2).any(|pair| pair == b"e+" || pair == b"e-") {
        return;
    }
    assert_eq!(again.0.as_ref(), Some(&canonical), "canonical JSON is its own canonical form");
    assert_eq!(again.1, found, "the order and the spelling of members change no key, no fact and no refusal");
});

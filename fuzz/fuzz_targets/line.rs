//! Reading and keys: whatever the bytes, a line is one record or refused; its canonical JSON reads as the same record.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seenbefore_core::boundary;
use seenbefore_core::canonicalise::write_value;
use seenbefore_core::json::Tape;
use seenbefore_core::keys::{Given, Keyed, Maker, Texts};
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

fn keys(line: &[u8], canonical: &mut Vec<u8>) -> Option<Keyed> {
    static READ: OnceLock<Option<Ruleset>> = OnceLock::new();
    let rules = READ.get_or_init(|| Ruleset::from_toml(RULES).ok()).as_ref().expect("the ruleset above is well");
    let mut tape = Tape::new();
    let text = boundary::read(line, 1 << 20, false, &mut tape).ok()?;
    let record = tape.root(text)?;
    write_value(record, canonical).ok()?;
    Maker::new().keys(rules, record, &Given::default(), true, &mut Texts::default()).ok()
}

fuzz_target!(|line: &[u8]| {
    let (mut canonical, mut again) = (Vec::new(), Vec::new());
    let found = keys(line, &mut canonical);
    // A number too long to write out keeps an exponent, which may be longer than one that can be read.
    if found.is_some() && !canonical.windows(2).any(|pair| pair == b"e+" || pair == b"e-") {
        let reread = keys(&canonical, &mut again);
        assert_eq!(canonical, again, "canonical JSON is its own canonical form");
        let of = |keyed: Option<Keyed>| keyed.map(|keyed| (keyed.content, keyed.place, keyed.payload, keyed.fetched_at));
        assert_eq!(of(found), of(reread), "the order and the spelling of members change no key");
    }
});

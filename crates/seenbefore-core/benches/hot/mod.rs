//! The five hot functions over invented listings: what the clock and the instruction counter measure.

use seenbefore_core::batch::{Batch, Setting};
use seenbefore_core::boundary;
use seenbefore_core::json::Tape;
use seenbefore_core::keys::{Given, Maker, Texts};
use seenbefore_core::normalise::{self, Scratch, TextPolicy};
use seenbefore_core::ruleset::Ruleset;
use seenbefore_core::urls::canonical_url;
use std::hint::black_box;
use std::sync::Arc;

/// The functions by name, in the order of the pipeline.
pub const NAMES: [&str; 5] = ["read", "normalise", "canonicalise", "key", "judge"];

const RULES: &str = "name = \"hot\"\nversion = 1\nidentity = [\"title\", \"sku\", \"price\", \"text\"]\n\
    volatile = [\"scraped_at\"]\n[record]\nurl = \"url\"\nfetched_at = \"scraped_at\"\nsource = \"shop\"\n\
    [fields.sku]\nkind = \"code\"\n[fields.price]\nkind = \"decimal\"\n";

/// Titles as shops write them: most in plain ASCII, some not, some with signs and marks that have to go.
const TITLES: [&str; 6] = [
    "Oak side table, oiled, 45 x 45 cm",
    "Enamel teapot BLUE 1.2 l",
    "Stoneware mug with saucer (set of 4)",
    "Фонарь садовый, «Москва» — 40 см",
    "Großer Küchentisch  aus Eiche",
    "Rattan\u{a0}basket \u{201c}Ana\u{201d} cafe\u{301}",
];

const LINES: usize = 1_024;

/// One function with its inputs, and how often it was called.
pub struct Hot {
    rules: Arc<Ruleset>,
    lines: Vec<String>,
    urls: Vec<String>,
    tape: Tape,
    maker: Maker,
    scratch: Scratch,
    text: String,
    batch: Batch<Vec<u8>>,
    calls: usize,
}

impl Hot {
    /// Everything ready to be called.
    ///
    /// # Panics
    /// Where the ruleset here has a mistake.
    #[allow(clippy::expect_used)] // a constant of this file
    pub fn new() -> Self {
        let rules = Arc::new(Ruleset::from_toml(RULES).expect("a valid ruleset"));
        let urls: Vec<String> = (0..LINES)
            .map(|at| {
                let query = if at % 3 == 0 { "?utm_source=list&id=1#top" } else { "" };
                format!("https://shop{}.example/p/{at:06}{query}", at % 40)
            })
            .collect();
        let lines: Vec<String> = (0..LINES).map(|at| line(at, urls.get(at).map_or("", |url| url))).collect();
        let setting = Setting {
            run: 1,
            first_seq: 1,
            max_records: LINES,
            max_bytes: 1 << 30,
            max_line: 1 << 20,
            ..Setting::default()
        };
        let mut batch = Batch::new(Arc::clone(&rules), setting);
        batch.feed(lines.join("\n").into_bytes(), 0, "hot", 0, 0);
        batch.key();
        let (tape, maker, scratch, text) = Default::default();
        Self { rules, lines, urls, tape, maker, scratch, text, batch, calls: 0 }
    }

    /// Calls the function of that name once, on the next input; `judge` on all of them together.
    pub fn call(&mut self, name: &str) {
        let at = self.calls % LINES;
        self.calls += 1;
        let line = self.lines.get(at).map_or("", |line| line);
        match name {
            "read" => drop(black_box(boundary::read(line.as_bytes(), 1 << 20, false, &mut self.tape))),
            "normalise" => {
                let title = TITLES.get(at % TITLES.len()).copied().unwrap_or_default();
                normalise::text(black_box(title), TextPolicy::TEXT, &mut self.scratch, &mut self.text);
            }
            "canonicalise" => {
                let url = self.urls.get(at).map_or("", |url| url);
                drop(black_box(canonical_url(black_box(url), &self.rules.url)));
            }
            "key" => {
                if let Ok(text) = boundary::read(line.as_bytes(), 1 << 20, false, &mut self.tape)
                    && let Some(record) = self.tape.root(text)
                {
                    let mut texts = Texts::default();
                    drop(black_box(self.maker.keys(&self.rules, record, &Given::default(), true, &mut texts)));
                }
            }
            _ => drop(black_box(self.batch.judge(1, &[], &[]))),
        }
    }
}

fn line(at: usize, url: &str) -> String {
    let title = TITLES.get(at % TITLES.len()).copied().unwrap_or_default();
    // Every tenth is the listing before it once more.
    let item = if at % 10 == 9 { at - 1 } else { at };
    format!(
        "{{\"url\":\"{url}\",\"shop\":\"shop{}\",\"title\":\"{title} {item}\",\"sku\":\"SKU-{item:05}\",\"price\":{}.90,\
         \"text\":\"Made by hand, one of {at}.\\nShips in two days \\u2013 or three.\",\"scraped_at\":\"2026-03-02T{:02}:00:00Z\"}}",
        at % 40,
        item % 900,
        at % 24,
    )
}

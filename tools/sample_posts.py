"""Telling posts and articles: spellings of one text, spellings of one place, and what a record may lack."""

from __future__ import annotations

from sample_case import Case, article, post

NBSP, ZWSP, ZWNJ, ZWJ, BOM, RLM = "\u00a0", "\u200b", "\u200c", "\u200d", "\ufeff", "\u200f"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


def same_post(name: str, first: str, second: str, shows: str, verdict: str = "duplicate, content") -> list[Case]:
    """Two readings of one post on day 1 and day 2; `shows` says how the second is spelt."""
    return [
        Case(1, "courier", post(name, first), "new", f"first reading; see {name} on day 2"),
        Case(2, "courier", post(name, second), verdict, shows),
    ]


SPELLINGS = [
    *same_post(
        "baker",
        "\u201cWe open at nine\u201d, said the baker\u2026 \u2013 and so they did.",
        '"We open at nine", said the baker... - and so they did.',
        "straight quotes, three dots and a hyphen instead of curly quotes, ellipsis and dash",
    ),
    *same_post("tickets", f"Tickets cost 12{NBSP}€ at the quay.", "Tickets cost 12 € at the quay.", "no-break space"),
    *same_post("cafe", "El café reabre mañana.", "El cafe\u0301 reabre man\u0303ana.", "decomposed accents"),
    *same_post(
        "lighthouse",
        "The lighthouse is open to visitors.",
        f"{BOM}The light{ZWSP}house is open to visitors.",
        "a zero-width space inside a word and a byte-order mark before it",
    ),
    *same_post("heart", "I \u2764\ufe0f this town", "I \u2764 this town", "a heart without its presentation selector"),
    *same_post(
        "direction",
        "المكتبة مفتوحة اليوم حتى الثامنة.",
        f"{RLM}المكتبة مفتوحة اليوم حتى الثامنة.{RLM}",
        "Arabic text between invisible direction marks",
    ),
    *same_post("fair", "Straßenfest am Samstag", "STRASSENFEST AM SAMSTAG", "case folded in full: ß is ss"),
    *same_post(
        "family",
        f"\U0001f468{ZWJ}\U0001f469{ZWJ}\U0001f467 Sunday at the pool",
        "\U0001f468\U0001f469\U0001f467 Sunday at the pool",
        "one family emoji against three people: the joiners in it are content",
        "changed",
    ),
    *same_post(
        "walk",
        f"فردا به کوه می{ZWNJ}رویم.",
        "فردا به کوه میرویم.",
        "a Persian word without its non-joiner is spelt differently",
        "changed",
    ),
    *same_post(
        "letters",
        f"अक्{ZWJ}षर की कक्षा",
        "अक्षर की कक्षा",
        "a joiner after a Devanagari virama asks for another letter form",
        "changed",
    ),
    *same_post("flag", f"{ENGLAND} match tonight", "\U0001f3f4 match tonight", "a flag without its tags", "changed"),
    *same_post(
        "smoke", "İZMARİT ATMAYIN", "izmarit atmayın", "no language's own casing is guessed: İ is not i", "changed"
    ),
    *same_post("garden", "Garden for rent, 40 m²", "Garden for rent, 40 m2", "m² is not m2", "changed"),
    *same_post(
        "chips",
        "Fish & chips",
        "Fish &amp; chips",
        "entities are never decoded while keying; what looks like one is noted",
        "changed, entity-residue",
    ),
]

PLACES = [
    Case(1, "courier", post("bridge-1", "The footbridge is open."), "new", "one word apart from the next line"),
    Case(1, "courier", post("bridge-2", "The footbridge is not open."), "new", "near-equal texts are two texts"),
    Case(1, "courier", post("choir", "Choir practice moves to Thursday."), "new", "to be met under other spellings"),
    Case(1, "courier", post("choir", "Choir practice moves to Thursday."), "duplicate, payload", "scraped twice"),
    Case(
        2,
        "courier",
        {**post("choir", "Choir practice moves to Thursday."), "url": "HTTPS://Courier.example:443/post/./choir"},
        "duplicate, payload",
        "scheme and host case, default port, dot segment",
    ),
    Case(
        2,
        "courier",
        post("choir?utm_source=letter&fbclid=x1", "Choir practice moves to Thursday."),
        "duplicate, payload",
        "tracking parameters",
    ),
    Case(
        2,
        "courier",
        post("choir#comments", "Choir practice moves to Thursday."),
        "duplicate, payload",
        "a fragment that names a spot on the page",
    ),
    Case(
        2,
        "courier",
        post("choir?utmost=1", "Choir practice moves to Thursday."),
        "syndicated",
        "a name that only begins like a tracking name stays: another place",
    ),
    Case(
        2,
        "courier",
        {
            **post("choir", "Choir practice moves to Thursday."),
            "url": "https://reader:swordfish@courier.example/post/choir",
        },
        "duplicate, payload",
        "credentials in the URL: neither key nor receipt holds them",
    ),
    Case(3, "courier", post("#!/weather", "Rain before noon."), "new", "an app route behind # is a place of its own"),
    Case(3, "courier", post("#!/tides", "High water at 14:10."), "new", "another app route"),
    Case(1, "tidings", article("list?topic=sea&page=2", "Sea news", "Page two."), "new", "query in one order"),
    Case(
        2,
        "tidings",
        article("list?page=2&topic=sea", "Sea news", "Page two."),
        "duplicate, payload",
        "query in another order",
    ),
    Case(1, "tidings", article("%7Eletters/caf%c3%a9", "Letters", "From readers."), "new", "percent-encoding"),
    Case(
        2,
        "tidings",
        article("~letters/caf%C3%A9", "Letters", "From readers."),
        "duplicate, payload",
        "unreserved characters decoded, hex in capitals",
    ),
    Case(2, "courier", post("quay", "Boat race at ten."), "new", "to be edited"),
    Case(2, "courier", post("quay", "Boat race at eleven."), "changed", "an edited post"),
    Case(3, "courier", post("quay", "Boat race at ten."), "changed, seen before", "edited back"),
    Case(
        3,
        "tidings",
        {**post("x", "Boat race at ten."), "url": "https://tidings.example/flash/race", "source": "tidings"},
        "syndicated",
        "the same words at another place",
    ),
]

FACTS = [
    Case(1, "courier", {**post("r", "Stall 4 sells honey."), "url": "/post/r"}, "new, url-relative", "a relative URL"),
    Case(
        1,
        "courier",
        {**post("s", "Stall 5 sells wax."), "url": "localhost:8080/post/s"},
        "new, url-scheme",
        "no http in front: it parses as a scheme",
    ),
    Case(
        1,
        "courier",
        {**post("i", "Stall 6 sells mead."), "url": "https://courier.example:99999/post/i"},
        "new, url-invalid",
        "a port that can't be",
    ),
    Case(2, "courier", {**post("n", "Stall 7 sells jam."), "url": None}, "new", "no URL, unseen content"),
    Case(2, "courier", {**post("n", "Stall 7 sells jam!"), "url": None}, "new", "other punctuation is other content"),
    Case(3, "courier", {**post("n", "Stall 7  sells jam."), "url": None}, "duplicate, content", "no URL, seen content"),
    Case(
        2,
        "courier",
        post("when", "Stall 8 sells candles.", fetched_at="yesterday evening"),
        "new, bad-fetched-at",
        "a time that can't be read is a problem, not a guess",
    ),
    Case(
        3,
        "courier",
        post("when", "Stall 8 sells candles.", fetched_at="2026-02-28T09:30:00+03:30"),
        "duplicate, payload",
        "an older reading that arrives late: first_seen moves back to 06:00 UTC",
    ),
    Case(
        3,
        "courier",
        {key: value for key, value in post("host", "Stall 9 sells tea.").items() if key != "source"},
        "new",
        "no source named: the URL's host stands in",
    ),
    Case(1, "courier", post("photo-1", None, photo="p1.jpg"), "unkeyed", "a photo without words has no identity"),
    Case(1, "courier", post("photo-2", "", photo="p2.jpg"), "unkeyed", "an empty text is absent, never a duplicate"),
    Case(1, "courier", post("photo-3", f"{NBSP}{ZWSP}\u2003", photo="p3.jpg"), "unkeyed", "blank to the eye"),
    Case(1, "courier", post("none", "None"), "new", "the word None is a text"),
]

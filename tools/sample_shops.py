"""Telling product pages, and every line that is refused."""

from __future__ import annotations

from sample_case import Case, article, listing, market, number

DEEP = "[" * 128 + "]" * 128  # inside the record's own object this is level 129

SHOPS = [
    Case(1, "lantern", listing("1299", "Storm lantern", "LN-1299", number("59.00")), "new", "sku with a hyphen"),
    Case(
        2,
        "lantern",
        listing("1299", "Storm lantern", "ln 1299", number("59.00")),
        "duplicate, content",
        "sku in lower case with a space",
    ),
    Case(
        3,
        "lantern",
        listing("1299", "Storm lantern", "LN1299", number("59.00")),
        "duplicate, content",
        "sku without a separator",
    ),
    Case(1, "lantern", listing("wick-a", "Wick", "1-10", number("2.00")), "new", "separators between digits count"),
    Case(1, "lantern", listing("wick-b", "Wick", "110", number("2.00")), "new", "110 is not 1-10"),
    Case(1, "lantern", listing("wick-c", "Wick", "00110", number("2.00")), "new", "nor is 00110"),
    Case(1, "lantern", listing("oil", "Lamp oil", "LN-7", number("9.90")), "new", "price 9.90"),
    Case(2, "lantern", listing("oil", "Lamp oil", "LN-7", number("9.9")), "duplicate, payload", "price 9.9"),
    Case(2, "lantern", listing("oil", "Lamp oil", "LN-7", number("990e-2")), "duplicate, payload", "price 990e-2"),
    Case(3, "lantern", listing("oil", "Lamp oil", "LN-7", "9.90"), "duplicate, content", 'price "9.90" as a text'),
    Case(3, "lantern", listing("oil", "Lamp oil", "LN-7", number("9.09")), "changed", "price 9.09"),
    Case(1, "lantern", listing("glass", "Lamp glass", "LN-8", number("20.00")), "new", "a price to watch"),
    Case(2, "lantern", listing("glass", "Lamp glass", "LN-8", number("15.00")), "changed", "on offer"),
    Case(
        3,
        "lantern",
        listing("glass", "Lamp glass", "LN-8", number("20.00")),
        "changed, seen before",
        "the offer is over",
    ),
    Case(
        1,
        "lantern",
        {**listing("glass", "Lamp glass", "LN-8", number("20.00")), "url": "https://lantern-shop.example/sale/glass"},
        "syndicated",
        "one product on two shelves",
    ),
    Case(1, "lantern", listing("tray", "Tin tray", "LN-9", None), "new", "a price that is null"),
    Case(
        2,
        "lantern",
        {key: value for key, value in listing("tray", "Tin tray", "LN-9", 0).items() if key != "price"},
        "duplicate, content",
        "null and missing are both absent",
    ),
    Case(
        1,
        "harbour",
        market("90", "Chart table", "HB 0090", number("340.00"), attributes={"width": number("80")}),
        "new",
        "an undeclared field with a number in it",
    ),
    Case(
        3,
        "harbour",
        market("90", "Chart table", "HB 0090", number("340.00"), attributes={"width": number("80.0")}),
        "duplicate, payload",
        "80.0 is 80",
    ),
    Case(
        3,
        "harbour",
        market("90", "Chart table", "HB 0090", number("340.00"), attributes={"width": "80"}),
        "changed",
        'undeclared, "80" is a text and 80 a number',
    ),
    Case(
        1,
        "harbour",
        market("91", "Compass", "HB 0091", number("75.00"), attributes={"serial": number("9007199254740993")}),
        "new",
        "a long whole number",
    ),
    Case(
        2,
        "harbour",
        market("91", "Compass", "HB 0091", number("75.00"), attributes={"serial": number("9007199254740992")}),
        "changed",
        "one less: no number goes through a float",
    ),
    Case(
        1,
        "tidings",
        article("byline", "Rope makers of Port Lundy", "A visit.", author="Tobin van Dyke"),
        "new",
        "a name",
    ),
    Case(
        2,
        "tidings",
        article("byline", "ROPE MAKERS OF PORT LUNDY", "A visit.", author="Tobin van Dyke"),
        "duplicate, content",
        "titles fold case",
    ),
    Case(
        3,
        "tidings",
        article("byline", "Rope makers of Port Lundy", "A visit.", author="Tobin Van Dyke"),
        "changed",
        "names do not",
    ),
]

MEMBERS = (
    b'{"crawl_id":"c1","text":"A visit to the quay.","url":"https://tidings.example/2026/quay","source":"tidings",'
    b'"language":"en","fetched_at":"2026-03-02T08:00:00Z"}'
)
MEMBERS_AGAIN = (
    b' {"fetched_at": "2026-03-03T08:00:00Z", "language": "en", "source": "tidings", "te\\u0078t": "A v\\u0069sit '
    b'to the quay.", "url": "https:\\/\\/tidings.example\\/2026\\/quay", "crawl_id": "c2"} '
)

REFUSED = [
    Case(1, "tidings", MEMBERS, "new", "members in one order"),
    Case(2, "tidings", MEMBERS_AGAIN, "duplicate, payload", "members in another order, with escapes and spaces"),
    Case(
        1,
        "tidings",
        b'{"url":"https://tidings.example/2026/latin","source":"tidings","text":"Caf\xe9 news"}',
        "refused, invalid-utf8",
        "a Latin-1 byte: nothing is replaced by a question mark",
    ),
    Case(
        1,
        "courier",
        b'{"url":"https://courier.example/post/cut","source":"courier","text":"Nice \\ud83d"}',
        "refused, unpaired-surrogate",
        "half of an emoji",
    ),
    Case(
        1,
        "lantern",
        b'{"url":"https://lantern-shop.example/p/a","title":"A"}{"url":"https://lantern-shop.example/p/b","title":"B"}',
        "refused, invalid-json",
        "two objects glued together",
    ),
    Case(
        1,
        "lantern",
        b'{"url":"https://lantern-shop.example/p/twice","title":"Twice","price":9.90,"pri\\u0063e":8.90}',
        "refused, repeated-member",
        "two prices under one name",
    ),
    Case(2, "lantern", b'"rate limited, try later"', "refused, not-an-object", "a text where a record should be"),
    Case(
        2,
        "courier",
        b'[{"url":"https://courier.example/post/list","text":"In a list"}]',
        "refused, not-an-object",
        "a list where a record should be",
    ),
    Case(
        2,
        "harbour",
        b'{"url":"https://harbour-market.example/item?id=nan","source":"harbour","title":"Net","price":NaN}',
        "refused, invalid-json",
        "NaN is not JSON; the line stands in a gzip file",
    ),
    Case(
        2,
        "tidings",
        b'{"url":"https://tidings.example/2026/deep","text":"Deep","debug":' + DEEP.encode() + b"}",
        "refused, too-deep",
        "level 129",
    ),
    Case(
        3,
        "tidings",
        {**article("seen", "Already judged", "By an earlier pass."), "_seen": {"verdict": "new"}},
        "refused, seen-member",
        "the record already carries a verdict",
    ),
    Case(3, "tidings", article("types", ["Two", "titles"], "In a list."), "refused, wrong-type", "a title is no list"),
    Case(
        3,
        "lantern",
        listing("true", "Price is true", "LN-11", price=True),
        "refused, wrong-type",
        "a price is no truth value",
    ),
    Case(
        3,
        "lantern",
        listing("huge", "Huge", "LN-12", number("1e5000")),
        "refused, number-too-long",
        "a number of 5,001 digits",
    ),
    Case(
        3,
        "harbour",
        market("92", "Anchor", "HB 0092", "9,90 EUR"),
        "refused, bad-number",
        "a decimal field takes no currency and guesses no comma",
    ),
    Case(
        3,
        "courier",
        b'{"url":"https://courier.example/post/last","source":"courier","text":"The crawler was stop',
        "refused, invalid-json",
        "the file ends in the middle of its last line",
    ),
]

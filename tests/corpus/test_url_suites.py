"""Other people's URL suites: RFC 3986's groups are kept, and where others' rules differ from ours is counted."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes, urlsplit

import pytest

from seenbefore import _kernel
from seenbefore.errors import UrlRefused

SHARED = os.environ.get("SEENBEFORE_SHARED")
URLS = Path(SHARED or ".") / "data" / "conformance" / "url"
shared = pytest.mark.skipif(not SHARED, reason="SEENBEFORE_SHARED does not name the folder with the URL suites")
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "other-url-rules.md"

# Said to be different in the RFC's groups, and one URL for us, with the strength from which on and the reason.
ONE_FOR_US = {
    "http:///example.com": ("exact", "the WHATWG parser passes over any number of slashes before the host"),
    "http:example.com": ("exact", "the WHATWG parser adds missing slashes before the host"),
    "http://example.com/#": ("page", "a fragment is no other page"),
    "http://example.com/?": ("page", "an empty query asks for nothing"),
    "http://example.com/x?y#Z": ("page", "a fragment is no other page"),
    "http://example.com/x?y": ("page", "a fragment is no other page"),
    "http://example.com/x?y=#z": ("page", "a parameter without a value is one with an empty value"),
    "http://example.com/x?q=a+b": ("page", "servers read + in a query as a space"),
    "https://example.com/": ("site", "http and https are one site"),
    "http://example.com/": ("site", "an index page is its folder"),
}
# For each suite: the cases, those with the same bytes, and of the others by reason how many there are, and how many of
# these have one URL key all the same, because the rule of ours makes one URL of their answer and of ours.
EXPECTED: dict[str, tuple[int, int, dict[str, tuple[int, int]]]] = {
    "w3lib canonicalize_url": (
        77,
        52,
        {
            "another charset": (2, 0),
            "another separator": (1, 0),
            "drops blank values": (2, 0),
            "encodes more": (2, 0),
            "host in its own letters": (1, 1),
            "keeps the fragment": (3, 3),
            "keeps the password": (5, 5),
            "no scheme": (4, 0),
            "other schemes": (1, 0),
            "sorts values": (1, 0),
            "space as +": (3, 3),
        },
    ),
    "w3lib safe_url_string": (
        35,
        14,
        {
            "host in its own letters": (1, 1),
            "keeps the default port": (2, 2),
            "keeps the password": (8, 8),
            "no scheme": (6, 0),
            "other schemes": (4, 0),
        },
    ),
    "w3lib url_query_cleaner": (
        20,
        16,
        {
            "drops repeats": (1, 0),
            "keeps the fragment": (1, 1),
            "keeps the order": (1, 1),
            "no = without a value": (1, 1),
        },
    ),
    "courlan clean_url": (
        9,
        3,
        {
            "cuts off what follows": (2, 0),
            "drops the last slash": (1, 1),
            "encodes more": (1, 0),
            "keeps the fragment": (1, 1),
            "no scheme": (1, 0),
        },
    ),
    "courlan normalize_url": (
        31,
        18,
        {
            "drops more parameters": (5, 0),
            "drops the last slash": (1, 1),
            "host in its own letters": (1, 1),
            "invalid host": (1, 0),
            "keeps the fragment": (4, 4),
            "merges slashes": (1, 0),
        },
    ),
    "courlan scrub_url": (
        16,
        0,
        {
            "cuts off what follows": (7, 0),
            "decodes references": (1, 0),
            "drops the last slash": (3, 2),
            "leaves it as it came": (1, 1),
            "no scheme": (1, 0),
            "takes a URL out of it": (3, 0),
        },
    ),
    "url-normalize": (
        78,
        29,
        {
            "composes characters": (1, 0),
            "drops the dot after the host": (3, 0),
            "keeps the fragment": (1, 1),
            "keeps the password": (2, 2),
            "no = without a value": (2, 2),
            "no scheme": (29, 0),
            "other schemes": (9, 0),
            "replaces bytes": (1, 0),
            "rewrites #!": (1, 0),
        },
    ),
}


@dataclass(frozen=True)
class Case:
    """One case of a suite, and what is found for it: a canonical URL, or a code after an exclamation mark."""

    url: str
    expected: str
    options: dict[str, Any]
    found: str
    again: str

    @property
    def pieces(self) -> tuple[list[str], list[str]]:
        ours, theirs = (urlsplit(url).query for url in (self.found, self.expected))
        return [one for one in ours.split("&") if one], [one for one in theirs.split("&") if one]

    @property
    def names(self) -> tuple[list[str], list[str]]:
        ours, theirs = self.pieces
        return [one.partition("=")[0] for one in ours], [one.partition("=")[0] for one in theirs]

    @property
    def same_base(self) -> bool:
        ours, theirs = (re.split("[?#]", url)[0] for url in (self.found, self.expected))
        return ours == theirs


# The first that is true is the reason.
REASONS: dict[str, Callable[[Case], bool]] = {
    "no scheme": lambda case: case.found == "!url-relative",
    "other schemes": lambda case: case.found == "!url-scheme",
    "invalid host": lambda case: case.found == "!url-invalid",
    "keeps the password": lambda case: "@" in urlsplit(case.expected).netloc,
    "another charset": lambda case: bool({"encoding", "path_encoding"} & case.options.keys()),
    "another separator": lambda case: "query_separator" in case.options,
    "drops blank values": lambda case: case.options.get("keep_blank_values") is False,
    "keeps the fragment": lambda case: "#" in case.expected and "#" not in case.found,
    "keeps the default port": lambda case: urlsplit(case.expected).port != urlsplit(case.found).port,
    "host in its own letters": lambda case: not urlsplit(case.expected).netloc.isascii(),
    "drops the last slash": lambda case: f"{case.expected}/" == case.found,
    "drops the dot after the host": lambda case: case.found.replace("./", "/").replace(".:", ":") == case.expected,
    "space as +": lambda case: case.expected.replace("+", "%20") == case.found,
    "sorts values": lambda case: (
        case.same_base and sorted(case.pieces[0]) == sorted(case.pieces[1]) and case.names[0] == case.names[1]
    ),
    "keeps the order": lambda case: case.same_base and sorted(case.pieces[0]) == sorted(case.pieces[1]),
    "no = without a value": lambda case: (
        case.same_base and sorted(one.removesuffix("=") for one in case.pieces[0]) == sorted(case.pieces[1])
    ),
    "encodes more": lambda case: (
        unquote_to_bytes(case.expected.rstrip("=")) == unquote_to_bytes(case.found.rstrip("="))
    ),
    "replaces bytes": lambda case: "%EF%BF%BD" in case.expected,
    "composes characters": lambda case: unicodedata.normalize("NFC", unquote(case.found)) == unquote(case.expected),
    "drops repeats": lambda case: (
        case.same_base and set(case.pieces[1]) < set(case.pieces[0]) and set(case.names[0]) == set(case.names[1])
    ),
    "drops more parameters": lambda case: case.same_base and set(case.pieces[1]) < set(case.pieces[0]),
    "rewrites #!": lambda case: "_escaped_fragment_" in case.expected,
    "merges slashes": lambda case: re.sub("(?<!:)/+", "/", case.found) == case.expected,
    "decodes references": lambda case: "&amp;" in case.url and case.url.replace("&amp;", "&") == case.expected,
    "leaves it as it came": lambda case: case.url == case.expected,
    "cuts off what follows": lambda case: case.url.startswith(case.expected),
    "takes a URL out of it": lambda case: case.expected in case.url,
}


def lines(name: str) -> list[dict[str, Any]]:
    """The cases of a file."""
    return [json.loads(line) for line in (URLS / name).read_text(encoding="utf-8").splitlines() if line.strip()]


def canonical(url: str, strength: str) -> str:
    """The canonical URL, or the code of its refusal after an exclamation mark."""
    try:
        return _kernel.canonical_url(url, strength)
    except UrlRefused as refusal:
        return f"!{refusal.code}"


def compare(cases: list[Case]) -> tuple[int, int, dict[str, tuple[int, int]]]:
    """How many cases, how many with the same bytes, and the others by reason, with how many have one key."""
    others, same_key = Counter[str](), Counter[str]()
    for case in cases:
        if case.found != case.expected:
            reason = next((name for name, holds in REASONS.items() if holds(case)), f"unknown: {case}")
            others[reason] += 1
            same_key[reason] += case.again == case.found and not case.found.startswith("!")
    return len(cases), len(cases) - others.total(), {name: (others[name], same_key[name]) for name in sorted(others)}


def called(name: str, function: str, strength: str) -> list[Case]:
    """The cases of one function in a file of calls; bytes are read as UTF-8, as those of a line of JSON are."""
    cases = []
    for line in lines(name):
        if line["function"] == function and isinstance(line["args"][0], str | dict):
            url = line["args"][0]
            url = url if isinstance(url, str) else bytes.fromhex(url["hex"]).decode()
            expected = line["expected"]
            cases.append(Case(url, expected, line["kwargs"], canonical(url, strength), canonical(expected, strength)))
    return cases


def cleaned() -> list[Case]:
    """The cases of w3lib's url_query_cleaner, on a host whose rule keeps or drops the same parameters."""
    host = "http://shop.example/"
    cases = []
    for line in lines("w3lib_safe_url_and_query_cleaner.ndjson"):
        if line["function"] == "url_query_cleaner":
            url, *rest = line["args"]
            url = url if isinstance(url, str) else bytes.fromhex(url["hex"]).decode()
            rule = 'name = "t"\nversion = 1\nidentity = ["t"]\nrecord.url = "url"\n'
            if rest:
                which = "drop" if line["kwargs"].get("remove") else "keep"
                names = [rest[0]] if isinstance(rest[0], str) else rest[0]
                rule += f'[[url.host]]\nmatch = "shop.example"\n{which} = {json.dumps(names)}\n'
            rules = _kernel.Ruleset.from_toml(rule)
            found, again = (
                rules.keys({"t": "t", "url": host + one}).canonical_url or "!none" for one in (url, line["expected"])
            )
            cases.append(Case(host + url, host + line["expected"], line["kwargs"], found, again))
    return cases


SUITES: dict[str, Callable[[], list[Case]]] = {
    "w3lib canonicalize_url": lambda: called("w3lib_canonicalize_url.ndjson", "canonicalize_url", "page"),
    "w3lib safe_url_string": lambda: called("w3lib_safe_url_and_query_cleaner.ndjson", "safe_url_string", "exact"),
    "w3lib url_query_cleaner": cleaned,
    "courlan clean_url": lambda: called("courlan_clean_url.ndjson", "clean_url", "page"),
    "courlan normalize_url": lambda: called("courlan_clean_url.ndjson", "normalize_url", "page"),
    "courlan scrub_url": lambda: called("courlan_clean_url.ndjson", "scrub_url", "exact"),
    "url-normalize": lambda: [
        Case(line["input"], line["expected"], {}, canonical(line["input"], "page"), canonical(line["expected"], "page"))
        for line in lines("url_normalize_pairs.ndjson")
    ],
}


@pytest.mark.shared
@shared
@pytest.mark.parametrize("strength", ["exact", "page", "site"])
def test_rfc3986_groups(strength: str) -> None:
    """Equivalent URLs have one canonical URL from `page` on, and different ones differ, but for those in ONE_FOR_US."""
    strengths = ["exact", "page", "site"]
    weaker = strengths[: strengths.index(strength) + 1]
    one_for_us = {url for url, (since, _) in ONE_FOR_US.items() if since in weaker}
    met = set()
    for group in lines("rfc3986_equivalence_rubyspec.ndjson"):
        form = canonical(group["normalized"], strength)
        apart = {url for url in group["equivalent"] if canonical(url, strength) != form}
        # `exact` leaves the escapes of a path, a query and a fragment as they came.
        assert strength == "exact" or not apart
        assert all("%" in url.partition("//")[2].partition("/")[2] for url in apart)
        met |= {url for url in group["different"] if canonical(url, strength) == form}
    assert met == one_for_us


@pytest.mark.shared
@shared
def test_rfc3986_examples() -> None:
    """The RFC's own equivalent URLs are one at every strength, and its dot segments go as it says."""
    rfc = json.loads((URLS / "rfc3986_examples.json").read_text(encoding="utf-8"))
    checked = 0
    for group in rfc["equivalent"]:
        codes = {canonical(url, strength) for url in group for strength in ("exact", "page")}
        assert len(codes) == 1
        assert codes == {"!url-scheme"} or group[0].startswith("http")
    for reference, expected in (rfc["reference_resolution_normal"] | rfc["reference_resolution_abnormal"]).items():
        # Only references that are a path: canonical URLs are made of absolute ones, references are resolved elsewhere.
        if re.match(r"(/(?!/)|[.g;](?!:))", reference):
            base = "http://a" if reference.startswith("/") else "http://a/b/c/"
            assert canonical(base + reference, "exact") == expected
            checked += 1
    assert checked == 36


@pytest.mark.shared
@shared
@pytest.mark.parametrize("suite", SUITES)
def test_other_rules(suite: str) -> None:
    """Where another library's rule gives other bytes than ours, and why, is what EXPECTED says."""
    assert compare(SUITES[suite]()) == EXPECTED[suite]


def test_page_says_the_same() -> None:
    """The counts on the page about other rules are those of EXPECTED."""
    text = PAGE.read_text(encoding="utf-8")
    for suite, (cases, same, others) in EXPECTED.items():
        rows = re.search(rf"\| `{suite}` \| `\w+` \| (\d+) \| (\d+) \|", text)
        assert rows is not None
        assert rows.groups() == (str(cases), str(same))
        section = text.partition(f"## `{suite}`\n")[2].partition("\n## ")[0]
        found = re.findall(r"^\| ([^|]+) \| (\d+) \| (\d+) \|", section, re.MULTILINE)
        assert {name: (int(count), int(key)) for name, count, key in found} == others

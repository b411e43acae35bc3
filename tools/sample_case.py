"""How a telling record of the sample crawls is written down: one line, its verdict, and what it is there to show.

The cases stand in sample_posts.py and sample_shops.py, in the order of their lines in the files. A verdict reads
as in the README of the sample: a verdict word, then what goes with it after a comma (`payload` or `content` for
what a duplicate matched on, `seen before` for a change back to known content, a code for a refused line or a problem).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One line: its crawl (day 1 to 3, source), its record or raw bytes, its verdict, and what it shows."""

    day: int
    source: str
    line: Record | bytes
    verdict: str
    shows: str


def number(text: str) -> str:
    """Mark a JSON number whose spelling must reach the file as it is; make_sample.py takes the mark off again."""
    return f"@number:{text}@"


def post(name: str, text: str | None, **more: Any) -> Record:
    """A message of the channel "courier"; `name` is the end of its URL."""
    return {"url": f"https://courier.example/post/{name}", "source": "courier", "language": "en", "text": text, **more}


def article(name: str, title: Any, text: str, **more: Any) -> Record:
    """An article of the news site "tidings"."""
    record = {"url": f"https://tidings.example/2026/{name}", "source": "tidings", "language": "en"}
    return {**record, "title": title, "author": "Mara Quillfeather", "text": text, **more}


def listing(name: str, title: str, sku: str, price: Any, **more: Any) -> Record:
    """A product page of the shop "lantern"."""
    record = {"url": f"https://lantern-shop.example/p/{name}", "source": "lantern", "language": "en", "title": title}
    return {**record, "brand": "Lantern & Daughters", "sku": sku, "price": price, "currency": "EUR", **more}


def market(name: str, title: str, sku: str, price: Any, **more: Any) -> Record:
    """A product page of the shop "harbour"."""
    shared = listing(name, title, sku, price, brand="Quayside", **more)
    return {**shared, "url": f"https://harbour-market.example/item?id={name}", "source": "harbour"}

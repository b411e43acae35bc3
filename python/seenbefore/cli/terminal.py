"""Text from records and rulesets on a terminal: nothing in it may move the cursor or hide what stands there."""

from __future__ import annotations

import re

import click

# C0 and C1 controls but line feed and tab, and the marks that turn the direction of text (Unicode Bidi_Control).
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """`text` with everything that acts on a terminal written as its code point, such as `<U+001B>`."""
    return _ACTIVE.sub(lambda found: f"<U+{ord(found.group()):04X}>", text)


def say(text: str = "", *, nl: bool = True, err: bool = False) -> None:
    """Prints a line of which parts come from records, made harmless."""
    click.echo(harmless(text), nl=nl, err=err)

"""Each step of the text rule and of the URL rule does what the reference says of it, and says so in a trace."""

from __future__ import annotations

import json

import pytest

from seenbefore import _kernel

# A text that the step changes, and what it makes of it.
TEXT = {
    "compose": ("cafe\u0301", "café"),
    "spaces": ("a\u00a0b", "a b"),
    "invisibles": ("soft\u00adhyphen", "softhyphen"),
    "typography": ("\u201cquoted\u201d \u2013 so\u2026", '"quoted" - so...'),
    "joiners": ("table\u200d", "table"),
    "casefold": ("STRAßE", "strasse"),
    "recompose": ("É", "é"),
    "collapse": (" a  b ", "a b"),
}
# A URL that the step changes at its strength, and the part of the result that shows it.
URL = {
    "parse": ("HTTP://E.Example:80/a/../b", "http://e.example/b"),
    "credentials": ("https://user:word@e.example/", "https://e.example/"),
    "stray-percent": ("https://e.example/100%", "https://e.example/100%25"),
    "percent-encoding": ("https://e.example/%7eann/%2f", "https://e.example/~ann/%2F"),
    "query-pieces": ("https://e.example/?a&&b=1", "https://e.example/?a=&b=1"),
    "query-spaces": ("https://e.example/?q=red+shoe", "https://e.example/?q=red%20shoe"),
    "tracking": ("https://e.example/?utm_source=x&id=5", "https://e.example/?id=5"),
    "session-query": ("https://e.example/?PHPSESSID=A1&x=1", "https://e.example/?x=1"),
    "session-path": ("https://e.example/p;jsessionid=A1/q", "https://e.example/p/q"),
    "query-order": ("https://e.example/?b=1&a=1", "https://e.example/?a=1&b=1"),
    "query-empty": ("https://e.example/p?", "https://e.example/p"),
    "fragment": ("https://e.example/p#top", "https://e.example/p"),
    "host-rules": ("https://t.example/s/x?view=2", "https://t.example/x"),
    "https": ("http://e.example/", "https://e.example/"),
    "www": ("https://www.e.example/", "https://e.example/"),
    "index-page": ("https://e.example/shop/index.html", "https://e.example/shop"),
    "trailing-slash": ("https://e.example/shop/", "https://e.example/shop"),
}
SITE_ONLY = {"https", "www", "index-page", "trailing-slash"}


def rules(strength: str) -> _kernel.Ruleset:
    return _kernel.Ruleset.from_toml(
        f"""
        name = "steps"
        version = 1
        identity = ["t"]
        fields = {{ t = {{}} }}
        url = {{ strength = "{strength}", host = [
            {{ match = "t.example", drop = ["view"], path = [{{ from = "/s/", to = "/" }}] }},
        ] }}
        """
    )


def test_every_step_has_an_example() -> None:
    """The examples here are those of the steps that the kernel has, in its order."""
    assert tuple(TEXT) == _kernel.TEXT_STEPS
    assert tuple(URL) == _kernel.URL_STEPS


@pytest.mark.parametrize("step", TEXT)
def test_text_step(step: str) -> None:
    """A text that needs the step comes out as the reference says, and the trace names the step."""
    given, form = TEXT[step]
    (field,) = rules("page").trace({"t": given})
    assert json.loads(field["form"]) == form
    assert step in {name for name, _, _ in field["steps"]}


@pytest.mark.parametrize("step", URL)
def test_url_step(step: str) -> None:
    """A URL that needs the step comes out as the reference says, and the trace names the step."""
    given, canonical = URL[step]
    strength = "site" if step in SITE_ONLY else "page"
    trace = rules(strength).trace_url(given)
    assert trace[-1][2] == canonical
    # Host rules are named one by one, by their place in the ruleset.
    assert {"host-rules": "host-rule-1"}.get(step, step) in {name for name, _, _ in trace}


@pytest.mark.parametrize("step", sorted(SITE_ONLY))
def test_site_steps_are_site_only(step: str) -> None:
    """What only `site` folds is left alone by the weaker strengths."""
    given, _ = URL[step]
    assert _kernel.canonical_url(given, "page") == given
    assert _kernel.canonical_url(given, "exact") == given

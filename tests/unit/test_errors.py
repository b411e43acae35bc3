"""The error tree: what each class carries, and that the tree drawn in the module's docstring is the one in the code."""

from __future__ import annotations

import copy
import errno
import inspect
import pickle
import re
from collections.abc import Iterator

import pytest

from seenbefore import errors

EXAMPLES: dict[str, errors.SeenbeforeError] = {
    "SeenbeforeError": errors.SeenbeforeError("something", path="a", expected="b", found="c", hint="d"),
    "UsageError": errors.UsageError("--again and --abandon exclude each other", hint="leave one out"),
    "RulesInvalid": errors.RulesInvalid(
        [("fields.price.kind", "unknown kind"), ("", "name is missing")], path="r.toml"
    ),
    "Refused": errors.Refused("float", "price", "9.9 is a float"),
    "UrlRefused": errors.UrlRefused("url-scheme"),
    "InputUnreadable": errors.InputUnreadable("can't read a.ndjson", path="a.ndjson"),
    "InputTruncated": errors.InputTruncated("a.gz is cut off", path="a.gz", found="end of input at byte 9"),
    "InputChanged": errors.InputChanged("a.ndjson changed", expected="sha256:00", found="sha256:11"),
    "StoreDamaged": errors.StoreDamaged("s.db is cut off", path="s.db"),
    "StoreForeign": errors.StoreForeign("s.db is no store", path="s.db"),
    "StoreNewer": errors.StoreNewer("s.db is newer", expected="schema 1", found="schema 2"),
    "StoreUnreachable": errors.StoreUnreachable("db can't be reached"),
    "StoreUnsupported": errors.StoreUnsupported("not in this version yet"),
    "RuleChanged": errors.RuleChanged("products/3 changed", changed=[("require", '["title"]', "[]")]),
    "InUse": errors.InUse("out is in use", found="process 4"),
    "OutputFailed": errors.OutputFailed("can't write out/kept.ndjson"),
    "DiskFull": errors.DiskFull("no room"),
    "PermissionDenied": errors.PermissionDenied("not allowed"),
    "Interrupted": errors.Interrupted(),
}
CLASSES = [
    value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, errors.SeenbeforeError)
]


def drawn() -> Iterator[tuple[int, str, str, int]]:
    """The lines of the tree in the docstring: depth, class, code, exit status."""
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"([│├└─ ]*)([A-Z]\w+) +(\S+(?: \S+)*?) {2,}(\d+)(?: |$)", line)
        if found:
            yield len(found[1]) // 4, found[2], found[3], int(found[4])


def test_every_class_has_an_example() -> None:
    """The examples below are one of each class."""
    assert {kind.__name__ for kind in CLASSES} == set(EXAMPLES)


def test_the_tree_is_the_one_drawn() -> None:
    """Names, parents, codes and exit statuses of the docstring are those of the classes."""
    parents: list[str] = []
    seen = []
    for depth, name, code, status in drawn():
        kind = getattr(errors, name)
        parents[depth:] = [name]
        assert kind.__mro__[1].__name__ == (parents[depth - 1] if depth else "Exception")
        assert kind.exit_status == status
        if not code.startswith("a "):
            assert kind.code == code
        seen.append(name)
    assert sorted(seen) == sorted(EXAMPLES)


def test_codes_are_different() -> None:
    """No two classes share a code."""
    codes = [kind.code for kind in CLASSES]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("name", EXAMPLES)
def test_survives_pickling_and_copying(name: str) -> None:
    """An error is the same with all its fields after crossing a process border."""
    error = EXAMPLES[name]
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert again.__dict__ == error.__dict__
        assert str(again) == str(error)
        assert again.args == error.args


@pytest.mark.parametrize("name", EXAMPLES)
def test_says_what_and_what_next(name: str) -> None:
    """An error's text is its message followed by its hint, where it has one."""
    error = EXAMPLES[name]
    assert str(error).startswith(error.message)
    assert error.hint is None or str(error).endswith(f"\n{error.hint}")


def test_fields_are_kept() -> None:
    """path, expected and found are there for programs, and None where they don't apply."""
    error = EXAMPLES["SeenbeforeError"]
    assert (error.path, error.expected, error.found, error.hint) == ("a", "b", "c", "d")
    plain = errors.UsageError("no")
    assert (plain.path, plain.expected, plain.found, plain.hint) == (None, None, None, None)
    assert str(plain) == "no"


def test_rules_invalid_lists_every_mistake() -> None:
    """The message names the file and every mistake with its path in the ruleset."""
    error = errors.RulesInvalid(
        mistakes=[("fields.price.kind", "unknown kind"), ("", "name is missing")], path="r.toml"
    )
    assert error.mistakes == (("fields.price.kind", "unknown kind"), ("", "name is missing"))
    assert error.message == "r.toml has 2 mistakes:\n  fields.price.kind: unknown kind\n  name is missing"


def test_refused_carries_its_code() -> None:
    """A refused record has the code of the rule, the field and the detail, whether or not a field is at fault."""
    error = errors.Refused("float", "price", "9.9 is a float")
    assert (error.code, error.field, error.detail, error.exit_status) == ("float", "price", "9.9 is a float", 1)
    assert error.message == "the record is refused (float): 9.9 is a float"
    assert errors.Refused("no-identity", None, "").message == "the record is refused (no-identity)"
    assert errors.Refused.code == "refused"


@pytest.mark.parametrize("code", ["url-relative", "url-scheme", "url-invalid", "url-too-long"])
def test_url_refused_never_repeats_the_url(code: str) -> None:
    """A URL's error has its problem code and a sentence of its own."""
    error = errors.UrlRefused(code)
    assert error.code == code
    assert error.message.endswith(f"({code})")
    assert not error.message.startswith("the URL has no canonical form")


def test_rule_changed_names_what_changed() -> None:
    """The message lists every setting that differs, before and now."""
    error = errors.RuleChanged(
        "products/3 changed", changed=[("require", '["title"]', "[]"), ("url.strength", '"page"', '"site"')]
    )
    assert error.message.splitlines()[1:] == ['  require: ["title"] → []', '  url.strength: "page" → "site"']


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, errors.DiskFull),
        (errno.EDQUOT, errors.DiskFull),
        (errno.EFBIG, errors.DiskFull),
        (errno.EACCES, errors.PermissionDenied),
        (errno.EROFS, errors.PermissionDenied),
        (errno.EIO, errors.OutputFailed),
    ],
)
def test_output_failed_names_the_reason(number: int, kind: type[errors.OutputFailed]) -> None:
    """A failed write becomes the error that is named after its cause, with the path in it."""
    error = errors.OutputFailed.from_os("out/kept.ndjson", OSError(number, "reason"))
    assert type(error) is kind
    assert error.path == "out/kept.ndjson"
    assert error.message == "can't write out/kept.ndjson: reason"


def test_interrupted_names_the_signal() -> None:
    """An interruption says that the same command goes on."""
    error = errors.Interrupted.by_signal("SIGTERM")
    assert error.message == "interrupted by SIGTERM"
    assert (error.exit_status, error.hint) == (130, "run the same command again: it goes on")

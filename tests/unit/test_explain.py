"""Explanations: what each step changed, with code points for what can't be seen, and why two keys are one or two."""

from __future__ import annotations

from pathlib import Path

import pytest

from seenbefore import Comparison, Deduplicator, Explanation, Ruleset, explain, open_store
from seenbefore.audit.explain import compare, members, of_record
from seenbefore.audit.locate import Locator, without_seen
from seenbefore.audit.words import changes, first_difference, table_row, visible
from seenbefore.errors import InputUnreadable

RULES = Ruleset.from_toml(
    'name = "t"\nversion = 1\nidentity = ["title", "sku"]\n[record]\nurl = "url"\n[fields.sku]\nkind = "code"\n'
)


def test_steps_that_changed_a_field_are_told() -> None:
    """Each step that changed the value is there with before, after and code points; the others are not."""
    told = explain(RULES, {"title": "Lamp\u00a0\u200bOil", "sku": None})
    assert isinstance(told, Explanation)
    sku, title = told.fields
    assert (sku.field, sku.form) == ("sku", None)
    assert [step.name for step in title.steps] == ["spaces", "invisibles", "casefold"]
    assert title.steps[0].changes == ("U+00A0 → U+0020",)
    assert title.steps[1].changes == ("U+200B → nothing",)
    assert title.form == '"lamp oil"'


def test_the_url_has_its_own_steps() -> None:
    """The canonical URL and the steps to it are told beside the fields; a password is in none of them."""
    told = of_record(RULES, {"title": "a", "url": "HTTPS://me:secret@E.example/?utm_source=x&b=1"})
    assert told.canonical_url == "https://e.example/?b=1"
    assert told.url_steps
    assert "secret" not in repr(told)


def test_the_step_where_two_records_meet_is_told() -> None:
    """Of each field that came in two spellings: the step from which on they are one, none where they stay two."""
    one = {"title": "Caf\u00e9 \u00a0Bar", "sku": "AB-1"}
    same = explain(RULES, one, {"title": "Cafe\u0301 Bar", "sku": "ab 1"})
    assert isinstance(same, Comparison)
    assert same.how.startswith(
        "every identity field has the same canonical form: sku from the step separators on, title"
    )
    # One has its é from the start and two spaces, the other the opposite.
    assert same.met == ("separators", "collapse and recompose")
    assert same.how.endswith("title from the steps collapse and recompose on")
    plain = explain(RULES, {"title": "lamp"}, {"title": "LAMP"})
    assert isinstance(plain, Comparison)
    assert plain.met == ("casefold",)
    other = explain(RULES, one, {"title": "Lamp", "sku": "AB-1"})
    assert isinstance(other, Comparison)
    assert other.met == (None,)


def test_keys_of_different_rules_are_not_compared() -> None:
    """Two records that were keyed by different rules are two, and the rules are what is told."""
    others = Ruleset.from_toml('name = "u"\nversion = 1\nidentity = ["title"]\n')
    both = compare(of_record(RULES, {"title": "a"}), of_record(others, {"title": "a"}))
    assert not both.same_content
    assert both.how == "they were keyed by different rules, t/1 and u/1, whose keys are never compared"


def test_a_refused_record_says_which_field() -> None:
    """A record that must not be hashed is explained by its code and field."""
    told = of_record(RULES, {"title": 9.9})
    assert told.refused is not None
    assert told.refused[:2] == ("float", "title")


def test_two_records_are_compared_field_by_field() -> None:
    """Equal keys: the fields in other spellings. Different ones: the first field, and where its forms part."""
    one = {"title": "Lamp", "sku": "AB-1"}
    same = explain(RULES, one, {"title": "LAMP", "sku": "ab 1"})
    assert isinstance(same, Comparison)
    assert (same.same_content, same.field) == (True, None)
    assert [first.field for first, _ in same.stories if first is not None] == ["sku", "title"]
    other = explain(RULES, one, {"title": "Lamps", "sku": "AB-1"})
    assert isinstance(other, Comparison)
    assert (other.same_content, other.field) == (False, "title")
    assert "part at character 6" in other.how
    absent = compare(of_record(RULES, one), of_record(RULES, {"title": "Lamp"}))
    assert (absent.field, absent.how) == ("sku", "sku is absent in one of them")
    nothing = compare(of_record(RULES, one), of_record(RULES, {}))
    assert not nothing.same_content
    assert members(other)["field"] == "title"


def test_urls_of_two_records_are_compared() -> None:
    """Whether two URLs are one place is told apart from the content."""
    two = explain(RULES, {"title": "a", "url": "https://e.example/a#x"}, {"title": "b", "url": "https://e.example/a"})
    assert isinstance(two, Comparison)
    assert (two.same_content, two.same_url) == (False, True)
    assert explain(RULES, {"title": "a"}, {"title": "a"}).same_url is None  # type: ignore[union-attr]


def test_unseen_characters_are_written_as_code_points() -> None:
    """What leaves no ink is named; letters and the plain space are themselves."""
    assert visible("a b\u00a0\u200b\u0301\n") == "a b⟨U+00A0⟩⟨U+200B⟩⟨U+0301⟩⟨U+000A⟩"
    assert changes("a\u2009b\u2009c", "a b c") == ["U+2009 → U+0020 (2 times)"]
    assert changes("Straße", "strasse") == ['"S" U+0053 → "s" U+0073', '"ß" U+00DF → "ss" U+0073 U+0073']
    assert len(changes("abcdefghij", "ABCDEFGHIJ")) == 7
    assert first_difference("lamp", "lamps") == (4, "nothing", '"s" U+0073')


def test_every_row_of_the_table_has_words() -> None:
    """Each verdict, with and without a URL, seen before or not, is a sentence of its own."""
    rows = {
        table_row({"verdict": verdict, "url_key": key, "seen_before": seen})
        for verdict in ("new", "changed", "syndicated", "duplicate", "unkeyed", "refused")
        for key in ("k", None)
        for seen in (True, False)
    }
    assert len(rows) == 9


def test_a_kept_row_gives_back_its_record() -> None:
    """The member added at the end is taken off, whatever the record's own members say."""
    for record in (b"{}", b'{"a":1}', b'{"a":",\\"_seen\\":{}}"}', b'{"a":{"_seen":{"b":1}}}'):
        inside = record[:-1]
        comma = b"" if inside == b"{" else b","
        kept = inside + comma + b'"_seen":{"sha256":null,"refers_to":{"run":1,"url":"x\\"_seen\\":{"}}}\n'
        assert without_seen(kept) == record


def test_a_line_is_found_wherever_it_stands_in_a_run(tmp_path: Path) -> None:
    """Among several inputs of some thousand lines, each line leads to its own receipt, and a blank one to none."""
    paths = []
    for name in ("b", "a", "c"):
        path = tmp_path / f"{name}.ndjson"
        lines = [f'{{"text":"{name}{number}"}}' if number % 7 else "" for number in range(1, 2501)]
        path.write_text("\n".join(lines), "utf-8")
        paths.append(path)
    rules = Ruleset.from_toml('name = "posts"\nversion = 1\nidentity = ["text"]\n')
    with Deduplicator(rules, tmp_path / "s.db") as deduplicator:
        deduplicator.run(paths, out=tmp_path / "out")
    store = open_store(str(tmp_path / "s.db"), create=False, read_only=True)
    locator = Locator(store, None, "records/1")
    for path in paths:
        for line in (1, 6, 1023, 1024, 1025, 2498, 2500):
            found = locator.by_name(f"{path}:{line}")
            assert found.receipt is not None
            assert (found.receipt["input"], found.receipt["line"]) == (str(path), line)
        with pytest.raises(InputUnreadable, match="blank: it holds no record"):
            locator.by_name(f"{path}:7")
    store.close()

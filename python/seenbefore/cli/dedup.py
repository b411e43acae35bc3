"""`seenbefore dedup`: the main job."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seenbefore.cli.given import DEFAULT_STORE
from seenbefore.errors import UsageError

if TYPE_CHECKING:
    from seenbefore.reading import Form


@click.command()
@click.argument("inputs", nargs=-1)
@click.option(
    "--rules", "-r", metavar="FILE|NAME", help="Ruleset [default: ./seenbefore.toml if it is there, else records/1]"
)
@click.option("--store", "-s", default=DEFAULT_STORE, show_default=True, metavar="URL", help="Store: a path or memory:")
@click.option("--out", "-o", metavar="DIR", help="Folder for the four output files; {run} becomes the run's number.")
@click.option("--no-output", is_flag=True, help="Judge and remember, but write no files.")
@click.option("--dry-run", is_flag=True, help="Judge only: nothing is remembered and nothing written.")
@click.option("--again", is_flag=True, help="Judge inputs again that a finished run judged already.")
@click.option(
    "--abandon", is_flag=True, help="Close the unfinished run of --out. What it committed stays kept and seen."
)
@click.option("--run-id", type=click.IntRange(1), metavar="N", help="The run's number [default: the next free one]")
@click.option("--source", metavar="S", help="Source of records that name none.")
@click.option(
    "--fetched-at", metavar="T", help="Time of fetching of records that name none, such as 2026-03-02T08:00:00Z."
)
@click.option(
    "--from-name",
    metavar="PATTERN",
    help="What the inputs' names say, such as '{source}_{fetched_at}.ndjson.gz'; {} says nothing.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["ndjson", "json", "csv", "tsv", "parquet", "arrow"]),
    help="Format of all inputs [default: by content and name]",
)
@click.option("--delimiter", metavar="SIGN", help="Sign between the cells of a table [default: , in CSV, tab in TSV]")
@click.option("--encoding", metavar="NAME", help="Encoding of tables [default: utf-8]")
@click.option("--replace-seen", is_flag=True, help="Replace a _seen that a record already has, instead of refusing it.")
@click.option(
    "--kept-format",
    type=click.Choice(["ndjson", "csv", "parquet"]),
    default="ndjson",
    show_default=True,
    help="Also write the kept rows as a table when the run finishes.",
)
@click.option(
    "--batch-size", type=click.IntRange(1), default=200_000, show_default=True, metavar="N", help="Records a commit."
)
@click.option(
    "--max-line", type=click.IntRange(1), default=64 << 20, show_default=True, metavar="BYTES", help="Longest line."
)
@click.option("--max-input", type=click.IntRange(1), metavar="BYTES", help="Most that one input may unpack to.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def dedup(inputs: tuple[str, ...], **options: Any) -> int:
    """Judge the records of INPUTS: files, directories, globs or - for standard input, in the order given.

    A run that was stopped goes on with the same command, and ends with the same files.
    """
    return _dedup(list(inputs), **options)


def _dedup(
    inputs: list[str],
    *,
    rules: str | None,
    store: str,
    out: str | None,
    no_output: bool,
    dry_run: bool,
    again: bool,
    abandon: bool,
    run_id: int | None,
    source: str | None,
    fetched_at: str | None,
    from_name: str | None,
    format_: str | None,
    delimiter: str | None,
    encoding: str | None,
    replace_seen: bool,
    kept_format: str,
    batch_size: int,
    max_line: int,
    max_input: int | None,
    as_json: bool,
) -> int:
    from seenbefore.cli.show import Meter, closing
    from seenbefore.dedup import Deduplicator, Settings, summary_members
    from seenbefore.rules import default_rules
    from seenbefore.writing import needed

    _together(out, no_output=no_output, dry_run=dry_run, abandon=abandon)
    form = _form(format_, delimiter, encoding)
    _said_once(from_name, source, fetched_at)
    needed(kept_format)
    ruleset = default_rules() if rules is None else rules
    settings = Settings(
        source=source,
        fetched_at=fetched_at,
        replace_seen=replace_seen,
        max_line=min(max_line, sys.maxsize),
        form=form,
        from_name=from_name,
        kept_format=kept_format,
        batch_size=min(batch_size, sys.maxsize),
        max_input=max_input,
    )
    if dry_run and not Path(store.removeprefix("sqlite:")).exists():
        store = "memory:"  # a dry run creates no file
    with (
        Meter() as meter,
        Deduplicator(ruleset, store, settings=settings, watch=meter, dry_run=dry_run) as deduplicator,
    ):
        if abandon:
            ordinal = deduplicator.abandon(out or "")
            meter.note(f"run {ordinal} is closed; its files stay as far as they were committed")
            return 0
        place = None if no_output or dry_run else out
        summary = deduplicator.run(inputs, place, again=again, dry_run=dry_run, run_id=run_id)
    if as_json:
        click.echo(json.dumps({**summary_members(summary), "seconds": round(summary.seconds, 3)}, ensure_ascii=False))
    else:
        where = None if place is None else place.replace("{run}", str(summary.run))
        made = "" if kept_format == "ndjson" else f" kept.{kept_format}"
        closing(summary, deduplicator.rules.origin, where, store, dry_run=dry_run, made=made)
    return 1 if summary.verdicts["refused"] else 0


def _together(out: str | None, *, no_output: bool, dry_run: bool, abandon: bool) -> None:
    """Refuses options that say nothing, or two things, about where the result goes."""
    if abandon and out is None:
        raise UsageError("--abandon needs --out: the folder of the run that is to be closed")
    if out is not None and no_output:
        raise UsageError("--out and --no-output exclude each other", hint="drop one of them")
    if out is None and not no_output and not dry_run:
        raise UsageError(
            "no output folder given",
            hint="--out 'out/{run}' writes the result, --no-output only remembers and counts, --dry-run only counts",
        )


def _form(format_: str | None, delimiter: str | None, encoding: str | None) -> Form:
    """What was said about the inputs. Raises UsageError where it goes with no table."""
    from seenbefore.reading import Dialect, Form, delimiter_of, encoding_of

    for option, value in (("--delimiter", delimiter), ("--encoding", encoding)):
        if value is not None and format_ not in {None, "csv", "tsv"}:
            raise UsageError(f"{option} is for tables, not for --format {format_}", hint="drop one of them")
    sign = None if delimiter is None else delimiter_of(delimiter)
    return Form(format_, Dialect(sign, None if encoding is None else encoding_of(encoding)))


def _said_once(from_name: str | None, source: str | None, fetched_at: str | None) -> None:
    """Refuses a fact that is given for all inputs and drawn from their names too."""
    for option, name, value in (("--source", "{source}", source), ("--fetched-at", "{fetched_at}", fetched_at)):
        if from_name is not None and value is not None and name in from_name:
            raise UsageError(f"{option} and {name} in --from-name say the same thing twice", hint="drop one of them")

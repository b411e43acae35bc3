"""One input of any format → its events: which reader it takes, and how a run goes on in the middle of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from seenbefore.reading.arrays import elements
from seenbefore.reading.content import BLOCK, Content
from seenbefore.reading.events import End, Event, LongLine, Mark, Rows
from seenbefore.reading.formats import SEPARATORS, recognised
from seenbefore.reading.lines import Lines, changed
from seenbefore.reading.tables import Dialect, TableRows
from seenbefore.types import Input


@dataclass(frozen=True, slots=True)
class Form:
    """What the caller says about the inputs: their format (None: see `formats.py`), and how tables are written."""

    format: str | None = None
    dialect: Dialect = field(default_factory=Dialect)


class Reader:
    """Reads one input once.

    Iterating gives what `events.py` lists, an End at last. `resume` is the point to go on from: what lies before it is
    read, compared with its digest and not given out. Lines and elements over `max_line` bytes are given out in parts;
    `max_bytes` bounds the decompressed size. `raw_read` is how many stored bytes were read so far. `told` is called
    with the format once it is known.

    Raises InputUnreadable, InputTruncated (an input that ends early, after all its whole records were given out) and
    InputChanged.
    """

    def __init__(
        self,
        source: Input,
        *,
        max_line: int,
        max_bytes: int | None = None,
        resume: Mark | None = None,
        form: Form | None = None,
        told: Callable[[str], None] | None = None,
        block: int = BLOCK,
    ) -> None:
        self.source = source
        self._content = Content(source, max_bytes)
        self._max_line, self._block = max_line, block
        self._resume = resume if resume is not None and resume.offset else None
        self._form = form or Form()
        self._told = told

    @property
    def raw_read(self) -> int:
        """Stored bytes read so far."""
        return self._content.raw_read

    def __iter__(self) -> Iterator[Event]:
        # A generator, so that what the first bytes show is raised to whoever takes events, not to whoever begins.
        form = recognised(self.source.name, self._content.head(), self._form.format)
        if self._told is not None:
            self._told(form)
        yield from self._events(form)

    def _events(self, form: str) -> Iterator[Event]:
        content = self._content
        if form == "ndjson":
            return iter(Lines(content, max_line=self._max_line, resume=self._resume, block=self._block))
        events: Iterator[Event]
        if form == "json":
            events = elements(content, self._max_line)
        elif form in SEPARATORS:
            events = iter(TableRows(content, self._form.dialect, SEPARATORS[form], self._max_line))
        else:
            from seenbefore.reading.arrow import columnar

            events = columnar(content, form)
        return events if self._resume is None else self._behind(events, self._resume)

    def _behind(self, events: Iterator[Event], mark: Mark) -> Iterator[Event]:
        """What comes behind a mark, once what lies before it has proved to be what it was."""
        here = Mark(0, b"")
        passed = False
        for event in events:
            if passed:
                yield event
                continue
            if isinstance(event, Rows):
                count = event.records.before(mark.offset)
                if count:
                    here = event.mark(count)
                passed = here == mark
                if count < len(event.records):
                    if not passed:
                        raise changed(self.source.name, mark, here)
                    yield replace(event, start=count)
            elif isinstance(event, LongLine):
                here = event.after
                passed = here == mark
            if isinstance(event, End) or here.offset > mark.offset or (here.offset == mark.offset and not passed):
                raise changed(self.source.name, mark, here)

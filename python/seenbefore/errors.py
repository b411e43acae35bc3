"""The error tree, with the code and the exit status of each.

SeenbeforeError          error               1
├── UsageError           usage               2    arguments that don't go together, or name nothing
│   └── RulesInvalid     rules-invalid       2    a ruleset with mistakes: `.mistakes`
├── Refused              a refusal code      1    a record that must not be hashed: `.code` `.field` `.detail`
├── UrlRefused           a URL problem code  1    a URL without a canonical form: `.code`
├── InputUnreadable      input-unreadable    3    not there, not allowed, not what it should be
├── InputTruncated       input-truncated     3    compressed data that ends too early
├── InputChanged         input-changed       3    not what it was when the unfinished run read it
├── StoreDamaged         store-damaged       4    not whole, or at odds with itself
├── StoreForeign         store-foreign       4    not a store of seenbefore
├── StoreNewer           store-newer         4    written by a newer version
├── StoreUnreachable     store-unreachable   4    a server that doesn't answer; the same command goes on
├── StoreUnsupported     store-unsupported   4    what this version, or this store, doesn't have
├── RuleChanged          rule-changed        4    the ruleset was edited without a new version: `.changed`
├── InUse                in-use              5    another process holds it
├── OutputFailed         output-failed       6    something can't be written
│   ├── DiskFull         disk-full           6
│   └── PermissionDenied permission-denied   6
└── Interrupted          interrupted         130  stopped by a signal; the same command goes on

Each error says what happened and where (`message`) and what to do next (`hint`), and has `path`, `expected` and
`found` for programs, None where they don't apply. `code` is stable; messages are for people and may change.
All of them can be pickled, so that they cross processes whole.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from typing import Any, Self


class SeenbeforeError(Exception):
    """The root of the tree. `str()` of it is the message, and the hint on a line of its own."""

    code: str = "error"
    exit_status: int = 1
    default_hint: str | None = None

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        path: str | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.default_hint
        self.path = path
        self.expected = expected
        self.found = found

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n{self.hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        # The usual way calls the class with `args`, which fits no class that takes keywords.
        return _restored, (type(self), self.args, self.__dict__.copy())


def _restored(kind: type[SeenbeforeError], args: tuple[Any, ...], state: dict[str, Any]) -> SeenbeforeError:
    """An error as it was before pickling, whatever its `__init__` takes."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class UsageError(SeenbeforeError):
    """The arguments don't go together, or name something that isn't there."""

    code = "usage"
    exit_status = 2


class RulesInvalid(UsageError):
    """A ruleset with mistakes.

    `mistakes` is every one of them as (path within the ruleset, what is wrong); `path` is its file, where it has one.
    """

    code = "rules-invalid"
    default_hint = "correct the ruleset; every mistake in it is listed"

    def __init__(
        self, mistakes: Iterable[tuple[str, str]], *, path: str | None = None, hint: str | None = None
    ) -> None:
        self.mistakes = tuple((where, what) for where, what in mistakes)
        lines = [f"  {where}: {what}" if where else f"  {what}" for where, what in self.mistakes]
        count = "a mistake" if len(lines) == 1 else f"{len(lines)} mistakes"
        super().__init__("\n".join([f"{path or 'the ruleset'} has {count}:", *lines]), path=path, hint=hint)


class Refused(SeenbeforeError):
    """A record that must not be hashed.

    `code` is a refusal code of the rule, `field` the member at fault (None: the record itself), `detail` says why.
    """

    code = "refused"
    default_hint = "correct the record, or give the field another kind in the ruleset"

    def __init__(self, code: str, field: str | None = None, detail: str = "", *, hint: str | None = None) -> None:
        self.code = code
        self.field = field
        self.detail = detail
        reason = detail or ("" if field is None else f"field {field!r}")
        super().__init__(f"the record is refused ({code}){f': {reason}' if reason else ''}", hint=hint)


class UrlRefused(SeenbeforeError):
    """A URL without a canonical form. `code` is the problem code that a receipt would carry.

    The URL is not repeated: it may hold a password.
    """

    code = "url-refused"
    default_hint = "give an absolute http or https URL"

    def __init__(self, code: str, *, hint: str | None = None) -> None:
        self.code = code
        super().__init__(f"{_URL_PROBLEMS.get(code, 'the URL has no canonical form')} ({code})", hint=hint)


_URL_PROBLEMS = {
    "url-relative": "the URL has no scheme",
    "url-scheme": "the URL's scheme is neither http nor https",
    "url-invalid": "the URL can't be parsed",
    "url-too-long": "the URL is longer than 64 KiB",
}


class InputUnreadable(SeenbeforeError):
    """An input that isn't there, may not be read, or is not what its reader takes."""

    code = "input-unreadable"
    exit_status = 3


class InputTruncated(SeenbeforeError):
    """Compressed input that ends before its data do. The message gives both offsets."""

    code = "input-truncated"
    exit_status = 3


class InputChanged(SeenbeforeError):
    """An input that is not what it was when the unfinished run read it."""

    code = "input-changed"
    exit_status = 3


class StoreDamaged(SeenbeforeError):
    """A store that is not whole, or whose rows contradict each other. It is left as it is."""

    code = "store-damaged"
    exit_status = 4
    default_hint = (
        "keep the file as it is and put back a backup of it (with its -wal file, if there is one); "
        "without a backup, `sqlite3 FILE .recover` saves what can be read"
    )


class StoreForeign(SeenbeforeError):
    """A file that is no store of seenbefore. It is left as it is."""

    code = "store-foreign"
    exit_status = 4
    default_hint = "check the path, or name a file that doesn't exist yet to begin a new store"


class StoreNewer(SeenbeforeError):
    """A store written by a newer version. It is left as it is."""

    code = "store-newer"
    exit_status = 4
    default_hint = "use the seenbefore that wrote it, or a newer one"


class StoreUnsupported(SeenbeforeError):
    """A kind of store, or something asked of one, that isn't there."""

    code = "store-unsupported"
    exit_status = 4


class StoreUnreachable(SeenbeforeError):
    """A database server that doesn't answer, or that gave a transaction up for the sake of another one.

    Whether a commit that was under way came to pass is for the run's committed position to say.
    """

    code = "store-unreachable"
    exit_status = 4
    default_hint = "check the server and the way to it, then run the same command again: it goes on"


class RuleChanged(SeenbeforeError):
    """The store knows another rule under the same name and version.

    `changed` says what differs, as (path within the ruleset, before, now).
    """

    code = "rule-changed"
    exit_status = 4
    default_hint = "raise the ruleset's version (old keys are never compared with new ones), or undo the change"

    def __init__(
        self,
        message: str,
        *,
        changed: Iterable[tuple[str, str, str]] = (),
        hint: str | None = None,
        path: str | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        self.changed = tuple((where, before, now) for where, before, now in changed)
        lines = [f"  {where}: {before} → {now}" for where, before, now in self.changed]
        super().__init__("\n".join([message, *lines]), hint=hint, path=path, expected=expected, found=found)


class InUse(SeenbeforeError):
    """Another process holds the output folder or the store. `found` names it where it is known."""

    code = "in-use"
    exit_status = 5
    default_hint = "wait until it has ended, then run the same command again"


class OutputFailed(SeenbeforeError):
    """Something can't be written. What was committed before stays, and the same command goes on from there."""

    code = "output-failed"
    exit_status = 6
    default_hint = "check the path and the disk, then run the same command again: it goes on"

    @classmethod
    def from_os(cls, path: str, error: OSError) -> OutputFailed:
        """The error for a write to `path` that the system did not do: DiskFull, PermissionDenied or OutputFailed."""
        kind: type[OutputFailed] = cls
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            kind = DiskFull
        elif error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            kind = PermissionDenied
        return kind(f"can't write {path}: {error.strerror or error}", path=path)


class DiskFull(OutputFailed):
    """There is no room."""

    code = "disk-full"
    default_hint = "free some space, then run the same command again: it goes on"


class PermissionDenied(OutputFailed):
    """Writing is not allowed there."""

    code = "permission-denied"
    default_hint = "check who may write there"


class Interrupted(SeenbeforeError):
    """Stopped by a signal. What was committed stays."""

    code = "interrupted"
    exit_status = 130
    default_hint = "run the same command again: it goes on"

    def __init__(self, message: str = "interrupted", *, hint: str | None = None, path: str | None = None) -> None:
        super().__init__(message, hint=hint, path=path)

    @classmethod
    def by_signal(cls, name: str) -> Self:
        """Stopped by the signal of that name, such as SIGTERM."""
        return cls(f"interrupted by {name}")

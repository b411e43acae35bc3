"""Rulesets as versioned data: read from a file, from text, or from the built-in ones that come with the package.

A released built-in ruleset never changes; a change is a new version beside it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from seenbefore import _kernel
from seenbefore.errors import RulesInvalid, UsageError

if TYPE_CHECKING:
    from seenbefore._kernel import KeyBatch, Keys

UNICODE_VERSION = _kernel.UNICODE_VERSION
VERSION = _kernel.VERSION
VERDICTS = _kernel.VERDICTS

DEFAULT_FILE, DEFAULT_NAME = "seenbefore.toml", "records/1"

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*/[0-9]+")


class Ruleset:
    """A validated ruleset: what decides keys, and what is done with verdicts. Immutable.

    `kernel` is the core's own object, `text` the TOML that it was made from, `origin` the file or built-in name, for
    people.
    """

    __slots__ = ("kernel", "origin", "text")

    kernel: _kernel.Ruleset
    text: str
    origin: str

    def __init__(self, kernel: _kernel.Ruleset, text: str, origin: str) -> None:
        for name, value in (("kernel", kernel), ("text", text), ("origin", origin)):
            object.__setattr__(self, name, value)

    @classmethod
    def from_toml(cls, text: str, origin: str = "text") -> Self:
        """Reads TOML text. Raises RulesInvalid with every mistake and its path."""
        return cls(_kernel.Ruleset.from_toml(text), text, origin)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Reads a TOML file.

        Raises RulesInvalid with every mistake, UsageError where the file can't be read as text.
        """
        where = os.fspath(path)
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise UsageError(
                f"can't read the ruleset {where}: {error.strerror or error}", path=where, hint=_hint(where)
            ) from error
        except UnicodeDecodeError as error:
            raise UsageError(
                f"the ruleset {where} is not UTF-8 at byte {error.start}", path=where, hint="save it as UTF-8"
            ) from error
        try:
            return cls.from_toml(text, where)
        except RulesInvalid as error:
            raise RulesInvalid(mistakes=error.mistakes, path=where) from None

    @classmethod
    def builtin(cls, name: str) -> Self:
        """A ruleset that comes with the package, by its label, such as `records/1`.

        Raises UsageError naming the nearest one.
        """
        if name not in builtin_names():
            raise UsageError(f'there is no built-in ruleset "{name}"', found=name, hint=_hint(name))
        text = _folder().joinpath(f"{name.replace('/', '-')}.toml").read_text(encoding="utf-8")
        return cls.from_toml(text, name)

    @classmethod
    def find(cls, spec: str | os.PathLike[str]) -> Self:
        """What `--rules` takes: the label of a built-in ruleset, else a file. Raises as `builtin` and `load` do."""
        if isinstance(spec, str):
            if spec in builtin_names():
                return cls.builtin(spec)
            if _NAME.fullmatch(spec) and not Path(spec).exists():
                raise UsageError(
                    f'"{spec}" is neither a built-in ruleset nor a file', path=spec, found=spec, hint=_hint(spec)
                )
        return cls.load(spec)

    @property
    def name(self) -> str:
        """The name, without version."""
        return self.kernel.name

    @property
    def version(self) -> int:
        """The version, from 1."""
        return self.kernel.version

    @property
    def label(self) -> str:
        """Name and version as keys carry them: `products/3`."""
        return self.kernel.label

    @property
    def fingerprint(self) -> str:
        """`sha256:<hex>` over everything that can change a key."""
        return self.kernel.fingerprint

    @property
    def configuration(self) -> str:
        """`sha256:<hex>` over the rest of the settings."""
        return self.kernel.configuration

    @property
    def identity_json(self) -> str:
        """What the fingerprint covers, as canonical JSON."""
        return self.kernel.identity_json

    @property
    def settings_json(self) -> str:
        """Every setting with its default written out, as canonical JSON."""
        return self.kernel.settings_json

    def keys(
        self, record: Any, url: str | None = None, source: str | None = None, fetched_at: str | None = None
    ) -> Keys:
        """The keys of one record (a mapping). Raises Refused with code, field and detail."""
        return self.kernel.keys(record, url, source, fetched_at)

    def keys_ndjson(self, data: bytes) -> KeyBatch:
        """The keys of lines of NDJSON as columns of digests and refusal codes, one of each a line."""
        return self.kernel.keys_ndjson(data)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a ruleset is immutable: {name} can't be set")

    def __repr__(self) -> str:
        return f"<Ruleset {self.label} {self.fingerprint[:19]}…>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self).from_toml, (self.text, self.origin))


def content_key(
    rules: Ruleset, record: Any, url: str | None = None, source: str | None = None, fetched_at: str | None = None
) -> str | None:
    """The content key of one record, None where it has no identity. Raises Refused."""
    return rules.keys(record, url, source, fetched_at).content_key


def builtin_names() -> list[str]:
    """The labels of the rulesets that come with the package, sorted."""
    names = (entry.name.removesuffix(".toml") for entry in _folder().iterdir() if entry.name.endswith(".toml"))
    return sorted("/".join(name.rsplit("-", 1)) for name in names)


def default_rules() -> str:
    """What is used where no ruleset was named: seenbefore.toml in the current folder, else the built-in records/1."""
    return DEFAULT_FILE if Path(DEFAULT_FILE).is_file() else DEFAULT_NAME


def _folder() -> Any:
    # Here and below, what the version alone has no need of is imported at its use.
    from importlib import resources

    return resources.files(__name__).joinpath("builtin")


def _hint(wanted: str) -> str:
    """The built-in ruleset that was most likely meant, and how to name a file."""
    import difflib

    names = builtin_names()
    near = difflib.get_close_matches(wanted, names, n=1, cutoff=0.4)
    meant = f"did you mean {near[0]}? " if near else ""
    return f"{meant}Built in: {', '.join(names) or 'none'}. A file is named by its path, such as ./rules.toml."

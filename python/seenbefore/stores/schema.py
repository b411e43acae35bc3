"""The tables of a store in SQLite: named migrations, and the views that other tools should read.

Random keys of 32 bytes make a B-tree slow as it grows: each of them falls on a page of its own, which is written twice
(log and file). So contents and places have two levels. New and changed rows go into `…_recent`; what that holds above a
limit is merged in order into `…_settled`, one stretch of the key space after the other, so that many rows share a page.
Where both have a key the recent row counts. The views `content` and `place` show the two as one table.

What is wide or looked up by id (URLs, payload digests, receipts) lies in tables that grow at their end only.
"""

from __future__ import annotations

from dataclasses import dataclass

# "seen" in ASCII, at offset 68 of the file (SQLite database header): `file` and everybody else can tell whose it is.
APPLICATION_ID = 0x7365656E
PAGE_SIZE = 8192


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a schema to the next. A released one never changes; `user_version` says how many were applied."""

    name: str
    sql: str


_FIRST = """
CREATE TABLE migration (
    name TEXT PRIMARY KEY,
    applied TEXT NOT NULL              -- when, by the clock of SQLite, in UTC
) STRICT;

CREATE TABLE meta (                    -- settings made when the store was created, and how far merging has come
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE ruleset (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,         -- sha256:<hex> over what can change a key
    configuration TEXT NOT NULL,       -- sha256:<hex> over the rest, as registered last
    unicode_version TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'pending', 'retired')),
    UNIQUE (name, version)
) STRICT;

CREATE TABLE settings (                -- the text of a ruleset under each configuration that it had
    ruleset INTEGER NOT NULL REFERENCES ruleset (id),
    configuration TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (ruleset, configuration)
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    id INTEGER PRIMARY KEY,            -- the run's ordinal
    ruleset INTEGER NOT NULL REFERENCES ruleset (id),
    configuration TEXT NOT NULL,
    out TEXT NOT NULL,                 -- output directory
    state TEXT NOT NULL CHECK (state IN ('unfinished', 'finished', 'abandoned')),
    started TEXT NOT NULL,
    ended TEXT,
    position TEXT NOT NULL,            -- JSON: how far the inputs were read
    outputs TEXT NOT NULL,             -- JSON: committed length of each output file in bytes
    counts TEXT NOT NULL,              -- JSON
    link INTEGER UNIQUE,               -- counts finished runs in the order of finishing, from 1
    chain BLOB                         -- SHA-256(chain of the link before, or 32 zero bytes, ‖ SHA-256 of the receipts)
) STRICT;

CREATE TABLE input (
    run INTEGER NOT NULL REFERENCES run (id),
    idx INTEGER NOT NULL,              -- from 0
    name TEXT NOT NULL,
    size INTEGER,                      -- bytes as stored
    sha256 BLOB,                       -- of the bytes as stored; NULL until read to the end, like `records`
    records INTEGER,
    facts TEXT NOT NULL,               -- JSON: what was drawn from the name
    PRIMARY KEY (run, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX input_by_digest ON input (sha256) WHERE sha256 IS NOT NULL;

CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE sighting (                -- one record; appended in the order of commits, never changed
    id INTEGER PRIMARY KEY,            -- from 1, without gaps
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,              -- ordinal within the run, from 1
    source INTEGER NOT NULL,
    content INTEGER,                   -- id of the content's first sighting
    place INTEGER,                     -- id of the place's first sighting
    fetched_at INTEGER,                -- microseconds since 1970 in UTC
    verdict INTEGER NOT NULL,          -- new, changed, syndicated, duplicate, unkeyed, refused: 0 to 5
    url TEXT,                          -- as fetched, without credentials
    payload BLOB                       -- payload digest
) STRICT;

CREATE TABLE block (                   -- receipts and kept rows of about 1,024 records, as the files have them
    run INTEGER NOT NULL REFERENCES run (id),
    first_seq INTEGER NOT NULL,
    first_sighting INTEGER NOT NULL,
    records INTEGER NOT NULL,
    receipts BLOB NOT NULL,            -- zstd
    kept BLOB,                         -- zstd; NULL where the store keeps no rows
    PRIMARY KEY (run, first_seq)
) STRICT;
"""

_CONTENT = """(
    ruleset INTEGER NOT NULL,
    key BLOB NOT NULL,                 -- content key, 32 bytes
    first INTEGER NOT NULL,            -- first sighting: the content's id
    first_seen INTEGER,                -- earliest fetched_at of any sighting, in microseconds since 1970
    PRIMARY KEY (ruleset, key)
) STRICT, WITHOUT ROWID;
"""

_PLACE = """(
    ruleset INTEGER NOT NULL,
    key BLOB NOT NULL,                 -- URL key, 32 bytes
    first INTEGER NOT NULL,            -- first sighting: the place's id
    latest INTEGER NOT NULL,           -- latest sighting in the order of commits
    latest_content INTEGER NOT NULL,   -- the content that one showed
    PRIMARY KEY (ruleset, key)
) STRICT, WITHOUT ROWID;
"""


def _two_levels(table: str, columns: str) -> str:
    # The names and columns are those below.
    return f"""
CREATE TABLE {table}_recent {columns}
CREATE TABLE {table}_settled {columns}
CREATE VIEW {table} AS
    SELECT * FROM {table}_recent
    UNION ALL
    SELECT settled.* FROM {table}_settled AS settled WHERE NOT EXISTS (
        SELECT 1 FROM {table}_recent AS recent WHERE recent.ruleset = settled.ruleset AND recent.key = settled.key
    );
"""


MIGRATIONS = (Migration("1-first", _FIRST + _two_levels("content", _CONTENT) + _two_levels("place", _PLACE)),)

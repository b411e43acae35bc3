"""The tables of a store in SQLite: named migrations, and the views that other tools should read.

Random keys of 32 bytes make one index slow as it grows: each of them falls on a page of its own, which is written twice
(log and file). So keys lie in segments, which never change: the new keys of a batch are one, sorted; eight of a size
are merged into one of the next size. A segment is cut into buckets of some 160 entries, by the first bytes of the keys.
The views `content` and `place` show keys with their facts, a row each. docs/explanation/store-layout.md says more.

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
    receipts BLOB NOT NULL,            -- packed: see docs/reference/store-tables.md
    kept BLOB,                         -- packed; NULL where the store keeps no rows
    PRIMARY KEY (run, first_seq)
) STRICT;
"""

_KEYS = """
CREATE TABLE segment (                 -- a sorted run of keys; the table and the ruleset that they are of
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('content', 'place')),
    ruleset INTEGER NOT NULL REFERENCES ruleset (id),
    keys INTEGER NOT NULL,             -- how many
    buckets INTEGER NOT NULL,          -- how many
    filter BLOB NOT NULL               -- which keys are certainly not in it: see docs/explanation/store-layout.md
) STRICT;

CREATE TABLE bucket (                  -- a stretch of a segment
    id INTEGER PRIMARY KEY,            -- segment << 24 | its number: first four bytes of a key * buckets >> 32
    entries BLOB NOT NULL              -- 44 bytes an entry, sorted: key, 12 digits of the id of its first sighting
) STRICT;

CREATE TABLE content_seen (            -- contents that some sighting was fetched earlier of than the first one
    id INTEGER PRIMARY KEY,            -- first sighting: the content's id
    first_seen INTEGER NOT NULL        -- earliest fetched_at of any sighting, in microseconds since 1970
) STRICT;

CREATE TABLE place_now (               -- places seen more than once, or first with a content that was seen before
    id INTEGER PRIMARY KEY,            -- first sighting: the place's id
    latest INTEGER NOT NULL,           -- latest sighting in the order of commits
    content INTEGER NOT NULL           -- the content that one showed
) STRICT;

CREATE VIEW entry AS                   -- the entries of all buckets
    SELECT segment.kind, segment.ruleset, substr(bucket.entries, each.key * 44 + 1, 32) AS key,
        CAST(substr(bucket.entries, each.key * 44 + 33, 12) AS INTEGER) AS id
    FROM segment JOIN bucket ON bucket.id >= segment.id << 24 AND bucket.id < segment.id + 1 << 24
    -- one element an entry, written without a table of numbers
    JOIN json_each('[' || substr(replace(hex(zeroblob(length(bucket.entries) / 44)), '00', ',0'), 2) || ']') AS each;

CREATE VIEW content AS
    SELECT entry.ruleset, entry.key, entry.id AS first, ifnull(seen.first_seen, sighting.fetched_at) AS first_seen
    FROM entry
    LEFT JOIN content_seen AS seen ON seen.id = entry.id
    LEFT JOIN sighting ON sighting.id = entry.id
    WHERE entry.kind = 'content';

CREATE VIEW place AS
    SELECT entry.ruleset, entry.key, entry.id AS first, ifnull(now.latest, entry.id) AS latest,
        ifnull(now.content, entry.id) AS latest_content
    FROM entry LEFT JOIN place_now AS now ON now.id = entry.id
    WHERE entry.kind = 'place';
"""


_HISTORIES = """
CREATE TABLE later (                   -- an index: sightings of a content or place after its first one
    kind TEXT NOT NULL CHECK (kind IN ('content', 'place')),
    since INTEGER NOT NULL,            -- first sighting of the batch or batches that the piece is of
    owner INTEGER NOT NULL,            -- the first content or place in the piece
    first INTEGER NOT NULL,            -- its first sighting in the piece
    entries BLOB NOT NULL,             -- pairs of LEB128 numbers: steps from content to content; sighting less since
    PRIMARY KEY (kind, since, owner, first)
) STRICT, WITHOUT ROWID;

-- Sightings that were there before are found by reading them.
INSERT INTO meta (name, value) SELECT 'later_from', CAST(ifnull(max(id), 0) + 1 AS TEXT) FROM sighting;
"""

MIGRATIONS = (Migration("1-first", _FIRST + _KEYS), Migration("2-histories", _HISTORIES))

"""Ways to damage a store, and what is to be told of each."""

from __future__ import annotations

# Damage is done by another process, with another SQLite than the package's, while nobody has the store open.
DAMAGE = """
import sqlite3, sys, zstandard
from seenbefore._kernel import unpack
store = sqlite3.connect(sys.argv[1], isolation_level=None)
def sql(*statements):
    for statement in statements:
        store.execute(statement)
def bucket(change, kind="content"):
    number, entries = store.execute(
        "SELECT bucket.id, entries FROM bucket JOIN segment ON bucket.id >> 24 = segment.id"
        " WHERE kind = ? AND length(entries) > 88 ORDER BY 1", (kind,)
    ).fetchone()
    store.execute("UPDATE bucket SET entries = ? WHERE id = ?", (change(entries), number))
def edit(column, change, where="run = 1 AND first_seq = 1"):
    (packed,) = store.execute(f"SELECT {column} FROM block WHERE {where}").fetchone()
    data = zstandard.ZstdCompressor().compress(change(unpack(packed)))
    assert store.execute(f"UPDATE block SET {column} = ? WHERE {where}", (data,)).rowcount == 1
exec(sys.argv[2])
store.close()
"""

# What is done to which table, and the first faults that are told of it: table, row, words of what is wrong, both sides.
BROKEN = {
    "a sighting is gone": (
        'sql("DELETE FROM sighting WHERE id = 7")',
        [("sighting", "7", "is not there", "a sighting of row 1:7", "none")],
    ),
    "its verdict is another": (
        'sql("UPDATE sighting SET verdict = 3 WHERE id = 7")',
        [
            ("sighting", "7", "has another verdict than its receipt, row 1:7", "new", "duplicate"),
            ("run", "1", "counts other sightings with the verdict new", "84", "85"),
        ],
    ),
    "its verdict is none": (
        'sql("UPDATE sighting SET verdict = 9 WHERE id = 7")',
        [("sighting", "7", "has another verdict than its receipt", "new", "9")],
    ),
    "its time is another": (
        'sql("UPDATE sighting SET fetched_at = 5000000 WHERE id = 7")',
        [
            ("sighting", "7", "has another fetched_at", "2026-03-02T07:00:06Z", "1970-01-01T00:00:05Z"),
        ],
    ),
    "its content was seen earlier": (
        'sql("INSERT INTO content_seen VALUES (7, 5000000)")',
        [("content", "", "has another first_seen", "2026-03-02T07:00:06Z", "1970-01-01T00:00:05Z")],
    ),
    "its row is another": (
        'sql("UPDATE sighting SET seq = 9 WHERE id = 7")',
        [("sighting", "7", "is another row's", "row 1:7", "row 1:9")],
    ),
    "its URL is another": (
        """sql("UPDATE sighting SET url = 'x' WHERE id = 7")""",
        [("sighting", "7", "has another url", "https://courier.example/post/106", "x")],
    ),
    "its payload is another": (
        'sql("UPDATE sighting SET payload = zeroblob(32) WHERE id = 7")',
        [("sighting", "7", "has another payload_digest", "sha256:", "sha256:0000")],
    ),
    "its source is not there": (
        'sql("UPDATE sighting SET source = 99 WHERE id = 7")',
        [("sighting", "7", "has a source that is not there", "source 99", "none")],
    ),
    "its content is another": (
        'sql("UPDATE sighting SET content = 8 WHERE id = 107")',
        [
            (
                "sighting",
                "107",
                "has another content than its receipt, row 2:3",
                "content 7, sample/1:sha256:",
                "content 8",
            )
        ],
    ),
    "its place is another": (
        'sql("UPDATE sighting SET place = 8 WHERE id = 107")',
        [
            ("place", "", "has another latest sighting than there is", "sighting 7 of", "sighting 107 of"),
            ("sighting", "107", "has another place than its receipt", "place 7, sample/1:url:sha256:", "place 8"),
        ],
    ),
    "it has no content": (
        'sql("UPDATE sighting SET content = NULL, place = NULL WHERE id = 107")',
        [
            ("sighting", "107", "has another content", "one", "none"),
            ("sighting", "107", "has another place", "one", "none"),
        ],
    ),
    "a block is gone": (
        'sql("DELETE FROM block WHERE run = 1 AND first_seq = 41")',
        [
            ("block", "1:81", "doesn't follow the block before it", "first sighting 41", "first sighting 81"),
            ("block", "1:81", "doesn't follow the block of its run", "first seq 41", "first seq 81"),
            ("sighting", "41", "is in no block, so it has no receipt", "a receipt", "none"),
        ],
    ),
    "a block is shorter": (
        'sql("UPDATE block SET records = 39 WHERE run = 1 AND first_seq = 41")',
        [
            ("block", "1:41", "holds another number of receipts", "39 receipts", "40 receipts"),
            ("run", "1", "has other records in its counts", "103", "104"),
            ("run", "1", "has other records in its position", "103", "104"),
        ],
    ),
    "receipts are cut off": (
        'sql("UPDATE block SET receipts = substr(receipts, 1, 50) WHERE run = 1 AND first_seq = 41")',
        [("block", "1:41", "can't be unpacked", "receipts and kept rows", "seen.db is damaged")],
    ),
    "a receipt is no receipt": (
        """edit("receipts", lambda data: b"[]" + data[data.index(b"\\n"):])""",
        [("block", "1:1", "has a receipt that can't be read", "a receipt", "[]")],
    ),
    "a receipt is another row's": (
        """edit("receipts", lambda data: data.replace(b'"seq":2,', b'"seq":3,', 1))""",
        [
            ("block", "1:2", "has the receipt of another row", "row 1:2", "row 1:3"),
            ("run", "1", "chain digest", "", ""),
        ],
    ),
    "a receipt was changed": (
        """edit("receipts", lambda data: data.replace(b'"line":1,', b'"line":2,', 1))""",
        [("run", "1", "has receipts that don't give its chain digest", "sha256:", "sha256:")],
    ),
    "a kept row is gone": (
        """edit("kept", lambda data: data[data.index(b"\\n") + 1 :])""",
        [
            ("block", "1:1", "holds another number of kept rows than its receipts say", "38 rows", "37 rows"),
            ("run", "1", "says another length of kept.ndjson", "", "56021 bytes"),
        ],
    ),
    "kept rows change places": (
        """edit("kept", lambda data: b"\\n".join([*data.split(b"\\n")[1::-1], *data.split(b"\\n")[2:]]))""",
        [
            ("block", "1:1", "has a kept row that is not its receipt's", '"sha256":', '"sha256":'),
            ("block", "1:2", "", "", ""),
        ],
    ),
    "kept rows are gone": (
        'sql("UPDATE block SET kept = NULL WHERE run = 1 AND first_seq = 41")',
        [("block", "1:41", "doesn't hold what the store keeps", "kept rows", "no kept rows")],
    ),
    "a run is gone": (
        'sql("DELETE FROM run WHERE id = 2")',
        [
            ("block", "", "names a row of run that is not there", "", ""),
            ("input", "", "names a row of run that is not there", "", ""),
            ("block", "2:1", "is of a run that is not there", "run 2", "none"),
            ("run", "3", "is another link of the chain than its place", "link 2", "link 3"),
        ],
    ),
    "a run has no chain": (
        'sql("UPDATE run SET chain = NULL, link = NULL WHERE id = 3")',
        [("run", "3", "doesn't stand in the chain as its state says", "a link and a chain digest", "link None")],
    ),
    "a run is not finished": (
        """sql("UPDATE run SET state = 'unfinished' WHERE id = 2")""",
        [("run", "2", "doesn't stand in the chain as its state says", "none: it is not finished", "link 2")],
    ),
    "a run counts otherwise": (
        """sql("UPDATE run SET counts = json_set(counts, '$.kept', 5, '$.verdicts.new', 9) WHERE id = 1")""",
        [("run", "1", "verdict new than there are", "85", "9"), ("run", "1", "counts other kept rows", "", "5")],
    ),
    "an output is longer": (
        """sql("UPDATE run SET outputs = json_set(outputs, '$.\\"receipts.ndjson\\"', 5) WHERE id = 1")""",
        [("run", "1", "says another length of receipts.ndjson", "bytes", "5 bytes")],
    ),
    "a bucket is cut off": (
        "bucket(lambda entries: entries[:-1])",
        [
            ("bucket", "", "is cut off", "entries of 44 bytes", "bytes"),
            ("segment", "", "holds another number of keys than it says", "", ""),
            ("sighting", "", "belongs to a content that has no key", "a key of content", "none"),
        ],
    ),
    "keys change places": (
        "bucket(lambda entries: entries[44:88] + entries[:44] + entries[88:])",
        [("bucket", "", "has a key that is not in order", "more than", "")],
    ),
    "a key is another": (
        "bucket(lambda entries: entries[:40] + entries[84:88] + entries[44:])",
        [("content", "", "has no sighting", "", ""), ("sighting", "", "belongs to a content that has no key", "", "")],
    ),
    "a key is in another bucket": (
        """sql("UPDATE segment SET buckets = 2", "INSERT INTO bucket SELECT (id << 24) + 1, x'' FROM segment")""",
        [("bucket", "", "has a key of another bucket", "bucket", "bucket")],
    ),
    "a filter is empty": (
        """sql("UPDATE segment SET filter = zeroblob(length(filter)) WHERE kind = 'place'")""",
        [("bucket", "", "has a key that can't be found", "key", "its filter says it is not there")],
    ),
    "a segment is gone": (
        """sql("DELETE FROM segment WHERE id = (SELECT max(id) FROM segment)")""",
        [("bucket", "", "is of a segment that is not there", "segment", "none")],
    ),
    "a key stands twice": (
        """sql("CREATE TEMP VIEW one AS SELECT * FROM segment WHERE kind = 'content' LIMIT 1",
            "INSERT INTO segment SELECT id + 100, kind, ruleset, keys, buckets, filter FROM one",
            "INSERT INTO bucket SELECT id + (100 << 24), entries FROM bucket WHERE id >> 24 = (SELECT id FROM one)")""",
        [("content", "sample/1:sha256:", "stands twice, so its first sighting is not one", "id", "id")],
    ),
    "a first_seen is later": (
        'sql("INSERT OR REPLACE INTO content_seen VALUES (7, 100000000000000000)")',
        [
            (
                "content",
                "",
                "has another first_seen than its sightings say",
                "2026-03-02T07:00:06Z",
                "5138-11-16T09:46:40Z",
            )
        ],
    ),
    "a first_seen is of nothing": (
        'sql("INSERT INTO content_seen VALUES (107, 0)")',
        [("content_seen", "107", "is of a sighting that was not the first of one", "", "")],
    ),
    "a place shows something older": (
        'sql("DELETE FROM place_now WHERE id = 7")',
        [("place", "", "has another latest sighting", "sighting 107 of content 7", "sighting 7 of content 7")],
    ),
    "a history lacks a sighting": (
        """sql("DELETE FROM later WHERE kind = 'place'")""",
        [("later", "place ", "is no index of the sightings, first of sighting", "repeats", "0 repeats")],
    ),
    "a history is cut off": (
        "sql(\"UPDATE later SET entries = substr(entries, 1, length(entries) - 1) WHERE kind = 'content'\")",
        [("later", "content ", "can't be read", "pairs of numbers", "a piece of a history is cut off")],
    ),
    "an input is gone": (
        'sql("DELETE FROM input WHERE run = 2 AND idx = 1")',
        [
            ("input", "2", "are not counted from 0 without gaps", "3 inputs", "0, 2, 3"),
            ("run", "2", "counts other records than its inputs had", "84", "99"),
        ],
    ),
}

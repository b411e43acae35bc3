"""A process of the contract tests; it judges one invented crawl.

    python -m tests.contract.worker PATH OUT SEED COUNT BATCH [STEPS]

It registers the ruleset, begins the run of the directory OUT or goes on with it, and commits a batch at a time. A run
that is finished is left alone.
Before each transaction it prints the batch's first seq, so that whoever kills it knows that it is at work. With STEPS
it kills itself in its second batch, after that many steps of SQLite.
"""

from __future__ import annotations

import os
import signal
import sys

from tests.contract.builder import begin, crawl, finish, record, register

from seenbefore.stores import SqliteStore


def main(path: str, out: str, seed: int, count: int, batch: int, steps: int = 0) -> None:
    """Judge the crawl from where its run stands to its end, and finish the run."""
    items = crawl(count, seed)
    with SqliteStore(path) as store:
        register(store)
        if any(run.out == out and run.state == "finished" for run in store.runs()):
            return
        with store.transaction() as transaction:
            found = transaction.unfinished_run(out)
        run = begin(store, out) if found is None else found.ordinal
        done = 0 if found is None else found.position.get("seq", 0)
        for start in range(done, count, batch):
            sys.stdout.write(f"{start + 1}\n")
            sys.stdout.flush()
            with store.transaction() as transaction:
                if steps and start > done and store._writer is not None:
                    # SQLite itself calls this every so many of its steps, in the middle of whatever it does.
                    store._writer.connection.watch(steps, die)
                record(transaction, run, items[start : start + batch], start + 1)
                transaction.commit()
        finish(store, run)


def die() -> int:
    """End as by `kill -9`: nothing is written, closed or let go of in good order."""
    os.kill(os.getpid(), signal.SIGKILL)
    return 1


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))

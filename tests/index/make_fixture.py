"""Write `tests/fixtures/index_version_2`; run it only for a new version of the format.

python -m tests.index.make_fixture FOLDER

It has two segments, the newest documents, deleted ones, times and metadata. `index_version_1` was
written by an earlier version, whose default found documents by distance.
"""

import sys
from pathlib import Path

import pytest
from tests.index.clock import BEGIN, Clock
from tests.index.texts import edited, text

import neardup as nd
from neardup.index.disk import kinds

DAY = 86_400_000


def main():
    path, clock = Path(sys.argv[1]), Clock()
    clock.use(pytest.MonkeyPatch())
    kinds.MOST_IN_TAIL = 30
    with nd.Index(path, store_text=True, ttl="365d") as index:
        index.add_many([(number, text(number), {"n": number}) for number in range(60)])
        clock.now += DAY
        index.add_many([(f"id {number}", text(number)) for number in range(60, 90)])
        assert [part.documents for part in index.stats().segments] == [60, 30, 0]
        index.delete_many([7, "id 61"])
        clock.now += DAY
        index.check("last", text("last"), {"name": "last"})
        index.add("short", text("short"), ttl="1d")
        index.add("gone", text("gone"))
        index.delete("gone")
        index.add("empty", "")
        clock.now += DAY
        assert index.check("edited", edited(3)).match.id == 3
        assert clock.now == BEGIN + 3 * DAY
    for name in ("lock.mdb", "writer.lock"):
        (path / name).unlink()


if __name__ == "__main__":
    main()

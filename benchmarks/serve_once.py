"""What the library does without a server, in a process of its own: JSON in, JSON out."""

from __future__ import annotations

import json
import sys
import time

import pyarrow as pa

import neardup as nd
from benchmarks.serve_bodies import stored_texts
from benchmarks.similar_index_tools import page_id
from neardup.index.files import add_files

AT_ONCE = 5  # blocks of pages


def main() -> None:
    """Argument: the task. Adds pages to an index in a new folder; the seconds by the clock.

    With `lines`, from that file, as `neardup index add` does; without, from Arrow, whose making is
    not timed.
    """
    task = json.loads(sys.argv[1])
    spent = 0.0
    with nd.Index(task["folder"], threshold=task["threshold"]) as index:
        if task["lines"]:
            started = time.perf_counter()
            add_files([task["lines"]], index)
            spent = time.perf_counter() - started
        else:
            waiting: list[pa.Table] = []
            for first, texts in stored_texts(task["n"]):
                ids = [page_id(row) for row in range(first, first + len(texts))]
                waiting.append(pa.table({"id": ids, "text": texts}))
                if len(waiting) == AT_ONCE:
                    spent += _add(index, waiting)
            spent += _add(index, waiting)
        if len(index) != task["n"]:
            raise SystemExit(f"{len(index)} documents were stored instead of {task['n']}")
    print(json.dumps({"seconds": spent}))


def _add(index: nd.Index, waiting: list[pa.Table]) -> float:
    """Add what waits, and empty it."""
    if not waiting:
        return 0.0
    portion = pa.concat_tables(waiting)
    waiting.clear()
    started = time.perf_counter()
    index.add_many(portion)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()

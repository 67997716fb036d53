"""One index in a process of its own: what it costs to fill and to ask, as JSON.

Rates are by CPU time, a single query by the clock, from fingerprints (for MinHash: sketches) in
memory to ids. Half of the queries are documents with up to k flipped bits, half are random.
Linux only.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import one_thread_each

Rows = NDArray[np.uint64]
SEED = 20_072
MANY, SINGLE = 100_000, 10_000
AT_ONCE = 1 << 16
MINHASH_PERMUTATIONS = 128


@dataclass(frozen=True)
class Contestant:
    """An index: filled by `add`, asked by `ask_many` (how many matches) and `ask_one`."""

    add: Callable[[], None]
    ask_many: Callable[[int], int]
    ask_one: Callable[[int], Sequence[Any]]
    more: Callable[[], dict[str, Any]] = dict


@dataclass(frozen=True)
class Task:
    """Fingerprints to fill an index with, and others to ask it about."""

    rows: Rows
    asked: Rows
    bits: int
    k: int


def task(n: int, bits: int, k: int) -> Task:
    """Random fingerprints, and queries of which half are near one of them."""
    rng = np.random.default_rng(SEED)
    words = -(-bits // 64)
    rows = rng.integers(0, 2**64, (n, words), dtype=np.uint64)
    asked = rng.integers(0, 2**64, (MANY, words), dtype=np.uint64)
    near = np.arange(0, MANY, 2)
    asked[near] = rows[rng.integers(0, n, len(near))]
    for _ in range(k):
        flipped = rng.integers(0, bits, len(near), dtype=np.uint64)
        asked[near, (flipped // 64).astype(np.int64)] ^= np.uint64(1) << (63 - flipped % 64)
    return Task(rows, asked, bits, k)


def memory_index(given: Task, plan: str) -> Contestant:
    """Ours, in memory."""
    import neardup as nd

    index = nd.MemoryIndex(bits=given.bits, plan=plan, threads=1)
    return _ours(index, given, lambda first, last: np.arange(first, last), index.stats)


def durable_index(given: Task, plan: str, folder: Path) -> Contestant:
    """Ours, in a folder, with strings for ids; opened again before it is asked."""
    import neardup as nd

    path = folder / "x.index"
    index = nd.Index(path, bits=given.bits, plan=plan, threads=1)

    def more() -> dict[str, Any]:
        index.close()
        started = time.perf_counter()
        with nd.Index(path) as opened:
            opened.query(0, 0)
            seconds = time.perf_counter() - started
            used = opened.stats(0).bytes["file"]
        return {"open_seconds": seconds, "disk_bytes_each": used / len(given.rows)}

    def names(first: int, last: int) -> list[str]:
        return [f"doc-{number:08d}" for number in range(first, last)]

    return _ours(index, given, names, None, more)


def _ours(
    index: Any, given: Task, ids: Any, stats: Any, more: Callable[[], dict[str, Any]] | None = None
) -> Contestant:
    from neardup import Fingerprints

    scheme, n = index.scheme, len(given.rows)
    parts = [(first, min(n, first + AT_ONCE)) for first in range(0, n, AT_ONCE)]

    def portions() -> Any:
        for first, last in parts:
            yield Fingerprints(given.rows[first:last], scheme, ids=ids(first, last))

    queries = Fingerprints(given.asked, scheme, ids=ids(0, MANY))  # which imports pandas
    numbers = [queries[place] for place in range(SINGLE)]

    def sizes() -> dict[str, Any]:
        if stats is None:
            return {}
        parts = stats(0).bytes
        return {"own_bytes_each": (parts["tables"] + parts["rows"]) / n}

    return Contestant(
        lambda: index.add_many(portions()) and None,
        lambda _: int(index.query_many(queries).offsets[-1]),
        lambda place: index.query(numbers[place]),
        more or sizes,
    )


def faiss_index(given: Task) -> Contestant:
    """Multi-index hashing."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryMultiHash(given.bits, given.k + 1, given.bits // (given.k + 1))
    rows, asked = (part.view(np.uint8) for part in (given.rows, given.asked))
    return Contestant(
        lambda: index.add(rows),
        lambda count: int(index.range_search(asked[:count], given.k + 1)[0][-1]),
        lambda place: index.range_search(asked[place : place + 1], given.k + 1)[2],
    )


def gaoya_index(given: Task) -> Contestant:
    """Documents of one token each, whose hash is the fingerprint; queries are documents."""
    from gaoya.simhash import SimHashStringIndex

    index = SimHashStringIndex(hash_size=64, num_blocks=given.k + 1, hamming_distance=given.k).index
    tokens = [[str(number)] for number in given.rows[:, 0].tolist()]
    # Half of the queries are in the index, half are not.
    asked = [[str(number)] for number in given.asked[:, 0].tolist()]
    asked[::2] = tokens[: len(asked) // 2]

    def add() -> None:
        for number, token in enumerate(tokens):
            index.insert_tokens(number, token)

    return Contestant(
        add,
        lambda count: sum(len(index.query_tokens(token)) for token in asked[:count]),
        lambda place: list(index.query_tokens(asked[place])),
    )


def simhash_index(given: Task) -> Contestant:
    """Buckets of Python sets."""
    from simhash import Simhash, SimhashIndex

    index = SimhashIndex([], k=given.k)
    hashes = [Simhash(number) for number in given.rows[:, 0].tolist()]
    asked = [Simhash(number) for number in given.asked[:, 0].tolist()]

    def add() -> None:
        for number, each in enumerate(hashes):
            index.add(str(number), each)

    return Contestant(
        add,
        lambda count: sum(len(index.get_near_dups(each)) for each in asked[:count]),
        lambda place: index.get_near_dups(asked[place]),
    )


def datasketch_index(given: Task) -> Contestant:
    """MinHash, the nearest thing it has: random sketches, of which half are asked about."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=0.8, num_perm=MINHASH_PERMUTATIONS)
    like = MinHash(num_perm=MINHASH_PERMUTATIONS)
    rng = np.random.default_rng(SEED)

    def sketches(count: int) -> list[Any]:
        values = rng.integers(0, 2**32, (count, MINHASH_PERMUTATIONS), dtype=np.uint64)
        copies = [like.copy() for _ in values]
        for sketch, value in zip(copies, values, strict=True):
            sketch.hashvalues = value.astype(like.hashvalues.dtype)
        return copies

    held, asked = sketches(len(given.rows)), sketches(SINGLE)
    asked[::2] = held[: len(asked) // 2]

    def add() -> None:
        for number, sketch in enumerate(held):
            index.insert(number, sketch)

    return Contestant(
        add,
        lambda count: sum(len(index.query(asked[place % SINGLE])) for place in range(count)),
        lambda place: index.query(asked[place]),
    )


def measured(contestant: Contestant, n: int, bulk: int) -> dict[str, Any]:
    """Fill, ask in bulk, ask one by one."""
    before = _memory("VmRSS")
    started, wall = time.process_time(), time.perf_counter()
    contestant.add()
    filled, filled_wall = time.process_time() - started, time.perf_counter() - wall
    risen = _memory("VmRSS") - before
    contestant.ask_many(1)
    started = time.process_time()
    found = contestant.ask_many(bulk)
    asked = time.process_time() - started
    spent = np.zeros(SINGLE)
    for place in range(SINGLE):
        started = time.perf_counter()
        contestant.ask_one(place)
        spent[place] = time.perf_counter() - started
    p50, p99 = np.percentile(spent, [50, 99]) * 1e6
    return {
        "adds_per_second": n / filled,
        "adds_per_wall_second": n / filled_wall,
        "queries_per_second": bulk / asked,
        "matches": found,
        "p50_microseconds": p50,
        "p99_microseconds": p99,
        "bytes_each": risen * 1e6 / n,
        **contestant.more(),
    }


def main() -> None:
    """Arguments: tool, n, bits, k, plan."""
    one_thread_each()
    tool, n, bits, k, plan = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
    given = task(n, bits, k)
    folder = Path(tempfile.mkdtemp(prefix="neardup-bench-"))
    fingerprinters: dict[str, Callable[[], Contestant]] = {
        "neardup, memory": lambda: memory_index(given, plan),
        "neardup, durable": lambda: durable_index(given, plan, folder),
        "faiss multihash": lambda: faiss_index(given),
        "gaoya": lambda: gaoya_index(given),
        "simhash": lambda: simhash_index(given),
        "datasketch": lambda: datasketch_index(given),
    }
    try:
        # Peers that answer one by one get fewer queries: a rate needs no more.
        bulk = MANY if tool.startswith("neardup") else SINGLE
        print(json.dumps(measured(fingerprinters[tool](), n, bulk)))
    finally:
        shutil.rmtree(folder)


def _memory(what: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(f"{what}:"))


if __name__ == "__main__":
    main()

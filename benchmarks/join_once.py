"""One search for near fingerprints by one tool, in a process of its own: prints what it cost.

The clock starts when the fingerprints lie in memory and the tool is imported. The rise of memory is
the process's high-water mark over what it held then, so it includes the pairs. Linux only.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import load_simhash_pybind

Rows = NDArray[np.uint64]
BITS = 64
SEED = 20_071
PLANTED_SHARE = 0.01


def fingerprints(n: int, kind: str, k: int) -> Rows:
    """Random fingerprints, one in a hundred with a near one; or skewed as `kind` says."""
    rng = np.random.default_rng(SEED)
    if kind == "all identical":
        return np.full(n, rng.integers(0, 2**64, dtype=np.uint64))
    rows = rng.integers(0, 2**64, n, dtype=np.uint64)
    planted = int(n * PLANTED_SHARE)
    near, far = rng.permutation(n)[: 2 * planted].reshape(2, planted)
    rows[near] = rows[far]
    for _ in range(k):
        rows[near] ^= np.uint64(1) << rng.integers(0, BITS, planted, dtype=np.uint64)
    some = rng.permutation(n)[: n // 20]
    if kind == "1 % identical":
        rows[some[: n // 100]] = rows[some[0]]
    elif kind == "5 % share a block":
        rows[some] = (rows[some] & np.uint64(2**48 - 1)) | (rows[some[0]] & ~np.uint64(2**48 - 1))
    return rows


def neardup(rows: Rows, k: int, threads: int, group: bool) -> Callable[[], int]:
    """Ours, from Python."""
    from neardup import find_pairs

    if group:
        return lambda: len(find_pairs(rows, max_distance=k, threads=threads, group=True).pairs)
    return lambda: len(find_pairs(rows, max_distance=k, threads=threads))


def numpy_buckets(rows: Rows, k: int) -> Callable[[], int]:
    """What one writes with NumPy: sort by some blocks, compare within equal runs, drop repeats."""
    blocks = min(range(k + 1, k + 4), key=lambda m: _bucket_cost(len(rows), k, m))
    edges = [round(i * BITS / blocks) for i in range(blocks + 1)]
    parts = [(2**64 - 2 ** edges[i]) & (2 ** edges[i + 1] - 1) for i in range(blocks)]
    masks = [sum(chosen) for chosen in combinations(parts, blocks - k)]
    return lambda: len(np.unique(np.concatenate([_in_buckets(rows, mask, k) for mask in masks])))


def _bucket_cost(n: int, k: int, blocks: int) -> float:
    key_bits = BITS * (blocks - k) / blocks
    return comb(blocks, k) * (n * 100.0 + n * n / 2 / 2**key_bits * 10.0)


def _in_buckets(rows: Rows, mask: int, k: int, at_once: int = 1 << 22) -> Rows:
    """Pairs that agree on a mask and differ in at most k bits, as keys."""
    keys = rows & np.uint64(mask)
    order = np.argsort(keys, kind="stable")
    ordered, keys = rows[order], keys[order]
    edges = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    ends = np.r_[edges[1:], len(keys)]
    partners = np.repeat(ends, ends - edges) - np.arange(len(keys)) - 1
    sums = np.cumsum(partners)
    found, begin = [], 0
    while begin < len(keys):
        done = sums[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(sums, done + at_once, "right")))
        counts = partners[begin:end]
        a = np.repeat(np.arange(begin, end), counts)
        b = a + 1 + np.arange(len(a)) - np.repeat(np.cumsum(counts) - counts, counts)
        near = np.bitwise_count(ordered[a] ^ ordered[b]) <= k
        x, y = order[a[near]], order[b[near]]
        found.append(
            np.minimum(x, y).astype(np.uint64) << np.uint64(32) | np.maximum(x, y).astype(np.uint64)
        )
        begin = end
    return np.concatenate(found)


def simhash_pybind(rows: Rows, k: int) -> Callable[[], int]:
    """Which leaves identical fingerprints out."""
    find_all = load_simhash_pybind().find_all
    numbers = set(rows.tolist())
    return lambda: len(find_all(numbers, k + 1, k))


def faiss(rows: Rows, k: int) -> Callable[[], int]:
    """Multi-index hashing; gives each pair twice, and every fingerprint with itself."""
    import faiss as library

    library.omp_set_num_threads(1)
    data = rows.view(np.uint8).reshape(len(rows), 8)

    def run() -> int:
        index = library.IndexBinaryMultiHash(BITS, k + 1, BITS // (k + 1))
        index.add(data)
        limits, _, _ = index.range_search(data, k + 1)
        return int(limits[-1] - len(rows)) // 2

    return run


def main() -> None:
    """Arguments: tool, n, k, kind, threads, group (0 or 1)."""
    tool, n, k, kind, threads, group = sys.argv[1:]
    rows = fingerprints(int(n), kind, int(k))
    fingerprinters: dict[str, Callable[[], Callable[[], int]]] = {
        "neardup": lambda: neardup(rows, int(k), int(threads), group == "1"),
        "NumPy buckets": lambda: numpy_buckets(rows, int(k)),
        "simhash-pybind": lambda: simhash_pybind(rows, int(k)),
        "faiss multihash": lambda: faiss(rows, int(k)),
    }
    run = fingerprinters[tool]()
    before = _memory("VmRSS")
    cpu, wall = time.process_time(), time.perf_counter()
    pairs = run()
    cost: dict[str, Any] = {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "pairs": pairs,
        "rise_megabytes": _memory("VmHWM") - before,
    }
    print(json.dumps(cost))


def _memory(what: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(f"{what}:"))


if __name__ == "__main__":
    main()

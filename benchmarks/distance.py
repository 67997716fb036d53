"""How far apart unrelated documents lie: 32 of 64 bits, with variance 16, were bits fair coins."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks import corpora, measure
from benchmarks.corpora import Corpus
from benchmarks.result import Result, package_versions

BENCHMARK = "distance"
TASKS = ("word:3/set/64", "word:3/count/64", "char:4/set/64")
PAIRS = 500_000
SEED = 7

Rows = npt.NDArray[np.int64]


def unrelated_pairs(corpus: Corpus, count: int) -> tuple[Rows, Rows]:
    """Random pairs of two different documents, none of them known to be alike."""
    documents = len(corpus.texts)
    state = np.random.RandomState(SEED)
    a, b = (state.random_sample((2, count)) * documents).astype(np.int64)
    keys = np.minimum(a, b) * documents + np.maximum(a, b)
    known = corpora.known_pairs(corpus)
    first, second = (_rows(corpus.ids, known[column]) for column in ("a", "b"))
    alike = np.minimum(first, second) * documents + np.maximum(first, second)
    unrelated = (a != b) & ~np.isin(keys, alike)
    return a[unrelated], b[unrelated]


def _rows(ids: pa.Array, wanted: pa.ChunkedArray) -> Rows:
    # An id outside a shortened corpus has no row; -1 can make no key of a pair that was drawn.
    found = pc.index_in(wanted, value_set=ids).fill_null(-1)
    return np.asarray(found.to_numpy(), dtype=np.int64)


def hamming(a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64]) -> Rows:
    """The number of differing bits, row by row."""
    differing = np.unpackbits((a ^ b).view(np.uint8), axis=1)
    return np.asarray(differing.sum(axis=1), dtype=np.int64)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=None)
    parser.add_argument("--size", type=float, help="megabytes of the corpus, the first ones")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="random pairs to draw")
    chosen = parser.parse_args(arguments)

    import neardup as nd

    corpus = corpora.load("English", chosen.size)
    a, b = unrelated_pairs(corpus, chosen.pairs)
    rows = []
    for task in TASKS:
        features, weights, bits = task.split("/")
        found = nd.fingerprint(corpus.texts, features=features, weights=weights, bits=int(bits))
        distances = hamming(found.array[a], found.array[b])
        rows.append(
            {
                "task": task,
                "pairs": len(distances),
                "mean": round(float(distances.mean()), 3),
                "variance": round(float(distances.var()), 3),
                "smallest": int(distances.min()),
            }
        )
    versions = package_versions(["neardup", "numpy", "pyarrow"])
    conditions = {"corpora": [corpus.description()]}
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


if __name__ == "__main__":
    main()

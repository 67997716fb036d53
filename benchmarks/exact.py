"""Every pair of arXiv abstracts of cosine 0.8 or more, one thread: the join beside two peers.

SetSimilaritySearch knows sets only, so there is a contest with the terms' weights and one without,
of the first documents only: its time grows with the square, and all would take it hours. The peers
get what they work on ready made; neardup begins with the table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import corpora, measure
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target

BENCHMARK = "exact"
OURS = "neardup"
PRODUCT = "SciPy, product in chunks"
SETS_ONLY = "SetSimilaritySearch"
WEIGHTED, SETS = "weights as given", "sets"
THRESHOLD = 0.8
ROWS_AT_ONCE = 500
SETS_DOCUMENTS = 2000
# A product sums in another order than the join, which rounds the true value once.
ROUNDING = 1e-9
SECONDS = 2.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    chosen = measure.options(BENCHMARK, __doc__, rounds=3).parse_args(arguments)
    if not corpora.arxiv_is_here():
        raise SystemExit(f"{corpora.ARXIV} is missing, which this is measured on")
    measure.one_thread_each()
    documents = pq.read_table(corpora.ARXIV / "features.parquet").combine_chunks()
    rows = [
        *_rows(documents, WEIGHTED, chosen.rounds),
        *_rows(documents.slice(0, SETS_DOCUMENTS), SETS, chosen.rounds),
    ]
    versions = package_versions(["neardup", "numpy", "scipy", "SetSimilaritySearch"])
    conditions = {"rounds": chosen.rounds, "threshold": THRESHOLD}
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


def _rows(documents: pa.Table, task: str, rounds: int) -> Iterator[Json]:
    """Each contestant once a round, with the number of pairs that it found."""
    pairs: dict[str, int] = {}

    def counted(name: str, run: Callable[[], int]) -> None:
        pairs[name] = run()

    runs = {name: partial(counted, name, run) for name, run in _contestants(documents, task)}
    timings = measure.interleaved(list(runs.values()), rounds)
    for name, timing in zip(runs, timings, strict=True):
        yield {
            "task": task,
            "name": name,
            "documents": len(documents),
            "pairs": pairs[name],
            "cpu_seconds": round(timing.cpu, 2),
            "wall_seconds": round(timing.wall, 2),
        }


def _contestants(documents: pa.Table, task: str) -> Iterator[tuple[str, Callable[[], int]]]:
    from neardup.features.given import given_terms, term_columns

    weights = "given" if task == WEIGHTED else "set"
    terms = given_terms(*next(term_columns(documents)), weights)
    yield OURS, partial(_joined, documents, weights)
    if task == SETS:
        edges = terms.offsets.tolist()
        sets = [terms.places[start:stop].tolist() for start, stop in pairwise(edges)]
        yield SETS_ONLY, partial(_searched, sets)
    amounts = terms.counts if task == WEIGHTED else np.ones(len(terms.places))
    numbered = (terms.offsets, terms.places, amounts)
    yield PRODUCT, partial(_multiplied, *numbered, len(terms.vocabulary))


def _joined(documents: pa.Table, weights: str) -> int:
    import neardup as nd

    found = nd.exact_pairs(
        documents, THRESHOLD, "cosine", features="terms", weights=weights, threads=1
    )
    return int(found.num_rows)


def _searched(sets: list[list[int]]) -> int:
    from SetSimilaritySearch import all_pairs

    return sum(1 for _ in all_pairs(sets, "cosine", THRESHOLD))


def _multiplied(offsets: np.ndarray, places: np.ndarray, weights: np.ndarray, width: int) -> int:
    """What one writes with SciPy: rows of length one, a chunk of them times all of them."""
    from scipy.sparse import csr_matrix, diags_array, triu

    matrix = csr_matrix((weights, places, offsets), shape=(len(offsets) - 1, width))
    lengths = np.sqrt(matrix.multiply(matrix).sum(axis=1)).A1
    matrix = (diags_array(1 / np.where(lengths == 0, 1, lengths)) @ matrix).tocsr()
    turned = matrix.T.tocsr()
    found = 0
    for first in range(0, matrix.shape[0], ROWS_AT_ONCE):
        cosines = matrix[first : first + ROWS_AT_ONCE] @ turned
        cosines.data[cosines.data < THRESHOLD - ROUNDING] = 0
        cosines.eliminate_zeros()
        found += triu(cosines, k=first + 1).nnz
    return found


def section(result: Result) -> str:
    """The part of the page."""
    parts = [
        "## Exact pairs, one thread\n",
        provenance(result),
        "Every pair of arXiv abstracts with a cosine of "
        f"{result.conditions['threshold']} or more, on their own terms. SetSimilaritySearch has no "
        "weights and gets only the first documents, because its time grows with the square. The "
        "peers get numbered terms; the time of `nd.exact_pairs` includes hashing an Arrow table of "
        "strings.\n",
    ]
    for task in (WEIGHTED, SETS):
        ours = result.row(task=task, name=OURS)
        rows = [
            (
                f"**{row['name']}**" if row is ours else row["name"],
                f"{row['pairs']:,}",
                f"{row['cpu_seconds']:.1f}",
                "" if row is ours else f"{row['cpu_seconds'] / ours['cpu_seconds']:.1f} × as fast",
            )
            for row in result.rows
            if row["task"] == task
        ]
        what = f"**{task}, {ours['documents']:,} documents**\n"
        parts += [what, table(("", "pairs", "CPU s", "neardup is"), rows)]
    return "\n".join(parts)


def targets(result: Result) -> Iterator[Target]:
    """What was set out to reach, judged by the result."""
    row = result.row(task=WEIGHTED, name=OURS)
    what = f"`exact_pairs`, arXiv, cosine ≥ {THRESHOLD}"
    spent = row["cpu_seconds"]
    yield Target(what, f"≤ {SECONDS:g} CPU s", f"{spent:.2f} s", spent <= SECONDS)
    for task, peer in ((WEIGHTED, PRODUCT), (SETS, SETS_ONLY), (SETS, PRODUCT)):
        ours, theirs = (result.row(task=task, name=name) for name in (OURS, peer))
        same = ours["pairs"] == theirs["pairs"]
        told = f"{ours['pairs']:,} and {theirs['pairs']:,}"
        yield Target(f"`exact_pairs`, {task}", f"the pairs of {peer}", told, same)


if __name__ == "__main__":
    main()

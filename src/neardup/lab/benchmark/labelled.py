"""Any labelled collection: a folder with documents, the pairs that are the same, and others.

`docs` are the documents, `pairs` the pairs that are the same, and `non_pairs`, if it is there, the
pairs that are known to be different; each in any format that `read_labels` and `dedup` take.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from neardup.cluster import pairs_in
from neardup.deduplication.result import Result
from neardup.errors import InputError
from neardup.evaluation.scores import PairCounts
from neardup.lab.benchmark.task import Fixed, Scores, Task, clusters_by_place
from neardup.labels import Labels, read_labels

DOCUMENTS, SAME, DIFFERENT = "docs", "pairs", "non_pairs"
_COLUMNS = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "removed": "removed",
    "clusters": "clusters",
    "largest": "largest\ncluster",
}
_COMPLETE = (
    "{pairs} is taken as complete: two documents of a cluster that are no pair of it count as wrong"
)
_PARTIAL = (
    "precision is that of labelled pairs: {pairs} and {others}; other pairs of a cluster are "
    "unknown, and count neither way"
)


def labelled_task(folder: Path, names: Mapping[str, Any]) -> Task:
    """Read the labels of a folder; `names` says which columns have texts and ids."""
    if not folder.is_dir():
        raise InputError(
            f"{folder} is no folder; give core, news-copy, or a folder with the files "
            f"{DOCUMENTS}.parquet and {SAME}.parquet"
        )
    documents, same = _file(folder, DOCUMENTS), read_labels(_file(folder, SAME))
    others = _optional(folder, DIFFERENT)
    different = None if others is None else read_labels(others)
    complete = different is None and not same.has_different
    pairs, non_pairs = f"{SAME}.*", f"{DIFFERENT}.*" if others is not None else "its column same"
    note = (_COMPLETE if complete else _PARTIAL).format(pairs=pairs, others=non_pairs)
    return Task(
        name=str(folder),
        about=f"labelled collection: {len(same):,} labelled pairs"
        + ("" if different is None else f", {len(different):,} labelled non-pairs"),
        data=str(documents),
        documents=[documents],
        columns=_COLUMNS,
        fixed=Fixed(
            {"features": "word:1", "weights": "tfidf", "threshold": 0.4},
            "for records, titles and short texts: docs/start/choosing-settings.md",
        ),
        score=lambda result: labelled_scores(same, different, result),
        notes=(note,),
        names=names,
    )


def labelled_scores(same: Labels, different: Labels | None, result: Result) -> Scores:
    """Rates of the pairs of documents in one cluster, and the sizes of clusters."""
    found = clusters_by_place(result)
    placed = same.at(result.collected.ids)
    if not len(placed):
        raise InputError(
            f"{same.source} names no two documents of the collection, for example {placed.example}"
            "; the ids of both must be the same"
        )
    together = (found[placed.a] == found[placed.b]) & (found[placed.a] >= 0)
    right, wrong = int((together & placed.same).sum()), int((together & ~placed.same).sum())
    sizes = np.bincount(found[found >= 0])
    if different is not None:
        apart = different.at(result.collected.ids)
        wrong += int(((found[apart.a] == found[apart.b]) & (found[apart.a] >= 0)).sum())
    partial = different is not None or same.has_different
    shown = right + wrong if partial else pairs_in(sizes)
    # A true pair that the collection lacks cannot be found; it is not counted as missed.
    rates = PairCounts(right, shown, int(placed.same.sum())).rates
    return {
        "precision": rates.precision,
        "recall": rates.recall,
        "f1": rates.f1,
        "removed": len(result.clustering.removed),
        "clusters": len(result.clustering),
        "largest": int(sizes.max(initial=0)),
        "labels_without_document": placed.unknown,
    }


def _file(folder: Path, stem: str) -> Path:
    found = _optional(folder, stem)
    if found is None:
        raise InputError(
            f"{folder} has no file {stem}.parquet; it needs {DOCUMENTS}.* (documents), {SAME}.* "
            f"(pairs that are the same, columns a and b) and, if known, {DIFFERENT}.*"
        )
    return found


def _optional(folder: Path, stem: str) -> Path | None:
    """The one file of that name, with any ending."""
    found = sorted(
        path for path in folder.glob(f"{stem}.*") if not path.name.endswith(".decisions.jsonl")
    )
    if len(found) > 1:
        raise InputError(f"{folder} has {found[0].name} and {found[1].name}; leave one of them")
    return found[0] if found else None

"""The CORE benchmark: scholarly documents of which each says which others are its duplicates.

The protocol is that of text-dedup, which follows Gyawali et al. (LREC 2020). A text is the
processed title and the processed abstract in lower case. The duplicates that a method predicts for
a document are the others of its cluster. A document with predictions is a true positive if they
include every labelled duplicate (and there are some), else a false positive; one without is a true
negative if it has no labelled duplicate, else a false negative. Accuracy is the share of documents
whose predictions are exactly their labelled duplicates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.lab.benchmark import published
from neardup.lab.benchmark.task import (
    Fixed,
    FoundClusters,
    Scores,
    Task,
    clusters_by_place,
    complete_batches,
)

NAME = "core"
DATA = "the data set pinecone/core-2020-05-10-deduplication (CORE Deduplication Dataset 2020)"
CATEGORIES = ("exact_dup", "near_dup", "non_dup")
_ID, _TITLE, _ABSTRACT = "core_id", "processed_title", "processed_abstract"
_LABELS, _CATEGORY = "labelled_duplicates", "cat"
_COLUMNS = {
    "precision_duplicates": "precision\nduplicates",
    "recall_duplicates": "recall\nduplicates",
    "precision_others": "precision\nothers",
    "recall_others": "recall\nothers",
    "macro_published": "macro F1\nas published",
    "macro_f1": "macro\nF1",
    "accuracy": "accuracy",
}
_SPACE = pa.scalar(" ", pa.large_string())
_NOTES = (
    "text-dedup publishes the mean of the two precisions as macro F1: 'macro F1 as published' is "
    "that mean for neardup, and what they published for others",
    "'macro F1' is the mean of the F1 of duplicates and of others, computed for every row from its "
    "four rates",
    "times of others were measured on their machines",
)


@dataclass(frozen=True, eq=False)
class CoreLabels:
    """The labelled duplicates by places: `document` names `duplicate`, each pair once.

    `named` is how many duplicates a document names, those included that the file does not have.
    """

    document: NDArray[np.int64]
    duplicate: NDArray[np.int64]
    named: NDArray[np.int64]
    category: tuple[str | None, ...]

    @property
    def unknown(self) -> int:
        """How many labels name a document that the file does not have."""
        return int(self.named.sum()) - len(self.document)


def core_task(inputs: Sequence[str]) -> Task:
    """Read the data set, in any format and any number of files."""
    documents, labels = _read(inputs)
    notes: tuple[str, ...] = _NOTES
    if labels.unknown:
        notes = (
            f"{labels.unknown:,} labels name documents that {inputs[0]} does not have, and cannot "
            "be found; the published figures are for the complete data set",
            *notes,
        )
    return Task(
        name=NAME,
        about="CORE, near-duplicate scholarly documents: title and abstract in lower case",
        data=", ".join(inputs),
        documents=documents,
        columns=_COLUMNS,
        fixed=Fixed(
            {"features": "word:2", "threshold": 0.3, "cluster": "dense"},
            "found on abstracts with made-up edits, not on CORE: docs/start/choosing-settings.md",
        ),
        score=lambda result: core_scores(labels, clusters_by_place(result)),
        names={},
        published=tuple(_published()),
        notes=notes,
    )


def core_scores(labels: CoreLabels, found: FoundClusters) -> Scores:
    """The scores of clusters by the published protocol, and the share that is right by category."""
    alone = found < 0
    sizes = np.bincount(found[~alone]) if len(found) else np.zeros(0, np.int64)
    predicted = np.zeros(len(found), np.int64)
    predicted[~alone] = sizes[found[~alone]] - 1
    a, b = labels.document, labels.duplicate
    together = (found[a] == found[b]) & (found[a] >= 0) & (a != b)
    hits = np.bincount(a[together], minlength=len(found))
    has_labels = labels.named > 0
    finds_all = has_labels & (hits == labels.named)
    tp = int((finds_all & (predicted > 0)).sum())
    fp = int(((predicted > 0) & ~finds_all).sum())
    fn = int(((predicted == 0) & has_labels).sum())
    tn = int(((predicted == 0) & ~has_labels).sum())
    right = (hits == labels.named) & (predicted == labels.named)
    rates = {
        "precision_duplicates": _share(tp, tp + fp),
        "recall_duplicates": _share(tp, tp + fn),
        "precision_others": _share(tn, tn + fn),
        "recall_others": _share(tn, tn + fp),
    }
    by_category = {}
    kinds = np.array([kind or "" for kind in labels.category])
    for kind in sorted(set(kinds.tolist()) - {""}):
        by_category[f"right_{kind}"] = float(right[kinds == kind].mean())
    return {
        **rates,
        "macro_published": (rates["precision_duplicates"] + rates["precision_others"]) / 2,
        "macro_f1": macro_f1(*rates.values()),
        "accuracy": _share(int(right.sum()), len(right)),
        **by_category,
        **{"tp": tp, "fp": fp, "fn": fn, "tn": tn},
    }


def macro_f1(
    precision: float, recall: float, precision_others: float, recall_others: float
) -> float:
    """The mean of the F1 of two classes.

    >>> round(macro_f1(0.5, 1.0, 1.0, 0.5), 4)
    0.6667
    """
    return (_f1(precision, recall) + _f1(precision_others, recall_others)) / 2


def _f1(precision: float, recall: float) -> float:
    return _share(2 * precision * recall, precision + recall)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _published() -> Iterator[Scores]:
    for row in published.CORE:
        four = (
            row.precision_duplicates,
            row.recall_duplicates,
            row.precision_others,
            row.recall_others,
        )
        yield {**asdict(row), "macro_f1": macro_f1(*four)}


def _read(inputs: Sequence[str]) -> tuple[pa.Table, CoreLabels]:
    ids: list[str] = []
    texts: list[pa.Array] = []
    named: list[frozenset[str]] = []
    category: list[str | None] = []
    columns_of = {"fields": (_TITLE, _ABSTRACT), "id": _ID, "columns": (_LABELS, _CATEGORY)}
    for batch in complete_batches(inputs, DATA, **columns_of):
        columns = batch.documents
        ids += map(str, batch.ids.to_pylist())
        title, abstract = (field.cast(pa.large_string()) for field in batch.fields)
        texts.append(pc.utf8_lower(pc.binary_join_element_wise(title, abstract, _SPACE)))
        named += map(_ids_in, columns[_LABELS].to_pylist())
        category += columns[_CATEGORY].to_pylist()
    if not ids:
        raise InputError(f"{inputs[0]} has no documents; give {DATA}")
    places = {id: place for place, id in enumerate(ids)}
    pairs = [
        (place, places[id]) for place, those in enumerate(named) for id in those if id in places
    ]
    a, b = np.array(sorted(pairs), np.int64).reshape(-1, 2).T
    labels = CoreLabels(a, b, np.array([len(those) for those in named]), tuple(category))
    return pa.table({"id": pa.array(ids), "text": pa.chunked_array(texts)}), labels


def _ids_in(cell: object) -> frozenset[str]:
    """The ids in a cell: a list, or in CSV its text, such as `['11251086', '82309862']`."""
    if cell is None:
        return frozenset()
    if isinstance(cell, str):
        return frozenset(re.findall(r"\w+", cell))
    if isinstance(cell, list):
        return frozenset(str(item) for item in cell if item is not None)
    raise InputError(f"{_LABELS} holds {cell!r}, and should hold lists of ids, as in {DATA}")

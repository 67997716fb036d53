"""The NEWS-COPY benchmark: articles of historical newspapers, read by OCR, in true clusters.

The protocol is that of text-dedup for the split `test` of its edition: the article with words that
were divided at line ends joined, without punctuation and without characters beyond ASCII; scored by
the adjusted Rand index of the clusters.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.deduplication.result import Result
from neardup.errors import InputError
from neardup.evaluation.scores import adjusted_rand, bcubed, pairwise
from neardup.lab.benchmark import published
from neardup.lab.benchmark.task import Fixed, Scores, Task, clusters_by_place, complete_batches

NAME = "news-copy"
DATA = "the split test of the data set chenghao/NEWS-COPY-eval (Silcock et al., 2023)"
_ARTICLE, _CLUSTER = "article", "cluster"
_REMOVED = "\"#$%&\\()*+/:;<=>@[]^_`{|}~.?,!'"
_COLUMNS = {
    "ari": "adjusted\nRand index",
    "precision": "precision\nof pairs",
    "recall": "recall\nof pairs",
    "f1": "F1\nof pairs",
    "bcubed_f1": "F1\nB-cubed",
}
_NOTES = (
    "others publish the adjusted Rand index alone; neural methods (bi-encoder, re-ranking) are "
    "trained on other articles of the same data set",
)


def news_copy_task(inputs: Sequence[str]) -> Task:
    """Read the articles of the split `test`."""
    documents, truth = _read(_test_split(inputs))
    return Task(
        name=NAME,
        about="NEWS-COPY, articles of historical newspapers read by OCR",
        data=", ".join(inputs),
        documents=documents,
        columns=_COLUMNS,
        fixed=Fixed(
            {"features": "word:1", "threshold": 0.3, "cluster": "dense"},
            "found on abstracts with made-up errors of OCR, not on NEWS-COPY: "
            "docs/start/choosing-settings.md",
        ),
        score=lambda result: news_scores(truth, result),
        names={},
        published=tuple(asdict(row) for row in published.NEWS_COPY),
        notes=_NOTES,
    )


def news_scores(truth: NDArray[np.int64], result: Result) -> Scores:
    """The adjusted Rand index, and rates of pairs and B-cubed beside it."""
    found = clusters_by_place(result)
    rates = pairwise(truth, found)
    return {
        "ari": adjusted_rand(truth, found),
        "precision": rates.precision,
        "recall": rates.recall,
        "f1": rates.f1,
        "bcubed_f1": bcubed(truth, found).f1,
    }


def cleaned(article: str) -> str:
    r"""The text of an article as the published methods see it.

    >>> cleaned("The presi-\ndent's aide, in\nParis…")
    'The presidents aide in Paris'
    """
    joined = article.replace("-\n", "").replace("\n", " ").translate(_WITHOUT)
    return joined.encode("ascii", "ignore").decode("ascii")


_WITHOUT = str.maketrans("", "", _REMOVED)


def _test_split(inputs: Sequence[str]) -> list[str]:
    """The files to read: of a folder that has several splits, those of `test`."""
    files = []
    for name in inputs:
        found = sorted(Path(name).rglob("test*")) if os.path.isdir(name) else []
        files += [str(path) for path in found if path.is_file()] or [name]
    return files


def _read(inputs: Sequence[str]) -> tuple[pa.Table, NDArray[np.int64]]:
    texts: list[str] = []
    truth: list[NDArray[np.int64]] = []
    for batch in complete_batches(inputs, DATA, text=_ARTICLE, id="row", columns=(_CLUSTER,)):
        texts += map(cleaned, batch.documents["text"].to_pylist())
        truth.append(_numbers(batch.documents[_CLUSTER], inputs[0]))
    if not texts:
        raise InputError(f"{inputs[0]} has no documents; give {DATA}")
    return pa.table({"text": pa.array(texts, pa.large_string())}), np.concatenate(truth)


def _numbers(column: pa.Array, name: str) -> NDArray[np.int64]:
    try:
        numbers = column.cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise InputError(
            f"{name}: the column {_CLUSTER!r} should hold whole numbers, as in {DATA}: {error}"
        ) from None
    if numbers.null_count:
        raise InputError(f"{name}: the column {_CLUSTER!r} has empty cells; give {DATA}")
    return np.asarray(numbers.to_numpy())

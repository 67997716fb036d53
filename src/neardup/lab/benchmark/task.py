"""A task: a labelled collection, how to score clusters of it, and what others reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.deduplication.result import Result
from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.read import Batch, Documents

Score = str | int | float | None
Scores = Mapping[str, Score]
FoundClusters = NDArray[np.int64]


@dataclass(frozen=True)
class Fixed:
    """A setting that is run beside the defaults, and where it comes from."""

    settings: Mapping[str, Any]
    why: str


@dataclass(frozen=True, eq=False)
class Task:
    """Documents, as `dedup` takes them, and a way to score clusters of them.

    `columns` maps the names of the scores to headings. `published` has rows of others, with
    `method`, `source` and scores. `names` are the settings that say where texts and ids are.
    """

    name: str
    about: str
    data: str
    documents: Any
    columns: Mapping[str, str]
    fixed: Fixed
    score: Callable[[Result], Scores]
    names: Mapping[str, Any]
    published: tuple[Scores, ...] = ()
    notes: tuple[str, ...] = ()


def clusters_by_place(result: Result) -> FoundClusters:
    """The cluster of each document; -1 for those who are alone."""
    found = np.full(len(result.collected), -1, np.int64)
    found[result.clustering.place] = result.clustering.cluster
    return found


def complete_batches(inputs: Sequence[str], needed: str, **columns: Any) -> Iterator[Batch]:
    """The rows of a data set, every one of them; `needed` says in errors what data set it is."""
    try:
        documents = Documents(inputs, **columns)
        for batch in documents:
            for row in batch.rejected:
                raise InputError(f"{row.place}: {row.reason}")
            yield batch
    except InputError as error:
        # The columns are fixed, so how to name others is no help here.
        problem = str(error).partition("; name the column")[0]
        raise InputError(f"{problem}; give {needed}, complete") from None

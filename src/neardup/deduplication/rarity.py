"""How rare words are in the documents of a result, for the scores of its model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from neardup.collection.rarity import Rarity
from neardup.features.columns import GivenTerms

if TYPE_CHECKING:
    from neardup.deduplication.result import Result


def rarity_of(result: Result) -> Rarity | None:
    """What the run has counted; of a result that was loaded, counted again. None without a model.

    Of the other collection, a folder has only the documents that the run names, so that the scores
    of a loaded result may differ a little from those of the run.
    """
    if result.settings.fitted is None:
        return None
    known = result.both.left.rarity
    return Rarity.of(_columns(result)) if known is None else known


def _columns(result: Result) -> Iterator[list[pa.Array]]:
    for source in (result.source, result.other_source):
        for batch in () if source is None else source.batches():
            if not isinstance(batch.columns, GivenTerms):
                yield [column.texts for column in batch.columns]

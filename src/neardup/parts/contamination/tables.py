"""The files of a run: hits and documents as they are found, items at the end."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.kernels.columns import column_of, taken
from neardup.kernels.contamination import Found
from neardup.parts.contamination.items import Items
from neardup.parts.contamination.totals import ItemTotals

HITS, ITEMS, DOCUMENTS = "hits.parquet", "items.parquet", "documents.parquet"
Numbers = NDArray[np.int64]
Shares = NDArray[np.float64]


class ItemNames:
    """Columns that name items: the benchmark, and the id in it."""

    def __init__(self, items: Items) -> None:
        self._benchmark = items.benchmark
        self._names = pa.array(items.names, pa.string())
        self._ids = pa.array(items.ids, pa.string())

    def columns(self, items: Numbers) -> dict[str, pa.Array]:
        """The names of some items."""
        numbers = column_of(self._benchmark[items])
        return {
            "benchmark": pa.DictionaryArray.from_arrays(numbers, self._names),
            "item": taken(self._ids, column_of(items)),
        }


def hits_table(found: Found, ids: pa.Array, names: ItemNames, shares: Shares) -> pa.Table:
    """The hits of a batch; `shares` are those of the items in `found.items`."""
    hits = found.hits
    pairs = _pair(found.items["document"], found.items["item"])
    own = np.searchsorted(pairs, _pair(hits["document"], hits["item"]))
    columns = {
        **names.columns(hits["item"]),
        "document": taken(ids, column_of(hits["document"])),
        "item_start": column_of(hits["item_start"]),
        "item_end": column_of(hits["item_start"] + hits["words"]),
        "words": column_of(hits["words"]),
        **{name: column_of(hits[name]) for name in ("start", "end", "start_byte", "end_byte")},
        "share": column_of(shares[own]),
    }
    return pa.table(columns)


def largest_items(found: Found, shares: Shares) -> Numbers:
    """The row of `found.items` with the item of which each document with hits has the most.

    Of items with equal shares, the one with more words.
    """
    items = found.items
    order = np.lexsort((items["item"], -items["covered"], -shares, items["document"]))
    return order[np.searchsorted(items["document"][order], found.documents["document"])]


def documents_table(
    found: Found, ids: pa.Array, names: ItemNames, shares: Shares, removes: bool
) -> pa.Table:
    """The documents of a batch that have hits, and whether something of each is removed."""
    documents, items = found.documents, found.items
    own = documents["document"]
    first = largest_items(found, shares)
    counts = np.searchsorted(items["document"], own, "right") - np.searchsorted(
        items["document"], own
    )
    words = documents["words"]
    removed = {"removed": column_of(np.isin(own, found.ranges["document"]))} if removes else {}
    return pa.table(
        {
            "document": taken(ids, column_of(own)),
            "items": column_of(counts.astype(np.int64)),
            "words": column_of(words),
            "covered": column_of(documents["covered"]),
            "share": column_of(documents["covered"] / np.maximum(1, words)),
            **names.columns(items["item"][first]),
            "item_share": column_of(shares[first]),
            **removed,
        }
    )


def items_table(items: Items, totals: ItemTotals, ids: pa.DataType) -> pa.Table:
    """A row for each item of each benchmark; items that repeat another have its numbers."""
    first = items.same_as
    repeats = first != np.arange(len(items))
    own_ids = pa.array(items.ids, pa.string())
    best = [totals.best_document(item) for item in first.tolist()]
    return pa.table(
        {
            **ItemNames(items).columns(np.arange(len(items))),
            "words": column_of(items.words),
            "documents": column_of(totals.documents[first]),
            "share": column_of(totals.share[first]),
            "share_of_all": column_of(totals.ever()[first]),
            "longest": column_of(totals.longest[first]),
            "document": pa.array(best, ids),
            "same_as": pa.array(
                [
                    items.ids[one] if is_repeat else None
                    for one, is_repeat in zip(first.tolist(), repeats.tolist(), strict=True)
                ],
                own_ids.type,
            ),
            "text": items.beginnings,
        }
    )


def shares_of(found: Found, items: Items) -> Shares:
    """The share of each item in each document, for the rows of `found.items`."""
    return np.asarray(found.items["covered"] / items.words[found.items["item"]])


def _pair(documents: Numbers, items: Numbers) -> Numbers:
    return documents << 32 | items

"""What is known of every item after all documents, in memory that the corpus does not change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.kernels.contamination import Found
from neardup.parts.contamination.items import Items

Numbers = NDArray[np.int64]
_EXAMPLES = 50
_AROUND = 300  # characters on each side of a run
_RUN = 2000  # characters of a run


@dataclass(frozen=True)
class Example:
    """An item where it is most complete: the document, and its longest run there in context."""

    item: int
    document: Any
    share: float
    longest: int
    before: str
    run: str
    after: str


class ItemTotals:
    """Counts for every item, over all documents so far."""

    def __init__(self, items: Items) -> None:
        self._items = items
        count = len(items)
        self.documents = np.zeros(count, np.int64)
        self.covered = np.full(count, -1)  # most words in one document; -1 without hits
        self.longest = np.zeros(count, np.int64)
        self._begins = items.index.begins
        self._counted = items.index.counted()
        self._ever = np.zeros(len(self._counted), np.bool_)  # words covered in any document
        self._ever_count = np.zeros(count, np.int64)
        self._best: dict[int, Any] = {}
        self._examples: dict[int, Example] = {}
        self._last: tuple[float, int, int] | None = None  # of those kept, when there are many

    def add(self, found: Found, ids: pa.Array, texts: pa.Array) -> None:
        """Count what was found in a batch of documents."""
        items, documents = found.items["item"], found.items["document"]
        if not len(items):
            return
        np.add.at(self.documents, items, 1)
        np.maximum.at(self.longest, items, found.items["longest"])
        columns = (found.hits[name].tolist() for name in ("item", "item_start", "words"))
        for item, start, words in set(zip(*columns, strict=True)):
            begin = int(self._begins[item]) + start
            part = slice(begin, begin + words)
            self._ever_count[item] += np.count_nonzero(self._counted[part] & ~self._ever[part])
            self._ever[part] = True
        covered = found.items["covered"]
        # The first document with most words of an item, if it has more than any before.
        order = np.lexsort((documents, -covered, items))
        first = order[np.append(True, np.diff(items[order]) != 0)]
        better = first[covered[first] > self.covered[items[first]]]
        self.covered[items[better]] = covered[better]
        for row in better.tolist():
            item, document = int(items[row]), int(documents[row])
            self._best[item] = ids[document].as_py()
            share = float(covered[row]) / float(self._items.words[item])
            longest = int(found.items["longest"][row])
            if self._last is None or (-share, -longest, item) < self._last:
                self._examples[item] = _example(
                    self._best[item], item, share, longest, found, document, texts
                )
        if len(self._examples) > 2 * _EXAMPLES:
            self._prune()

    def _prune(self) -> None:
        kept = sorted(self._examples.values(), key=_worst)[:_EXAMPLES]
        self._examples = {one.item: one for one in kept}
        self._last = _worst(kept[-1])

    @property
    def share(self) -> NDArray[np.float64]:
        """The largest share of each item in one document."""
        return np.asarray(np.maximum(0, self.covered) / np.maximum(1, self._items.words))

    def ever(self) -> NDArray[np.float64]:
        """The share of each item that is in any document."""
        return np.asarray(self._ever_count / np.maximum(1, self._items.words))

    def best_document(self, item: int) -> Any:
        """The id of the first document with the largest share of an item; None without hits."""
        return self._best.get(item)

    def worst(self) -> list[Example]:
        """The most contaminated items, the worst first."""
        return sorted(self._examples.values(), key=_worst)[:_EXAMPLES]


def _worst(example: Example) -> tuple[float, int, int]:
    return -example.share, -example.longest, example.item


def _example(
    id: Any,
    item: int,
    share: float,
    longest: int,
    found: Found,
    document: int,
    texts: pa.Array,
) -> Example:
    hits = found.hits
    own = np.flatnonzero((hits["document"] == document) & (hits["item"] == item))
    row = int(own[int(hits["words"][own].argmax())])
    start, end = int(hits["start"][row]), int(hits["end"][row])
    text = texts[document].as_py()
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return Example(
        item,
        id,
        share,
        longest,
        f"{'…' if start > _AROUND else ''}{before}",
        _shortened(text[start:end]),
        f"{after}{'…' if end + _AROUND < len(text) else ''}",
    )


def _shortened(run: str) -> str:
    """A run without its middle, if it is long."""
    return run if len(run) <= _RUN else f"{run[: _RUN // 2]} … {run[-_RUN // 2 :]}"

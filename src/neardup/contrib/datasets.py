"""neardup for Hugging Face datasets: functions for `map` and `filter`, and whole datasets.

>>> import datasets
>>> import neardup.contrib.datasets
>>> texts = ["to be or not to be", "To be, or not to be!", "that is the question"]
>>> ds = datasets.Dataset.from_dict({"text": texts})
>>> neardup.contrib.datasets.dedup(ds)["text"][:]
['to be or not to be', 'that is the question']
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from neardup.contrib.columns import ColumnFingerprints
from neardup.contrib.needs import needs
from neardup.contrib.rows import deduplicated, marks
from neardup.deduplication.result import Result
from neardup.errors import InputError, NoColumnError, SettingError
from neardup.features.spec import record_fields
from neardup.frozen import dataclass
from neardup.index import MemoryIndex, Verdict
from neardup.read.memory import string_chunks

with needs("datasets", "neardup[datasets]"):
    from datasets import Dataset, IterableDataset, concatenate_datasets


class Checking(Protocol):
    """An index that checks many documents: `nd.Index`, `nd.MemoryIndex` or one on a server."""

    def check_many(self, batches: Any, *, limit: int | None = ...) -> list[Verdict]: ...


def dedup(ds: Dataset, text: str | None = None, **settings: Any) -> Dataset:
    """The rows to keep, in their order, by `Dataset.select`: nothing is copied.

    Takes the settings of `neardup.dedup`; `text` is the column with the text, by default `text`.
    """
    found = _found(ds, text, settings)
    return ds.select(found.kept_rows)


def mark(ds: Dataset, text: str | None = None, **settings: Any) -> Dataset:
    """All rows, with what became of each: `cluster`, `duplicate_of`, `similarity`, `kept`.

    `duplicate_of` is a value of the column `id`, or of the one that `id` names; without one, a row
    number. A column that the dataset has already keeps its name; the new one gets a suffix.
    """
    found = Dataset(marks(_found(ds, text, settings), ds.column_names))
    return concatenate_datasets([ds, found], axis=1)


@dataclass(frozen=True)
class Fingerprint:
    """A function for `map`, made by `fingerprint`. The cache of datasets knows it again."""

    text: str
    column: str
    fingerprints: ColumnFingerprints

    def __call__(self, batch: Any) -> Any:
        # With nulls, datasets would return the column as floats, which have too few digits.
        made = self.fingerprints(_texts(batch, self.text)).fill_null(0)
        if isinstance(batch, pa.Table):
            if self.column in batch.column_names:
                batch = batch.drop_columns(self.column)
            return batch.append_column(self.column, made)
        return {self.column: made.to_numpy()}


def fingerprint(text: str = "text", column: str = "fingerprint", **recipe: Any) -> Fingerprint:
    """A function for `map(..., batched=True)` that adds a column with the fingerprint of each text.

    It is uint64; 0 for a null and for a text without words. `num_proc` may be any number.

    Args:
        text: The column with the text.
        column: The name of the new column.
        recipe: Settings of `neardup.fingerprint`, with up to 64 `bits`.
    """
    return Fingerprint(text, column, ColumnFingerprints.of(**dict(sorted(recipe.items()))))


class FirstSeen:
    """A function for `filter`, made by `first_seen`; `index` has the documents that it let through.

    It changes as it runs, so it is never taken from the cache of datasets, nor copied.
    """

    def __init__(self, text: str, id: str | None, index: Checking) -> None:
        self.index: Checking | None = index
        self._text, self._id, self._rows = text, id, 0
        self._process, self._name = os.getpid(), uuid.uuid4().hex
        self._turn = threading.Lock()

    def __call__(self, batch: Any, indices: Sequence[int] | None = None) -> list[bool]:
        if self.index is None or self._process != os.getpid():
            raise SettingError(
                "first_seen has to see all rows, one after the other, in one process; leave out "
                "num_proc, or the workers of a data loader"
            )
        fields = record_fields(self._text)
        names = {"text": self._text} if fields is None else {name: name for name in fields.names}
        columns = {name: _texts(batch, column) for name, column in names.items()}
        count = len(next(iter(columns.values())))
        with self._turn:
            ids: Any = range(self._rows, self._rows + count) if indices is None else indices
            ids = _column(batch, self._id) if self._id is not None else np.asarray(ids, np.int64)
            self._rows += count
            verdicts = self.index.check_many(pa.table({"id": ids, **columns}), limit=1)
        return [verdict.is_new for verdict in verdicts]

    def __getstate__(self) -> dict[str, Any]:
        """What datasets hashes: another value before each use."""
        return {"text": self._text, "id": self._id, "use": f"{self._name}:{self._rows}"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copy in another process would not see what the others see, so it refuses to work.
        self.index, self._process = None, -1

    def __copy__(self) -> FirstSeen:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FirstSeen:
        return self


def first_seen(
    text: str = "text", id: str | None = None, index: Checking | None = None, **settings: Any
) -> FirstSeen:
    """A function for `filter(..., batched=True)` that lets the first of near-duplicates through.

    It works on a `Dataset` and, as rows arrive, on an `IterableDataset`, in one process. Used for a
    second dataset, it also removes what is near the first one. A stream that is read twice needs
    `id`, or `with_indices=True` in `filter`; without, its rows are near-duplicates of themselves.

    Args:
        text: The column with the text, or fields of records such as `name*2+street+city`.
        id: The column with the ids. Default: rows are numbered.
        index: What was seen before, for example `nd.Index("seen.index")`, which lasts, and which
            other programs may share; it needs `id`. Default: a new `nd.MemoryIndex`.
        settings: Settings of `nd.MemoryIndex`, such as `threshold=0.9` or `complete=True`.
    """
    if index is None:
        fields = record_fields(text)
        index = MemoryIndex(text=None if fields is None else text, **settings)
    elif settings:
        raise SettingError(
            f"{', '.join(settings)}: an index has settings of its own; give them where it is made"
        )
    elif id is None:
        raise SettingError("an index needs ids; name the column that has them, as id")
    return FirstSeen(text, id, index)


def _found(ds: Dataset, text: str | None, settings: dict[str, Any]) -> Result:
    if isinstance(ds, IterableDataset):
        raise InputError(
            "an IterableDataset is read as it arrives; filter it: "
            "ds.filter(neardup.contrib.datasets.first_seen(...), batched=True)"
        )
    if isinstance(ds, Mapping):
        raise InputError(f"give one split of the dataset, such as ds[{next(iter(ds), 'train')!r}]")
    return deduplicated(
        ds.column_names,
        lambda names, rows: ds.select_columns(names).with_format("arrow")[:rows],
        text,
        settings,
    )


def _texts(batch: Any, name: str) -> pa.ChunkedArray:
    return pa.chunked_array(list(string_chunks(_column(batch, name))), pa.large_string())


def _column(batch: Any, name: str) -> Any:
    """One column of a batch, as `map` and `filter` give it in the formats of datasets."""
    if not isinstance(batch, Mapping | pa.Table):
        raise SettingError(
            f"a batch is a {type(batch).__name__}; leave input_columns out, and use the dataset "
            "without a format, or in the format 'arrow'"
        )
    names = batch.column_names if isinstance(batch, pa.Table) else list(batch)
    if name not in names:
        raise NoColumnError(f"the dataset has no column {name!r}, only {names}", names)
    if isinstance(batch[name], str):
        raise SettingError(
            "this function takes batches of rows; call map or filter with batched=True"
        )
    return batch[name]

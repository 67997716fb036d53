"""What the readers hand on: a batch of documents, and the rows set aside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


@dataclass(frozen=True)
class Rejected:
    """One row that was set aside: where it stands, counted from 0, and why.

    Without a row it is the whole file that was left out, or the rest of it.
    """

    file: str
    row: int | None
    reason: str


@dataclass(frozen=True)
class Batch:
    """Some consecutive rows of the input: the good ones as columns, the bad ones with reasons.

    `documents` has the columns `id` (string or int64) and `text` (string or large_string), both
    valid and without nulls, then the carried columns. It has no rows where all were rejected.
    `places` holds each document's place in the whole input, rejected rows counted too. `fields`
    are the texts of a record's fields, where the documents are records. `names` are those that the
    id (None: rows are numbered) and the text have in the input. `made_ids`, where documents have no
    ids of their own, gives names made of files and rows, which last longer than numbers.
    """

    documents: pa.RecordBatch
    places: npt.NDArray[np.int64]
    rejected: tuple[Rejected, ...]
    fields: tuple[pa.Array, ...] = ()
    names: tuple[str | None, str] = ("id", "text")
    made_ids: Callable[[], pa.Array] | None = None

    def as_read(self) -> pa.RecordBatch:
        """The documents with the columns of the input, under the names they have there."""
        id_name, text_name = self.names
        columns = {text_name: self.documents["text"]}
        if id_name is not None:
            columns = {id_name: self.documents["id"], **columns}
        for name in self.documents.schema.names[2:]:
            own = name.removeprefix("input_") if name in ("input_id", "input_text") else name
            columns[own] = self.documents[name]
        return pa.RecordBatch.from_pydict(columns)

    @property
    def ids(self) -> pa.Array:
        """The documents' ids."""
        return self.documents["id"]


@dataclass(frozen=True)
class Rows:
    """The same inside the stage, before ids are settled; what every format's reader yields.

    `numbers` are rows counted from where the reader began, `seen` how many it has passed,
    rejected ones included, `bytes_done` how much of its input. `id` is None where there is none.
    """

    text: pa.Array
    id: pa.Array | None
    carried: dict[str, Any]
    numbers: npt.NDArray[np.int64]
    rejected: tuple[Rejected, ...]
    seen: int
    bytes_done: int

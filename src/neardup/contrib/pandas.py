"""neardup in pandas: the accessor `neardup` of data frames and columns.

>>> import pandas as pd
>>> import neardup.contrib.pandas
>>> df = pd.DataFrame({"body": ["to be or not to be", "To be, or not to be!", None]})
>>> df.neardup.dedup("body")["body"].tolist()
['to be or not to be', None]
>>> df["body"].neardup.duplicated().tolist()
[False, True, False]
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from neardup.contrib.columns import ColumnFingerprints, ColumnSimilarity, hammings
from neardup.contrib.needs import needs
from neardup.contrib.rows import deduplicated, marks
from neardup.deduplication.result import Result
from neardup.deduplication.run import dedup
from neardup.errors import InputError

with needs("pandas", "neardup[pandas]"):
    import pandas as pd

_NAME, _TEXT = "neardup", "text"
# pandas' own types for columns in which a value may be missing.
_NULLABLE = {
    pa.bool_(): pd.BooleanDtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.string(): pd.StringDtype(),
    pa.large_string(): pd.StringDtype(),
}


@pd.api.extensions.register_dataframe_accessor(_NAME)
class NeardupFrame:
    """`df.neardup`: the near-duplicates among the rows of a data frame.

    Every method takes the settings of `neardup.dedup`. Rows are known by where they are, so that
    the labels of the index may be of any kind, and occur more than once.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def dedup(self, text: str | None = None, **settings: Any) -> pd.DataFrame:
        """The rows to keep, in their order, with index, columns and types as they are.

        `text` is the column with the text, by default `text`.
        """
        rows = self._frame.iloc[self._found(text, settings).kept_rows]
        return rows.copy(deep=False)  # pandas 2 would warn of every change to a part of a frame

    def duplicated(self, text: str | None = None, **settings: Any) -> pd.Series[bool]:
        """Whether each row is removed as a near-duplicate, like `DataFrame.duplicated`."""
        return pd.Series(~self._found(text, settings).keeps, self._frame.index)

    def mark(self, text: str | None = None, **settings: Any) -> pd.DataFrame:
        """All rows, with what became of each: `cluster`, `duplicate_of`, `similarity`, `kept`.

        `duplicate_of` is a value of the column `id`, or of the one that `id` names; without one, a
        row number, as `iloc` takes it. A column that the frame has already keeps its name; the new
        one gets a suffix.
        """
        table = marks(self._found(text, settings), map(str, self._frame.columns))
        frame = self._frame.copy()
        for name in table.column_names:
            frame[name] = _series(table[name], frame.index)
        return frame

    def result(self, text: str | None = None, **settings: Any) -> Result:
        """The whole result of `neardup.dedup`: pairs, clusters, summary, `save`."""
        return dedup(self._frame, text=text, **settings)

    def _found(self, text: str | None, settings: dict[str, Any]) -> Result:
        names = [name for name in self._frame.columns if isinstance(name, str)]
        return deduplicated(names, self._table, text, settings)

    def _table(self, names: list[str], rows: int | None) -> pa.Table:
        frame = self._frame.iloc[:rows]
        return pa.table({name: self._column(frame, name) for name in dict.fromkeys(names)})

    def _column(self, frame: pd.DataFrame, name: str) -> pa.Array:
        column = frame[name]
        if isinstance(column, pd.DataFrame):
            raise InputError(
                f"the data frame has {column.shape[1]} columns {name!r}; rename all but one"
            )
        return _arrow(column)


@pd.api.extensions.register_series_accessor(_NAME)
class NeardupSeries:
    """`df["text"].neardup`: fingerprints, similarities and near-duplicates of a column."""

    def __init__(self, series: pd.Series[Any]) -> None:
        self._series = series

    def dedup(self, **settings: Any) -> pd.Series[Any]:
        """The texts to keep, in their order, with their index."""
        return self._series.iloc[self._found(settings).kept_rows]

    def duplicated(self, **settings: Any) -> pd.Series[bool]:
        """Whether each text is removed as a near-duplicate, like `Series.duplicated`."""
        return pd.Series(~self._found(settings).keeps, self._series.index, name=self._series.name)

    def fingerprint(self, **recipe: Any) -> pd.Series[Any]:
        """The fingerprint of each text as UInt64; missing for a missing text or one without words.

        Takes the settings of `neardup.fingerprint`, with up to 64 `bits`.
        """
        return self._with_values(ColumnFingerprints.of(**recipe)(_arrow(self._series)))

    def hamming(self, other: Any) -> pd.Series[Any]:
        """How many bits differ from another fingerprint: a column in the same order, or one."""
        return self._with_values(hammings(_arrow(self._series), self._others(other)))

    def jaccard(self, other: Any, features: str = "word:3") -> pd.Series[Any]:
        """The similarity to another text, as `dedup` has it: of a column in the same order, or one.

        0 if a text has no word, missing if one is missing.
        """
        compare = ColumnSimilarity.of(features)
        return self._with_values(compare(_arrow(self._series), self._others(other)))

    def _found(self, settings: dict[str, Any]) -> Result:
        return NeardupFrame(pd.DataFrame({_TEXT: self._series}))._found(None, settings)

    def _others(self, other: Any) -> pa.Array:
        if not isinstance(other, pd.Series):
            return pa.array(
                other if pd.api.types.is_list_like(other) else [other] * len(self._series)
            )
        if not other.index.equals(self._series.index):
            raise InputError(
                "the two columns have different indexes, and are compared row by row; align them "
                "first, for example with a.align(b, join='inner')"
            )
        return _arrow(other)

    def _with_values(self, column: pa.Array) -> pd.Series[Any]:
        return _series(column, self._series.index, self._series.name)


def _arrow(column: pd.Series[Any]) -> pa.Array:
    """A column in Arrow; NaN and NA are nulls."""
    try:
        return pa.Array.from_pandas(column)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(
            f"the column {column.name!r} has values of several types: {error}"
        ) from None


def _series(
    column: pa.Array | pa.ChunkedArray, index: pd.Index[Any], name: Any = None
) -> pd.Series[Any]:
    # Flags without nulls stay plain ones, as everything in pandas takes those.
    is_plain = pa.types.is_boolean(column.type) and not column.null_count
    found = column.to_pandas(types_mapper=None if is_plain else _NULLABLE.get)
    return pd.Series(found.array, index, name=name)

"""neardup in Polars: the namespace `neardup` of data frames, lazy frames, columns and expressions.

>>> import polars as pl
>>> import neardup.contrib.polars
>>> df = pl.DataFrame({"body": ["to be or not to be", "To be, or not to be!", None]})
>>> df.neardup.dedup("body")["body"].to_list()
['to be or not to be', None]
>>> df.filter(pl.col("body").neardup.is_kept()).equals(df.neardup.dedup("body"))
True
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from neardup.contrib.columns import ColumnFingerprints, ColumnSimilarity, hammings
from neardup.contrib.needs import needs
from neardup.contrib.rows import deduplicated, marks
from neardup.deduplication.result import Result
from neardup.deduplication.run import dedup
from neardup.kernels.columns import column_of

with needs("polars", "neardup[polars]"):
    import polars as pl

_NAME = "neardup"
_TEXT, _OTHER = "text", "neardup_other"
Other = Any  # an expression, the name of a column, or a value


@pl.api.register_dataframe_namespace(_NAME)
class NeardupFrame:
    """`df.neardup`: the near-duplicates among the rows of a data frame.

    Every method takes the settings of `neardup.dedup`.
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def dedup(self, text: str | None = None, **settings: Any) -> pl.DataFrame:
        """The rows to keep, in their order, with all columns as they are.

        `text` is the column with the text, by default `text`.
        """
        return self._frame.filter(_series(column_of(self._found(text, settings).keeps), "kept"))

    def mark(self, text: str | None = None, **settings: Any) -> pl.DataFrame:
        """All rows, with what became of each: `cluster`, `duplicate_of`, `similarity`, `kept`.

        `duplicate_of` is a value of the column `id`, or of the one that `id` names; without one, a
        row number. A column that the frame has already keeps its name; the new one gets a suffix.
        """
        table = marks(self._found(text, settings), self._frame.columns)
        return self._frame.hstack([_series(table[name], name) for name in table.column_names])

    def result(self, text: str | None = None, **settings: Any) -> Result:
        """The whole result of `neardup.dedup`: pairs, clusters, summary, `save`."""
        return dedup(_arrow(self._frame), text=text, **settings)

    def _found(self, text: str | None, settings: dict[str, Any]) -> Result:
        def table_of(names: list[str], rows: int | None) -> pa.Table:
            frame = self._frame.select(names)
            return _arrow(frame if rows is None else frame.head(rows))

        return deduplicated(self._frame.columns, table_of, text, settings)


@pl.api.register_lazyframe_namespace(_NAME)
class NeardupLazyFrame:
    """`lazy.neardup`: like `df.neardup`. It collects the frame, because every row matters."""

    def __init__(self, frame: pl.LazyFrame) -> None:
        self._frame = frame

    def dedup(self, text: str | None = None, **settings: Any) -> pl.LazyFrame:
        """The rows to keep; the frame is collected now."""
        return NeardupFrame(self._frame.collect()).dedup(text, **settings).lazy()

    def mark(self, text: str | None = None, **settings: Any) -> pl.LazyFrame:
        """All rows, with what became of each; the frame is collected now."""
        return NeardupFrame(self._frame.collect()).mark(text, **settings).lazy()

    def result(self, text: str | None = None, **settings: Any) -> Result:
        """The whole result of `neardup.dedup`; the frame is collected now."""
        return NeardupFrame(self._frame.collect()).result(text, **settings)


@pl.api.register_expr_namespace(_NAME)
class NeardupExpr:
    """`pl.col("text").neardup`: fingerprints and similarities in any query, also a lazy one."""

    def __init__(self, expression: pl.Expr) -> None:
        self._expression = expression

    def fingerprint(self, **recipe: Any) -> pl.Expr:
        """The fingerprint of each text as UInt64; null for a null and for a text without words.

        Takes the settings of `neardup.fingerprint`, with up to 64 `bits`.
        """
        made = ColumnFingerprints.of(**recipe)
        return self._expression.map_batches(
            lambda texts: _series(made(_arrow(texts)), texts.name), pl.UInt64, is_elementwise=True
        )

    def hamming(self, other: Other) -> pl.Expr:
        """How many bits differ from another fingerprint: a column, or one number."""
        return self._with(other, hammings, pl.Int64)

    def jaccard(self, other: Other, features: str = "word:3") -> pl.Expr:
        """The similarity to another text (a column, or `pl.lit` with one text), as `dedup` has it.

        0 if a text has no word, null if one is null.
        """
        return self._with(other, ColumnSimilarity.of(features), pl.Float64)

    def is_kept(self, **settings: Any) -> pl.Expr:
        """Whether `neardup.dedup` keeps each row; with `.over("site")`, for each site by itself."""

        def keeps(texts: pl.Series) -> pl.Series:
            # Functions that a query calls must not run another: Polars may wait for itself.
            column = pa.table({_TEXT: _arrow(texts)})
            result = deduplicated([_TEXT], lambda *_: column, None, settings)
            return _series(column_of(result.keeps), texts.name)

        return self._expression.map_batches(keeps, pl.Boolean)

    def _with(self, other: Other, function: Any, kind: Any) -> pl.Expr:
        """A function of this column and another one, row by row."""
        # A struct has the name of its first field, repeats a single value, and keeps rows together
        # when Polars cuts columns into parts.
        both = pl.struct(self._expression, **{_OTHER: other})

        def called(rows: pl.Series) -> pl.Series:
            a, b = map(_arrow, rows.struct.unnest().get_columns())
            return _series(function(a, b), rows.name)

        return both.map_batches(called, kind, is_elementwise=True)


@pl.api.register_series_namespace(_NAME)
class NeardupSeries:
    """`df["text"].neardup`: what expressions have, of one column at once."""

    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def fingerprint(self, **recipe: Any) -> pl.Series:
        """The fingerprint of each text as UInt64; null for a null and for a text without words."""
        return self._of(NeardupExpr(self._column).fingerprint(**recipe))

    def hamming(self, other: Other) -> pl.Series:
        """How many bits differ from another fingerprint: a series, or one number."""
        return self._of(NeardupExpr(self._column).hamming(other))

    def jaccard(self, other: Other, features: str = "word:3") -> pl.Series:
        """The similarity to another text (a series, or `pl.lit` with one text)."""
        return self._of(NeardupExpr(self._column).jaccard(other, features))

    def is_kept(self, **settings: Any) -> pl.Series:
        """Whether `neardup.dedup` keeps each row."""
        return self._of(NeardupExpr(self._column).is_kept(**settings))

    @property
    def _column(self) -> pl.Expr:
        return pl.col(self._series.name)

    def _of(self, expression: pl.Expr) -> pl.Series:
        return self._series.to_frame().select(expression).to_series()


def _arrow(held: Any) -> Any:
    """A frame or a column in Arrow, whose newest types of strings cannot be used everywhere."""
    return held.to_arrow(compat_level=pl.CompatLevel.oldest())


def _series(column: pa.Array | pa.ChunkedArray, name: str) -> pl.Series:
    return pl.Series(name, column)

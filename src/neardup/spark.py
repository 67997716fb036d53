"""neardup on Spark: DataFrames in, DataFrames out, with the result of the local engine.

import neardup.spark

found = neardup.spark.dedup(df, order_by="id", work="hdfs:///tmp/neardup")
found.kept.write.parquet("hdfs:///clean")
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.collection.settings import DedupSettings
from neardup.collection.source import FileSource, fingerprinter_of
from neardup.distributed.run import deduplicate, require_distributed
from neardup.distributed.work import Work, is_url
from neardup.engines.spark import SparkEngine
from neardup.errors import SettingError
from neardup.features.spec import TextColumn
from neardup.fingerprints.files import stored_batch, stored_schema
from neardup.fingerprints.fingerprinter import required_table
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.read.columns import field_texts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Found", "against", "dedup", "fingerprint"]

_INPUT, _OTHER, _STAGES, _OUTPUT = "input", "other", "stages", "output"
_ROW_GROUP = 16 << 20
_TIMESTAMPS = "spark.sql.parquet.outputTimestampType"


class Found:
    """What `dedup` found, as DataFrames that are read from the folder `path`.

    `kept` and `removed` have all columns of the input, `removed` also `duplicate_of` and
    `similarity`; `pairs` and `clusters` have those of `neardup.Result`. `summary` has the numbers,
    and the folder a report, `report.html`.
    """

    def __init__(self, spark: SparkSession, path: str, summary: dict[str, Any]) -> None:
        self._spark, self.path, self.summary = spark, path, summary

    @cached_property
    def kept(self) -> DataFrame:
        """The rows to keep."""
        return self._table("kept")

    @cached_property
    def removed(self) -> DataFrame:
        """The removed rows, each with the one that it is a duplicate of."""
        return self._table("removed")

    @cached_property
    def pairs(self) -> DataFrame:
        """The pairs that removed a document, or all of them."""
        if self.summary["settings"]["pairs"] == "none":
            raise SettingError("pairs='none' lists no pairs; run dedup with pairs='evidence'")
        return self._table("pairs")

    @cached_property
    def clusters(self) -> DataFrame:
        """One row for each document that is in a cluster."""
        return self._table("clusters")

    def _table(self, name: str) -> DataFrame:
        return self._spark.read.parquet(_for_hadoop(f"{self.path}/{name}.parquet"))

    def __repr__(self) -> str:
        documents, removed = self.summary["documents"], self.summary["removed"]
        return f"<Found in {documents:,} documents: {removed:,} removed → {self.path}>"


def dedup(
    df: DataFrame,
    *,
    order_by: str | Sequence[str],
    work: str | os.PathLike[str],
    against: DataFrame | None = None,
    within: bool = False,
    resume: bool = False,
    preset: str | None = None,
    **settings: Any,
) -> Found:
    """Find the near-duplicates of a DataFrame, and choose which rows to keep.

    Args:
        df: The documents, with a column `text` (or another, see `text`).
        order_by: Columns that order the documents, since a DataFrame has no order: of alike
            documents the first is kept. Rows that are equal in them are ordered by their content.
        work: Folder or URL that driver and executors share. The ordered input, what stages find
            and the result are stored there.
        against: Documents that these are compared with; near-duplicates of them are removed.
        within: With `against`, also remove near-duplicates within `df`.
        resume: Go on with a run that was interrupted, with the input that was stored then.
        preset: Settings of a known system, as in `neardup.dedup`.
        settings: Any setting of `neardup.dedup`, such as `threshold=0.8` or `keep="max:date"`.

    Returns:
        The DataFrames `kept`, `removed`, `pairs` and `clusters`, and the `summary`.
    """
    checked = DedupSettings.of(preset=preset, **settings)
    require_distributed(checked)
    if within and against is None:
        raise SettingError("within=True needs another collection; give it as against")
    folder = os.fspath(work).rstrip("/")
    folder = folder if is_url(folder) else os.path.abspath(folder)
    spark, place = df.sparkSession, Work(folder)
    frames = {_INPUT: df} if against is None else {_INPUT: df, _OTHER: against}
    for name, frame in frames.items():
        if not (resume and place.exists(f"{name}/_SUCCESS")):
            _store(frame, order_by, f"{folder}/{name}")
    sources = [FileSource([f"{folder}/{name}/*.parquet"], checked) for name in frames]
    stages, output = Work(f"{folder}/{_STAGES}"), f"{folder}/{_OUTPUT}"
    outcome = deduplicate(
        sources[0],
        checked,
        SparkEngine(spark),
        output,
        stages,
        sources[1] if len(sources) > 1 else None,
        within=within,
        resume=resume,
        overwrite=True,
    )
    stages.remove()
    return Found(spark, output, outcome.summary)


def against(
    df: DataFrame,
    other: DataFrame,
    *,
    order_by: str | Sequence[str],
    work: str | os.PathLike[str],
    **settings: Any,
) -> Found:
    """Remove the documents of a DataFrame that are near-duplicates of those of another."""
    return dedup(df, order_by=order_by, work=work, against=other, **settings)


def fingerprint(
    df: DataFrame,
    features: str = "word:3",
    weights: str | None = None,
    bits: int = 64,
    hash: str = "nd1",
    tie: str = ">0",
    projection: str | None = None,
    text: str | None = None,
    idf: str | os.PathLike[str] | None = None,
) -> DataFrame:
    """The DataFrame with the columns `words` and `fingerprint` (bytes; null for empty documents).

    The arguments are those of `neardup.fingerprint`. Weights by rarity need `idf`, a table that
    `neardup idf` has written.
    """
    from pyspark.sql.types import BinaryType, LongType, StructField, StructType

    settings = DedupSettings.of(
        features=features,
        weights=weights,
        bits=bits,
        hash=hash,
        tie=tie,
        projection=projection,
        text=text,
    )
    if settings.scheme.features.are_given:
        raise SettingError("features='terms' are not taken from a DataFrame; use texts")
    if settings.scheme.needs_idf and idf is None:
        raise SettingError("weights by rarity need a table; make one with `neardup idf`")
    for name in settings.columns:
        if name not in df.columns:
            raise SettingError(f"the DataFrame has no column {name!r}, only {df.columns}")
    for name in ("words", "fingerprint"):
        if name in df.columns:
            raise SettingError(f"the DataFrame has a column {name!r} already; rename it first")
    schema = StructType(
        [
            *df.schema.fields,
            StructField("words", LongType()),
            StructField("fingerprint", BinaryType()),
        ]
    )
    table = None if idf is None else os.fspath(idf)
    return df.mapInArrow(partial(_fingerprinted, settings, table), schema)


def _fingerprinted(
    settings: DedupSettings, idf: str | None, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The rows of a partition with words and fingerprints."""
    maker = fingerprinter_of(settings.scheme, 1)
    if idf is not None:
        maker = maker.weighted_by(required_table(idf, settings.scheme))
    fields = settings.scheme.fields
    for batch in batches:
        columns = [TextColumn(field_texts(batch[name])) for name in settings.columns]
        if fields is not None:
            columns = [
                TextColumn(column.texts, field)
                for column, field in zip(columns, fields.fields, strict=True)
            ]
        rows, words = maker.rows(columns)
        schema = stored_schema(maker.scheme, pa.int64(), {})
        made = stored_batch(
            Fingerprints(rows, maker.scheme, words), pa.nulls(len(batch), pa.int64()), schema
        )
        arrays = [
            *batch.columns,
            made["words"].cast(pa.int64()),
            made["fingerprint"].cast(pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(arrays, [*batch.schema.names, "words", "fingerprint"])


def _store(df: DataFrame, order_by: str | Sequence[str], path: str) -> None:
    """Write a DataFrame in its order, so that every task reads the same rows again."""
    from pyspark.sql import functions
    from pyspark.sql.types import MapType

    names = [order_by] if isinstance(order_by, str) else list(order_by)
    if not names:
        raise SettingError("order_by names no column; a DataFrame has no order of its own")
    for name in names:
        if name not in df.columns:
            raise SettingError(f"order_by={name!r} is not a column of the DataFrame: {df.columns}")
    plain = [field.name for field in df.schema.fields if not isinstance(field.dataType, MapType)]
    ordered = df.orderBy(*names, functions.xxhash64(*plain))
    conf = df.sparkSession.conf
    before = str(conf.get(_TIMESTAMPS))
    conf.set(_TIMESTAMPS, "TIMESTAMP_MICROS")
    try:
        writer = ordered.write.mode("overwrite").option("parquet.block.size", _ROW_GROUP)
        writer.parquet(_for_hadoop(path))
    finally:
        conf.set(_TIMESTAMPS, before)


def _for_hadoop(path: str) -> str:
    """A path of this machine as Hadoop names it, whatever its default file system is."""
    return path if is_url(path) else f"file://{path}"

"""The folder of a run: which files it has, and what its summary says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from xxhash import xxh3_128_hexdigest

from neardup.deduplication.document_files import part_files
from neardup.deduplication.load import summary_in
from neardup.errors import InputError

_BATCH_ROWS = 1 << 17


class RunFolder:
    """A folder that `dedup` wrote; `InputError` says what is wrong with any other."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.summary = summary_in(self.path)
        if self.summary.get("documents") is None or "bits" not in self.settings:
            raise self.damaged("summary.json", "it lacks the settings of the run")

    def damaged(self, name: str, fault: str) -> InputError:
        """The error for a file that cannot be used."""
        return InputError(
            f"{self.path / name} is damaged: {fault}; restore it, or run neardup dedup again"
        )

    def has(self, name: str) -> bool:
        """Whether there is such a file, or a folder with its parts."""
        return all(part.is_file() for part in self.parts(name))

    def parts(self, name: str) -> list[Path]:
        """The files of a table: one, or those that the tasks of a cluster have written."""
        return part_files(self.path / name)

    @property
    def settings(self) -> dict[str, Any]:
        found: dict[str, Any] = self.summary["settings"]
        return found

    @property
    def by_distance(self) -> bool:
        """Whether the threshold is a number of differing bits."""
        return bool(self.settings["similarity"] == "hamming")

    @property
    def threshold(self) -> float:
        """The similarity that near-duplicates reach; for `hamming`, the share of equal bits."""
        given = float(self.settings["threshold"])
        return 1 - given / int(self.settings["bits"]) if self.by_distance else given

    @property
    def floor(self) -> float | None:
        given = self.settings.get("floor")
        return None if given is None else float(given)

    @property
    def has_all_pairs(self) -> bool:
        return bool(self.settings.get("pairs") == "all") and self.has("pairs.parquet")

    @property
    def obeyed_decisions(self) -> bool:
        """Whether people's decisions overrode the similarities."""
        return self.summary.get("decisions") is not None

    @property
    def has_pairs_to_label(self) -> bool:
        """Whether it was made of a file of pairs to label, and is no run."""
        return "pairs_to_label" in self.summary

    @property
    def within(self) -> bool:
        """Whether documents of the input were compared with each other."""
        return bool(self.summary.get("within", True))

    @cached_property
    def format(self) -> str:
        """The format of the kept and removed rows."""
        found = self.summary.get("format", "parquet")
        if found not in ("parquet", "jsonl", "csv"):
            raise self.damaged("summary.json", f"the format {found!r} is unknown")
        return str(found)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns of the rows that were compared."""
        return tuple(self.summary.get("columns", {}).get("text", ("text",)))

    @property
    def id_column(self) -> str | None:
        """The column of the ids; None if rows are numbered."""
        found = self.summary.get("columns", {}).get("id")
        return None if found is None else str(found)

    @property
    def has_terms(self) -> bool:
        """Whether the documents are lists of terms."""
        return str(self.settings.get("features", "")).startswith("terms")

    @property
    def has_fields(self) -> bool:
        """Whether the documents are records of several fields."""
        from neardup.features.spec import record_fields

        return record_fields(self.settings.get("text")) is not None

    @cached_property
    def identity(self) -> str:
        """What changes when another run is stored in the folder."""
        names = [
            f"{kind}.{self.format}" if kind in ("kept", "removed") else f"{kind}.parquet"
            for kind in ("documents", "clusters", "pairs", "others", "kept", "removed")
        ]
        sizes = [
            [part.stat().st_size for part in self.parts(name)] if self.has(name) else -1
            for name in names
        ]
        summary = (self.path / "summary.json").read_bytes()
        return f"{xxh3_128_hexdigest(summary)} {sizes}"

    def batches(self, name: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """The columns of a Parquet file that it has, some rows at a time."""
        for part in self.parts(name):
            with open_parquet(part) as file:
                known = [column for column in columns if column in file.schema_arrow.names]
                try:
                    yield from file.iter_batches(_BATCH_ROWS, columns=known)
                except (OSError, pa.ArrowInvalid) as error:
                    raise self.damaged(name, _first_line(error)) from None


def open_parquet(path: Path) -> pq.ParquetFile:
    """Open a Parquet file; `InputError` if it is missing or damaged."""
    try:
        # Through a Python file, because Arrow does not accept names that are not UTF-8.
        return pq.ParquetFile(pa.PythonFile(path.open("rb"), "r"), pre_buffer=False)
    except FileNotFoundError:
        raise InputError(f"there is no {path}; run neardup dedup again") from None
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(
            f"{path} is damaged: {_first_line(error)}; restore it, or run neardup dedup again"
        ) from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")

"""What a search for passages has found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import pyarrow as pa

from neardup.collection.source import Progress, Source
from neardup.deduplication.inputs import files_of, inputs_of
from neardup.deduplication.rows import together
from neardup.deduplication.summary import peak_megabytes, versions
from neardup.frozen import dataclass
from neardup.parts.clean_rows import with_texts
from neardup.parts.passages.families import Families, Members
from neardup.parts.passages.output import Found, OutputPass, passages_schema
from neardup.parts.passages.reading import Read
from neardup.parts.passages.settings import PassageSettings


@dataclass(frozen=True, eq=False)
class _Tables:
    families: pa.Table
    passages: pa.Table
    kept: pa.Table
    numbers: dict[str, int]


class PassagesResult:
    """Families of passages that occur in several documents.

    Tables are made when they are first asked for, in memory; `save` writes a collection of any
    size.
    """

    def __init__(
        self,
        source: Source,
        settings: PassageSettings,
        read: Read,
        families: Families,
        members: Members,
        seconds: Mapping[str, float],
        started: str,
    ) -> None:
        self._found = Found(source, settings, read, families, members)
        self._seconds, self._started = dict(seconds), started

    @property
    def settings(self) -> PassageSettings:
        """The settings of the search."""
        return self._found.settings

    @property
    def families(self) -> pa.Table:
        """A row for each family, the one with the most repeated text first."""
        return self._tables.families

    @property
    def passages(self) -> pa.Table:
        """A row for each passage that is in a family, in the order of the input."""
        return self._tables.passages

    @property
    def kept(self) -> pa.Table:
        """All rows of the input, with what remains of their texts."""
        return self._tables.kept

    @property
    def summary(self) -> dict[str, Any]:
        """The numbers of the search and, if passages are removed, of what is removed."""
        if self.settings.remove is None:
            return self.summary_with({})
        return self.summary_with(self._tables.numbers)

    def summary_with(self, removed: Mapping[str, int]) -> dict[str, Any]:
        """The summary, with the numbers of an output pass."""
        read, families = self._found.read, self._found.families
        return {
            "documents": len(read),
            "rejected": len(read.rejected) - read.rejected.left_out,
            "left_out": read.rejected.left_out,
            "text_bytes": read.text_bytes,
            "passages": read.passages,
            "families": len(families),
            "repeated_passages": int(families.passages.sum()),
            "repeated_bytes": int(families.repeated_bytes.sum()),
            **removed,
            "settings": self.settings.as_dict(),
            "inputs": inputs_of(self._found.source),
            **files_of(self._found.source, read.rejected.why),
            "started": self._started,
            "seconds": {stage: round(spent, 3) for stage, spent in self._seconds.items()},
            "peak_megabytes": round(peak_megabytes(), 1),
            "versions": versions(),
        }

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        format: str = "parquet",
    ) -> dict[str, Any]:
        """Write families, passages, the kept texts if any were cut, and a report to a folder.

        Returns the summary as it was written.
        """
        from neardup.parts.passages.save import save

        return save(self, path, overwrite=overwrite, format=format).summary

    @property
    def found(self) -> Found:
        """What the passes that write need."""
        return self._found

    def output(self, progress: Progress | None = None) -> OutputPass:
        """Another pass over the collection."""
        return OutputPass(self._found, progress)

    @cached_property
    def _tables(self) -> _Tables:
        walk = self.output()
        passages, rows = [], []
        for one in walk:
            passages.append(one.table)
            rows.append(one.batch.rows if one.texts is None else with_texts(one.batch, one.texts))
        return _Tables(
            pa.Table.from_batches(list(walk.family_batches())),
            pa.Table.from_batches(passages, passages_schema(self._found.read.ids.type)),
            together(iter(rows)),
            removed_numbers(walk),
        )

    def __repr__(self) -> str:
        families = len(self._found.families)
        noun = "family" if families == 1 else "families"
        return (
            f"<PassagesResult of {len(self._found.read):,} documents: {families:,} {noun} of "
            f"passages, {self._found.families.repeated_bytes.sum():,} bytes repeated>"
        )


def removed_numbers(walk: OutputPass) -> dict[str, int]:
    """What a pass has removed."""
    return {
        "removed_passages": walk.removed_passages,
        "removed_bytes": walk.removed_bytes,
        "changed_documents": walk.changed,
        "emptied_documents": walk.emptied,
    }

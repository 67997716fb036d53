"""What a sweep gives: a row for each plan and threshold, as values, JSON, CSV and pictures."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import Any

from neardup.atomic import FolderKind, replacing_folder
from neardup.report.spreadsheet import SpreadsheetWriter

# All that is ever written; a folder with anything else in it is never overwritten.
FOLDER = FolderKind(
    marker="sweep.json",
    keys=frozenset({"documents", "scheme", "similarity", "rows"}),
    files=(
        *(r"sweep\.json", r"sweep\.csv"),
        r"(effect-of-k|effect-of-m|precision-recall|time-recall)(-[0-9.e+-]+)?\.(png|svg)",
    ),
)


@dataclass(frozen=True)
class SimilarPair:
    """Two documents by their ids, and how similar they are."""

    a: Any
    b: Any
    similarity: float


@dataclass(frozen=True)
class SweepRow:
    """What one plan found at one threshold, in pairs of documents, beside what was predicted.

    `seconds` has `fingerprint` (spent once, for all rows), `candidates` and `verify`, as they were
    spent here; and `alone`, an estimate of all three for a run with this plan only, which verifies
    every candidate. `recall` is known only where the exact truth is.
    """

    plan: str
    bands: int | None
    band_bits: int | None
    bits: int
    threshold: float
    candidates: int
    true: int
    false: int
    precision: float | None
    recall: float | None
    seconds: dict[str, float]
    predicted_candidates: float | None
    predicted_recall: float | None
    top: tuple[SimilarPair, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        values = asdict(self)
        values["seconds"] = {name: round(spent, 4) for name, spent in self.seconds.items()}
        if not self.top:
            del values["top"]
        return values


@dataclass(frozen=True)
class Sweep:
    """A table of plans over one collection.

    `true_pairs` are all there are at each threshold, where the exact truth was asked for.
    `seconds` are those that were spent once: read, features, fingerprint, exact, prediction.
    """

    documents: int
    empty: int
    rejected: int
    scheme: str
    similarity: str
    thresholds: tuple[float, ...]
    true_pairs: tuple[int, ...] | None
    seconds: dict[str, float]
    rows: tuple[SweepRow, ...]

    def as_dict(self) -> dict[str, Any]:
        """All of it, for JSON; one threshold is a number, several are a list."""
        several = len(self.thresholds) > 1
        pairs = self.true_pairs
        return {
            "documents": self.documents,
            "empty": self.empty,
            "rejected": self.rejected,
            "scheme": self.scheme,
            "similarity": self.similarity,
            "threshold": list(self.thresholds) if several else self.thresholds[0],
            "true_pairs": None if pairs is None else list(pairs) if several else pairs[0],
            "seconds": {name: round(spent, 3) for name, spent in self.seconds.items()},
            "rows": [row.as_dict() for row in self.rows],
        }

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a folder with sweep.json, sweep.csv and the plots, complete or not at all."""
        from neardup.lab.sweep_pictures import draw_sweep

        with replacing_folder(path, FOLDER, overwrite=overwrite) as folder:
            text = json.dumps(self.as_dict(), indent=2, ensure_ascii=False)
            (folder / "sweep.json").write_text(text + "\n", encoding="utf-8")
            with (folder / "sweep.csv").open("w", encoding="utf-8", newline="") as file:
                writer = SpreadsheetWriter(file)
                writer.rows([[*_COLUMNS, *(f"seconds_{name}" for name in _SECONDS)]])
                writer.rows(map(_values, self.rows))
            draw_sweep(self, folder)

    def __str__(self) -> str:
        from neardup.lab.sweep_table import table_text

        return table_text(self)


_COLUMNS = (
    *("plan", "bands", "band_bits", "bits", "threshold", "candidates", "true", "false"),
    *("precision", "recall", "predicted_candidates", "predicted_recall"),
)
_SECONDS = ("fingerprint", "candidates", "verify", "alone")


def _values(row: SweepRow) -> list[Any]:
    values = row.as_dict()
    seconds = [values["seconds"][name] for name in _SECONDS]
    return [values[name] for name in _COLUMNS] + seconds

"""A file of pairs to label as the folder of a run, so that the pages and `review` take it.

The folder is made once, in the user's cache folder. Its documents are those of the pairs, all
kept, its listed pairs are those of the file, and its threshold is 0: nothing was removed, and no
page is to say otherwise. What the file adds is in the summary, under `pairs_to_label`.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from xxhash import xxh3_128_hexdigest

from neardup.atomic import TemporaryFolder
from neardup.atomic.unfinished import changing, unfinished_beside
from neardup.collection.settings import DedupSettings
from neardup.decisions import content_of
from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.kernels.columns import column_of
from neardup.kernels.text import find_sets
from neardup.labels.read import TEXTS, answers
from neardup.labels.rows import A, B, PairRows
from neardup.labels.to_label import about_pairs, pairs_to_label
from neardup.read.limits import quoted
from neardup.runs.folder import RunFolder
from neardup.sphere.projection import cache_folder

FORMAT = 1
PAIRS_TO_LABEL = "pairs_to_label"  # `RunFolder.has_pairs_to_label` looks for it
# Plain to everybody who compares two documents: which words they share.
_FEATURES = "word:1"
_ROWS = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])


@dataclass(frozen=True, eq=False)
class PairsFile:
    """A file of pairs to label, whose folder is `folder`.

    `why` and `is_answered` are of each pair, in the order of the file: why it is asked about, and
    whether the file has its label.
    """

    path: Path
    why: list[str]
    is_answered: NDArray[np.bool_]
    about: Mapping[str, Any]
    held: TemporaryFolder | None = None

    @classmethod
    def of(cls, path: Path, folder: RunFolder, held: TemporaryFolder | None) -> PairsFile:
        told = folder.summary[PAIRS_TO_LABEL]
        answered = np.zeros(len(told["why"]), np.bool_)
        answered[told["answered"]] = True
        return cls(path, told["why"], answered, told["about"], held)

    @property
    def next_command(self) -> str:
        """The command that chooses settings by the labels."""
        command = self.about.get("command")
        begin = command if isinstance(command, str) else "neardup tune INPUT"
        return f"{begin} --labels {shlex.quote(str(self.path))} -o settings.toml"


def opened_pairs(path: Path) -> tuple[RunFolder, TemporaryFolder | None]:
    """The folder of a file of pairs, made if it is missing or the file has changed.

    It is in the user's cache folder, or, if nothing can be stored there, in a temporary one.
    """
    key = xxh3_128_hexdigest(os.fsencode(path.resolve()))
    place, state = cache_folder() / "pairs" / key, _state(path)
    found = _valid(place, state)
    if found is not None:
        return found, None
    if not _can_hold(place.parent):
        held = TemporaryFolder()
        (held.path / "run").mkdir()
        _write(path, state, held.path / "run")
        return RunFolder(held.path / "run"), held
    with unfinished_beside(place) as scratch:  # only its owner can look into it
        new = scratch / "new"
        new.mkdir(mode=0o700)
        _write(path, state, new)
        with changing:
            if place.exists():
                place.rename(scratch / "replaced")
            new.rename(place)
    return RunFolder(place), None


def _state(path: Path) -> list[int]:
    """What changes when the file does."""
    status = path.stat()
    return [FORMAT, status.st_size, status.st_mtime_ns, status.st_ino]


def _valid(place: Path, state: list[int]) -> RunFolder | None:
    try:
        found = RunFolder(place)
    except InputError:  # it is missing, or damaged, and made again
        return None
    return found if found.summary.get(PAIRS_TO_LABEL, {}).get("state") == state else None


def _can_hold(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _write(path: Path, state: list[int], folder: Path) -> None:
    made = _Folder(folder)
    try:
        for rows in pairs_to_label(path):
            made.add(rows)
    finally:
        made.close()
    if not made.pairs:
        raise InputError(f"{path} has no pairs to label")
    made.finish(path, {"state": state, "about": about_pairs(path)})


class _Folder:
    """Writes each document once, then all else."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Through Python files, because Arrow does not accept names that are not UTF-8.
        self._file = (folder / "kept.parquet").open("wb")
        self._kept = pq.ParquetWriter(self._file, _ROWS, compression="zstd")
        self._known: dict[str, tuple[str, str]] = {}  # id → hash of its text, and where it is
        self._words: list[NDArray[np.uint32]] = []
        self.pairs: dict[tuple[str, str], None] = {}
        self._similarity: list[float] = []
        self._why: list[str] = []
        self._answered: set[tuple[str, str]] = set()

    def close(self) -> None:
        self._kept.close()
        self._file.close()

    def add(self, rows: PairRows) -> None:
        self._add_documents(rows)
        a, b = rows.columns[A].to_pylist(), rows.columns[B].to_pylist()
        blank = [""] * len(rows)
        similarity, why = (
            rows.columns[name].to_pylist() if name in rows.columns else blank
            for name in ("similarity", "why")
        )
        is_labelled = answers(rows)[0] if "same" in rows.columns else np.zeros(len(rows), np.bool_)
        for row, pair in enumerate(zip(a, b, strict=True)):
            key = pair if pair in self.pairs or pair[::-1] not in self.pairs else pair[::-1]
            if is_labelled[row]:
                self._answered.add(key)
            if key not in self.pairs:
                self.pairs[key] = None
                self._similarity.append(_number(rows, row, similarity[row]))
                self._why.append(why[row])

    def _add_documents(self, rows: PairRows) -> None:
        new: dict[str, str] = {}
        named = (
            zip(rows.columns[side].to_pylist(), rows.columns[name].to_pylist(), strict=True)
            for side, name in TEXTS.items()
        )
        for row, documents in enumerate(zip(*named, strict=True)):
            for id, text in documents:
                content = content_of(text)
                known = self._known.setdefault(id, (content, rows.where(row)))
                if content != known[0]:
                    raise InputError(
                        f"{rows.where(row)}: the document {quoted(id)} has another text than in "
                        f"{known[1]}; give each document an id of its own"
                    )
                if known[1] == rows.where(row):
                    new[id] = text
        batch = pa.table({"id": list(new), "text": list(new.values())}, _ROWS)
        self._words.append(find_sets(batch["text"].combine_chunks(), [("word", 1)])[2])
        self._kept.write_table(batch)

    def finish(self, path: Path, about: dict[str, Any]) -> None:
        count = len(self._known)
        ids = pa.array(list(self._known), pa.large_string())
        source = pa.array([path.name] * count, pa.string())
        self._write(
            "documents",
            {
                "id": ids,
                "kept": column_of(np.ones(count, np.bool_)),
                "words": column_of(np.concatenate(self._words)),
                "copy_of": column_of(np.arange(count)),
                "source": source.dictionary_encode(),
            },
        )
        self._write(
            "pairs",
            {
                "a": pa.array([a for a, _ in self.pairs], pa.large_string()),
                "b": pa.array([b for _, b in self.pairs], pa.large_string()),
                "distance": column_of(np.zeros(len(self.pairs), np.uint16)),
                "similarity": column_of(np.array(self._similarity)),
            },
        )
        nobody = pa.nulls(0, pa.large_string())
        clusters = {"cluster": pa.nulls(0, pa.int64()), "id": nobody, "duplicate_of": nobody}
        self._write("clusters", {**clusters, "similarity": pa.nulls(0, pa.float64())})
        self._write("removed", {"id": nobody, "text": nobody})
        answered = [row for row, pair in enumerate(self.pairs) if pair in self._answered]
        summary = _summary(count) | {
            PAIRS_TO_LABEL: {**about, "why": self._why, "answered": answered}
        }
        text = json.dumps(summary, indent=2, ensure_ascii=False)
        (self._folder / "summary.json").write_text(text + "\n", encoding="utf-8", newline="\n")

    def _write(self, name: str, columns: dict[str, pa.Array]) -> None:
        with (self._folder / f"{name}.parquet").open("wb") as file:
            pq.write_table(pa.table(columns), file, compression="zstd")


def _number(rows: PairRows, row: int, text: str) -> float:
    """A similarity; one that is not there is not a number."""
    try:
        found = float(text or "nan")
    except ValueError:
        raise InputError(f"{rows.where(row)}: similarity={quoted(text)} is not a number") from None
    if not np.isnan(found) and not -1 <= found <= 1.000001:
        raise InputError(f"{rows.where(row)}: similarity={quoted(text)} is not between -1 and 1")
    return found


def _summary(documents: int) -> dict[str, Any]:
    settings = DedupSettings.of(features=_FEATURES)
    return {
        "documents": documents,
        "kept": documents,
        "removed": 0,
        "clusters": 0,
        "exact_copies": 0,
        "scheme": str(settings.scheme),
        "settings": settings.as_dict() | {"threshold": 0.0},
        "seconds": {},
        "format": "parquet",
        "columns": {"id": "id", "text": ["text"], "added": {}},
    }

"""Outputs of a command, compared with those of an undisturbed run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
from tests.torture.commands import contents, leftovers

# Files with times; all others have the same bytes in every run.
TIMED = ("summary.json", "sweep.json", "sweep.csv", "rates.json")
TIMED_SUFFIXES = (".toml", ".svg", ".png", ".html")

Snapshot = dict[str, bytes | None] | bytes | None


def snapshot(path: Path) -> Snapshot:
    """The bytes of a file, the files of a folder, or None if there is nothing."""
    if path.is_dir():
        return contents(path)
    return path.read_bytes() if path.exists() else None


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def same(found: Snapshot, expected: Snapshot) -> bool:
    """Whether two outputs are equal; files with times only need to exist."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            bool(found[name]) if _timed(name) else found[name] == expected[name] for name in found
        )
    return type(found) is type(expected) and found == expected


def whole(name: str, found: Snapshot, expected: Snapshot) -> bool:
    """Like `same`, for an output by name."""
    if _timed(name) and isinstance(found, bytes) and isinstance(expected, bytes):
        return bool(found) and abs(len(found) - len(expected)) < max(2000, len(expected) // 4)
    return same(found, expected)


def _timed(name: str) -> bool:
    return name in TIMED or name.endswith(TIMED_SUFFIXES)


def require_clean(folder: Path) -> None:
    """Check that nothing unfinished is left beside the outputs."""
    left = leftovers(folder)
    assert not left, f"left behind: {left}"


def require_counts(output: Path, rows: int | None = None) -> dict[str, int]:
    """Check that every document is kept or removed, and every other row rejected."""
    summary = json.loads((output / "summary.json").read_text(encoding="utf-8"))
    documents, rejected = summary["documents"], summary["rejected"]
    assert documents == summary["kept"] + summary["removed"], summary
    lines = (output / "rejected.jsonl").read_text(encoding="utf-8").splitlines()
    listed = [json.loads(line) for line in lines]
    files = sum(one["row"] is None for one in listed)
    told = f"{rejected} rejected, {summary['left_out']} left out: {lines}"
    assert (len(listed) - files, files) == (rejected, summary["left_out"]), told
    if rows is not None:
        assert documents + rejected == rows, f"{documents} + {rejected} of {rows} rows"
    kept = next(output.glob("kept.*"))
    if kept.suffix == ".parquet":
        assert pq.read_metadata(kept).num_rows == summary["kept"], summary
    return {"documents": documents, "rejected": rejected}

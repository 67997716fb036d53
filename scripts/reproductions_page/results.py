"""The file of results: what was measured for each part of the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.result import RESULTS

PATH = RESULTS / "reproductions.json"

Json = dict[str, Any]


def load(path: Path = PATH) -> dict[str, Json]:
    """What is known of each part so far."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def save(parts: dict[str, Json], path: Path = PATH) -> None:
    """Write all of it, a row on each line."""
    path.write_text(f"{_text(parts, 0)}\n", encoding="utf-8")


def _text(value: Any, depth: int) -> str:
    """JSON in which only what does not fit a line takes several."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) <= 100 or not isinstance(value, dict | list):
        return line
    inner, outer = "\n" + "  " * (depth + 1), "\n" + "  " * depth
    if isinstance(value, list):
        if not any(isinstance(one, dict | list) for one in value):
            return line
        return "[" + ",".join(inner + _text(one, depth + 1) for one in value) + outer + "]"
    pairs = (f"{json.dumps(key)}: {_text(one, depth + 1)}" for key, one in value.items())
    return "{" + ",".join(inner + pair for pair in pairs) + outer + "}"

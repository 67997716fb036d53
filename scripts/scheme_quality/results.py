"""The file of results: what was measured on each corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.result import RESULTS

PATH = RESULTS / "schemes.json"

Json = dict[str, Any]


def load(path: Path = PATH) -> dict[str, Json]:
    """What is known of each corpus so far."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def save(corpora: dict[str, Json], path: Path = PATH) -> None:
    """Write all of it, a scheme on each line."""
    parts = []
    for name, measured in corpora.items():
        rows = ",\n".join(f"    {_line(row)}" for row in measured["rows"])
        heads = [f"  {_line(key)}: {_line(measured[key])}" for key in measured if key != "rows"]
        heads.append(f'  "rows": [\n{rows}\n  ]')
        parts.append(f"{_line(name)}: {{\n" + ",\n".join(heads) + "\n}")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

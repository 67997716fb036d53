"""What a soak brings: a row of figures, and findings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import neardup as nd

SHORT_LIVED = "short-"


@dataclass(frozen=True)
class Outcome:
    """The figures of a part, and each thing that was not as it should be, in a sentence."""

    row: dict[str, Any]
    findings: list[str]


def compare_stored(data: Path, wanted: set[str]) -> list[str]:
    """Open the index of a stopped server, and compare its ids with those that must be there."""
    with nd.Index(data / "indexes" / "pages", create=False) as index:
        stored = {str(id) for id in index.ids() if not str(id).startswith(SHORT_LIVED)}
    findings = []
    if missing := sorted(wanted - stored):
        findings.append(f"{len(missing)} documents are not in the index: {missing[:5]}")
    if more := sorted(stored - wanted):
        findings.append(f"{len(more)} documents should not be in the index: {more[:5]}")
    return findings

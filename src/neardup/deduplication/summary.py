"""The numbers of a deduplication, as plain values."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup import __version__
from neardup.deduplication.cautions import cautions
from neardup.deduplication.inputs import files_of, inputs_of
from neardup.system.memory import peak_bytes

if TYPE_CHECKING:
    from neardup.deduplication.result import Result

_MOST_SOURCES = 20


def summary_of(result: Result) -> dict[str, Any]:
    """What `summary.json` holds."""
    settings, collected, found = result.settings, result.collected, result.found
    removed = len(result.clustering.removed)
    exact = result.exact_copies
    rejected = collected.rejected
    return {
        "documents": len(collected),
        "empty": int((collected.words == 0).sum()),
        "rejected": len(rejected) - rejected.left_out,
        "left_out": rejected.left_out,
        "left_out_files": [
            {"file": file.file, "reason": file.reason} for file in rejected.first_left_out
        ],
        "exact_copies": exact,
        "near_copies": removed - exact,
        "clusters": len(result.clustering),
        "removed": removed,
        "kept": len(collected) - removed,
        "unproven": int(result.unproven.sum()),
        "candidates": found.candidates,
        "pairs": result.pair_count,
        "false": None if found.accepted is None else found.candidates - found.accepted,
        "warnings": cautions(result),
        "scheme": str(result.scheme),
        "plan": found.plan,
        "reason": found.reason,
        "settings": settings.as_dict(),
        "levels": {f"{level:g}": _level(result, level) for level in settings.levels},
        "inputs": inputs_of(result.source),
        **files_of(result.source, rejected.why),
        "against": inputs_of(result.other_source),
        "within": result.both.within,
        **({} if result.obeyed is None else {"decisions": result.obeyed.summary}),
        **_of_deliveries(result),
        "command": None,
        "started": result.started,
        "seconds": {stage: round(spent, 3) for stage, spent in result.seconds.items()},
        "wall_seconds": round(result.wall_seconds, 3),
        "resumed": list(result.resumed),
        "peak_megabytes": round(peak_megabytes(), 1),
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """The versions of what the result may depend on."""
    return {
        "neardup": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
    }


def _of_deliveries(result: Result) -> dict[str, Any]:
    """The delivery, and which earlier ones the removed documents repeat."""
    if result.delivery is None and result.origins is None:
        return {}
    found: dict[str, Any] = {"source": None, "delivery": None}
    if result.delivery is not None:
        found = {"source": result.delivery.source, "delivery": result.delivery.key}
    if result.origins is not None:
        clustering = result.clustering
        kept_for = clustering.kept_for[~clustering.kept]
        counts = result.sources_at(kept_for[kept_for >= len(result.collected)]).value_counts()
        repeated = {one["values"]: one["counts"] for one in counts.to_pylist()}
        found["repeats_index"] = sum(repeated.values())
        found["repeats_input"] = len(kept_for) - found["repeats_index"]
        ranked = sorted(repeated.items(), key=lambda one: -one[1])
        found["repeated"] = [
            {"source": name, "documents": count} for name, count in ranked[:_MOST_SOURCES]
        ]
    return found


def _level(result: Result, level: float) -> dict[str, int]:
    """What a stricter threshold would have given."""
    stricter = result.rethreshold(level)
    return {
        "pairs": stricter.pair_count,
        "clusters": len(stricter.clustering),
        "removed": len(stricter.clustering.removed),
    }


def peak_megabytes() -> float:
    """The most memory this process ever held."""
    return peak_bytes() / 1e6

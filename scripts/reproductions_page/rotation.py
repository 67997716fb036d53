"""Sort and rotate: what it finds of the near pairs, alone and in crowds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scripts.reproductions_page.results import Json

import neardup as nd
from neardup.fingerprints import Fingerprints
from neardup.kernels.hamming_join import group_rows
from neardup.kernels.set_join import components

CORPORA = ("arxiv", "django_docs", "licenses")
# How many documents hang together by near pairs: 2 is an isolated pair.
SIZES = ((2, 2), (3, 5), (6, 20), (21, 10**9))
WINDOWS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Recipe:
    """Fingerprints, and the distance within which a pair is near."""

    name: str
    limit: int
    settings: dict[str, Any]

    @property
    def bits(self) -> int:
        """The bits, and as many rotations as the slides make."""
        return int(self.settings["bits"])


RECIPES = (
    Recipe("the slides' recipe", 2, {"features": "char:2", "bits": 32}),
    Recipe("word:3 on 64 bits", 6, {"features": "word:3", "bits": 64}),
)


def rotation(data: Path) -> Json:
    """For each recipe and corpus, the recall by size of cluster and by window."""
    rows = []
    for recipe in RECIPES:
        for name in CORPORA:
            texts = pq.read_table(data / name / "docs.parquet", columns=["text"])["text"]
            rows.append({"corpus": name, **_measured(recipe, texts)})
    return {"windows": list(WINDOWS), "rows": rows}


def _measured(recipe: Recipe, texts: Any) -> Json:
    found = nd.fingerprint(texts, **recipe.settings)
    distinct = _distinct(found)
    near = nd.find_pairs(distinct, max_distance=recipe.limit)
    a, b = near["a"].to_numpy(), near["b"].to_numpy()
    root = components(len(distinct), a, b)
    size = np.bincount(root, minlength=len(distinct))[root][a]
    recalls = []
    for window in WINDOWS:
        plan = f"rotate:{recipe.bits}:{window}"
        met = nd.find_pairs(distinct, max_distance=recipe.limit, candidates=plan)
        keys = _keys(met["a"].to_numpy(), met["b"].to_numpy(), len(distinct))
        is_met = np.isin(_keys(a, b, len(distinct)), keys)
        by_size = [_share(is_met, (size >= low) & (size <= high)) for low, high in SIZES]
        recalls.append([*by_size, _share(is_met, np.ones(len(a), np.bool_))])
    return {
        "recipe": recipe.name,
        "limit": recipe.limit,
        "bits": recipe.bits,
        "documents": len(found),
        "distinct": len(distinct),
        "pairs": [int(((size >= low) & (size <= high)).sum()) for low, high in SIZES] + [len(a)],
        "recall": recalls,
    }


def _distinct(found: Fingerprints) -> Fingerprints:
    """One document of each fingerprint; equal ones lie together in any order."""
    filled = found[~found.empty]
    return filled[group_rows(filled.array).firsts]


def _keys(a: NDArray[np.int64], b: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    return a * n + b


def _share(met: NDArray[np.bool_], of: NDArray[np.bool_]) -> float | None:
    return float(met[of].mean()) if of.any() else None

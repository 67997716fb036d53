"""Recall by similarity: which of the true pairs the labs' tables find, and which not."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scripts.reproductions_page.results import Json

import neardup as nd
from neardup.lab.reproduce.documents import KnownIds
from neardup.pairs.by_fingerprints import plan_of

PLANS = ("bands:2x10", "bands:3x12", "bands:3x18", "bands:2x27")
# The last ones are for what is the same but for rounding.
EDGES = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 1 - 1e-9, 1.1)


def recall(data: Path) -> Json:
    """For each of some plans, the share of pairs found in each range of the cosine."""
    folder = data / "arxiv"
    terms = pq.read_table(folder / "features.parquet")
    pairs = pq.read_table(folder / "pairs.parquet")
    known = KnownIds.read(folder / "pairs.parquet").among(terms["id"].combine_chunks())
    cosine = pairs["cosine"].to_numpy()
    bits = max(bands * width for bands, width in map(_shape, PLANS))
    found = nd.fingerprint(terms, features="terms", hash="md5", bits=bits)
    differ = np.unpackbits(
        found[known.a].row_bytes() ^ found[known.b].row_bytes(), axis=1, count=bits
    ).astype(np.bool_)
    rows = []
    for low, high in pairwise(EDGES):
        inside = (cosine >= low) & (cosine < high)
        middle = float(np.minimum(cosine[inside].mean(), 1))
        row: Json = {"low": low, "pairs": int(inside.sum()), "mean": middle}
        for name in PLANS:
            met = _met(differ[inside], *_shape(name))
            predicted = plan_of(name, bits).recall(middle)
            row[name] = {"recall": float(met.mean()), "predicted": predicted}
        rows.append(row)
    return {"pairs": len(pairs), "plans": list(PLANS), "rows": rows}


def _shape(name: str) -> tuple[int, int]:
    bands, width = name.removeprefix("bands:").split("x")
    return int(bands), int(width)


def _met(differ: NDArray[np.bool_], bands: int, width: int) -> NDArray[np.bool_]:
    """Which pairs agree on all bits of a band."""
    cut = differ[:, : bands * width].reshape(len(differ), bands, width)
    agree: NDArray[np.bool_] = ~np.any(cut, axis=2)
    return np.asarray(np.any(agree, axis=1))

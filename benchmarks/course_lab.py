"""The course lab's program as one writes it in Python and NumPy, from its description.

For each number of tables M and bits K: hash every term by MD5, sum ±weight for each of M·K bits
of each document, put documents into M tables by K bits each, take all pairs within buckets, and
compute the cosine of each pair. Nothing is shared between settings, and nothing is slow on purpose:
terms are hashed once, sums are matrix products, cosines go through the shorter document.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray


@dataclass(frozen=True)
class LabCounts:
    """What one setting found."""

    bands: int
    band_bits: int
    candidates: int
    true: int


def lab_sweep(path: Path, settings: Sequence[tuple[int, int]], threshold: float) -> list[LabCounts]:
    """Every setting, one after the other, on a file of terms and weights of unit length."""
    table = pq.read_table(path)
    corpus = [
        dict(zip(terms, weights, strict=True))
        for terms, weights in zip(
            table["terms"].to_pylist(), table["weights"].to_pylist(), strict=True
        )
    ]
    return [_one(corpus, bands, width, threshold) for bands, width in settings]


def _one(corpus: list[dict[str, float]], bands: int, width: int, threshold: float) -> LabCounts:
    candidates = _candidates(_fingerprints(corpus, bands * width), bands, width)
    true = sum(_cosine(corpus[a], corpus[b]) >= threshold for a, b in candidates)
    return LabCounts(bands, width, len(candidates), true)


def _fingerprints(corpus: list[dict[str, float]], bits: int) -> list[str]:
    signs: dict[str, NDArray[np.float64]] = {}
    found = []
    for document in corpus:
        for term in document:
            if term not in signs:
                signs[term] = _signs(term, bits)
        weights = np.array(list(document.values()))
        total = weights @ np.array([signs[term] for term in document])
        found.append("".join("1" if value > 0 else "0" for value in total))
    return found


def _signs(term: str, bits: int) -> NDArray[np.float64]:
    digest = np.frombuffer(hashlib.md5(term.encode()).digest(), np.uint8)
    return np.unpackbits(digest)[:bits].astype(np.float64) * 2 - 1


def _candidates(fingerprints: list[str], bands: int, width: int) -> set[tuple[int, int]]:
    pairs: set[tuple[int, int]] = set()
    for band in range(bands):
        table = defaultdict(list)
        for document, fingerprint in enumerate(fingerprints):
            table[fingerprint[band * width : (band + 1) * width]].append(document)
        for bucket in table.values():
            pairs.update(combinations(bucket, 2))
    return pairs


def _cosine(a: dict[str, float], b: dict[str, float]) -> float:
    if len(b) < len(a):
        a, b = b, a
    # The vectors are of unit length.
    return sum(weight * b[term] for term, weight in a.items() if term in b)

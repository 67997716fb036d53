"""S4 again: articles by a sphere, compared in windows of similar lengths."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.candidates import LengthPlan, plan_of
from neardup.candidates.plan import pairs_of
from neardup.fingerprints import Fingerprints, hamming
from neardup.lab.reproduce_documents import KnownIds, KnownPairs, fingerprinted
from neardup.lab.reproduce_published import WIKIPEDIA_DOCUMENTS
from neardup.lab.reproduce_report import BesideTable, Cell, Reproduction
from neardup.lab.reproduce_windows import (
    LONGEST_ARTICLE,
    WindowedPairs,
    disjoint_windows,
    least_comparisons,
    most_windows,
    windowed_pairs,
)
from neardup.presets import preset

LONGEST_LINES = 5
SIZES = (1, 2, 5, 10, 100, 1000)


def reproduce_articles(
    inputs: Sequence[str],
    *,
    text: str | None = None,
    id: str | None = None,
    truth: str | None = None,
    threads: int | None = None,
) -> Reproduction:
    """Fingerprint articles on the sphere and compare those of similar lengths."""
    began = time.perf_counter()
    known = preset("sphere")
    known_ids = None if truth is None else KnownIds.read(truth)
    found, ids = fingerprinted(inputs, known, text=text, id=id, threads=threads)
    plan = plan_of(known.candidates, found.bits)
    if not isinstance(plan, LengthPlan):
        raise ValueError(f"the preset {known.name} compares by length, not by {plan}")
    windows = disjoint_windows(found.words, plan.share)
    least = least_comparisons(plan.share)
    counted = windowed_pairs(found, plan.share, windows, known.max_distance, threads)
    tables = [
        _comparisons(found, plan, windows),
        _within(counted),
        _sizes(counted),
        _longest(found, ids, counted),
    ]
    if known_ids is not None:
        tables.append(_recall(found, plan, windows, known_ids.among(ids), counted.limits))
    return Reproduction(
        "s4",
        "A homework on 158,000 Wikipedia articles: 42 bits of MD5 of each word summed, the signs "
        "of 64 dot products with vectors spread over a half-sphere, lengths within 20 %, distances "
        "5, 10 and 15",
        f"{len(found):,} documents ({found.scheme})",
        len(found),
        time.perf_counter() - began,
        tuple(tables),
        {"most_windows": most_windows(plan.share), "least_comparisons": least},
        tuple(_differences(plan.share, least, counted, truth is not None)),
    )


def _comparisons(found: Fingerprints, plan: LengthPlan, windows: NDArray[np.int64]) -> BesideTable:
    filled = ~found.empty
    sizes = np.bincount(windows[filled])
    rows: list[tuple[Cell, ...]] = [
        ("documents", f"{WIKIPEDIA_DOCUMENTS:,}", int(filled.sum())),
        ("all with all", "tens of billions", int(pairs_of(int(filled.sum())))),
        ("windows", None, int((sizes > 0).sum())),
        ("inside windows", "some millions", int((sizes * (sizes - 1) // 2).sum())),
        ("lengths within 20 %, no borders", None, plan.comparisons(found.words[filled])),
    ]
    return BesideTable.of("Comparisons", {"what": "", "published": "seed", "ours": "ours"}, rows)


def _within(counted: WindowedPairs) -> BesideTable:
    rows: list[tuple[Cell, ...]] = [
        (limit, int(pairs - lost), int(pairs), int(lost), float(lost / pairs) if pairs else None)
        for limit, pairs, lost in zip(counted.limits, counted.pairs, counted.lost, strict=True)
    ]
    return BesideTable.of(
        "Pairs of similar lengths",
        {
            "limit": "within bits",
            "inside": "pairs\nin windows, as the seed",
            "pairs": "\nwithout borders",
            "lost": "lost at borders\npairs",
            "share_lost": "\nshare",
        },
        rows,
    )


def _sizes(counted: WindowedPairs) -> BesideTable:
    """The seed's histogram: how many documents have how many duplicates."""
    rows: list[tuple[Cell, ...]] = []
    for low, high in zip(SIZES, (*SIZES[1:], None), strict=True):
        told = f"{low} and more" if high is None else str(low) if high == low + 1 else ""
        inside = [
            int(((row >= low) & (row < (high or len(row) + 1))).sum()) for row in counted.duplicates
        ]
        rows.append((told or f"{low} to {(high or 0) - 1}", *inside))
    limits = {f"within_{limit}": f"documents\nwithin {limit}" for limit in counted.limits}
    return BesideTable.of(
        "Documents by number of duplicates", {"duplicates": "duplicates", **limits}, rows
    )


def _longest(found: Fingerprints, ids: pa.Array, counted: WindowedPairs) -> BesideTable:
    """The seed's longest lines: those with most duplicates within the middle limit."""
    middle = counted.duplicates[len(counted.limits) // 2]
    order = np.argsort(-middle, kind="stable")[:LONGEST_LINES]
    digits = found[order].hex()
    rows: list[tuple[Cell, ...]] = [
        (
            str(ids[int(place)]),
            int(found.words[place]),
            digits[line],
            *(int(row[place]) for row in counted.duplicates),
        )
        for line, place in enumerate(order)
        if middle[place]
    ]
    limits = {f"within_{limit}": f"duplicates\nwithin {limit}" for limit in counted.limits}
    columns = {"id": "document", "words": "words", "fingerprint": "SimHash", **limits}
    return BesideTable.of("The longest lines", columns, rows)


def _recall(
    found: Fingerprints,
    plan: LengthPlan,
    windows: NDArray[np.int64],
    pairs: KnownPairs,
    limits: tuple[int, ...],
) -> BesideTable:
    distances = np.asarray(hamming(found[pairs.a], found[pairs.b]))
    shorter, longer = np.sort([found.words[pairs.a], found.words[pairs.b]], axis=0)
    similar = longer.astype(np.float64) <= shorter.astype(np.float64) * float(1 + plan.share)
    together = windows[pairs.a] == windows[pairs.b]
    rows: list[tuple[Cell, ...]] = [
        (
            limit,
            float((distances <= limit).mean()),
            float(((distances <= limit) & similar).mean()),
            float(((distances <= limit) & together).mean()),
        )
        for limit in limits
    ]
    return BesideTable.of(
        f"Share of the {len(pairs):,} known pairs that is found",
        {
            "limit": "within bits",
            "any_length": "any length",
            "similar": "lengths within 20 %",
            "windows": "in windows, as the seed",
        },
        rows,
    )


def _differences(
    share: Fraction, least: int, counted: WindowedPairs, with_truth: bool
) -> list[str]:
    number = most_windows(share)
    sentences = [
        "Corpus: the seed's dump of Wikipedia is not at hand, and its histograms are pictures; so "
        "only its few numbers stand beside ours.",
        f"Comparisons: lengths from 1 to {LONGEST_ARTICLE:,} words make {number} windows. "
        f"{WIKIPEDIA_DOCUMENTS:,} documents in so few are at least {least / 1e6:,.0f} million "
        "comparisons, even if all windows are equally full; the seed's “some millions” cannot be "
        "their number.",
        "Borders: windows that end where the next begins lose "
        f"{_shares(counted)} of the pairs within {_listed(counted.limits)} bits, whose lengths "
        "are as similar as those of the pairs that are found.",
    ]
    if not with_truth:
        sentences.append(
            "Recall: give known pairs (--truth, a Parquet file with their ids as a and b) to see "
            "what share of them is found; the seed does not say."
        )
    return sentences


def _shares(counted: WindowedPairs) -> str:
    shares = counted.lost / np.maximum(1, counted.pairs)
    return _listed([f"{share:.1%}" for share in shares])


def _listed(values: Sequence[object]) -> str:
    told = list(map(str, values))
    return ", ".join(told[:-1]) + f" and {told[-1]}" if len(told) > 1 else told[0]

"""`sphere`: articles projected onto a sphere, compared in windows of similar lengths."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.fingerprints import Fingerprints, hamming
from neardup.kernels import thread_count
from neardup.kernels.hamming_join import join_windows
from neardup.lab.reproduce.documents import KnownIds, KnownPairs, fingerprinted
from neardup.lab.reproduce.exact import sphere_values
from neardup.lab.reproduce.generated import generated_corpus
from neardup.lab.reproduce.published import WIKIPEDIA_DOCUMENTS
from neardup.lab.reproduce.report import BesideTable, Cell, Reproduction
from neardup.pairs.by_fingerprints import LengthPlan, plan_of
from neardup.pairs.by_fingerprints.plan import pairs_of
from neardup.presets import preset

LONGEST_ARTICLE = 1_000_000


LONGEST_LINES = 5
SIZES = (1, 2, 5, 10, 100, 1000)


@dataclass(frozen=True, eq=False)
class WindowedPairs:
    """Counts of pairs within each limit: in total, separated by a border, and per document.

    Pairs are counted as they are found and not stored.
    """

    limits: tuple[int, ...]
    pairs: NDArray[np.int64]
    lost: NDArray[np.int64]
    duplicates: NDArray[np.int64]

    @classmethod
    def none(cls, limits: tuple[int, ...], documents: int) -> WindowedPairs:
        return cls(
            limits,
            np.zeros(len(limits), np.int64),
            np.zeros(len(limits), np.int64),
            np.zeros((len(limits), documents), np.int64),
        )

    def add(
        self,
        a: NDArray[np.int64],
        b: NDArray[np.int64],
        distance: NDArray[np.uint16],
        windows: NDArray[np.int64],
    ) -> None:
        """Count pairs; duplicates are the pairs inside a window, as in the original."""
        apart = windows[a] != windows[b]
        for row, limit in enumerate(self.limits):
            near = distance <= limit
            self.pairs[row] += near.sum()
            self.lost[row] += (near & apart).sum()
            together = near & ~apart
            for side in (a, b):
                self.duplicates[row] += np.bincount(
                    side[together], minlength=self.duplicates.shape[1]
                )


def disjoint_windows(words: NDArray[Any], share: Fraction) -> NDArray[np.int64]:
    """The window of each document: lengths from the first of the window to (1 + share) × that.

    This is how the original splits the sorted lengths; the next longer document begins the next
    window.
    """
    lengths, place = np.unique(words, return_inverse=True)
    numbers = np.zeros(len(lengths), np.int64)
    first, number = 0, 0
    while first < len(lengths):
        longest = int(int(lengths[first]) * (1 + share))
        stop = int(np.searchsorted(lengths, longest, "right"))
        numbers[first:stop] = number
        first, number = stop, number + 1
    return numbers[place]


def most_windows(share: Fraction) -> int:
    """The number of windows if every length up to the longest article occurs."""
    return int(disjoint_windows(np.arange(1, LONGEST_ARTICLE + 1), share).max()) + 1


def least_comparisons(share: Fraction) -> int:
    """The minimum number of comparisons for the documents of the original: equally full windows."""
    size = WIKIPEDIA_DOCUMENTS / most_windows(share)
    return int(WIKIPEDIA_DOCUMENTS * (size - 1) / 2)


def windowed_pairs(
    found: Fingerprints,
    share: Fraction,
    windows: NDArray[np.int64],
    limits: tuple[int, ...],
    threads: int | None,
    pairs_at_once: int = 1 << 22,
) -> WindowedPairs:
    """Count the pairs of similar lengths within each limit, and those separated by a border.

    About `pairs_at_once` comparisons are made at a time, which bounds memory.
    """
    (filled,) = np.nonzero(~found.empty)
    order = filled[np.argsort(found.words[filled], kind="stable")]
    words = found.words[order].astype(np.int64)
    most = words * (share.numerator + share.denominator) // share.denominator
    stops = np.searchsorted(words, most, "right")
    work = np.cumsum(stops - np.arange(len(stops)) - 1)
    counted = WindowedPairs.none(limits, len(found))
    start = 0
    while start < len(order):
        done = work[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(work, done + pairs_at_once, "right")))
        here = order[start : stops[stop - 1]]
        ends = np.full(len(here), len(here))
        ends[: stop - start] = stops[start:stop] - start
        near = join_windows(
            np.ascontiguousarray(found.array[here]),
            ends,
            max_distance=max(limits),
            threads=thread_count(threads),
        )
        first = near.a < stop - start  # the others are counted with their own part
        counted.add(here[near.a[first]], here[near.b[first]], near.distance[first], windows)
        start = stop
    return counted


def reproduce_articles(
    inputs: Sequence[str] = (),
    *,
    text: str | None = None,
    id: str | None = None,
    truth: str | None = None,
    threads: int | None = None,
) -> Reproduction:
    """Fingerprint articles on the sphere and compare those of similar lengths.

    Without `inputs`, on generated articles whose copies are known.
    """
    began = time.perf_counter()
    known = preset("sphere")
    made = None if inputs else generated_corpus("sphere")
    known_ids = made.known if made else None if truth is None else KnownIds.read(truth)
    documents = inputs if made is None else made.documents
    found, ids = fingerprinted(documents, known, text=text, id=id, threads=threads)
    plan = plan_of(known.candidates, found.bits)
    if not isinstance(plan, LengthPlan):
        raise ValueError(f"the preset {known.name} compares by length, not by {plan}")
    windows = disjoint_windows(found.words, plan.share)
    most, least = most_windows(plan.share), least_comparisons(plan.share)
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
        "sphere",
        "A homework on 158,000 Wikipedia articles: 42 bits of MD5 of each word summed, the signs "
        "of 64 dot products with vectors spread over a half-sphere, lengths within 20 %, distances "
        "5, 10 and 15",
        f"{made.told if made else f'{len(found):,} documents'} ({found.scheme})",
        len(found),
        time.perf_counter() - began,
        (*tables, sphere_values(plan.share, most, least)),
        {"most_windows": most, "least_comparisons": least},
        (
            *(made.sentences if made else ()),
            *_differences(plan.share, least, counted, known_ids is not None, made is None),
        ),
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
    return BesideTable.of(
        "Comparisons", {"what": "", "published": "published", "ours": "ours"}, rows
    )


def _within(counted: WindowedPairs) -> BesideTable:
    rows: list[tuple[Cell, ...]] = [
        (limit, int(pairs - lost), int(pairs), int(lost), float(lost / pairs) if pairs else None)
        for limit, pairs, lost in zip(counted.limits, counted.pairs, counted.lost, strict=True)
    ]
    return BesideTable.of(
        "Pairs of similar lengths",
        {
            "limit": "within bits",
            "inside": "pairs\nin windows, as published",
            "pairs": "\nwithout borders",
            "lost": "lost at borders\npairs",
            "share_lost": "\nshare",
        },
        rows,
    )


def _sizes(counted: WindowedPairs) -> BesideTable:
    """The histogram of the original: documents by number of duplicates."""
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
    """The longest lines of the original: documents with most duplicates at the middle limit."""
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
            "windows": "in windows, as published",
        },
        rows,
    )


def _differences(
    share: Fraction, least: int, counted: WindowedPairs, with_truth: bool, is_given: bool
) -> list[str]:
    number = most_windows(share)
    corpus = "the Wikipedia dump is not available here, and " if is_given else ""
    sentences = [
        f"Corpus: {corpus}the published histograms are pictures; so only the few published numbers "
        "are compared.",
        f"Comparisons: lengths from 1 to {LONGEST_ARTICLE:,} words make {number} windows. "
        f"{WIKIPEDIA_DOCUMENTS:,} documents in {number} windows need at least "
        f"{least / 1e6:,.0f} million comparisons, even if all windows are equally full, so the "
        "published “some millions” cannot be right.",
        "Borders: windows that end where the next one begins lose "
        f"{_shares(counted)} of the pairs within {_listed(counted.limits)} bits, although their "
        "lengths are as similar as those of the pairs that are found.",
    ]
    if not with_truth:
        sentences.append(
            "Recall: give known pairs (--truth, a Parquet file with their ids as a and b) to see "
            "what share of them is found; it was not published."
        )
    return sentences


def _shares(counted: WindowedPairs) -> str:
    shares = counted.lost / np.maximum(1, counted.pairs)
    return _listed([f"{share:.1%}" for share in shares])


def _listed(values: Sequence[object]) -> str:
    told = list(map(str, values))
    return ", ".join(told[:-1]) + f" and {told[-1]}" if len(told) > 1 else told[0]

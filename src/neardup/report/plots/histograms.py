"""Histograms: similarities, distances, sizes of clusters, lengths."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.report.markup import Markup
from neardup.report.plots.drawing import (
    BAR,
    LETTER,
    MARK,
    Axis,
    Drawing,
    Plane,
    count_axis,
    count_label,
    linear_axis,
    log_count_axis,
    text_width,
)

_MOST_BARS = 48
_UNEVEN = 25  # beyond this, the low bars of a linear axis are too low to see
_LABELS = 270  # pixels below the plot available for labels
Numbers = NDArray[Any]
Span = tuple[int, int]


def similarity_plot(similarities: Numbers, threshold: float) -> Markup | None:
    """Histogram of removed documents by similarity; the threshold is marked."""
    if not len(similarities):
        return None
    step, first, last = cut(min(threshold, float(np.min(similarities))), 1.0)
    # As floats, 0.7 is below 140 x 0.005, and a cosine may slightly exceed 1.
    places = np.floor(similarities / step + 1e-9).astype(np.int64)
    counts = np.bincount(np.clip(places, first, last - 1) - first, minlength=last - first)
    return similarity_bars([place * step for place in range(first, last + 1)], counts, threshold)


def similarity_bars(
    edges: Sequence[float],
    removed: Sequence[int] | Numbers,
    threshold: float,
    *,
    misses: Sequence[int] | Numbers = (),
    link: Callable[[float, float], str] | None = None,
    name: str = "similarity",
) -> Markup | None:
    """The histogram of counts between edges: removed documents, and near misses above them.

    Near misses are pairs below the threshold; they are hatched.
    """
    counts = np.asarray(removed)
    missed = np.asarray(misses) if len(misses) else np.zeros_like(counts)
    both = counts + missed
    if not both.any():
        return None
    names = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges)]
    uneven = both.max() > _UNEVEN * np.median(both[both > 0])
    hints = _hints(names, counts, "document")

    drawing = Drawing(
        name,
        f"Histogram of {counts.sum():,} removed documents by their similarity to the one they "
        f"duplicate, with the threshold at {threshold:g}. The highest bar, {both.max():,}, is "
        f"{names[int(both.argmax())]}."
        + (f" {missed.sum():,} pairs are near misses below the threshold." if missed.any() else ""),
    )
    legend = [(MARK, f"threshold {threshold:g}")]
    hatching = ""
    if missed.any():
        hatching = drawing.hatching()
        legend += [(BAR, "removed"), (hatching, "near misses")]
        hints = [
            f"{name}: {_removed_and_missed(gone, miss)}"
            for name, gone, miss in zip(names, counts.tolist(), missed.tolist(), strict=True)
        ]
    margin = 0.02 * (edges[-1] - edges[0])
    plane = Plane(
        drawing,
        linear_axis(edges[0] - margin, edges[-1], "similarity to the document it duplicates"),
        (log_count_axis if uneven else count_axis)(
            int(both.max()), "documents" if hatching else "removed documents"
        ),
        legend,
    )
    if hatching:
        _stack(plane, edges, both, counts, hatching)
    plane.stairs(edges, counts.tolist())
    plane.mark(threshold)
    plane.hints(edges, hints, _links(list(pairwise(edges)), both, link))
    return drawing.svg()


def distance_plot(
    true: Numbers,
    false: Numbers,
    bits: int,
    *,
    link: Callable[[int, int], str] | None = None,
    name: str = "distance",
) -> Markup | None:
    """Histogram of candidates by distance of fingerprints, false ones on top of true ones.

    `true` and `false` are counts by distance, from 0. Without false candidates, the true ones are
    called pairs.
    """
    sides = [np.trim_zeros(side, "b") for side in (true, false)]
    last = max(map(len, sides))
    if not last:
        return None
    by_bit = np.array([np.pad(side, (0, last - len(side))) for side in sides])
    all_true, all_false = int(true.sum()), int(false.sum())
    first = int(by_bit.any(axis=0).argmax())
    width = -(-(last - first) // _MOST_BARS)
    starts = range(first, last, width)
    trues, falses = np.add.reduceat(by_bit, starts, axis=1)
    edges = [start - 0.5 for start in (*starts, starts[-1] + width)]

    span = f"by the bits in which their fingerprints differ, from {first:,} to {last - 1:,}"
    drawing = Drawing(
        name,
        f"Histogram of {all_true:,} true and {all_false:,} false candidates {span}."
        if all_false
        else f"Histogram of {all_true:,} pairs {span}.",
    )
    hatching = drawing.hatching() if all_false else ""
    plane = Plane(
        drawing,
        linear_axis(
            edges[0] - 0.4 * width,
            max(edges[-1] + 0.4 * width, edges[0] + 5),
            f"Hamming distance (bits of {bits:,} that differ)",
            whole=True,
        ),
        count_axis(int((trues + falses).max()), "candidates" if hatching else "pairs"),
        [(BAR, f"true: {all_true:,}"), (hatching, f"false: {all_false:,}")] if hatching else (),
    )
    if hatching:
        _stack(plane, edges, trues + falses, trues, hatching)
    plane.stairs(edges, trues.tolist())
    spans = [(start, min(start + width, last) - 1) for start in starts]
    names = [f"{_span(*bits)} bits" for bits in spans]
    hints = _hints(names, trues, "true candidate" if hatching else "pair")
    if hatching:
        hints = [f"{hint}, {count:,} false" for hint, count in zip(hints, falses, strict=True)]
    plane.hints(edges, hints, _links(spans, trues + falses, link))
    return drawing.svg()


def cluster_plot(sizes: Numbers, what: str = "cluster") -> Markup | None:
    """Number of clusters, or of `what`, by documents, in doubling steps, on a logarithmic axis."""
    if not len(sizes):
        return None
    # 1, 2, 3 to 4, 5 to 8, ...: clusters of two, by far the most common, have a bar of their own.
    doublings = 2 ** np.arange(int(np.max(sizes)).bit_length() + 1)
    counts = np.bincount(np.searchsorted(doublings, sizes))
    first = int(np.flatnonzero(counts)[0])
    counts, tops = counts[first:], doublings[first : len(counts)].tolist()
    return cluster_bars([(top // 2 + 1, top) for top in tops], counts, what=what)


def cluster_bars(
    spans: Sequence[Span],
    clusters: Sequence[int] | Numbers,
    *,
    link: Callable[[int, int], str] | None = None,
    name: str = "clusters",
    what: str = "cluster",
) -> Markup | None:
    """The number of clusters by size; `spans` has the smallest and the largest size of each bar."""
    counts, in_it = np.asarray(clusters), what == "cluster"
    if not counts.any():
        return None
    hints = _hints([f"{_span(*span)} documents" for span in spans], counts, what)
    drawing = Drawing(
        name,
        f"Bars of {counts.sum():,} {what}s by the number of their documents. " + "; ".join(hints),
    )
    plane = Plane(
        drawing,
        _span_axis(spans, "documents in the cluster, up to" if in_it else "documents, up to"),
        log_count_axis(int(counts.max()), f"{what}s"),
    )
    for place, count in enumerate(counts.tolist()):
        plane.stairs([place - 0.44, place + 0.44], [count])
    plane.hints(_around(spans), hints, _links(spans, counts, link))
    return drawing.svg()


def length_plot(
    spans: Sequence[Span],
    kept: Sequence[int] | Numbers,
    removed: Sequence[int] | Numbers,
    *,
    link: Callable[[int, int], str] | None = None,
    name: str = "lengths",
) -> Markup | None:
    """Documents by their number of words, removed ones on top of kept ones.

    `spans` has the fewest and the most words of each bar, usually in doubling steps.
    """
    stay, gone = np.asarray(kept), np.asarray(removed)
    both = stay + gone
    if not both.any():
        return None
    hints = [
        f"{_span(*span)} words: {one:,} kept, {other:,} removed"
        for span, one, other in zip(spans, stay.tolist(), gone.tolist(), strict=True)
    ]
    drawing = Drawing(
        name,
        f"Bars of {stay.sum():,} kept and {gone.sum():,} removed documents by their number of "
        "words. " + "; ".join(hints),
    )
    hatching = drawing.hatching()
    plane = Plane(
        drawing,
        _span_axis(spans, "words in the document, up to"),
        count_axis(int(both.max()), "documents"),
        [(BAR, f"kept: {stay.sum():,}"), (hatching, f"removed: {gone.sum():,}")],
    )
    for place, (one, total) in enumerate(zip(stay.tolist(), both.tolist(), strict=True)):
        edges = [place - 0.44, place + 0.44]
        if total > one:
            plane.stairs(edges, [total], [one], hatching)
        if one:
            plane.stairs(edges, [one])
    plane.hints(_around(spans), hints, _links(spans, both, link))
    return drawing.svg()


def share_plot(shares: Numbers, items: int, *, name: str = "shares") -> Markup | None:
    """Items of a benchmark that occur in documents, by the share of them that does.

    A whole item is in the last of twenty bars, with those of a share above 0.95.
    """
    if not len(shares):
        return None
    counts = np.bincount(
        np.clip(np.floor(20 * shares + 1e-9), 0, 19).astype(np.int64), minlength=20
    )
    edges = [place / 20 for place in range(21)]
    names = [f"{low:.2f} to {high:.2f}" for low, high in pairwise(edges)]
    whole = int((shares >= 1).sum())
    uneven = counts.max() > _UNEVEN * np.median(counts[counts > 0])
    drawing = Drawing(
        name,
        f"Histogram of {len(shares):,} of {items:,} items by the largest share of each that is in "
        f"one document. {whole:,} are whole.",
    )
    plane = Plane(
        drawing,
        linear_axis(-0.02, 1.02, "share of the item"),
        (log_count_axis if uneven else count_axis)(int(counts.max()), "items"),
    )
    plane.stairs(edges, counts.tolist())
    plane.hints(edges, _hints(names, counts, "item"))
    return drawing.svg()


def cut(lowest: float, highest: float) -> tuple[float, int, int]:
    """Split a range into at most 41 bars with round edges: 0.80, 0.805, ...

    Returns the step, and the first and last edge as multiples of it.

    >>> cut(0.8, 1.0)
    (0.005, 160, 200)
    """
    lowest = min(lowest, highest - 0.02)
    room = highest - lowest
    step = next(
        s for s in (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1) if 40 * s >= room - 1e-9
    )
    return step, math.floor(lowest / step + 1e-9), math.ceil(highest / step - 1e-9)


def _removed_and_missed(removed: int, missed: int) -> str:
    """Both counts in words; a count of 0 only if there is no other.

    >>> _removed_and_missed(0, 1), _removed_and_missed(2, 0), _removed_and_missed(1, 1200)
    ('1 near miss', '2 removed documents', '1 removed document, 1,200 near misses')
    """
    said = []
    if removed or not missed:
        said.append(f"{removed:,} removed document{'' if removed == 1 else 's'}")
    if missed:
        said.append(f"{missed:,} near miss{'' if missed == 1 else 'es'}")
    return ", ".join(said)


def _stack(plane: Plane, edges: Sequence[float], tops: Numbers, feet: Numbers, look: str) -> None:
    """The upper parts of stacked bars: one polygon for each stretch of bars that have any."""
    some = np.flatnonzero(tops > feet)
    for stretch in np.split(some, np.flatnonzero(np.diff(some) > 1) + 1):
        first, last = int(stretch[0]), int(stretch[-1]) + 1
        plane.stairs(
            edges[first : last + 1], tops[first:last].tolist(), feet[first:last].tolist(), look
        )


def _links(
    spans: Sequence[tuple[Any, Any]], counts: Numbers, link: Callable[[Any, Any], str] | None
) -> list[str]:
    """Where each bar leads; "" for bars without height, and no list without links."""
    if link is None:
        return []
    return [link(*span) if count else "" for span, count in zip(spans, counts, strict=True)]


def _span_axis(spans: Sequence[Span], title: str) -> Axis:
    """One position for each span; every first, second, ... has a label, as space permits."""
    labels = [(float(place), count_label(last)) for place, (_, last) in enumerate(spans)]
    widest = LETTER / 2 + max(text_width(label) for _, label in labels)
    each = math.ceil(len(labels) * widest / _LABELS)
    return Axis(-0.6, max(len(spans), 4) - 0.4, tuple(labels[::each]), title)


def _around(spans: Sequence[Span]) -> list[float]:
    return [place - 0.5 for place in range(len(spans) + 1)]


def _hints(names: Sequence[str], counts: Numbers, noun: str) -> list[str]:
    return [
        f"{name}: {count:,} {noun}{'' if count == 1 else 's'}"
        for name, count in zip(names, counts, strict=True)
    ]


def _span(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"

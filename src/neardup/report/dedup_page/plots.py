"""The plots of a deduplication: pairs, clusters, plans and seconds, as SVG with reproducible bytes.

All have a white background, one dark colour and hatching, so that they can be read in black and
white and on a dark page. Without data, the functions return None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.report.dedup_page.drawing import (
    BOTTOM,
    DOT,
    FILL,
    INK,
    LETTER,
    LINE,
    RIGHT,
    WIDTH,
    Axis,
    Drawing,
    Plane,
    count_axis,
    count_label,
    draw_lower_axis,
    linear_axis,
    log_count_axis,
    text_width,
)
from neardup.visible import visible

_ROW = 26
_WIDEST_NAME = 160


_MOST_BARS = 48
_UNEVEN = 25  # beyond this, the low bars of a linear axis are too low to see
_LABELS = 270  # pixels below the plot available for labels
Numbers = NDArray[Any]


def seconds_plot(seconds: Mapping[str, float]) -> str | None:
    """Seconds of each stage, from top to bottom; None without any."""
    if not seconds:
        return None
    rows = [(_shortened(name), took, duration(took)) for name, took in seconds.items()]
    left, right = 12 + max(text_width(name) for name, _, _ in rows), WIDTH - RIGHT
    most = max(0.001, *seconds.values())
    # A bar leaves room for the number beside it.
    ends = [(right - left - 8 - text_width(beside), value) for _, value, beside in rows]
    longest = min([right - left, *(end * most / value for end, value in ends if value)])
    bottom = 6 + _ROW * len(rows)

    said = ", ".join(f"{name} {beside}" for name, _, beside in rows)
    drawing = Drawing("seconds", f"Seconds of each stage: {said}.", bottom + BOTTOM)
    for place, (name, value, beside) in enumerate(rows):
        middle, end = 6 + _ROW * (place + 0.5), left + longest * value / most
        drawing.text((left - 8, middle), name, "end")
        top, foot = middle - 0.33 * _ROW, middle + 0.33 * _ROW
        drawing.area([(left, top), (end, top), (end, foot), (left, foot)])
        drawing.text((end + 5, middle), beside)
    drawing.line((left, 2), (left, bottom))
    axis = linear_axis(0, most * (right - left) / longest, "seconds", room=right - left)
    draw_lower_axis(drawing, axis, left, bottom)
    return drawing.svg()


def duration(seconds: float) -> str:
    """Seconds as text, to the millisecond.

    >>> duration(0.0123), duration(0.0002), duration(1.394), duration(1234.5)
    ('0.012 s', 'under 0.001 s', '1.39 s', '1,234 s')
    """
    if 0 < seconds < 0.0005:
        return "under 0.001 s"
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{round(seconds, 3):.3g} s"


def _shortened(name: str) -> str:
    """The name, shortened to leave room for its bar."""
    name = visible(name)
    if text_width(name) <= _WIDEST_NAME:
        return name
    return next(
        cut_off
        for length in range(len(name) - 1, -1, -1)
        if text_width(cut_off := name[:length] + "…") <= _WIDEST_NAME
    )


def similarity_plot(similarities: Numbers, threshold: float) -> str | None:
    """Histogram of removed documents by similarity; the threshold is marked."""
    if not len(similarities):
        return None
    step, first, last = cut(min(threshold, float(np.min(similarities))), 1.0)
    # As floats, 0.7 is below 140 x 0.005, and a cosine may slightly exceed 1.
    places = np.floor(similarities / step + 1e-9).astype(np.int64)
    counts = np.bincount(np.clip(places, first, last - 1) - first, minlength=last - first)
    edges = [place * step for place in range(first, last + 1)]
    names = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges)]
    uneven = counts.max() > _UNEVEN * np.median(counts[counts > 0])

    drawing = Drawing(
        "similarity",
        f"Histogram of {len(similarities):,} removed documents by their similarity to the one they "
        f"duplicate, with the threshold at {threshold:g}. The highest bar, {counts.max():,}, is "
        f"{names[int(counts.argmax())]}.",
    )
    margin = 0.02 * (edges[-1] - edges[0])
    plane = Plane(
        drawing,
        linear_axis(edges[0] - margin, edges[-1], "similarity to the document it duplicates"),
        (log_count_axis if uneven else count_axis)(int(counts.max()), "removed documents"),
        [(LINE, f"threshold {threshold:g}")],
    )
    plane.stairs(edges, counts.tolist())
    plane.mark(threshold)
    plane.hints(edges, _hints(names, counts, "document"))
    return drawing.svg()


def distance_plot(true: Numbers, false: Numbers, bits: int) -> str | None:
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
        "distance",
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
        [(FILL, f"true: {all_true:,}"), (hatching, f"false: {all_false:,}")] if hatching else (),
    )
    if hatching:
        plane.stairs(edges, (trues + falses).tolist(), trues.tolist(), fill=hatching, edge=INK)
    plane.stairs(edges, trues.tolist(), edge=INK)
    names = [f"{_span(start, min(start + width, last) - 1)} bits" for start in starts]
    hints = _hints(names, trues, "true candidate" if hatching else "pair")
    if hatching:
        hints = [f"{hint}, {count:,} false" for hint, count in zip(hints, falses, strict=True)]
    plane.hints(edges, hints)
    return drawing.svg()


def cluster_plot(sizes: Numbers) -> str | None:
    """Number of clusters by size, in doubling steps; both axes are logarithmic."""
    if not len(sizes):
        return None
    # 1, 2, 3 to 4, 5 to 8, ...: clusters of two, by far the most common, have a bar of their own.
    doublings = 2 ** np.arange(int(np.max(sizes)).bit_length() + 1)
    counts = np.bincount(np.searchsorted(doublings, sizes))
    first = int(np.flatnonzero(counts)[0])
    counts, tops = counts[first:], doublings[first : len(counts)].tolist()
    spans = [_span(top // 2 + 1, top) for top in tops]
    hints = _hints([f"{span} documents" for span in spans], counts, "cluster")

    drawing = Drawing(
        "clusters",
        f"Bars of {len(sizes):,} clusters by the number of their documents. " + "; ".join(hints),
    )
    plane = Plane(
        drawing,
        _doubling_axis(tops, "documents in the cluster, up to (log scale)"),
        log_count_axis(int(counts.max()), "clusters"),
    )
    for place, count in enumerate(counts.tolist()):
        plane.stairs([place - 0.44, place + 0.44], [count])
    plane.hints([place - 0.5 for place in range(len(tops) + 1)], hints)
    return drawing.svg()


def curve_plot(curve: Sequence[tuple[float, float]], threshold: float) -> str | None:
    """The probability that a pair is found, by its similarity; the threshold is marked."""
    if not curve:
        return None
    similarity, chance = zip(*sorted(curve), strict=True)
    found = float(np.interp(threshold, similarity, chance))
    low = min(threshold, similarity[0])
    high = max(threshold, similarity[-1], low + 0.1)

    drawing = Drawing(
        "curve",
        f"The chance of a pair to be found, by its similarity: {percent(found)} at the threshold "
        f"{threshold:g}; from {percent(chance[0])} at {similarity[0]:g} to {percent(chance[-1])} "
        f"at {similarity[-1]:g}.",
    )
    shares = tuple((tenths / 10, f"{10 * tenths} %") for tenths in range(0, 11, 2))
    plane = Plane(
        drawing,
        linear_axis(low, high, "similarity of a pair"),
        Axis(0, 1.03, shares, "chance to be found"),
        [(LINE, f"threshold {threshold:g}"), (DOT, f"found: {percent(found)}")],
    )
    drawing.curve([plane.point(x, y) for x, y in zip(similarity, chance, strict=True)])
    plane.mark(threshold)
    drawing.dot(plane.point(threshold, found))
    return drawing.svg()


def percent(share: float) -> str:
    """A share in percent, never rounded to 0 or 100.

    >>> percent(0.99996), percent(0.973), percent(1.0), percent(0.00001)
    ('over 99.9 %', '97.3 %', '100 %', 'under 0.1 %')
    """
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    if 0 < share < 0.0005:
        return "under 0.1 %"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


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


def _doubling_axis(tops: list[int], title: str) -> Axis:
    """One position for each doubling; every first, second, ... has a label, as space permits."""
    labels = [(float(place), count_label(top)) for place, top in enumerate(tops)]
    widest = LETTER / 2 + max(text_width(label) for _, label in labels)
    each = math.ceil(len(labels) * widest / _LABELS)
    return Axis(-0.6, max(len(tops), 4) - 0.4, tuple(labels[::each]), title)


def _hints(names: Sequence[str], counts: Numbers, noun: str) -> list[str]:
    return [
        f"{name}: {count:,} {noun}{'' if count == 1 else 's'}"
        for name, count in zip(names, counts, strict=True)
    ]


def _span(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"

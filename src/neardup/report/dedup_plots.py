"""The plots of a deduplication, as SVG to stand inside a page: the same data, the same bytes.

All are drawn on white with one dark colour and hatching, so that they can be read in black and
white and on a dark page. None is drawn of nothing: without data a function gives None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import (
    FuncFormatter,
    MaxNLocator,
    NullLocator,
    PercentFormatter,
    StrMethodFormatter,
)
from numpy.typing import NDArray

from neardup.report.dedup_svg import BOTTOM, INK, RIGHT, WIDTH, drawn

_PALE, _FILL, _MARK = "#c8d1da", "#1f6fb2", "#b3263c"
_DURATION = 0.65  # inches that a duration takes beside its bar
_MOST_BARS = 48
_UNEVEN = 25  # beyond this, the low bars of a linear axis are too low to see

Numbers = NDArray[Any]


def similarity_plot(similarities: Numbers, threshold: float) -> str | None:
    """How alike the accepted pairs are; the threshold is marked."""
    if not len(similarities):
        return None
    edges = _steps(min(threshold, float(np.min(similarities))), 1.0)
    # 0.7 is below the edge 140 x 0.005, and a cosine may be a hair above 1.
    counts, _ = np.histogram(np.clip(similarities, edges[0], edges[-1]), edges)

    def draw(axes: Axes) -> None:
        axes.stairs(counts, edges, fill=True, color=_FILL)
        axes.axvline(threshold, color=_MARK, ls="--", lw=1.4, label=f"threshold {threshold:g}")
        axes.set_xlim(edges[0] - 0.02 * (edges[-1] - edges[0]), edges[-1])
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.set_xlabel("similarity of the two documents of a pair")
        _count_axis(axes, counts, "pairs")
        _legend(axes)

    return drawn("similarity", draw)


def distance_plot(true: Numbers, false: Numbers, bits: int) -> str | None:
    """In how many bits the fingerprints of candidates differ, true ones and false ones stacked."""
    if not len(true) and not len(false):
        return None
    both = np.concatenate([true, false]).astype(np.int64)
    first, last = int(both.min()), int(both.max())
    width = -(-(last - first + 1) // _MOST_BARS)
    edges = np.arange(first, last + width + 1, width) - 0.5
    true_counts, false_counts = (np.histogram(side, edges)[0] for side in (true, false))

    def draw(axes: Axes) -> None:
        axes.stairs(
            true_counts, edges, fill=True, fc=_FILL, ec=INK, lw=0.6, label=f"true: {len(true):,}"
        )
        axes.stairs(
            true_counts + false_counts,
            edges,
            baseline=true_counts,
            fill=True,
            fc="white",
            ec=INK,
            lw=0.6,
            hatch="////",
            label=f"false: {len(false):,}",
        )
        axes.set_xlim(edges[0] - width / 2, max(edges[-1] + width / 2, edges[0] + 5))
        axes.xaxis.set_major_locator(MaxNLocator(7, integer=True, min_n_ticks=2))
        axes.set_xlabel(f"Hamming distance (bits of {bits:,} that differ)")
        _linear_count_axis(axes, true_counts + false_counts, "candidates")
        _legend(axes)

    return drawn("distance", draw)


def cluster_plot(sizes: Numbers) -> str | None:
    """How many clusters there are of each size, in steps of doubling; both axes logarithmic."""
    if not len(sizes):
        return None
    # 1, 2, 3 to 4, 5 to 8, ...: pairs, by far the most common, have a bar of their own.
    doublings = 2.0 ** np.arange(int(np.max(sizes)).bit_length() + 1)
    edges = np.concatenate([[0.5], doublings + 0.5])
    counts, _ = np.histogram(sizes, edges)
    taken = np.flatnonzero(counts)
    edges, counts = edges[taken[0] : taken[-1] + 2], counts[taken[0] : taken[-1] + 1]

    def draw(axes: Axes) -> None:
        axes.set_xscale("log", base=2)
        axes.stairs(counts, edges, fill=True, color=_FILL)
        ticks = np.floor(edges[1:])
        axes.set_xticks(ticks[:: -(-len(ticks) // 6)])
        axes.xaxis.set_major_formatter(FuncFormatter(_short))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("documents in the cluster, up to (log scale)")
        _log_count_axis(axes, counts, "clusters")

    return drawn("clusters", draw)


def curve_plot(curve: Sequence[tuple[float, float]], threshold: float) -> str | None:
    """The chance of a pair to be found, by its similarity; the threshold is marked."""
    if not curve:
        return None
    similarity, chance = np.array(sorted(curve), np.float64).T
    found = float(np.interp(threshold, similarity, chance))

    def draw(axes: Axes) -> None:
        axes.plot(similarity, chance, color=_FILL, lw=2)
        axes.axvline(threshold, color=_MARK, ls="--", lw=1.4, label=f"threshold {threshold:g}")
        axes.plot(
            threshold,
            found,
            "o",
            color=_MARK,
            clip_on=False,
            label=f"found there: {percent(found)}",
        )
        axes.set_xlim(min(threshold, similarity[0]), max(threshold, similarity[-1]))
        axes.set_ylim(0, 1.03)
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.grid(axis="y", color=_PALE, lw=0.6)
        axes.set_axisbelow(True)
        axes.set_xlabel("similarity of a pair")
        axes.set_ylabel("chance to be found")
        _legend(axes)

    return drawn("curve", draw)


def seconds_plot(seconds: Mapping[str, float]) -> str | None:
    """How long each stage took, from top to bottom."""
    if not seconds:
        return None
    names, values = list(seconds), list(seconds.values())
    places = np.arange(len(names))
    left = min(0.2 + 0.085 * max(map(len, names)), 2.4)
    width = WIDTH - left - RIGHT

    def draw(axes: Axes) -> None:
        bars = axes.barh(places, values, 0.65, color=_FILL)
        axes.bar_label(bars, [duration(value) for value in values], padding=3, color=INK)
        axes.set_yticks(places, names)
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0, max(values) * width / (width - _DURATION) or 1)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axes.set_xlabel("seconds")

    return drawn("seconds", draw, height=BOTTOM + 0.1 + 0.3 * len(names), left=left, top=0.1)


def percent(share: float) -> str:
    """A share in percent; never rounded up to all of it or down to none of it.

    >>> percent(0.99996), percent(0.973), percent(1.0), percent(0.00001)
    ('over 99.9 %', '97.3 %', '100 %', 'under 0.1 %')
    """
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    if 0 < share < 0.0005:
        return "under 0.1 %"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def duration(seconds: float) -> str:
    """Seconds as a person would say them.

    >>> duration(0.0123), duration(1234.5)
    ('0.0123 s', '1,234 s')
    """
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.3g} s"


def _steps(lowest: float, highest: float) -> NDArray[np.float64]:
    """Round edges that cover a range in at most 40 bars: 0.80, 0.805, ... as a person would cut."""
    lowest = min(lowest, highest - 0.02)
    room = highest - lowest
    step = next(
        s for s in (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1) if 40 * s >= room - 1e-9
    )
    last = np.ceil(highest / step - 1e-9)
    first = np.floor(lowest / step + 1e-9)
    return np.arange(first, last + 1) * step


def _count_axis(axes: Axes, counts: Numbers, noun: str) -> None:
    taken = counts[counts > 0]
    if taken.max() > _UNEVEN * np.median(taken):
        _log_count_axis(axes, counts, noun)
    else:
        _linear_count_axis(axes, counts, noun)


def _linear_count_axis(axes: Axes, counts: Numbers, noun: str) -> None:
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.yaxis.set_major_formatter(FuncFormatter(_short))
    axes.set_ylim(0, 1.08 * int(counts.max()))
    axes.set_ylabel(noun)


def _log_count_axis(axes: Axes, counts: Numbers, noun: str) -> None:
    axes.set_yscale("log")
    axes.set_ylim(0.5, 2.0 * max(5, int(counts.max())))  # a single one has a bar too
    axes.yaxis.set_major_formatter(FuncFormatter(_short))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel(f"{noun} (log scale)")


def _short(value: float, _place: int | None = None) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            return f"{value / (1e3 if letter == 'k' else size):.3g}{letter}"
    return f"{value:,.0f}"


def _legend(axes: Axes) -> None:
    """Above the plot, where no bar can run into it."""
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        frameon=False,
        borderaxespad=0.2,
        handlelength=1.8,
        labelcolor=INK,
    )

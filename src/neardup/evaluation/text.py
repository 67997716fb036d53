"""An evaluation on the terminal: rates, the curve, the worst mistakes with their diffs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from neardup.comparison.diff_text import DiffStyle, diff_text
from neardup.evaluation.curve import Curve, CurvePoint
from neardup.evaluation.mistakes import Missed, Mistake
from neardup.evaluation.rates import Measured
from neardup.evaluation.scores import Interval
from neardup.report.tables import print_whole
from neardup.visible import shown_similarity, visible

if TYPE_CHECKING:
    from neardup.evaluation.evaluate import Evaluation

_ROWS = 12  # of the curve
_WORDS = 6  # equal words beside a change
_INDENT = 4


def evaluation_text(evaluation: Evaluation) -> str:
    """The evaluation as plain text."""
    text = StringIO()
    console = Console(file=text, color_system=None, highlight=False, markup=False, emoji=False)
    print_evaluation(evaluation, console)
    return text.getvalue().rstrip("\n")


def print_evaluation(evaluation: Evaluation, console: Console) -> None:
    """Print everything; tables run over a narrow console rather than lose digits."""
    console.print(Text(visible(evaluation.about), style="bold"))
    console.print()
    print_whole(_rates(evaluation), console)
    if evaluation.listed is not None and _differ(evaluation.pairs, evaluation.listed):
        console.print(Text(f"\n{BOTH_READINGS}", style="dim"))
    console.print()
    for note in notes_of(evaluation):
        console.print(Text(f"- {visible(note)}"))
    if len(evaluation.curve.points) > 1:
        console.print()
        print_whole(_curve(evaluation.curve, evaluation.limit), console)
        for note in curve_notes(evaluation):
            console.print(Text(f"- {visible(note)}"))
    for part in (*_false(evaluation, console), *_missed(evaluation, console)):
        console.print(part)


BOTH_READINGS = (
    "Pairs in one cluster include those that other documents connect; stars leave pairs out whose "
    "documents are duplicates of different kept ones."
)


def notes_of(evaluation: Evaluation) -> list[str]:
    """What was left out or assumed, and what the cluster scores are over."""
    clusters = evaluation.clusters
    more = [] if clusters is None else [f"B-cubed and adjusted Rand index: {clusters.note}."]
    return [*evaluation.notes, *more]


def curve_notes(evaluation: Evaluation) -> list[str]:
    """How far the curve goes, and what to think of its best threshold."""
    best = evaluation.curve.best
    notes = list(evaluation.curve.notes)
    if best is not None:
        notes.append(
            f"The best threshold here is {best.threshold:g} (F1 {rate(best.rates.f1)}). It was "
            "chosen by the same labels that measure it: expect a little less on other documents."
        )
        if best is evaluation.curve.points[0]:
            notes.append(
                "The best threshold is the loosest that is known; a looser one may be better."
            )
    elif evaluation.curve.at_least:
        notes.append("No best threshold: without pairs labelled different, precision is unknown.")
    return notes


def rate(value: float) -> str:
    """A rate with three digits, never rounded to 1 or 0.

    >>> rate(0.99996), rate(1.0), rate(0.0001), rate(float("nan"))
    ('0.9999', '1.000', '0.0001', '–')
    """
    if math.isnan(value):
        return "–"
    if 0.9995 <= value < 1:
        return f"{math.floor(value * 1e4) / 1e4:.4f}" if value < 0.9999 else "0.9999"
    if 0 < value < 0.0005:
        return "0.0001" if value < 0.0001 else f"{value:.4f}"
    return f"{value:.3f}"


def span(interval: Interval) -> str:
    """An interval in parentheses; nothing if it is not known."""
    if math.isnan(interval.low):
        return ""
    return f"({rate(interval.low)}–{rate(interval.high)})"


def _differ(one: Measured, other: Measured) -> bool:
    return one.counts != other.counts


def measured_rows(evaluation: Evaluation) -> list[Measured]:
    """The readings to show: of clusters, of pairs, and with closed labels."""
    rows = [evaluation.pairs, evaluation.listed, evaluation.closed]
    return [row for row in rows if row is not None]


def _rates(evaluation: Evaluation) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for heading in ("precision", "recall", "F1"):
        table.add_column(heading, no_wrap=True)
    for heading in ("found", "right", "true"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in measured_rows(evaluation):
        bound = "≥ " if row.at_least else ""
        table.add_row(
            visible(row.what),
            f"{bound}{rate(row.precision)} {span(row.precision_interval)}",
            f"{rate(row.recall)} {span(row.recall_interval)}",
            f"{bound}{rate(row.f1)} {span(row.f1_interval)}",
            *(f"{n:,}" for n in (row.counts.found, row.counts.right, row.counts.true)),
        )
    clusters = evaluation.clusters
    if clusters is not None:
        cubed = clusters.bcubed
        table.add_row("B-cubed", rate(cubed.precision), rate(cubed.recall), rate(cubed.f1))
        table.add_row("adjusted Rand index", "", "", rate(clusters.adjusted_rand))
    return table


def shown_points(curve: Curve) -> list[CurvePoint]:
    """Some points of the curve: the run's threshold, the best one, and others evenly between."""
    points, best = curve.points, curve.best
    step = max(1, -(-len(points) // _ROWS))
    chosen = {
        place
        for place, point in enumerate(points)
        if place % step == 0 or point is best or point.threshold == curve.threshold
    }
    return [points[place] for place in sorted(chosen)]


def _curve(curve: Curve, limit: str) -> Table:
    of_clusters = curve.points is curve.clusters
    has_precision = of_clusters or curve.has_precision
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    table.add_column("threshold", justify="right", no_wrap=True)
    if has_precision:
        table.add_column("precision", justify="right", no_wrap=True)
    table.add_column("recall", justify="right", no_wrap=True)
    if has_precision:
        table.add_column("F1", justify="right", no_wrap=True)
        table.add_column("found", justify="right", no_wrap=True)
    table.add_column("right", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    best = curve.best
    bound = "≥ " if curve.at_least else ""
    for point in shown_points(curve):
        rates, counts = point.rates, point.counts
        marks = [
            mark
            for mark, holds in (
                ("this run", point.threshold == curve.threshold),
                ("best", point is best),
            )
            if holds
        ]
        cells = [f"{point.threshold:g}"]
        if has_precision:
            cells.append(f"{bound}{rate(rates.precision)}")
        cells.append(rate(rates.recall))
        if has_precision:
            cells += [f"{bound}{rate(rates.f1)}", f"{counts.found:,}"]
        table.add_row(*cells, f"{counts.right:,}", ", ".join(marks))
    what = "pairs in one cluster" if of_clusters else "pairs by similarity"
    table.title = f"{what}, by threshold ({limit.split()[0]})"
    table.title_justify, table.title_style = "left", "bold"
    return table


def false_heading(evaluation: Evaluation) -> str:
    """A heading for the false pairs, or why there are none."""
    if evaluation.pairs.at_least:
        return "No false pairs to show: no pair is labelled different."
    if not evaluation.worst_false:
        return "No pair in one cluster is different by the labels."
    return "Worst false pairs: in one cluster, and different; the most similar first"


def missed_heading(evaluation: Evaluation) -> str:
    """A heading for the missed pairs, or that there are none."""
    if not evaluation.missed.total:
        return "No pair that is labelled same was missed."
    return "Worst missed pairs: the same, and not in one cluster; the least similar first"


def missed_sentence(missed: Missed, limit: str) -> str:
    """How similar the missed pairs are."""
    sample = "Of a sample of " if missed.is_sample else "Of "
    parts = [
        f"{count:,} of {step / 10:.1f}–{(step + 1) / 10:.1f}"
        for step, count in enumerate(missed.counts)
        if count
    ]
    if missed.nothing:
        parts.append(f"{missed.nothing:,} with a document without words or outside the run")
    reach = (
        f"; {missed.reaching:,} reach {limit} and are kept apart by the search or the clustering"
        if missed.reaching
        else ""
    )
    pairs = "missed pair" if missed.total == 1 else "missed pairs"
    return f"{sample}{missed.total:,} {pairs}, by similarity: {', '.join(parts)}{reach}."


def _false(evaluation: Evaluation, console: Console) -> Iterator[Text]:
    yield Text(f"\n{false_heading(evaluation)}", style="bold")
    yield from _mistakes(evaluation.worst_false, console)


def _missed(evaluation: Evaluation, console: Console) -> Iterator[Text]:
    yield Text(f"\n{missed_heading(evaluation)}", style="bold")
    if evaluation.missed.total:
        yield Text(missed_sentence(evaluation.missed, evaluation.limit))
    yield from _mistakes(evaluation.worst_missed, console)


def _mistakes(mistakes: tuple[Mistake, ...], console: Console) -> Iterator[Text]:
    colour = console.color_system is not None and not console.no_color
    style = DiffStyle(colour=colour, context=_WORDS, longest=20, most=12)
    for number, one in enumerate(mistakes, 1):
        similarity = shown_similarity(one.similarity)
        yield Text(
            f"\n{number:>2}  {similarity}  {visible(str(one.a))} ↔ {visible(str(one.b))}  "
        ).append(one.why, style="dim")
        for line in diff_text(one.diff, style).wrap(console, max(20, console.width - _INDENT)):
            line.rstrip()
            yield Text(" " * _INDENT).append_text(line)

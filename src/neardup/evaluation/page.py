"""The page of an evaluation: rates, plots, and the worst mistakes with their diffs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from neardup import notebook
from neardup.evaluation import templates
from neardup.evaluation.curve import Curve, CurvePoint
from neardup.evaluation.mistakes import Mistake
from neardup.evaluation.text import (
    BOTH_READINGS,
    curve_notes,
    false_heading,
    measured_rows,
    missed_heading,
    missed_sentence,
    notes_of,
    rate,
    shown_points,
    span,
)
from neardup.report.code import is_code
from neardup.report.dedup_page.clusters import shown_name
from neardup.report.dedup_page.diff import Piece, SideBySide, side_by_side
from neardup.report.look import stylesheet
from neardup.report.markup import Markup, fill, joined
from neardup.report.plots.rates import Rates, missed_plot, precision_recall_plot, rates_plot
from neardup.visible import shown_similarity, visible

if TYPE_CHECKING:
    from neardup.evaluation.evaluate import Evaluation

_OPEN = 3  # mistakes of each kind whose diff is shown at once


def evaluation_page(evaluation: Evaluation) -> str:
    """One self-contained HTML page: no network, no scripts, no other files.

    Text from documents is escaped, and its control characters are made visible.
    """
    pairs = evaluation.pairs
    bound = "at least " if pairs.at_least else ""
    named = evaluation.title or "a result in memory"
    return fill(
        templates.PAGE,
        style=Markup(stylesheet()),
        title=f"Evaluation of {shown_name(named)}",
        headline=f"F1 {bound}{rate(pairs.f1)}: precision {bound}{rate(pairs.precision)}, "
        f"recall {rate(pairs.recall)}",
        about=visible(evaluation.about),
        rates=_rates(evaluation),
        readings=fill(templates.SOFT, text=BOTH_READINGS) if evaluation.listed else "",
        notes=_items(notes_of(evaluation)),
        plots=joined(_plots(evaluation)),
        curve=_curve(evaluation.curve) if len(evaluation.curve.points) > 1 else "",
        curve_notes=_items(curve_notes(evaluation)),
        false_heading=false_heading(evaluation),
        false=joined(_mistakes(evaluation.worst_false)),
        missed_heading=missed_heading(evaluation),
        missed_sentence=fill(
            templates.SOFT, text=missed_sentence(evaluation.missed, evaluation.limit)
        )
        if evaluation.missed.total
        else "",
        missed=joined(_mistakes(evaluation.worst_missed)),
    )


def evaluation_html(evaluation: Evaluation) -> str:
    """The rates and the mistakes for a notebook."""
    rows = [
        [row.what, rate(row.precision), rate(row.recall), rate(row.f1)]
        for row in measured_rows(evaluation)
    ]
    mistakes = [
        [kind, str(one.a), str(one.b), shown_similarity(one.similarity), one.why]
        for kind, some in (("false", evaluation.worst_false), ("missed", evaluation.worst_missed))
        for one in some
    ]
    return notebook.block(
        notebook.heading(repr(evaluation)),
        notebook.note(evaluation.about),
        notebook.table(["", "precision", "recall", "F1"], rows),
        notebook.items([*notes_of(evaluation), *curve_notes(evaluation)]),
        notebook.table(["", "a", "b", "similarity", "why"], mistakes) if mistakes else "",
    )


def _items(texts: Iterable[str]) -> Markup:
    lines = joined(fill(templates.ITEM, text=visible(text)) for text in texts)
    return fill(templates.LIST, items=lines) if lines else lines


def _rates(evaluation: Evaluation) -> Markup:
    rows = []
    for row in measured_rows(evaluation):
        bound = "≥ " if row.at_least else ""
        rows.append(
            fill(
                templates.RATES_ROW,
                what=visible(row.what),
                precision=f"{bound}{rate(row.precision)}",
                precision_span=span(row.precision_interval),
                recall=rate(row.recall),
                recall_span=span(row.recall_interval),
                f1=f"{bound}{rate(row.f1)}",
                f1_span=span(row.f1_interval),
                found=f"{row.counts.found:,}",
                right=f"{row.counts.right:,}",
                true=f"{row.counts.true:,}",
            )
        )
    clusters = evaluation.clusters
    if clusters is not None:
        nothing = dict.fromkeys(
            ("precision_span", "recall_span", "f1_span", "found", "right", "true"), ""
        )
        cubed = clusters.bcubed
        for what, precision, recall, f1 in (
            ("B-cubed", rate(cubed.precision), rate(cubed.recall), rate(cubed.f1)),
            ("adjusted Rand index", "", "", rate(clusters.adjusted_rand)),
        ):
            rows.append(
                fill(
                    templates.RATES_ROW,
                    what=what,
                    precision=precision,
                    recall=recall,
                    f1=f1,
                    **nothing,
                )
            )
    return fill(templates.RATES, rows=joined(rows))


def _plots(evaluation: Evaluation) -> Iterator[Markup]:
    curve, best = evaluation.curve, evaluation.curve.best
    measure = evaluation.limit.split()[0]
    title = "differing bits" if measure == "hamming" else f"threshold ({measure})"
    of_clusters = curve.points is curve.clusters
    points = _points(curve.points, of_clusters or curve.has_precision)
    shown = rates_plot(
        points, curve.threshold, None if best is None else best.threshold, title=title
    )
    what = "pairs in one cluster" if of_clusters else "pairs by their similarity"
    if shown:
        yield _figure("Rates by threshold", shown, f"Of {what}.")
    shown = precision_recall_plot(points, curve.threshold)
    if shown and not curve.at_least:
        yield _figure("Precision and recall", shown, f"Of {what}, over the same thresholds.")
    shown = missed_plot(evaluation.missed.counts, evaluation.least)
    if shown:
        sample = "A sample of the pairs" if evaluation.missed.is_sample else "Pairs"
        text = f"{sample} that are the same, and not in one cluster."
        if evaluation.missed.reaching:
            text += " Those right of the threshold are kept apart by the search or the clustering."
        yield _figure("Missed pairs", shown, text)


def _points(points: Iterable[CurvePoint], has_precision: bool) -> list[Rates]:
    nothing = float("nan")
    found = []
    for point in points:
        rates = point.rates
        if has_precision:
            found.append((point.threshold, rates.precision, rates.recall, rates.f1))
        else:
            found.append((point.threshold, nothing, rates.recall, nothing))
    return found


def _figure(heading: str, svg: Markup, text: str) -> Markup:
    return fill(templates.FIGURE, heading=heading, svg=svg, text=text)


def _curve(curve: Curve) -> Markup:
    has_precision = curve.points is curve.clusters or curve.has_precision
    rows = []
    for point in shown_points(curve):
        marks = []
        if point.threshold == curve.threshold:
            marks.append("this run")
        if point is curve.best:
            marks.append("best")
        rates, counts = point.rates, point.counts
        rows.append(
            fill(
                templates.CURVE_ROW,
                threshold=f"{point.threshold:g}",
                precision=rate(rates.precision) if has_precision else "–",
                recall=rate(rates.recall),
                f1=rate(rates.f1) if has_precision else "–",
                found=f"{counts.found:,}" if has_precision else "–",
                right=f"{counts.right:,}",
                marks=", ".join(marks),
            )
        )
    return fill(templates.CURVE, rows=joined(rows))


def _mistakes(mistakes: Iterable[Mistake]) -> Iterator[Markup]:
    for place, one in enumerate(mistakes):
        code = is_code(one.a_text) or is_code(one.b_text)
        diff = side_by_side(one.a_text, one.b_text, keep_lines=code)
        yield fill(
            templates.MISTAKE,
            opened=" open" if place < _OPEN else "",
            similarity=shown_similarity(one.similarity),
            a=shown_name(str(one.a)),
            b=shown_name(str(one.b)),
            why=one.why,
            rows=joined(_rows(diff, " code" if code else "")),
        )


def _rows(diff: SideBySide, code: str) -> Iterator[Markup]:
    for row in diff.rows:
        if row.note:
            yield fill(templates.NOTE, note=row.note)
            continue
        yield fill(
            templates.SIDES,
            continues=" continues" if row.continues else "",
            code=code,
            left_direction=diff.left_direction,
            right_direction=diff.right_direction,
            left=_pieces(row.left, "del"),
            right=_pieces(row.right, "ins"),
        )


def _pieces(pieces: Iterable[Piece], changed: str) -> Markup:
    marks = {
        "changed": f"<{changed}>{{text}}</{changed}>",
        "variant": '<span class="variant">{text}</span>',
    }
    return joined(fill(marks.get(piece.mark, "{text}"), text=piece.text) for piece in pieces)

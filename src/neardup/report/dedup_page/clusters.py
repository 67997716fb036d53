"""Clusters on the report page: lists that can be sorted, their members, and word diffs.

The lists are sorted without a script: an order is a radio button, and each cluster has its place in
each order as a CSS variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from neardup.frozen import dataclass
from neardup.report.dedup_page import templates
from neardup.report.markup import Markup, fill, joined
from neardup.visible import shown_similarity, visible

if TYPE_CHECKING:
    from neardup.comparison.diff_text import DiffCounts
    from neardup.comparison.record_result import ComparedField, RecordComparison
    from neardup.comparison.spans import SharedSpans
    from neardup.report.dedup_page.diff import Piece, Row, SideBySide

_LONGEST_NAME = 300
_LONGEST_VALUE = 100_000  # characters; more of a field is not shown
# Number of diffs that are expanded initially, in each list of clusters.
_OPEN = 3
_INCOMPLETE = "long and very different: some common words may be shown as changed"
_SPANS, _LONGEST_SPAN = 3, 600  # runs of words that are shown; characters of each
_DIGITS = re.compile("([0-9]+)")


@dataclass(frozen=True)
class ChainStep:
    """The next document of a chain of pairs, and its similarity to the one before."""

    id: str
    similarity: float


@dataclass(frozen=True)
class DocumentView:
    """A document and its similarity to the kept one, which has None.

    `chain` has the documents that connect it to the kept one, up to that, if it has no pair with
    the kept one. A record is compared with the kept one (A) field by field. `measure` names the
    similarity, `shared` has the runs of words that the kept document contains.
    """

    id: str
    text: str
    similarity: float | None
    chain: tuple[ChainStep, ...] = ()
    record: RecordComparison | None = None
    measure: str = "similarity"
    shared: SharedSpans | None = None


@dataclass(frozen=True)
class ClusterView:
    """A cluster of `size` documents: the kept one and a few of the others.

    `role` says what happened to the "kept" one, if it is something else. `weakest` is the lowest
    similarity of all members to the kept one, if it is known.
    """

    size: int
    kept: DocumentView
    others: tuple[DocumentView, ...]
    role: str = "kept"
    weakest: float | None = None


@dataclass(frozen=True)
class _Copy:
    """A removed document, compared with the kept one."""

    document: DocumentView
    diff: SideBySide
    is_code: bool
    is_same: bool


def largest_clusters(views: Sequence[ClusterView]) -> Markup:
    """Clusters in the given order, by size, or in another that the reader chooses."""
    copies = list(map(_copies, views))
    orders = {
        "size": list(range(len(views))),
        "weakest member": _ranks([1 if view.weakest is None else view.weakest for view in views]),
        "id": _ranks([natural(view.kept.id) for view in views]),
    }
    return _list("largest", views, copies, orders)


def weakest_removals(views: Sequence[ClusterView]) -> Markup:
    """Pairs in the given order, by similarity, or in another that the reader chooses."""
    copies = list(map(_copies, views))
    changed = [
        -sum(one.diff.counts.words_a + one.diff.counts.words_b for one in some) for some in copies
    ]
    orders = {
        "similarity": list(range(len(views))),
        "changed words": _ranks(changed),
        "id": _ranks([natural(view.others[0].id) if view.others else () for view in views]),
    }
    return _list("weakest", views, copies, orders)


def natural(name: str) -> tuple[Any, ...]:
    """A key that sorts numbers inside names by their value.

    >>> sorted(["b2", "b10", "a"], key=natural)
    ['a', 'b2', 'b10']
    """
    parts = _DIGITS.split(name)
    # Digits are compared by their length first: a name may have more than `int` accepts.
    numbers = ((len(part.lstrip("0")), part.lstrip("0")) for part in parts[1::2])
    return tuple(
        part for pair in zip(parts[::2], [*numbers, (0, "")], strict=True) for part in pair
    )


def shown_name(text: str) -> str:
    """A name with control characters made visible, shortened if it is very long."""
    shown = visible(text)
    return shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…"


def _ranks(keys: Sequence[Any]) -> list[int]:
    """The place of each key in their order."""
    ranks = [0] * len(keys)
    for rank, place in enumerate(sorted(range(len(keys)), key=lambda place: keys[place])):
        ranks[place] = rank
    return ranks


def _list(
    name: str,
    views: Sequence[ClusterView],
    copies: Sequence[Sequence[_Copy]],
    orders: Mapping[str, Sequence[int]],
) -> Markup:
    if not views:
        return Markup()
    several = len(views) > 1
    choices = fill(templates.ORDERS, choices=joined(_choices(name, orders))) if several else ""
    shown = joined(
        _cluster(
            view,
            some,
            is_open=place < _OPEN,
            places=[ranks[place] for ranks in orders.values()] if several else (),
        )
        for place, (view, some) in enumerate(zip(views, copies, strict=True))
    )
    return fill(templates.LIST, choices=choices, clusters=shown)


def _choices(name: str, orders: Iterable[str]) -> Iterator[Markup]:
    for place, order in enumerate(orders):
        checked = "" if place else " checked"
        yield fill(templates.ORDER, list=name, place=place, checked=checked, name=order)


def _copies(view: ClusterView) -> list[_Copy]:
    if not view.others:
        return []
    # A run without duplicates needs none of these.
    from neardup.report.code import is_code
    from neardup.report.dedup_page.diff import side_by_side

    kept_code = is_code(view.kept.text)
    copies = []
    for other in view.others:
        code = kept_code or is_code(other.text)
        diff = side_by_side(view.kept.text, other.text, keep_lines=code)
        copies.append(_Copy(other, diff, code, view.kept.text == other.text))
    return copies


def _cluster(
    view: ClusterView, copies: Sequence[_Copy], *, is_open: bool, places: Sequence[int]
) -> Markup:
    first = next((one for one in copies if not one.is_same), None) if is_open else None
    unshown = max(0, view.size - 1 - len(view.others))
    ranks = ";".join(f"--by-{order}:{place}" for order, place in enumerate(places) if order)
    return fill(
        templates.CLUSTER,
        places=fill(templates.PLACES, ranks=ranks) if ranks else "",
        size=f"{view.size:,}",
        role=view.role,
        kept=shown_name(view.kept.id),
        least=""
        if view.weakest is None
        else fill(templates.LEAST, similarity=shown_similarity(view.weakest)),
        copies=joined(_copy(view, one, one is first) for one in copies),
        unshown=fill(templates.UNSHOWN, count=f"{unshown:,}") if unshown else "",
    )


def _copy(view: ClusterView, copy: _Copy, is_open: bool) -> Markup:
    """A removed document beside the kept one."""
    other, diff = copy.document, copy.diff
    chain = _chain(other)
    record = other.record
    return fill(
        templates.COPY,
        opened=" open" if is_open else "",
        id=shown_name(other.id),
        similarity=""
        if other.similarity is None
        else f"{other.measure} {shown_similarity(other.similarity)}",
        changes="the same text" if copy.is_same else _changes(diff.counts),
        chain=fill(templates.CHAIN, chain=chain) if chain else "",
        compared=joined(
            [
                *([_spans(other.shared)] if other.shared and other.shared.spans else []),
                *([] if record and record.has_fields else [_diff(view, copy)]),
                *([_fields(view, other.id, record)] if record else []),
            ]
        ),
    )


def _spans(shared: SharedSpans) -> Markup:
    """What stands in both documents word for word, the longest runs first."""
    found = shared.longest_first
    words, inside = shared.words[0], shared.shared[0]
    return fill(
        templates.SPANS,
        inside=f"{inside:,}",
        words=f"{words:,}",
        share=f"{inside / words:.0%}",
        spans=joined(fill(templates.SPAN, text=_span(span.text)) for span in found[:_SPANS]),
        more=fill(templates.MORE_SPANS, count=f"{len(found) - _SPANS:,}")
        if len(found) > _SPANS
        else "",
    )


def _span(text: str) -> str:
    shown = visible(" ".join(text.split()))
    return shown if len(shown) <= _LONGEST_SPAN else shown[: _LONGEST_SPAN - 1] + "…"


def _diff(view: ClusterView, copy: _Copy) -> Markup:
    diff = copy.diff
    return fill(
        templates.DIFF,
        role=view.role,
        kept=shown_name(view.kept.id),
        id=shown_name(copy.document.id),
        rows=joined(_row(row, copy) for row in diff.rows)
        or fill(templates.NOTE, note="both documents are empty"),
        incomplete="" if diff.complete else fill(templates.NOTE, note=_INCOMPLETE),
    )


def _fields(view: ClusterView, id: str, record: RecordComparison) -> Markup:
    """The table of the fields of a record and of the kept one."""
    from neardup.comparison.record_result import shown_total, verdict

    is_sum = record.is_sum
    return fill(
        templates.FIELDS,
        headings=fill(
            templates.OF_RECORDS,
            role=view.role,
            kept=shown_name(view.kept.id),
            id=shown_name(id),
        )
        if record.has_fields
        else Markup(templates.OF_TEXTS),
        adds=Markup(templates.ADDS) if is_sum else "",
        rows=joined(_field(field, is_sum=is_sum) for field in record.fields),
        total=fill(templates.TOTAL, total=shown_total(record)) if is_sum else "",
        verdict=" ".join(verdict(record)),
    )


def _field(field: ComparedField, *, is_sum: bool) -> Markup:
    from neardup.comparison.record_result import shown_adds, shown_evidence, shown_weight

    return fill(
        templates.FIELD,
        differing=Markup(' class="differing"') if field.has_values and field.differs else "",
        name=shown_name(field.name),
        values=_values(field),
        similarity=shown_evidence(field),
        weight=shown_weight(field),
        adds=fill(templates.ADDED, adds=shown_adds(field.adds)) if is_sum else "",
    )


def _values(field: ComparedField) -> Markup:
    from neardup.report.dedup_page.diff import value_pieces

    if field.a is None or field.b is None:
        return fill(templates.WHOLE, how=visible(field.how))
    left, right = value_pieces(field.a[:_LONGEST_VALUE], field.b[:_LONGEST_VALUE])
    return fill(
        templates.VALUES,
        how=visible(field.how),
        left=_pieces(left, "del") or "–",
        right=_pieces(right, "ins") or "–",
    )


def _row(row: Row, copy: _Copy) -> Markup:
    if row.note:
        return fill(templates.NOTE, note=row.note)
    code = " code" if copy.is_code else ""
    sides = [
        (copy.diff.left_direction, "kept", _pieces(row.left, "del")),
        (copy.diff.right_direction, "removed", _pieces(row.right, "ins")),
    ]
    return fill(
        templates.SIDES,
        continues=" continues" if row.continues else "",
        columns=joined(
            fill(templates.COLUMN, code=code, direction=direction, side=side, pieces=pieces)
            for direction, side, pieces in sides
        ),
    )


def _pieces(pieces: Iterable[Piece], changed: str) -> Markup:
    """One side of a diff; `changed` is the element around text that the other side lacks."""
    marks = {
        "changed": f"<{changed}>{{text}}</{changed}>",
        "variant": '<span class="variant">{text}</span>',
        "note": '<span class="note">{text}</span>',
    }
    return joined(fill(marks.get(piece.mark, "{text}"), text=piece.text) for piece in pieces)


def _chain(document: DocumentView) -> str:
    steps = [
        f"{shown_similarity(step.similarity)} → {shown_name(step.id)}" for step in document.chain
    ]
    return " ".join([f"{shown_name(document.id)}:", *steps]) if steps else ""


def _changes(counts: DiffCounts) -> str:
    parts = []
    if counts.changes:
        places = "1 change" if counts.changes == 1 else f"{counts.changes:,} changes"
        parts.append(f"{places} (−{counts.words_a:,} +{counts.words_b:,} words)")
    if counts.variants:
        places = "1 place" if counts.variants == 1 else f"{counts.variants:,} places"
        parts.append(f"case or punctuation in {places}")
    return "; ".join(parts) or "the same words"

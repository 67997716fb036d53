"""Two documents side by side: the word diff, the fields of records, and the other columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from neardup.comparison.record_result import (
    RecordComparison,
    shown_adds,
    shown_evidence,
    shown_total,
    shown_weight,
    verdict,
)
from neardup.comparison.records import side_by_side_fields
from neardup.errors import NeardupError
from neardup.explore.http import RefusedError, Request
from neardup.explore.rendering import short
from neardup.explore.site import Site
from neardup.explore.views.documents import DocumentLink, link, pair_similarity, value_text
from neardup.explore.views.room import Room, cut
from neardup.frozen import dataclass
from neardup.report.code import is_code
from neardup.report.dedup_page.diff import Piece, Row, side_by_side, value_pieces
from neardup.runs import DocumentRow, Run
from neardup.runs.compared import compared_parts

VIEWS = ("side", "inline")
_DIFF = 24_000  # bytes of a page
_COLUMNS = 9_000
_MARKUP = 40  # around a piece of text
_ROW = 160
_LONGEST_VALUE = 300  # characters, of a column that was not compared
_MOST_COLUMNS = 60
_CUT = "… the rest is left out: this page would become too long …"
_INCOMPLETE = "long and very different: some common words may be shown as changed"


@dataclass(frozen=True)
class DiffView:
    """A diff that fits a page: rows of pieces, as text or as code."""

    rows: tuple[Row, ...]
    view: str
    left_direction: str
    right_direction: str
    is_code: bool
    summary: str


@dataclass(frozen=True)
class FieldView:
    """A field of a record, or a column, in both documents.

    A compared field says how it is compared, its similarity, its weight, and what it adds.
    """

    name: str
    left: tuple[Piece, ...]
    right: tuple[Piece, ...]
    differs: bool
    how: str = ""
    has_values: bool = True
    similarity: str = ""
    weight: str = ""
    adds: str = ""


@dataclass(frozen=True)
class ScoreView:
    """What the fields come to: their sum, if it is one, and what it means in sentences.

    Without `has_numbers` the fields are only shown.
    """

    has_numbers: bool
    total: str | None
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class PairView:
    """Two documents: a diff of texts, the `fields` of records; a model has both.

    `fields` come with the `score` that they make.
    """

    left: DocumentLink
    right: DocumentLink
    similarity: float | None
    diff: DiffView | None
    fields: tuple[FieldView, ...]
    score: ScoreView | None
    columns: tuple[FieldView, ...]
    more_columns: int

    @property
    def differing_columns(self) -> int:
        """How many of the other columns differ."""
        return sum(column.differs for column in self.columns)


def asked_view(request: Request) -> str:
    """How to show the diff: `side` by side or `inline`."""
    view = request.first("view", VIEWS[0])
    if view not in VIEWS:
        raise RefusedError(400, f"view must be side or inline, not {view[:40]!r}.")
    return view


def pair_view(site: Site, left: DocumentRow, right: DocumentRow, view: str) -> PairView:
    """Everything that a page shows of two documents, within its room."""
    run = site.run
    rows = {row.place: run.row(row.place) for row in (left, right)}
    room = Room(_DIFF)
    columns = tuple(
        _columns(run, rows[left.place], rows[right.place]) if not _any_other(left, right) else ()
    )
    compared, note = _compared(run, left, right)
    diff: DiffView | None = None
    if compared is None or not compared.has_fields:
        texts = run.texts([left.place, right.place])
        diff = diff_view(texts[left.place], texts[right.place], view, room)
    return PairView(
        left=link(site, left),
        right=link(site, right),
        similarity=pair_similarity(run, left, right),
        diff=diff,
        fields=() if compared is None else tuple(_field_rows(compared, room)),
        score=_score(run, compared, note),
        columns=columns[:_MOST_COLUMNS],
        more_columns=max(0, len(columns) - _MOST_COLUMNS),
    )


def _compared(
    run: Run, left: DocumentRow, right: DocumentRow
) -> tuple[RecordComparison | None, str]:
    """What the similarity is made of, if it is of parts, and why they are not compared here."""
    try:
        return compared_parts(run, left.place, right.place), ""
    except NeardupError as error:  # a key, or a model, that is not here
        note = f"The parts of the similarity cannot be computed here: {error}"
        if not run.fields:
            return None, note
        records = run.records([left.place, right.place])
        return side_by_side_fields(records[left.place], records[right.place]), note


def _score(run: Run, compared: RecordComparison | None, note: str) -> ScoreView | None:
    if compared is None:
        return ScoreView(False, None, (note,)) if note else None
    return ScoreView(
        compared.is_compared,
        shown_total(compared) if compared.is_sum and compared.is_compared else None,
        (note,) if note else tuple(verdict(compared, run.limit)),
    )


def diff_view(left: str, right: str, view: str, room: Room | None = None) -> DiffView:
    """The word diff of two texts; lines and indentation are kept."""
    found = side_by_side(left, right, keep_lines=True)
    rows = list(_fitting(found.rows, view, room or Room(_DIFF)))
    if not rows:
        rows.append(Row(note="both documents are empty"))
    if not found.complete:
        rows.append(Row(note=_INCOMPLETE))
    return DiffView(
        rows=tuple(rows),
        view=view,
        left_direction=found.left_direction,
        right_direction=found.right_direction,
        is_code=is_code(left) and is_code(right),
        summary="the same text" if left == right else str(found.counts),
    )


def _fitting(rows: Iterable[Row], view: str, room: Room) -> Iterator[Row]:
    for row in rows:
        room.left -= _ROW
        if row.note:
            yield row
            continue
        if view == "inline":
            fitted = Row(inline=_fitted(row.inline, room), continues=row.continues)
        else:
            # Both sides are cut at the same share, so that the right one is not lost.
            half = Room(room.left // 2)
            left = _fitted(row.left, half)
            room.left -= room.left // 2 - half.left
            fitted = Row(left, _fitted(row.right, room), continues=row.continues)
        yield fitted
        if room.left <= 0:
            yield Row(note=_CUT)
            return


def _fitted(pieces: Iterable[Piece], room: Room) -> tuple[Piece, ...]:
    fitted = []
    for piece in pieces:
        text = room.take(piece.text, _MARKUP if piece.mark != "same" else 0)
        if text is None:
            break
        fitted.append(Piece(piece.mark, text))
    return tuple(fitted)


def _any_other(*rows: DocumentRow) -> bool:
    return any(row.is_other for row in rows)


def _field_rows(compared: RecordComparison, room: Room) -> Iterator[FieldView]:
    for field in compared.fields:
        room.left -= _ROW
        if room.left <= 0:
            return
        left, right = _field_pieces(field.a, field.b, room)
        yield FieldView(
            name=cut(short(field.name), 200),
            left=left,
            right=right,
            differs=field.has_values and field.differs,
            how=field.how,
            has_values=field.has_values,
            similarity=shown_evidence(field),
            weight=shown_weight(field),
            adds="" if field.adds is None else shown_adds(field.adds),
        )


def _field_pieces(
    a: str | None, b: str | None, room: Room
) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """The values of a field, with what differs; none where the whole text is compared."""
    if a is None or b is None:
        return (), ()
    if a == b:
        alike = _fitted([Piece("same", short(a, _LONGEST_VALUE))], room)
        return alike, alike
    left, right = value_pieces(a, b)
    half = Room(room.left // 2)
    fitted = _fitted(left, half)
    room.left -= room.left // 2 - half.left
    return fitted, _fitted(right, room)


def _columns(run: Run, left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[FieldView]:
    """The columns that were not compared, the differing ones first."""
    shown = {*run.fields, *text_columns(run), run.summary["columns"]["id"]}
    names = [name for name in run.columns if name not in shown]
    room = Room(_COLUMNS)
    for name in sorted(names, key=lambda name: left.get(name) == right.get(name)):
        a, b = left.get(name), right.get(name)
        mark = "same" if a == b else "changed"
        room.left -= _ROW
        shown_a, shown_b = (
            _fitted([Piece(mark, short(value_text(value), _LONGEST_VALUE))], room)
            for value in (a, b)
        )
        yield FieldView(cut(short(name), 200), shown_a, shown_b, differs=a != b)


def text_columns(run: Run) -> tuple[str, ...]:
    """The columns whose texts were compared."""
    return tuple(run.summary["columns"]["text"])

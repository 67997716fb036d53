"""Two documents side by side: the word diff, the fields of records, and the other columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from neardup.explore.http import RefusedError, Request
from neardup.explore.rendering import short
from neardup.explore.site import Site
from neardup.explore.views.documents import DocumentLink, link, pair_similarity, value_text
from neardup.explore.views.room import Room, cut
from neardup.frozen import dataclass
from neardup.report.code import is_code
from neardup.report.dedup_page.diff import Piece, Row, side_by_side
from neardup.runs import DocumentRow, Run

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
    """A field of a record, or a column, in both documents."""

    name: str
    left: tuple[Piece, ...]
    right: tuple[Piece, ...]
    differs: bool


@dataclass(frozen=True)
class PairView:
    """Two documents; `fields` instead of a diff if they are records."""

    left: DocumentLink
    right: DocumentLink
    similarity: float | None
    diff: DiffView | None
    fields: tuple[FieldView, ...]
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
    texts = run.texts([left.place, right.place])
    rows = {row.place: run.row(row.place) for row in (left, right)}
    left_fields, right_fields = (
        _fields_of(run, row, rows[row.place], texts[row.place]) for row in (left, right)
    )
    room = Room(_DIFF)
    columns = tuple(
        _columns(run, rows[left.place], rows[right.place]) if not _any_other(left, right) else ()
    )
    return PairView(
        left=link(site, left),
        right=link(site, right),
        similarity=pair_similarity(run, left, right),
        diff=None if run.fields else diff_view(texts[left.place], texts[right.place], view, room),
        fields=tuple(_field_rows(run.fields, left_fields, right_fields, room))
        if run.fields
        else (),
        columns=columns[:_MOST_COLUMNS],
        more_columns=max(0, len(columns) - _MOST_COLUMNS),
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


def _fields_of(
    run: Run, row: DocumentRow, values: Mapping[str, Any], text: str
) -> Mapping[str, str]:
    """The compared fields of a record; those of the other collection are in its text."""
    if row.is_other:
        return fields_of_text(text, run.fields)
    return {name: value_text(values.get(name)) for name in run.fields}


def fields_of_text(text: str, names: Sequence[str]) -> dict[str, str]:
    r"""The fields of a record that was written as lines `name: text`.

    >>> fields_of_text("title: A\nbody: two\nlines", ["title", "body"])
    {'title': 'A', 'body': 'two\nlines'}
    """
    found, rest = {}, f"\n{text}"
    for place, name in enumerate(names):
        rest = rest.removeprefix(f"\n{name}: ")
        following = names[place + 1 : place + 2]
        end = rest.find(f"\n{following[0]}: ") if following else -1
        found[name], rest = (rest, "") if end < 0 else (rest[:end], rest[end:])
    return found


def _field_rows(
    names: Iterable[str], left: Mapping[str, str], right: Mapping[str, str], room: Room
) -> Iterator[FieldView]:
    for name in names:
        a, b = left.get(name, ""), right.get(name, "")
        shown = cut(short(name), 200)
        room.left -= _ROW
        if room.left <= 0:
            return
        if a == b:
            pieces = _fitted([Piece("same", short(a, _LONGEST_VALUE))], room)
            yield FieldView(shown, pieces, pieces, differs=False)
            continue
        rows = side_by_side(a, b, keep_lines=True).rows
        half = Room(room.left // 2)
        left_pieces = _fitted(_flat(rows, "left"), half)
        room.left -= room.left // 2 - half.left
        yield FieldView(shown, left_pieces, _fitted(_flat(rows, "right"), room), differs=True)


def _flat(rows: Iterable[Row], side: str) -> Iterator[Piece]:
    """The pieces of all rows of one side, with the notes between them."""
    for place, row in enumerate(rows):
        if place:
            yield Piece("same", "\n")
        if row.note:
            yield Piece("note", row.note)
        yield from getattr(row, side)


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

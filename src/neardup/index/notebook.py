"""Query results in a notebook: one row per match."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from neardup.index.match import Answers, Match, Verdict
from neardup.notebook import block, heading, note, table

_MOST_ROWS = 50
_COLUMNS = ("query", "id", "distance", "similarity", "metadata")


def matches_html(matches: list[Match]) -> str:
    """HTML for the matches of one query."""
    number = len(matches)
    title = f"{number:,} {'match' if number == 1 else 'matches'}"
    return block(heading(title), _table((None, match) for match in matches))


def verdict_html(verdict: Verdict) -> str:
    """HTML for the answer to a check: new or seen, and the matches."""
    title = f"{'New' if verdict.is_new else 'Seen'}, {'added' if verdict.added else 'not added'}"
    return block(heading(title), _table((None, match) for match in verdict.matches))


def answers_html(answers: Answers) -> str:
    """HTML for the matches of many queries, each with the number of its query."""
    every = ((place, match) for place, found in enumerate(answers) for match in found)
    return block(heading(repr(answers).strip("<>")), _table(every))


def _table(matches: Iterable[tuple[int | None, Match]]) -> str:
    """The first matches, without empty columns."""
    found = list(islice(matches, _MOST_ROWS + 1))
    rows = [
        (query, str(match.id), match.distance, match.similarity, _about(match.metadata))
        for query, match in found[:_MOST_ROWS]
    ]
    if not rows:
        return ""
    columns = [
        (name, cells)
        for name, cells in zip(_COLUMNS, zip(*rows, strict=True), strict=True)
        if any(cell is not None for cell in cells)
    ]
    names, cells = zip(*columns, strict=True)
    more = note("More matches are not shown.") if len(found) > _MOST_ROWS else ""
    return table(names, zip(*cells, strict=True)) + more


def _about(metadata: Any) -> str | None:
    return None if metadata is None else str(metadata)

"""Answers of an index on the terminal: a line for each document or match, and its figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.cli import stopping
from neardup.cli.terminal import count, say, say_columns, say_json, size

if TYPE_CHECKING:
    from neardup.index import Match
    from neardup.index.lines import Checked, Queried
    from neardup.index.told import IndexStats

_SHOWN = 40
_SEEN, _FAILED = 1, 2  # exit codes of `neardup index check`


def print_checked(answers: Iterable[list[Checked]], path: Path, json: bool) -> int:
    """Print each batch of answers as it comes; return the exit code."""
    done, code = 0, 0
    stopping.if_stopped(
        lambda: f"{count(done, 'document')} answered; those that were added are stored in {path}"
    )
    for some in answers:
        done += len(some)  # before they are printed: whoever has read an answer finds it counted
        for one in some:
            if one.verdict is None:
                code = _FAILED
            elif not one.verdict.is_new:
                code = max(code, _SEEN)
            if json:
                say_json(_checked_object(one), indent=None)
            else:
                say_columns(_checked_cells(one))
    return code


def _checked_object(one: Checked) -> dict[str, Any]:
    if one.verdict is None:
        return {"id": one.id, "error": one.error}
    return {
        "id": one.id,
        "is_new": one.verdict.is_new,
        "added": one.verdict.added,
        "matches": [match._asdict() for match in one.verdict.matches],
    }


def _checked_cells(one: Checked) -> list[str]:
    id = "-" if one.id is None else str(one.id)
    if one.verdict is None:
        return ["error", id, str(one.error)]
    match = one.verdict.match
    found = ("-", "-") if match is None else (str(match.id), _similarity(match))
    return ["new" if one.verdict.is_new else "seen", id, *found]


def print_queried(answers: Iterable[list[Queried]], json: bool) -> bool:
    """Print one line for each queried line; return whether one could not be read."""
    failed = False
    for some in answers:
        for one in some:
            failed |= one.error is not None
            if json and one.error is None:
                print_lines([(one.query, one.matches)])
            elif json:
                say_json({"query": one.query, "error": one.error}, indent=None)
            elif one.error is None:
                print_table([(_line_name(one), one.matches[:1])])
            else:
                say_columns([_line_name(one), "error", one.error])
    return failed


def _line_name(one: Queried) -> str:
    return f"line {one.line}" if one.query is None else str(one.query)


def print_stats(found: IndexStats, bytes_each: float | None) -> None:
    """Print what an index finds, how large it is, and how it grows."""
    say(f"{count(found.documents, 'document')} of {found.scheme}")
    say(f"finds {found.finds}")
    sizes = ", ".join(f"{part} {size(taken)}" for part, taken in found.bytes.items())
    say(sizes if bytes_each is None else f"{sizes}: {size(bytes_each)} per document")
    *segments, newest = found.segments
    packed = ", ".join(f"{part.documents:,}" for part in segments)
    removed = sum(part.removed for part in found.segments)
    say(
        f"{count(len(segments), 'segment')}{f' with {packed} documents' if segments else ''}, and "
        f"{newest.documents:,} newest; space of {count(removed, 'removed document')} to reuse"
    )
    if found.oldest is not None and found.newest is not None:
        say(f"added from {_time(found.oldest)} to {_time(found.newest)}")
    since = ", ".join(f"{number:,} in the last {age}" for age, number in found.added.items())
    say(f"added {since}; {found.expired:,} expired and not yet removed")
    if found.largest_buckets:
        largest = ", ".join(f"{bucket:,}" for bucket in found.largest_buckets)
        say(f"largest buckets of different fingerprints: {largest}")


def _time(seconds: float) -> str:
    from datetime import datetime, timezone

    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%d %H:%M:%S} UTC"


def _similarity(match: Match) -> str:
    return "-" if match.similarity is None else f"{match.similarity:.4f}"


def print_lines(found: Iterable[tuple[Any, list[Match]]]) -> None:
    """Print one JSON object for each query."""
    for asked, matches in found:
        line = {"query": asked, "matches": [match._asdict() for match in matches]}
        say_json(line, indent=None)


def print_table(found: Iterable[tuple[Any, list[Match]]]) -> None:
    """Print columns separated by tabs; with several queries, the query is the first column."""
    for asked, matches in found:
        front = [] if asked is None else [str(asked)]
        if not matches:
            say_columns([*front, "no match"])
        for match in matches:
            parts = [*front, str(match.id), str(match.distance), _similarity(match)]
            if match.metadata is not None:
                parts.append(str(match.metadata)[:_SHOWN])
            say_columns(parts)

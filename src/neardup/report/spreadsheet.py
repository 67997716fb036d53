"""CSV that is safe to open in a spreadsheet: no text is taken for a formula.

Spreadsheets treat a cell that begins with = + - or @ as a formula, which may fetch or send data
(OWASP, "CSV Injection"). Such texts are prefixed with an apostrophe, which marks text in
spreadsheets; so are texts that have apostrophes before such a character, so that the prefix can be
removed again. Numbers, and texts that are numbers, are not changed.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import IO, Any

# Also their full-width forms, which spreadsheets in East Asian languages treat the same, and white
# space, which some programs strip first.
_FORMULA = re.compile("'* *[=+\\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
_QUOTE = "'"


class SpreadsheetWriter:
    """Writes rows of CSV; texts are always quoted, whichever separator a spreadsheet uses."""

    def __init__(self, file: IO[str]) -> None:
        self._writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)

    def rows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write rows: numbers as numbers, None as an empty cell, anything else as text."""
        self._writer.writerows(map(_cell, row) for row in rows)


def as_text(text: str) -> str:
    """The text as a cell that is not a formula.

    >>> as_text("=1+1"), as_text("'=1+1"), as_text("'tis")
    ("'=1+1", "''=1+1", "'tis")
    """
    begins = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return _QUOTE + text if begins else text


def as_written(cell: str) -> str:
    """The text of a cell that `as_text` returned.

    >>> as_written("'=1+1"), as_written("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith(_QUOTE) and _FORMULA.match(cell) else cell


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, int | float | Decimal):
        return value
    return as_text(str(value))

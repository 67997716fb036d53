"""CSV that a spreadsheet opens without running it: texts never begin as a formula does.

A spreadsheet takes a cell that begins with = + - or @ for a formula, which may fetch or send
data (OWASP, "CSV Injection"). Such texts get an apostrophe in front, which spreadsheets take for
"this is text"; so do texts that already begin with apostrophes before such a character, so that
the change can be undone. Numbers stay as they are, and so do texts that are a number.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import IO, Any

# Also their wide forms, which spreadsheets in East Asian languages take for the same, and white
# space, which some programs strip first.
_FORMULA = re.compile("'* *[=+\\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
_QUOTE = "'"


class SpreadsheetWriter:
    """Write rows of CSV; every text is in double quotes, whatever a spreadsheet splits cells by."""

    def __init__(self, file: IO[str]) -> None:
        self._writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)

    def rows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write rows: numbers as numbers, nothing for None, anything else as text."""
        self._writer.writerows(map(_cell, row) for row in rows)


def as_text(text: str) -> str:
    """A text as a cell that is no formula.

    >>> as_text("=1+1"), as_text("'=1+1"), as_text("'tis")
    ("'=1+1", "''=1+1", "'tis")
    """
    begins = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return _QUOTE + text if begins else text


def as_written(cell: str) -> str:
    """The text that `as_text` made a cell of.

    >>> as_written("'=1+1"), as_written("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith(_QUOTE) and _FORMULA.match(cell) else cell


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, int | float | Decimal):
        return value
    return as_text(str(value))

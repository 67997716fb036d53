"""Sheets of workbooks (Excel, OpenDocument), through the optional package python-calamine.

The package reads a whole sheet into memory, which has at most 1,048,576 rows.
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from statistics import median
from typing import Any

import pyarrow as pa

from neardup.errors import UnreadableError
from neardup.read.file_kinds import SIGNATURE_BYTES, looks_like_text
from neardup.read.foreign.table import ForeignTable, chosen_table, listed
from neardup.read.limits import printable
from neardup.read.source import Source

INSTALL = "pip install 'neardup[excel]'"
Cells = list[Any]

_ROWS_AT_ONCE = 8192
_HEADER_WITHIN = 50  # rows
_FILLED = 0.6  # of as many cells as most rows have, for a row to be the header
_MOST_CELLS = 500_000_000
_COMPOUND = b"\xd0\xcf\x11\xe0"  # old workbooks, and containers of encrypted ones
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_PROTECTED = "is protected by a password; save it without one, or as CSV"
_DIMENSION = re.compile(rb'<dimension ref="[A-Z]+[0-9]+:([A-Z]+)([0-9]+)"')
_DIMENSION_WITHIN = 4096


@contextmanager
def opened_workbook(source: Source) -> Iterator[ForeignTable]:
    """Open a sheet: that of the source, or the first one that is shown."""
    calamine = _package(source.name)
    with source.stream() as stream:
        content = io.BytesIO(stream.read())
    _require_workbook(content.getbuffer(), source.name)
    _require_not_huge(content, source.name)
    try:
        with closing(calamine.CalamineWorkbook.from_filelike(content)) as workbook:
            sheet = _sheet(calamine, workbook, source)
            header, rows = _header(sheet, source.name)
            if source.sheet == "" and not header:
                _require_no_other(workbook, sheet.name, source.name)
    except calamine.PasswordError as error:
        raise UnreadableError(f"{source.name} {_PROTECTED}") from error
    except calamine.CalamineError as error:
        raise UnreadableError(
            f"{source.name} is not a workbook that can be read ({printable(str(error))}); it may "
            "be damaged, so open it in Excel or LibreOffice and save it again"
        ) from error
    if not header:
        raise UnreadableError(f"{source.name} has no cells in the sheet {sheet.name!r}")
    yield _table(header, rows)


def _package(name: str) -> Any:
    try:
        import python_calamine
    except ImportError:
        raise UnreadableError(
            f"{name} is a workbook, which needs the package python-calamine; install it with "
            f"{INSTALL}"
        ) from None
    return python_calamine


def _require_workbook(content: memoryview, name: str) -> None:
    """Refuse what is no workbook at all, and one whose content is encrypted."""
    start = bytes(content[:SIGNATURE_BYTES])
    if looks_like_text(start):
        raise UnreadableError(f"{name} is text, not a workbook; rename it, for example to .csv")
    if not start:
        raise UnreadableError(f"{name} is empty, and so no workbook; save it again")
    if start.startswith(_COMPOUND) and _ENCRYPTED in bytes(content):
        raise UnreadableError(f"{name} {_PROTECTED}")


def _require_not_huge(content: io.BytesIO, name: str) -> None:
    """Refuse a sheet with a cell in its far corner, for which the package takes all memory."""
    if not zipfile.is_zipfile(content):
        content.seek(0)
        return
    with zipfile.ZipFile(content) as archive:
        for part in archive.namelist():
            if re.fullmatch(r"xl/worksheets/[^/]+\.xml", part):
                with archive.open(part) as sheet:
                    found = _DIMENSION.search(sheet.read(_DIMENSION_WITHIN))
                if found and int(found[2]) * _number(found[1].decode()) > _MOST_CELLS:
                    raise UnreadableError(
                        f"{name} has a cell in column {found[1].decode()} and row "
                        f"{int(found[2]):,}, and no more than {_MOST_CELLS:,} cells can be read; "
                        "delete what is far from the table, or save it as CSV"
                    )
    content.seek(0)


def _sheet(calamine: Any, workbook: Any, source: Source) -> Any:
    kinds, shown = calamine.SheetTypeEnum, calamine.SheetVisibleEnum.Visible
    sheets = [each for each in workbook.sheets_metadata if each.typ == kinds.WorkSheet]
    names = [each.name for each in sheets]
    if source.sheet:
        name = chosen_table(source.name, source.sheet, names, "sheets", "")
    else:
        first = next((each.name for each in sheets if each.visible == shown), None)
        name = first if first is not None else chosen_table(source.name, "", names, "sheets", "")
    return workbook.get_sheet_by_name(name)


def _require_no_other(workbook: Any, empty: str, name: str) -> None:
    """Refuse an empty first sheet if others have rows."""
    others = [
        each
        for each in workbook.sheet_names
        if each != empty and workbook.get_sheet_by_name(each).height
    ]
    if others:
        raise UnreadableError(
            f"{name} has no cells in its first sheet {empty!r}; name another, {listed(others)}, "
            f"for example {name}#{others[0]}"
        )


def _header(sheet: Any, name: str) -> tuple[dict[int, str], list[Cells]]:
    """The names of the columns that hold anything, by their number, and the rows below.

    Titles and notes above a table fill fewer cells than its rows, so the header is the first row
    that fills about as many as most rows do. Rows without any cell are left out.
    """
    rows = [row for row in _spread(sheet) if any(cell != "" for cell in row)]
    some = [sum(cell != "" for cell in row) for row in islice(rows, _HEADER_WITHIN)]
    if not some:
        return {}, []
    enough = _FILLED * median(some)
    place = next(number for number, filled in enumerate(some) if filled >= enough)
    below = rows[place + 1 :]
    used = {number for row in below for number, cell in enumerate(row) if cell != ""}
    names = {
        number: _spelt(cell).strip() if cell != "" else _letters(number)
        for number, cell in enumerate(rows[place])
        if cell != "" or number in used
    }
    return names, below


def _spread(sheet: Any) -> Iterator[Cells]:
    """All rows; each cell of a merged range has the value of the whole."""
    if sheet.start is None:  # no cells
        return
    ranges = sorted(sheet.merged_cell_ranges or ())
    values: dict[tuple[int, int], Any] = {}
    for number, row in enumerate(sheet.iter_rows()):
        place, left = number + sheet.start[0], sheet.start[1]
        for first, last in ranges:
            # Merged over several columns, it is a title, not a value of each of them.
            if first[0] <= place <= last[0] and first[1] == last[1]:
                column = first[1] - left
                if 0 <= column < len(row):
                    row[column] = values.setdefault(first, row[column])
        yield row


def _table(header: dict[int, str], rows: list[Cells]) -> ForeignTable:
    kinds = {number: _type([row[number] for row in rows]) for number in header}
    schema = pa.schema([(header[number], kind) for number, kind in kinds.items()])

    def batches() -> Iterator[pa.RecordBatch]:
        for begin in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[begin : begin + _ROWS_AT_ONCE]
            columns = [
                pa.array([_value(row[number], kind) for row in some], kind)
                for number, kind in kinds.items()
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return ForeignTable(schema, batches())


def _type(cells: Sequence[Any]) -> pa.DataType:
    """The type of a column: that of all its cells, or text."""
    kinds = {type(cell) for cell in cells if cell != ""}
    if kinds == {bool}:
        return pa.bool_()
    if kinds and kinds <= {int, float}:
        numbers = [cell for cell in cells if cell != ""]
        whole = all(number == int(number) and abs(number) < 2**53 for number in numbers)
        return pa.int64() if whole else pa.float64()
    if kinds == {datetime.date}:
        return pa.date32()
    if kinds and kinds <= {datetime.date, datetime.datetime}:
        return pa.timestamp("us")
    return pa.large_string()


def _value(cell: Any, kind: pa.DataType) -> Any:
    if cell == "" and not isinstance(cell, bool):
        return None
    if pa.types.is_large_string(kind):
        return _spelt(cell)
    if pa.types.is_int64(kind):
        return int(cell)
    if pa.types.is_timestamp(kind) and not isinstance(cell, datetime.datetime):
        return datetime.datetime.combine(cell, datetime.time())
    return cell


def _spelt(cell: Any) -> str:
    """A cell among texts: a whole number without a decimal point, a date as in ISO 8601."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell == int(cell) and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ")
    return str(cell)


def _letters(number: int) -> str:
    """The name of a column in a spreadsheet: A for 0, AA for 26."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _number(letters: str) -> int:
    """How many columns there are up to this one: 1 for A."""
    found = 0
    for letter in letters:
        found = 26 * found + ord(letter) - ord("A") + 1
    return found

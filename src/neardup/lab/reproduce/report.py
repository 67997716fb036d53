"""Results of a reproduction: published values beside ours, and why they differ."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

Cell = str | int | float | None


@dataclass(frozen=True)
class Column:
    """A column of a table: its key in JSON, and its heading."""

    key: str
    heading: str


@dataclass(frozen=True)
class BesideTable:
    """A table of published values beside those measured here."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, title: str, columns: dict[str, str], rows: list[tuple[Cell, ...]]) -> BesideTable:
        """Make a table; `columns` maps keys to headings, and each row has a cell for each."""
        if any(len(row) != len(columns) for row in rows):
            raise ValueError(f"{title}: a row does not have {len(columns)} cells")
        return cls(title, tuple(Column(*one) for one in columns.items()), tuple(rows))

    def column(self, key: str) -> list[Cell]:
        place = [column.key for column in self.columns].index(key)
        return [row[place] for row in self.rows]

    def as_dict(self) -> dict[str, Any]:
        """The title, the headings by key, and each row as an object."""
        keys = [column.key for column in self.columns]
        rows = [dict(zip(keys, row, strict=True)) for row in self.rows]
        return {"title": self.title, "columns": self.headings(), "rows": rows}

    def headings(self) -> dict[str, str]:
        """Headings on one line; one with a leading line break shares its neighbour's upper line."""
        told, upper = {}, ""
        for column in self.columns:
            above, _, below = column.heading.rpartition("\n")
            upper = above or (upper if column.heading.startswith("\n") else "")
            told[column.key] = f"{upper}, {below}" if upper else below
        return told


@dataclass(frozen=True)
class Reproduction:
    """A published system, run with its own parameters on the given data.

    `numbers` has the values that the `differences` mention.
    """

    preset: str
    system: str
    data: str
    documents: int
    seconds: float
    tables: tuple[BesideTable, ...]
    numbers: dict[str, float]
    differences: tuple[str, ...]

    def table(self, title: str) -> BesideTable:
        return next(table for table in self.tables if table.title == title)

    def as_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        values = asdict(self)
        return {
            **values,
            "seconds": round(self.seconds, 3),
            "tables": [table.as_dict() for table in self.tables],
            "differences": list(self.differences),
        }

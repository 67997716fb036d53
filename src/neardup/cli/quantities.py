"""Numbers as people read them."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def rejected_line(rows: int, file: str | None) -> str:
    """How many rows were set aside, and where they are; beside a device there is no place."""
    where = f" → {file}" if file else "; name a file as output to have them listed beside it"
    return f"{count(rows, 'row')} rejected{where}"


def size(number: float) -> str:
    """Bytes in the unit that suits them: `12 bytes`, `3.4 kB`, `56.7 MB`, `8.9 GB`."""
    if number < 1000:
        return f"{number:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        number /= 1000
        if number < 999.95 or unit == "GB":
            break
    return f"{number:,.1f} {unit}"

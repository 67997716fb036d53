"""Two fingerprints, bit under bit, with the differing ones marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

_GROUP = 8
_DIFFERENT = "not dim bold yellow"


def bit_lines(
    a: int | None, b: int | None, bits: int, differing: Sequence[int], width: int
) -> Iterator[Text]:
    """Lines of at most `width` columns; a document without a fingerprint shows a dash."""
    label = 3 if bits <= _bits_per_line(width - 3) else 8
    step = _bits_per_line(width - label)
    marks = ["0"] * bits
    for place in differing:
        marks[place] = "1"
    digits = [None if value is None else f"{value:0{bits}b}" for value in (a, b)]
    for first in range(0, bits, step):
        offset = "" if label == 3 else f"{first:>4} "
        part = slice(first, first + step)
        flags = [mark == "1" for mark in marks[part]]
        for name, row in zip("AB", digits, strict=True):
            yield Text(f"{offset}{name}  ", style="dim").append_text(
                Text("–") if row is None else _grouped(row[part], flags)
            )
            offset = " " * len(offset)
        if any(flags):
            carets = _grouped("".join("^" if flag else " " for flag in flags), flags)
            carets.rstrip()
            yield Text(" " * label).append_text(carets)


def _bits_per_line(room: int) -> int:
    groups = max(1, (room + 1) // (_GROUP + 1))
    return (groups - groups % _GROUP if groups > _GROUP else groups) * _GROUP


def _grouped(row: str, flags: Sequence[bool]) -> Text:
    text = Text(no_wrap=True)
    for place, (char, flag) in enumerate(zip(row, flags, strict=True)):
        if place and place % _GROUP == 0:
            text.append(" ")
        text.append(char, style=_DIFFERENT if flag else "")
    return text

"""Limits of a document: length, depth and valid UTF-8, with the message for each."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from neardup.frozen import dataclass
from neardup.kernels import is_utf8

# The default of --max-document, in bytes.
MAX_DOCUMENT = 64_000_000
# The object of a row is the first level. The native reader has the same limit.
MOST_DEPTH = 64
_SHOWN = 80


TOO_DEEP = f"nested more than {MOST_DEPTH} levels deep"


@dataclass(frozen=True)
class TooLong:
    """Replaces a row that is too long; only its size in bytes is kept."""

    size: int


def too_long(size: int | None, most: int) -> str:
    """The message for a document that is too long; `size` is None if unknown.

    >>> too_long(70_000_000, 64_000_000)
    '70.0 MB long, more than --max-document allows (64 MB)'
    """
    limit = _amount(most, 0 if most % 1_000_000 == 0 else 1)
    if size is None:
        return f"longer than --max-document allows ({limit})"
    return f"{_amount(size, 1)} long, more than --max-document allows ({limit})"


def too_deep(value: Any) -> bool:
    """Whether a parsed JSON value is nested in more than `MOST_DEPTH` levels."""
    level = [value] if type(value) is dict or type(value) is list else []
    for _ in range(MOST_DEPTH):
        level = [inner for outer in level for inner in _containers(outer)]
        if not level:
            return False
    return True


def quoted(text: Any) -> str:
    r"""Quote a piece of input for a message: all characters visible, truncated if long.

    >>> quoted("a\x00b")
    "'a\\x00b'"
    """
    # repr escapes unprintable characters; messages of Arrow may contain any bytes.
    spelt = repr(text[: _SHOWN + 1]) if isinstance(text, str) else str(text)
    return spelt if len(spelt) <= _SHOWN + 2 else f"{spelt[:_SHOWN]}…"


def printable(message: str) -> str:
    r"""The first line of another library's message, with unprintable characters escaped.

    >>> printable("Parse error: \x01\x02 in row 7")
    'Parse error: \\x01\\x02 in row 7'
    """
    line = message.strip().splitlines()[0] if message.strip() else ""
    visible = "".join(c if c.isprintable() else repr(c)[1:-1] for c in line[: 2 * _SHOWN])
    return visible if len(visible) <= 2 * _SHOWN else f"{visible[: 2 * _SHOWN]}…"


def _containers(value: Any) -> list[Any]:
    if type(value) is dict:
        value = value.values()
    elif type(value) is not list:
        return []
    return [inner for inner in value if type(inner) is dict or type(inner) is list]


def _amount(size: int, digits: int) -> str:
    if size < 1_000_000:
        return f"{size:,} bytes"
    return f"{size / 1e6:,.{digits}f} MB"


def invalid_texts(texts: pa.Array) -> dict[int, str]:
    """Map the position of every invalid text of a string column to its fault."""
    if is_utf8(texts):
        return {}
    kind = pa.large_binary() if pa.types.is_large_string(texts.type) else pa.binary()
    found = {}
    for position, value in enumerate(texts.view(kind).to_pylist()):
        fault = None if value is None else invalid_utf8(value)
        if fault:
            found[position] = fault
    return found


def invalid_utf8(value: bytes) -> str | None:
    """The message for the first byte that is not UTF-8; None if all are valid."""
    try:
        value.decode()
    except UnicodeDecodeError as error:
        return f"invalid UTF-8, byte 0x{value[error.start]:02x} at offset {error.start}"
    return None

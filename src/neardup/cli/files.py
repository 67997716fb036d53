"""Text files that a command reads whole."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from neardup.errors import InputError

STANDARD_INPUT = "-"
_MOST_BYTES = 1_000_000_000  # some devices and pipes never end


def read_text(name: str) -> str:
    """Read a file, or standard input (`-`), as UTF-8 without a byte order mark."""
    shown = "standard input" if name == STANDARD_INPUT else name
    try:
        if name == STANDARD_INPUT:
            from neardup.read.source import standard_input

            return _text_of(standard_input(), shown)
        with Path(name).open("rb") as file:
            return _text_of(file, shown)
    except FileNotFoundError:
        raise InputError(f"there is no file {shown}") from None
    except IsADirectoryError:
        raise InputError(f"{shown} is a folder; a file is needed") from None
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror}") from None


def _text_of(file: BinaryIO, name: str) -> str:
    data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise InputError(f"{name} is larger than 1 GB, too large for one text; split it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start} "
            "is out of place; convert the file first, for example with iconv"
        ) from None

"""Files that a command takes whole, as text."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from neardup.errors import InputError

STANDARD_INPUT = "-"
_MOST_BYTES = 1_000_000_000  # some devices and pipes never end


def read_text(name: str) -> str:
    """Read a file, or standard input (`-`), as UTF-8, a byte order mark left away."""
    told = "standard input" if name == STANDARD_INPUT else name
    try:
        if name == STANDARD_INPUT:
            from neardup.read.source import standard_input

            return _text_of(standard_input(), told)
        with Path(name).open("rb") as file:
            return _text_of(file, told)
    except FileNotFoundError:
        raise InputError(f"there is no file {told}") from None
    except IsADirectoryError:
        raise InputError(f"{told} is a folder; a file is needed") from None
    except OSError as error:
        raise InputError(f"{told} cannot be read: {error.strerror}") from None


def _text_of(file: BinaryIO, name: str) -> str:
    data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise InputError(f"{name} has more than 1 GB, which is too much for one text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start} "
            "is out of place; convert the file first, for example with iconv"
        ) from None

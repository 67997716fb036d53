"""Files that a command takes whole, as text."""

from __future__ import annotations

from pathlib import Path

from neardup.errors import InputError

STANDARD_INPUT = "-"


def read_text(name: str) -> str:
    """Read a file, or standard input (`-`), as UTF-8, a byte order mark left away."""
    if name == STANDARD_INPUT:
        from neardup.read.stream import standard_input

        return _decoded(standard_input().read(), "standard input")
    try:
        data = Path(name).read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no file {name}") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a folder; a file is needed") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None
    return _decoded(data, name)


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start} "
            "is out of place; convert the file first, for example with iconv"
        ) from None

"""Amounts of memory, as people write them."""

from __future__ import annotations

import re
from typing import SupportsIndex

from neardup.errors import SettingError

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_MOST_BYTES = 10**18


def bytes_of(memory: str | int, name: str = "memory") -> int:
    """The number of bytes: `2GB`, `512 MiB`, or a plain number.

    >>> bytes_of("1.5GB")
    1500000000
    """
    if isinstance(memory, SupportsIndex) and not isinstance(memory, bool):
        amount = float(int(memory))
    else:
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(memory), re.ASCII)
        if not found or found[2].upper() not in _UNITS or isinstance(memory, bool):
            raise SettingError(f"{name}={memory!r} is no amount of memory; write it like 2GB")
        amount = float(found[1]) * _UNITS[found[2].upper()]
    if not 1 <= amount <= _MOST_BYTES:
        raise SettingError(f"{name}={memory!r} must be more than nothing and at most 1,000,000 TB")
    return int(amount)

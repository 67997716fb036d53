"""Any Python function as a hash family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from operator import index

from neardup.errors import SettingError
from neardup.hashes.family import HashFamily, utf8

PREFIX = "python:"
_PROBES = (b"a", b"near", b"duplicate", "查重".encode(), bytes(range(256)))


@dataclass(frozen=True)
class PythonFunction(HashFamily):
    """A function from bytes to a number, of which the low bits are taken.

    Its name ends in a check of what it gives for a few known keys, so that two functions of one
    name, or one that changes from run to run, are not taken for the same.

    >>> import zlib
    >>> PythonFunction(zlib.crc32, 32).name
    'python:zlib.crc32@31cbb611'
    """

    function: Callable[[bytes], int] = field(repr=False)
    bits: int | None = None

    def __post_init__(self) -> None:
        if self.bits is not None and self.bits < 1:
            raise SettingError(f"a hash of bits={self.bits} is none; it must have at least 1")

    @cached_property
    def name(self) -> str:
        """`python:MODULE.NAME@CHECK`."""
        check = sha256(repr([self._number(probe) for probe in _PROBES]).encode()).hexdigest()
        return f"{PREFIX}{_dotted(self.function)}@{check[:8]}"

    def value(self, term: str) -> int:
        """What the function gives."""
        return self._number(utf8(term))

    def _number(self, data: bytes) -> int:
        found = self.function(data)
        try:
            return index(found)
        except TypeError:
            raise SettingError(
                f"the hash function {_dotted(self.function)} gives {type(found).__name__}; "
                "it must turn bytes into an int"
            ) from None


def _dotted(function: Callable[[bytes], int]) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"

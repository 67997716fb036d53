"""Hash families by name, and any Python function as a family."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from functools import cached_property, lru_cache
from importlib import import_module
from operator import index

from neardup.errors import SettingError
from neardup.frozen import dataclass
from neardup.hashes.family import HashFamily, utf8
from neardup.hashes.keyed import PREFIX as KEYED_PREFIX, keyed_by_name

PREFIX = "python:"
_PROBES = (b"a", b"near", b"duplicate", "查重".encode(), bytes(range(256)))


# The module and the class of each, and the most numbers that may follow its name. Only the module
# of the family that is asked for is imported.
_FAMILIES = {
    "nd1": ("nd1", "Nd1", 0),
    "md5": ("strings", "Md5", 0),
    "xxh3": ("strings", "Xxh3", 0),
    "string64": ("strings", "String64", 0),
    "dek": ("strings", "Dek", 0),
    "string": ("strings", "StringModulo", 2),
    "universal": ("universal", "Universal", 2),
    "division": ("integers", "Division", 2),
    "remainder": ("integers", "Remainder", 1),
}
SPELLINGS = (
    "nd1, nd1:NAME, md5, xxh3, string64, dek, string:M:C, universal:M:SEED, division:M:N or "
    "remainder:M"
)
_NUMBER = re.compile(r"[0-9]{1,39}")


@dataclass(frozen=True)
class PythonFunction(HashFamily):
    """A Python function from bytes to int, of which the low bits are used.

    Its name ends in a check of its values for a few fixed keys, which distinguishes two functions
    of the same name, and detects one that changes from run to run.

    >>> import zlib
    >>> PythonFunction(zlib.crc32, 32).name
    'python:zlib.crc32@31cbb611'
    """

    function: Callable[[bytes], int] = field(repr=False)
    bits: int | None = None

    def __post_init__(self) -> None:
        if self.bits is not None and self.bits < 1:
            raise SettingError(f"bits={self.bits} must be at least 1 for a hash function")

    @cached_property
    def name(self) -> str:
        """`python:MODULE.NAME@CHECK`."""
        from hashlib import sha256

        check = sha256(repr([self._number(probe) for probe in _PROBES]).encode()).hexdigest()
        return f"{PREFIX}{_dotted(self.function)}@{check[:8]}"

    def value(self, term: str) -> int:
        return self._number(utf8(term))

    def _number(self, data: bytes) -> int:
        found = self.function(data)
        try:
            return index(found)
        except TypeError:
            raise SettingError(
                f"the hash function {_dotted(self.function)} returns {type(found).__name__}; "
                "it must turn bytes into an int"
            ) from None


def _dotted(function: Callable[[bytes], int]) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"


def hash_family(
    name: str | Callable[[bytes], int] | HashFamily, *, bits: int | None = None
) -> HashFamily:
    """The hash family with this name, or of a Python function from bytes to int.

    Omitted numbers have defaults: `string` is `string:257:1024`. `bits` is the number of bits that
    a function returns; requests for more are refused. By default there is no limit.
    `nd1:NAME` names a key, which must be in the environment (`neardup.hashes.keyed`).

    >>> hash_family("string:5749").name
    'string:5749:1024'
    >>> import zlib
    >>> hash_family(zlib.crc32, bits=32).value("coin") == zlib.crc32(b"coin")
    True
    """
    if isinstance(name, str | HashFamily) and bits is not None:
        raise SettingError(f"bits={bits} applies only to Python functions; leave it out for {name}")
    if isinstance(name, HashFamily):
        return name
    if not isinstance(name, str):
        return PythonFunction(name, bits)
    if name.strip().startswith(KEYED_PREFIX):  # not cached: the environment may change
        return keyed_by_name(name.strip())
    return _named(name)


@lru_cache(maxsize=64)
def _named(name: str) -> HashFamily:
    if name.startswith(PREFIX):
        raise SettingError(f"hash={name!r} is a Python function; pass the function itself")
    first, *numbers = name.strip().split(":")
    module, family, most = _FAMILIES.get(first, ("", "", 0))
    if not family or len(numbers) > most or not all(map(_NUMBER.fullmatch, numbers)):
        raise SettingError(f"hash={name!r} is unknown; choose {SPELLINGS}")
    found: HashFamily = getattr(import_module(f"neardup.hashes.{module}"), family)(
        *map(int, numbers)
    )
    return found

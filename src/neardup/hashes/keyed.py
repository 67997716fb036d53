"""The keyed nd1 families, `nd1:NAME`: for untrusted texts, with a secret that is never stored.

Files and indexes store the name of the key and a check of it, `nd1:NAME#CHECK`, so that another
key of the same name is refused. The key itself comes from the environment or from the caller.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SchemeMismatchError, SettingError
from neardup.hashes.family import HashFamily, utf8
from neardup.hashes.nd1 import feature_rows
from neardup.kernels.hash_key import HashKey, key_check
from neardup.kernels.reference.keyed import KeyedHash

PREFIX = "nd1:"
LEAST_BYTES, MOST_BYTES = 16, 64
_VARIABLE = "NEARDUP_KEY_"
_SPELLING = re.compile(r"nd1:([a-z0-9][a-z0-9_-]{0,31})(?:#([0-9a-f]{8}))?")
# Such a name could be the key itself, and would be stored and printed.
_LIKE_A_KEY = re.compile(r"[0-9a-f]{24,}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")
# Sixteen random bytes have fewer distinct values than this with probability 10^-12.
_LEAST_DIFFERENT = 8


class KeyedNd1(HashFamily):
    """nd1 with a secret in every step: the same features, but different bits for each key.

    A pickle holds only the name; unpickling needs the key.
    """

    def __init__(self, label: str, secret: bytes) -> None:
        self._name = f"{PREFIX}{label}#{key_check(label, secret)}"
        self._key = HashKey.derive(label, secret)

    @property
    def name(self) -> str:
        """`nd1:NAME#CHECK`."""
        return self._name

    @property
    def bits(self) -> None:
        """No limit."""

    @property
    def key(self) -> HashKey:
        """The key, as the kernels use it."""
        return self._key

    def value(self, term: str) -> int:
        """The feature hash: the first 64 bits."""
        utf8(term)
        return KeyedHash(self._key).feature_hash([term])

    def _rows(self, terms: Sequence[str], bits: int) -> NDArray[np.uint64]:
        return feature_rows(terms, bits, self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyedNd1) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._name)

    def __copy__(self) -> KeyedNd1:
        return self

    def __deepcopy__(self, memo: object) -> KeyedNd1:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return keyed_by_name, (self._name,)

    def __repr__(self) -> str:
        return f"<KeyedNd1 {self._name}>"


# Families made by `keyed`, by full name, under which schemes are stored.
_given: dict[str, KeyedNd1] = {}


def keyed(name: str, secret: bytes) -> KeyedNd1:
    """A keyed hash family, to be passed as `hash`: nd1 with a secret of 16 to 64 random bytes.

    The rest of the program opens files and indexes of this key without passing it again. Other
    programs need the key, by this function or in the environment. Neither the key nor anything
    that it could be derived from is ever stored or printed.

    >>> import neardup as nd
    >>> secret = bytes.fromhex("000102030405060708090a0b0c0d0e0f")  # secrets.token_bytes(16)
    >>> str(nd.fingerprint(["to be or not to be"], hash=nd.keyed("crawl", secret)).scheme)
    'nd1:crawl#c386de99/word:3/set/64'
    """
    label, check = _taken_apart(PREFIX + str(name))
    if check is not None:
        raise _bad_name()
    family = _checked(label, secret, "the secret")
    return _given.setdefault(family.name, family)


def keyed_by_name(spelling: str) -> KeyedNd1:
    """The family of `nd1:NAME` with the key in the environment; `nd1:NAME#CHECK` checks the key."""
    label, check = _taken_apart(spelling)
    if check is not None and spelling in _given:
        return _given[spelling]
    variable = key_variable(label)
    text = os.environ.get(variable, "").strip()
    if not text:
        which = (
            "at least 16 random bytes in hex (`openssl rand -hex 16` gives some)"
            if check is None
            else "the key it was made with, in hex"
        )
        raise SettingError(
            f"{spelling} needs its key: set {variable} to {which}, or in Python call "
            f"neardup.keyed({label!r}, secret)"
        )
    if not _HEX.fullmatch(text):
        raise SettingError(
            f"{variable} is not a key in hex: it must hold an even number of the digits 0-9 and "
            "a-f, and nothing else; `openssl rand -hex 16` gives one"
        )
    family = _checked(label, bytes.fromhex(text), variable)
    if check is not None and family.name != spelling:
        raise SchemeMismatchError(
            f"{variable} holds the key of {family.name}, but {spelling} was made with another key; "
            "set it to that one"
        )
    return family


def is_full_name(name: str) -> bool:
    """Whether this is the name of a keyed family with the check of its key."""
    match = _SPELLING.fullmatch(name)
    return match is not None and match[2] is not None


def key_variable(label: str) -> str:
    """The environment variable that holds a key: upper case, with `_` for `-`.

    >>> key_variable("web-crawl")
    'NEARDUP_KEY_WEB_CRAWL'
    """
    return _VARIABLE + label.upper().replace("-", "_")


def _taken_apart(spelling: str) -> tuple[str, str | None]:
    match = _SPELLING.fullmatch(spelling)
    if match is None or _LIKE_A_KEY.fullmatch(match[1]):
        raise _bad_name()
    return match[1], match[2]


def _bad_name() -> SettingError:
    # The name is not repeated: it may be the key.
    return SettingError(
        "what follows nd1: is the name of a key, up to 32 lower-case letters, digits, - and _, and "
        f"not the key itself; nd1:crawl takes the key in {key_variable('crawl')}"
    )


def _checked(label: str, secret: bytes, where: str) -> KeyedNd1:
    if not isinstance(secret, bytes | bytearray):
        raise SettingError(
            f"the secret of nd1:{label} is of type {type(secret).__name__}; give random bytes, for "
            "example secrets.token_bytes(16)"
        )
    if not LEAST_BYTES <= len(secret) <= MOST_BYTES:
        raise SettingError(
            f"{where} is a key of {len(secret)} bytes; nd1:{label} takes {LEAST_BYTES} to "
            f"{MOST_BYTES}"
        )
    if len(set(secret)) < _LEAST_DIFFERENT:
        raise SettingError(
            f"{where} is not a random key: it repeats the same few bytes; make one with "
            "`openssl rand -hex 16` or secrets.token_bytes(16)"
        )
    return KeyedNd1(label, bytes(secret))

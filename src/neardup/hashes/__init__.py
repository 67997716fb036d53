"""Hash families: terms → bits, by name; `measurement` measures how good the bits are."""

from neardup.hashes.family import HashFamily
from neardup.hashes.keyed import PREFIX as KEYED_PREFIX, KeyedNd1, keyed
from neardup.hashes.names import PREFIX as FUNCTION_PREFIX, hash_family

__all__ = [
    "FUNCTION_PREFIX",
    "KEYED_PREFIX",
    "HashFamily",
    "KeyedNd1",
    "hash_family",
    "keyed",
]

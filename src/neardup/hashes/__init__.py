"""Hash families: terms → bits, by name; how good the bits are is measured in `measurement`."""

from neardup.hashes.family import HashFamily
from neardup.hashes.functions import PREFIX as FUNCTION_PREFIX
from neardup.hashes.names import hash_family
from neardup.hashes.universal import universal_hash

__all__ = ["FUNCTION_PREFIX", "HashFamily", "hash_family", "universal_hash"]

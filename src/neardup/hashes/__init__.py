"""Hash families: terms → bits, by name; and how good the bits are."""

from neardup.hashes.balance import BitBalance
from neardup.hashes.family import HashFamily
from neardup.hashes.functions import PREFIX as FUNCTION_PREFIX
from neardup.hashes.load import Load
from neardup.hashes.measurement import Measurement, measure
from neardup.hashes.names import hash_family
from neardup.hashes.universal import universal_hash
from neardup.hashes.words import common_words

__all__ = [
    "FUNCTION_PREFIX",
    "BitBalance",
    "HashFamily",
    "Load",
    "Measurement",
    "common_words",
    "hash_family",
    "measure",
    "universal_hash",
]

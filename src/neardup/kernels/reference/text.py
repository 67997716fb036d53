"""The twin of the text kernels: the definition of the nd1 scheme in plain Python.

`docs/reference/scheme.md` describes it. Every native result is tested against this module.
"""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neardup.kernels.reference.keyed import KeyedHash

MASK = 2**64 - 1

# Fractional digits of pi, and the golden ratio: nothing-up-my-sleeve numbers.
LOW_KEY = 0x243F6A8885A308D3
HIGH_KEY = 0x452821E638D01377
SHINGLE_BASE = 0x9E3779B97F4A7C15
FEATURE_KEY = 0x13198A2E03707344
TURNED_KEY = 0xC0AC29B7C97C50DD
WIDTH_STEP = 0xA4093822299F31D1
WIDTH_KEY = 0x3F84D5B5B5470917
KEY_SEED = 0xA4093822299F31D0
SECOND_KEY_SEED = 0x082EFA98EC4E6C89


@cache
def kinds() -> dict[int, str]:
    """Map every code point that is not `other` to letter, mark, solo or space."""
    table = {}
    for first, last, kind in kind_ranges():
        table.update(dict.fromkeys(range(first, last + 1), kind))
    return table


@cache
def lower_map() -> dict[int, int]:
    """Map every code point with a simple lower-case mapping to its lower case."""
    return {
        code: code + delta
        for first, last, stride, delta in lower_ranges()
        for code in range(first, last + 1, stride)
    }


def kind_ranges() -> list[tuple[int, int, str]]:
    """The first and last code point of each range of one kind."""
    return [(int(first, 16), int(last, 16), kind) for first, last, kind in _ranges("ND_KIND")]


def lower_ranges() -> list[tuple[int, int, int, int]]:
    """First, last and stride of code points with a lower case, and how far away that is."""
    return [
        (int(first, 16), int(last, 16), int(stride), int(delta))
        for first, last, stride, delta in _ranges("ND_LOWER")
    ]


def _ranges(macro: str) -> list[tuple[str, ...]]:
    from importlib.resources import files

    text = files("neardup.kernels").joinpath("unicode_ranges.inc").read_text(encoding="ascii")
    return [tuple(line.split(", ")) for line in re.findall(rf"^{macro}\((.*)\)$", text, re.M)]


def lower(text: str) -> str:
    """Lower-case each code point by itself, regardless of context."""
    return text.translate(lower_map())


def words(text: str) -> list[str]:
    """Cut lower-cased text into words: a letter with the letters and marks after it, or a solo."""
    found, word = [], ""
    for char in lower(text):
        kind = kinds().get(ord(char))
        if kind == "letter" or (kind == "mark" and word):
            word += char
            continue
        if word:
            found.append(word)
        word = ""
        if kind == "solo":
            found.append(char)
    return [*found, word] if word else found


def folded(text: str) -> str:
    """Lower-case the text, collapse each run of white space to one space, and strip the ends."""
    out: list[str] = []
    for char in lower(text):
        space = kinds().get(ord(char)) == "space"
        if not space:
            out.append(char)
        elif out and out[-1] != " ":
            out.append(" ")
    return "".join(out).rstrip(" ")


def units(text: str, unit: str) -> list[str]:
    """The units of shingles: words, or code points of the folded text."""
    return words(text) if unit == "word" else list(folded(text))


def shingles(parts: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Every run of `size` consecutive units; of fewer units, all of them as one shingle."""
    if len(parts) < size:
        return [tuple(parts)] if parts else []
    return [tuple(parts[i : i + size]) for i in range(len(parts) - size + 1)]


def fold_multiply(a: int, b: int) -> int:
    """Multiply to 128 bits and fold the halves together."""
    product = a * b
    return (product & MASK) ^ (product >> 64)


def rotate_half(x: int) -> int:
    """Swap the halves of a 64-bit number."""
    return ((x << 32) | (x >> 32)) & MASK


def unit_value(unit: str) -> int:
    """Hash the UTF-8 bytes of a unit, sixteen at a time, the last block with the length."""
    data = unit.encode()
    value = 0
    for start in range(0, len(data), 16):
        block = data[start : start + 16].ljust(16, b"\0")
        low, high = int.from_bytes(block[:8], "little"), int.from_bytes(block[8:], "little")
        length = len(data) if start + 16 >= len(data) else 0
        value = fold_multiply(low ^ LOW_KEY ^ value, high ^ HIGH_KEY ^ length)
    return value


def feature_hash(shingle: Iterable[str]) -> int:
    """Hash a shingle: a polynomial in its units' values, then one more multiplication."""
    total = 0
    for unit in shingle:
        total = (total * SHINGLE_BASE + unit_value(unit)) & MASK
    return fold_multiply(total ^ FEATURE_KEY, rotate_half(total) ^ TURNED_KEY)


def widen(feature: int, place: int) -> int:
    """The hash that a feature contributes to the 64-bit word `place` of a fingerprint."""
    if place == 0:
        return feature
    key = place * WIDTH_STEP & MASK
    return fold_multiply(feature ^ key, rotate_half(feature) ^ WIDTH_KEY)


def content_key(features: Sequence[int], weights: Sequence[float] | None = None) -> tuple[int, int]:
    """Two chains of multiplications over the distinct, ascending features of a document.

    They take two features at a time, or a feature and the bits of its weight.
    """
    first, second = KEY_SEED ^ len(features), SECOND_KEY_SEED ^ len(features)
    if weights is None:
        numbers = [*features, 0][: len(features) + len(features) % 2]
    else:
        bits = [int.from_bytes(struct.pack("<d", weight), "little") for weight in weights]
        numbers = [number for pair in zip(features, bits, strict=True) for number in pair]
    for x, y in zip(numbers[::2], numbers[1::2], strict=True):
        first, second = (
            fold_multiply(first ^ x, y ^ LOW_KEY),
            fold_multiply(second ^ y, x ^ FEATURE_KEY),
        )
    return first, second


def ordered_features(features: Sequence[int], weights: Sequence[float]) -> list[tuple[int, float]]:
    """The distinct features of a document, ascending; weights of equal ones add up as they come."""
    found: dict[int, float] = {}
    for feature, weight in zip(features, weights, strict=True):
        found[feature] = found[feature] + weight if feature in found else weight
    return sorted(found.items())


def feature_in_field(feature: int, field: str) -> int:
    """Hash a feature with the field of a record: the same word in two fields is two features."""
    total = (feature * SHINGLE_BASE + unit_value(field)) & MASK
    return fold_multiply(total ^ FEATURE_KEY, rotate_half(total) ^ TURNED_KEY)


def features(text: str, unit: str, size: int, keyed: KeyedHash | None = None) -> list[int]:
    """The feature hashes of a text, with repetitions; none if it has no words."""
    if not words(text):
        return []
    hashed = feature_hash if keyed is None else keyed.feature_hash
    return [hashed(shingle) for shingle in shingles(units(text, unit), size)]


def feature_counts(
    text: str, shingles: Iterable[tuple[str, int]], keyed: KeyedHash | None = None
) -> list[tuple[int, int]]:
    """The distinct features of all kinds of shingles, ascending, each with its count."""
    counted: Counter[int] = Counter()
    for unit, size in shingles:
        counted.update(features(text, unit, size, keyed))
    return sorted(counted.items())


def fingerprint(
    text: str,
    *,
    unit: str,
    size: int,
    distinct: bool,
    bits: int,
    ties_up: bool,
    keyed: KeyedHash | None = None,
) -> list[int]:
    """The fingerprint as 64-bit words; bit 0 is the most significant bit of the first."""
    hashes = features(text, unit, size, keyed)
    widened_at = widen if keyed is None else keyed.widen
    if distinct:
        hashes = list(dict.fromkeys(hashes))
    row = []
    for place in range(-(-bits // 64)):
        widened = [widened_at(feature, place) for feature in hashes]
        word = 0
        for bit in range(64):
            ones = sum(value >> (63 - bit) & 1 for value in widened)
            total = ones - (len(widened) - ones)
            inside = 64 * place + bit < bits
            if hashes and inside and (total > 0 or (ties_up and total == 0)):
                word |= 1 << (63 - bit)
        row.append(word)
    return row


def weigh(
    weights: Sequence[float], digests: Sequence[int], *, bits: int, ties_up: bool
) -> tuple[int, list[float]]:
    """The fingerprint of weighted terms as a number of `bits` bits, and the sum for each bit.

    A digest is a number of `bits` bits too. Weights are rounded (half to even) to multiples of the
    smallest power of two for which sums fit 64 bits, so that sums do not depend on the order.
    """
    exponent = math.frexp(max(map(abs, weights), default=0.0))[1]
    shift = min(61 - exponent - len(weights).bit_length(), 1000)
    fixed = [round(Fraction(weight) * Fraction(2) ** shift) for weight in weights]
    fingerprint, sums = 0, []
    for bit in range(bits):
        signs = [1 if digest >> (bits - 1 - bit) & 1 else -1 for digest in digests]
        total = sum(sign * weight for sign, weight in zip(signs, fixed, strict=True))
        set_ = bool(weights) and (total > 0 or (ties_up and total == 0))
        fingerprint = fingerprint << 1 | set_
        sums.append(float(total) / math.ldexp(1.0, shift))
    return fingerprint, sums

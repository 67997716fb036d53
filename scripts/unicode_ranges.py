"""Derive the pinned Unicode ranges of the nd1 scheme from Python's own tables.

Run it with a Python whose `unicodedata` has the pinned version (3.13 has 15.1.0):

    python3.13 scripts/unicode_ranges.py > src/neardup/kernels/unicode_ranges.inc

The output is both C++ (included by the kernels) and data (parsed by the reference twin), so
the two can never disagree. It changes only together with the name of the hash scheme.
"""

import sys
import unicodedata
from collections.abc import Callable, Iterator

PINNED_VERSION = "15.1.0"
CODE_POINTS = range(0x110000)
SURROGATES = range(0xD800, 0xE000)

# `unicodedata` has no Script property; the character names carry the same information.
SOLO_NAMES = (
    "CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC", "VERTICAL IDEOGRAPHIC",
    "OLD CHINESE ITERATION", "HANGZHOU NUMERAL", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA",
    "HENTAIGANA", "THAI", "LAO", "KHMER", "MYANMAR",
)  # fmt: skip
# Letter numbers (category Nl) are no digits, but these are Han characters all the same.
HAN_NUMBERS = {0x3007, *range(0x3021, 0x302A), *range(0x3038, 0x303B)}
HAN_TONE_MARKS = range(0x302A, 0x302E)  # they combine with any script's letters


def kind(code: int) -> str:
    """Name the part that a code point plays in cutting text into words."""
    char = chr(code)
    category = unicodedata.category(char)
    if category[0] in "LM" or category == "Nd" or code in HAN_NUMBERS:
        if unicodedata.name(char, "").startswith(SOLO_NAMES) and code not in HAN_TONE_MARKS:
            return "solo"
        return "mark" if category[0] == "M" else "letter"
    if char == "_":
        return "letter"
    if category in ("Zs", "Zl", "Zp") or code in (9, 10, 11, 12, 13, 0x85):
        return "space"
    return "other"


def lower_delta(code: int) -> int:
    """Return how far away the simple lower-case mapping of a code point lies."""
    if code == 0x130:  # the only one whose full mapping (i + U+0307) is longer than its simple one
        return 0x69 - 0x130
    if code in SURROGATES:
        return 0
    return ord(chr(code).lower()) - code


def runs(of: Callable[[int], object]) -> Iterator[tuple[int, int, object]]:
    """Yield the maximal ranges of code points over which `of` is constant."""
    first, value = 0, of(0)
    for code in CODE_POINTS[1:]:
        now = of(code)
        if now != value:
            yield first, code - 1, value
            first, value = code, now
    yield first, CODE_POINTS[-1], value


def lower_ranges() -> Iterator[tuple[int, int, int, int]]:
    """Yield (first, last, stride, delta), joining the alternating pairs of capital and small."""
    codes = [code for code in CODE_POINTS if lower_delta(code)]
    i = 0
    while i < len(codes):
        best = i
        stride = 1
        for step in (1, 2):
            j = i
            while (
                j + 1 < len(codes)
                and codes[j + 1] - codes[j] == step
                and lower_delta(codes[j + 1]) == lower_delta(codes[i])
            ):
                j += 1
            if j > best:
                best, stride = j, step
        yield codes[i], codes[best], stride, lower_delta(codes[i])
        i = best + 1


def main() -> None:
    """Write the ranges to standard output."""
    if unicodedata.unidata_version != PINNED_VERSION:
        sys.exit(f"this Python has Unicode {unicodedata.unidata_version}, wanted {PINNED_VERSION}")
    print(f"// Unicode {PINNED_VERSION}, written by scripts/unicode_ranges.py; do not edit.")
    for first, last, value in runs(kind):
        if value != "other":
            print(f"ND_KIND(0x{first:04X}, 0x{last:04X}, {value})")
    for first, last, stride, delta in lower_ranges():
        print(f"ND_LOWER(0x{first:04X}, 0x{last:04X}, {stride}, {delta})")


if __name__ == "__main__":
    main()

"""Documents crafted against plain nd1, whose constants are public."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

import neardup as nd
from neardup.hashes.family import common_words
from neardup.hashes.nd1 import feature_rows
from neardup.kernels.reference import text as reference

DOCUMENTS = 20_000
Hashes = NDArray[np.uint64]
LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789_", np.uint8)
_AT_ONCE = 1 << 18


def numbered_words(first: int, count: int, length: int, start: str = "") -> list[str]:
    """Different words of one length: numbers written with letters."""
    numbers = np.arange(first, first + count)
    places = [numbers // 26 ** min(turn, 13) % 26 for turn in range(length)]
    letters = LETTERS[np.stack(places, axis=1)]
    return [start + row.tobytes().decode() for row in letters]


# Words of one hash ------------------------------------------------------------------------------


def common_start() -> str:
    """Find 24 characters after which a word's hash no longer depends on what follows.

    A block of a word is hashed by one multiplication. If the hash of the first 16 bytes turns the
    next 8 into a factor of zero, the product is zero whatever the other factor is.
    """
    mask = np.zeros(256, np.bool_)
    mask[LETTERS] = True
    for first in range(0, 1 << 40, _AT_ONCE):
        words = numbered_words(first, _AT_ONCE, 16)
        wanted = _block_values(words) ^ np.uint64(reference.LOW_KEY)
        as_bytes = wanted.astype("<u8").view(np.uint8).reshape(-1, 8)
        found = np.flatnonzero(mask[as_bytes].all(axis=1))
        if len(found):
            start, end = words[found[0]], as_bytes[found[0]].tobytes().decode()
            return f"{start}{end}"
    raise AssertionError("one of some five million is fit")


def _block_values(words: list[str]) -> Hashes:
    """The value of nd1 after the first 16 bytes of longer words."""
    halves = np.frombuffer("".join(words).encode(), "<u8").reshape(-1, 2).astype(np.uint64)
    low_key, high_key = np.uint64(reference.LOW_KEY), np.uint64(reference.HIGH_KEY)
    return _fold_multiply(halves[:, 0] ^ low_key, halves[:, 1] ^ high_key)


def same_features(start: str, words: int = 100) -> list[str]:
    """Documents without a word in common that have the same features."""
    every = numbered_words(0, DOCUMENTS * words, 7, start)
    return [" ".join(every[i : i + words]) for i in range(0, len(every), words)]


# Words that fall into one stretch of a table ----------------------------------------------------


def words_where(
    wanted: int, fits: Callable[[Hashes], NDArray[np.bool_]], at_once: int = 1 << 18
) -> list[str]:
    """The first words whose nd1 feature hash fits."""
    found: list[str] = []
    for first in range(0, 1 << 40, at_once):
        words = numbered_words(first, at_once, 7)
        good = np.flatnonzero(fits(feature_rows(words, 64, None)[:, 0]))
        found += [words[place] for place in good]
        if len(found) >= wanted:
            break
    return found[:wanted]


def in_one_stretch(hashes: Hashes) -> NDArray[np.bool_]:
    """In a thirty-second of a table that takes the low bits of a hash for its slot."""
    inside: NDArray[np.bool_] = hashes % np.uint64(1 << 19) < np.uint64(1 << 14)
    return inside


def in_one_part(hashes: Hashes) -> NDArray[np.bool_]:
    """In few parts of the ranking of the exact join, and there in a sixteenth of the table."""
    parts = hashes * np.uint64(0xD6E8FEB86659FD93) >> np.uint64(61)
    slots = hashes * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)
    inside: NDArray[np.bool_] = (parts == 0) & (slots % np.uint64(1 << 15) < np.uint64(1 << 11))
    return inside


def documents_of(words: list[str], times: int) -> list[str]:
    """Documents of as many words each, every word in as many documents as said."""
    rng = np.random.default_rng(1)
    places = np.concatenate([rng.permutation(len(words)) for _ in range(times)])
    each = len(places) // DOCUMENTS
    rows = places[: each * DOCUMENTS].reshape(DOCUMENTS, each)
    return [" ".join(words[place] for place in row) for row in rows]


# Documents of a chosen fingerprint --------------------------------------------------------------


def steered(
    target: int, mask: int, count: int, most_words: int, tried: int, seed: int
) -> list[str]:
    """Documents of ordinary words whose fingerprint (word:3, 64 bits) is `target` within `mask`.

    Word by word, the one is taken, of some, that moves the sums most towards the wanted signs.
    """
    rng = np.random.default_rng(seed)
    words = np.array([word for word in common_words() if word.isalpha()])
    values = np.array([reference.unit_value(word) for word in words.tolist()], np.uint64)
    return list(_steered(target, mask, count, most_words, tried, words, values, rng))


def varied(documents: list[str], times: int = 10) -> list[str]:
    """As many documents of each, with other last words: that hardly moves a fingerprint."""
    words = common_words()
    return [f"{text} {words[i]}" for text in documents for i in range(times)]


def _steered(
    target: int,
    mask: int,
    count: int,
    most_words: int,
    tried: int,
    words: NDArray[np.str_],
    values: Hashes,
    rng: np.random.Generator,
    at_once: int = 250,
) -> Iterator[str]:
    base = np.uint64(reference.SHINGLE_BASE)
    signs = _signs(np.array([target], np.uint64))[0] * _mask_bits(mask)
    for first in range(0, count, at_once):
        some = min(at_once, count - first)
        chosen = rng.integers(0, len(words), (some, most_words))
        sums = np.zeros((some, 64), np.float32)
        rows = np.arange(some)
        for place in range(2, most_words):
            before = (
                values[chosen[:, place - 2]] * base * base + values[chosen[:, place - 1]] * base
            )
            candidates = rng.integers(0, len(words), (some, tried))
            hashes = _features(before[:, None] + values[candidates])
            moved = sums[:, None, :] + _signs(hashes) * np.abs(signs)
            # Signs that are right by a wide margin are no longer worth anything.
            gain = np.minimum(moved * signs, 6).sum(axis=2)
            best = gain.argmax(axis=1)
            chosen[:, place] = candidates[rows, best]
            sums = moved[rows, best]
        yield from (" ".join(words[row]) for row in chosen)


def _features(totals: Hashes) -> Hashes:
    """The end of nd1's feature hash: a multiplication to 128 bits, whose halves are folded."""
    half = np.uint64(32)
    turned = totals << half | totals >> half
    key, turned_key = np.uint64(reference.FEATURE_KEY), np.uint64(reference.TURNED_KEY)
    return _fold_multiply(totals ^ key, turned ^ turned_key)


def _fold_multiply(a: Hashes, b: Hashes) -> Hashes:
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    middle = (a >> half) * (b & low) + ((a & low) * (b & low) >> half)
    other = (a & low) * (b >> half) + (middle & low)
    high = (a >> half) * (b >> half) + (middle >> half) + (other >> half)
    folded: Hashes = high ^ a * b
    return folded


def _signs(hashes: Hashes) -> NDArray[np.float32]:
    """Each bit as +1 or -1, the most significant first."""
    as_bytes = np.ascontiguousarray(hashes.astype(">u8")).view(np.uint8)
    bits = np.unpackbits(as_bytes.reshape(*hashes.shape, 8), axis=-1)
    return bits.astype(np.float32) * 2 - 1


def _mask_bits(mask: int) -> NDArray[np.float32]:
    return np.array([mask >> (63 - bit) & 1 for bit in range(64)], np.float32)


# Documents near the threshold -------------------------------------------------------------------


def near_the_threshold() -> list[str]:
    """Documents of 38 of the same 56 words: every pair is a candidate and none is near enough."""
    rng = np.random.default_rng(3)
    words = np.array(numbered_words(0, 56, 5))
    return [" ".join(words[rng.permutation(56)[:38]]) for _ in range(DOCUMENTS)]


def ordinary(words_each: int, seed: int = 2) -> list[str]:
    """Documents of random words, to compare with."""
    rng = np.random.default_rng(seed)
    every = numbered_words(0, 400_000, 7)
    rows = rng.integers(0, len(every), (DOCUMENTS, words_each))
    return [" ".join(every[place] for place in row) for row in rows]


def victim() -> tuple[str, int]:
    """A text that someone else will publish, and its plain fingerprint."""
    text = (
        "The council will decide on Thursday whether the old harbour railway becomes a cycle path, "
        "after more than four thousand residents signed a petition against the planned car park."
    )
    return text, int(nd.fingerprint([text])[0])

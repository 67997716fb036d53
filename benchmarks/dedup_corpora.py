"""Collections with planted near-duplicates, as JSON Lines, with the truth beside them.

The words are those of the generated English text, with Zipf's frequencies and without punctuation,
so that cutting at white space finds the same words as neardup does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks import generated

SEED = 5
PLANTED_SHARE = 0.1
LEAST_EDITED, MOST_EDITED = 0.01, 0.05
SHINGLE = 3
IDENTICAL, ALIKE_AT_THE_TOP, HEADER = 200_000, 100_000, 50
GIANT_WORDS = 150
ROWS_AT_ONCE = 100_000

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Collection:
    """A file of documents; which words each has, and which pairs of rows were planted."""

    path: Path
    words: NDArray[np.uint16]
    planted: Ints

    def jaccard(self, pairs: Ints) -> NDArray[np.float64]:
        """The true similarity of pairs of rows: Jaccard on their runs of three words."""
        parts = [
            _jaccard(self._shingles(part[:, 0]), self._shingles(part[:, 1]))
            for part in np.array_split(pairs, 1 + len(pairs) // ROWS_AT_ONCE)
        ]
        return np.concatenate(parts)

    def _shingles(self, rows: Ints) -> Ints:
        words = self.words[rows].astype(np.int64)
        windows = [words[:, i : words.shape[1] - SHINGLE + 1 + i] for i in range(SHINGLE)]
        return np.asarray((windows[0] << 32) | (windows[1] << 16) | windows[2])


def _jaccard(a: Ints, b: Ints) -> NDArray[np.float64]:
    together = _distinct(np.concatenate((a, b), axis=1))
    return np.asarray((_distinct(a) + _distinct(b) - together) / together)


def _distinct(rows: Ints) -> Ints:
    """How many different numbers each row has."""
    ordered = np.sort(rows, axis=1)
    return np.asarray(1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1))


def planted(n: int, words_each: int, path: Path) -> Collection:
    """Unrelated documents, and for a tenth of them one with 1-5 % of its words changed."""
    state = np.random.RandomState(SEED)
    vocabulary, draw = _vocabulary(state)
    words = draw((n, words_each))
    copies = round(n * PLANTED_SHARE)
    originals, edited = state.permutation(n)[: 2 * copies].reshape(2, copies)
    shares = LEAST_EDITED + (MOST_EDITED - LEAST_EDITED) * state.random_sample(copies)
    changes = np.maximum(1, np.rint(shares * words_each)).astype(np.int64)
    ranks = np.argsort(state.random_sample((copies, words_each)), axis=1)
    words[edited] = np.where(
        ranks < changes[:, None], draw((copies, words_each)), words[originals]
    )
    _write(vocabulary, words, path)
    pairs = np.sort(np.stack((originals, edited), axis=1), axis=1).astype(np.int64)
    return Collection(path, words, pairs)


def giant(path: Path) -> Collection:
    """One text 200,000 times, and 100,000 different ones under the same header of 50 words."""
    state = np.random.RandomState(SEED)
    vocabulary, draw = _vocabulary(state)
    words = draw((IDENTICAL + ALIKE_AT_THE_TOP, GIANT_WORDS))
    words[:IDENTICAL] = words[0]
    words[IDENTICAL:, :HEADER] = words[IDENTICAL, :HEADER]
    state.shuffle(words)
    _write(vocabulary, words, path)
    return Collection(path, words, np.zeros((0, 2), np.int64))


def _vocabulary(state: np.random.RandomState):  # type: ignore[no-untyped-def]
    raise NotImplementedError


def _write(vocabulary: pa.Array, words: NDArray[np.uint16], path: Path) -> None:
    """A line for each document; its id is the number of its row."""
    with path.open("wb") as file:
        for first in range(0, len(words), ROWS_AT_ONCE):
            part = words[first : first + ROWS_AT_ONCE]
            offsets = np.arange(len(part) + 1, dtype=np.int32) * part.shape[1]
            lists = pa.ListArray.from_arrays(pa.array(offsets), vocabulary.take(pa.array(part.ravel())))
            ids = pa.array(np.arange(first, first + len(part))).cast(pa.string())
            pieces = ('{"id": "', ids, '", "text": "', pc.binary_join(lists, " "), '"}\n')
            for line in pc.binary_join_element_wise(*pieces, ""):
                pass

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
Words = NDArray[np.uint16]


@dataclass(frozen=True)
class Collection:
    """A file of documents; which words each has, and which pairs of rows were planted."""

    path: Path
    words: Words
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
    vocabulary = _vocabulary(state)
    words = _draw(state, n, words_each, len(vocabulary))
    copies = round(n * PLANTED_SHARE)
    originals, edited = state.permutation(n)[: 2 * copies].reshape(2, copies)
    shares = LEAST_EDITED + (MOST_EDITED - LEAST_EDITED) * state.random_sample(copies)
    changes = np.maximum(1, np.rint(shares * words_each)).astype(np.int64)
    places = np.argsort(state.random_sample((copies, words_each)), axis=1)
    before, after = words[originals], _draw(state, copies, words_each, len(vocabulary))
    same = after == before  # a changed word is another one
    after[same] = (after[same] + 1) % len(vocabulary)
    words[edited] = np.where(places < changes[:, None], after, before)
    _write(vocabulary, words, path)
    pairs = np.sort(np.stack((originals, edited), axis=1), axis=1).astype(np.int64)
    return Collection(path, words, pairs)


def giant(path: Path) -> Collection:
    """One text 200,000 times, and 100,000 different ones under the same header of 50 words."""
    state = np.random.RandomState(SEED)
    vocabulary = _vocabulary(state)
    words = _draw(state, IDENTICAL + ALIKE_AT_THE_TOP, GIANT_WORDS, len(vocabulary))
    words[:IDENTICAL] = words[0]
    words[IDENTICAL:, :HEADER] = words[IDENTICAL, :HEADER]
    words = words[state.permutation(len(words))]
    _write(vocabulary, words, path)
    return Collection(path, words, np.zeros((0, 2), np.int64))


def _vocabulary(state: np.random.RandomState) -> pa.Array:
    return pa.array(generated.language("English").words(state))


def _draw(state: np.random.RandomState, n: int, words_each: int, vocabulary: int) -> Words:
    """Words by their ranks, with Zipf's frequencies."""
    steps = np.cumsum(1.0 / (np.arange(vocabulary) + 2.7))
    drawn = np.empty((n, words_each), np.uint16)
    for first in range(0, n, ROWS_AT_ONCE):
        part = drawn[first : first + ROWS_AT_ONCE]
        part[:] = np.searchsorted(steps, state.random_sample(part.shape) * steps[-1])
    return drawn


def _write(vocabulary: pa.Array, words: Words, path: Path) -> None:
    """A line for each document; its id is the number of its row."""
    with path.open("wb") as file:
        for first in range(0, len(words), ROWS_AT_ONCE):
            part = words[first : first + ROWS_AT_ONCE]
            offsets = np.arange(len(part) + 1, dtype=np.int32) * part.shape[1]
            spelled = vocabulary.take(pa.array(part.ravel()))
            texts = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), spelled), " ")
            ids = pa.array(np.arange(first, first + len(part))).cast(pa.string())
            lines = pc.binary_join_element_wise('{"id": "', ids, '", "text": "', texts, '"}\n', "")
            file.write(memoryview(lines.buffers()[2])[: pc.sum(pc.binary_length(lines)).as_py()])

"""Generated collections as JSON Lines, with the truth beside them.

Some have planted near-duplicates. Others are families of documents that lie just below a threshold
of 0.7, where a search has most to do that looks at every pair that might reach it.

The words are those of the generated English text, without punctuation, so that cutting at white
space finds the same words as neardup does; most are drawn with Zipf's frequencies.
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
FAMILIES = 4
FAMILY_WORDS, LEAST_CORE, MOST_CORE = 150, 120, 122
LETTER_WORDS, GAPS, FILLINGS = 554, 60, 20
HEAD, BODY, FOOT = 200, 96, 200
ROWS_AT_ONCE = 100_000

PLANTED = (
    "A tenth of the documents are copies of others with 1-5 % of the words changed; no document is "
    "in two such pairs."
)

Ints = NDArray[np.int64]
Words = NDArray[np.uint16]

NO_PAIRS: Ints = np.zeros((0, 2), np.int64)


@dataclass(frozen=True)
class Collection:
    """A file of documents: their ids are the numbers of their rows; `about` says what they are."""

    path: Path
    documents: int
    about: str


@dataclass(frozen=True)
class Generated(Collection):
    """Which words each document has, and which pairs of rows were planted."""

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


def planted(n: int, words_each: int, path: Path) -> Generated:
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
    pairs = np.sort(np.stack((originals, edited), axis=1), axis=1).astype(np.int64)
    return _written(vocabulary, words, path, PLANTED, pairs)


def giant(path: Path) -> Generated:
    """One text 200,000 times, and 100,000 different ones under the same header of 50 words."""
    state = np.random.RandomState(SEED)
    vocabulary = _vocabulary(state)
    words = _draw(state, IDENTICAL + ALIKE_AT_THE_TOP, GIANT_WORDS, len(vocabulary))
    words[:IDENTICAL] = words[0]
    words[IDENTICAL:, :HEADER] = words[IDENTICAL, :HEADER]
    about = (
        f"{IDENTICAL:,} identical documents, and {ALIKE_AT_THE_TOP:,} that share their first "
        f"{HEADER} of {GIANT_WORDS} words."
    )
    return _written(vocabulary, words[state.permutation(len(words))], path, about)


def just_below(n: int, path: Path) -> Generated:
    """Families with a core of words in common, and for the rest words of their own."""
    state = np.random.RandomState(SEED)
    vocabulary = _vocabulary(state)
    words = state.randint(0, len(vocabulary), (n, FAMILY_WORDS)).astype(np.uint16)
    core = words[np.arange(n) % FAMILIES]
    sizes = state.randint(LEAST_CORE, MOST_CORE + 1, n)
    words = np.where(np.arange(FAMILY_WORDS) < sizes[:, None], core, words)
    about = (
        f"{FAMILIES} families of {n // FAMILIES:,}. The documents of a family share their first "
        f"{LEAST_CORE} to {MOST_CORE} of {FAMILY_WORDS} words: any two have a Jaccard index of "
        "0.66 to 0.69."
    )
    return _written(vocabulary, words, path, about)


def letters(n: int, path: Path) -> Generated:
    """Form letters: no word is rare, so that rare features do not tell them apart."""
    state = np.random.RandomState(SEED)
    vocabulary = _vocabulary(state)
    families = []
    for _ in range(FAMILIES):
        fixed, around = (
            state.randint(0, len(vocabulary), size) for size in (LETTER_WORDS, (GAPS, SHINGLE - 1))
        )
        fillings = state.randint(0, len(vocabulary), (FILLINGS, GAPS))
        chosen = state.randint(0, FILLINGS, (n // FAMILIES, GAPS))
        letter = np.empty((len(chosen), GAPS, SHINGLE), np.uint16)
        letter[:, :, :-1], letter[:, :, -1] = around, fillings[chosen, np.arange(GAPS)]
        repeated = np.broadcast_to(fixed.astype(np.uint16), (len(chosen), LETTER_WORDS))
        families.append(np.hstack((repeated, letter.reshape(len(chosen), -1))))
    words = np.concatenate(families)
    about = (
        f"{FAMILIES} families of {n // FAMILIES:,}. The documents of a family share {LETTER_WORDS} "
        f"words, and have {GAPS} gaps that each hold one of {FILLINGS} words: of any two, the "
        "Jaccard index is about 0.62, and for a few close to 0.7. No word is rare, so that rare "
        "features do not tell the documents apart."
    )
    return _written(vocabulary, words[state.permutation(len(words))], path, about)


def template(n: int, path: Path) -> Generated:
    """Pages with the same head and foot, and between them a body of their own."""
    state = np.random.RandomState(SEED)
    vocabulary = _vocabulary(state)
    words = _draw(state, n, HEAD + BODY + FOOT, len(vocabulary))
    words[:, :HEAD], words[:, -FOOT:] = words[0, :HEAD], words[0, -FOOT:]
    about = (
        f"The pages share a head of {HEAD} and a foot of {FOOT} words; between them are {BODY} "
        "words of their own: any two have a Jaccard index of about 0.67."
    )
    return _written(vocabulary, words, path, about)


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


def _written(
    vocabulary: pa.Array, words: Words, path: Path, about: str, pairs: Ints = NO_PAIRS
) -> Generated:
    _write(vocabulary, words, path)
    return Generated(path, len(words), about, words, pairs)


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

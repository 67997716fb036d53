"""Keyword kernels: texts → the words that may become keywords, and the best of them.

The twins are `reference.keywords` and `reference.chinese`. String arrays must not hold nulls.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.kernels import _native
from neardup.kernels.columns import string_buffers
from neardup.kernels.terms import TermCounts, Vocabulary, counted


class Segmenter:
    """Cuts Chinese text into words by a dictionary and, for unknown words, a Markov model.

    `weights` are the logarithms of the probabilities of `words`, 0 for one that only continues
    others. `emissions` has four columns: the states B, M, E and S of a character.
    """

    def __init__(
        self,
        words: pa.Array,
        weights: NDArray[np.float64],
        *,
        unknown_word: float,
        characters: NDArray[np.uint32],
        emissions: NDArray[np.float64],
        starts: Sequence[float],
        moves: Sequence[float],
    ) -> None:
        self.native = _native.segmenter(
            *string_buffers(words),
            weights,
            unknown_word=unknown_word,
            characters=characters,
            emissions=emissions,
            starts=list(starts),
            moves=list(moves),
        )

    def cut(self, text: str) -> list[str]:
        """The words of a text."""
        return self.native.cut(text)


def count_han(texts: pa.Array) -> tuple[NDArray[np.uint32], bool]:
    """The Han characters of each text, and whether any of all is one that segmenters join."""
    return _native.han_counts(*string_buffers(texts))


def find_candidates(
    texts: pa.Array,
    chinese: NDArray[np.bool_],
    segmenter: Segmenter | None,
    *,
    isa: str = "auto",
) -> TermCounts:
    """Count the words of texts that may become keywords.

    Texts marked as Chinese are cut by the segmenter as they are. Others are lower-cased, and only
    their runs of Han characters are cut by it. Words of one character are left out, except in
    scripts written without spaces, such as kana and Thai, where every word has one character.
    """
    native = None if segmenter is None else segmenter.native
    flags = chinese.astype(np.uint8)
    return counted(_native.keyword_candidates(*string_buffers(texts), flags, native, isa=isa))


def best_terms(
    vocabulary: Vocabulary,
    offsets: NDArray[np.int64],
    places: NDArray[np.int32],
    weights: NDArray[np.float64],
    in_order: NDArray[np.bool_],
    count: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose the `count` heaviest terms of each document; returns offsets and the chosen entries.

    On ties, the first term by code points, or in documents marked `in_order` the first entry.
    """
    return _native.best_terms(
        vocabulary.data,
        vocabulary.begins,
        vocabulary.lengths,
        offsets,
        places,
        weights,
        in_order.astype(np.uint8),
        count=count,
    )

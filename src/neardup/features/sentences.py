"""Sentences: where they end, and which of them represent a text.

The rules are exact and part of a scheme. White space, letters and lower case are those of nd1.

1. A blank line (two line breaks with only white space between) ends a paragraph, and the end of a
   paragraph ends a sentence. Any other line break counts as white space.
2. Firm ends always end a sentence: 。！？；｡ and …… (two or more); ؟ and ۔; । and ॥;
   the full stops ։ ። ។ ៕ ။ and the question mark ፧; and ．unless a digit (0–9, ０–９) follows it.
   Firm and soft ends, ．and closing quotes and brackets that follow belong to the sentence.
3. Soft ends are `. ! ? … ‼ ⁇ ⁈ ⁉`. Together with the soft ends and closing quotes and brackets
   that follow (including “ and ‘), they end a sentence if white space follows, and after it neither
   a lower-case letter nor a digit 0–9. Exception: a single full stop does not end a sentence after
   a word of one letter or digit at the start of the paragraph or directly after white space, a full
   stop or one of `([{`, as in `J. Smith`, `the U.S. Army`, `1. Apples`.
4. Colons, semicolons (also the Arabic ؛) and commas do not end a sentence.

Ends are searched from left to right; the characters of an end are not searched again. A sentence
without a word is dropped. A lower-case letter is one that is the lower case of another letter. A
line break is CR LF or one of CR, LF, U+000B, U+000C, U+0085, U+2028 and U+2029. `_CLOSERS` in the
twin, `kernels.reference.sentences`, lists the closing quotes and brackets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import kernels
from neardup.features.spec import LARGEST_SIZE, FeatureKind
from neardup.kernels import HashKey, sentences as kernel
from neardup.kernels.columns import text_column

_WHOLE = [("word", LARGEST_SIZE)]


@dataclass(frozen=True, eq=False)
class ChosenSentences:
    """Text i has the sentences `strings[offsets[i]:offsets[i + 1]]`, in the order of the text.

    `hashes` holds the feature of each: the shingle of all its words.
    """

    offsets: NDArray[np.int64]
    strings: pa.Array
    hashes: NDArray[np.uint64]


def choose_sentences(
    texts: pa.Array, kind: FeatureKind, threads: int = 1, key: HashKey | None = None
) -> ChosenSentences:
    """The longest sentences of each text (`sentences:5`), or those at the `edges` of paragraphs.

    The longest are those with the most words; on ties, the sentence with more code points, then the
    earlier one. Of sentences with the same words, only the first of the longest counts; words are
    compared by their hash, keyed with `key`.

    The edges are the title and the first and last sentence of each paragraph. The title is the
    first line with a word. Paragraphs are separated by blank lines; in a text without blank lines,
    each line is a paragraph. The title is not repeated as a sentence of the first paragraph.
    """
    offsets, strings = kernel.cut_sentences(texts, edges=kind.unit == "edges", threads=threads)
    _, hashes, words = kernels.find_sets(strings, _WHOLE, key=key, threads=threads)
    if kind.unit != "edges":
        offsets, places = kernel.longest_sentences(offsets, strings, words, hashes, kind.size)
        strings, hashes = strings.take(pa.array(places)), hashes[places]
    return ChosenSentences(offsets, strings, hashes)


def passages(
    texts: Sequence[str], kind: FeatureKind, key: HashKey | None = None
) -> list[list[str]]:
    """The chosen sentences of each text, as strings."""
    chosen = choose_sentences(text_column(texts), kind, key=key)
    return _by_text(chosen.offsets, chosen.strings)


def cut_sentences(text: str) -> list[str]:
    """Cut a text into sentences, stripped of white space.

    >>> cut_sentences("It cost 3.14 (approx. 3) euros. “Why?” he asked. 好。”走了")
    ['It cost 3.14 (approx. 3) euros.', '“Why?” he asked.', '好。”', '走了']
    """
    return _by_text(*kernel.cut_sentences(text_column([text]), edges=False))[0]


def _by_text(offsets: NDArray[np.int64], strings: pa.Array) -> list[list[str]]:
    every = strings.to_pylist()
    return [every[begin:end] for begin, end in pairwise(offsets.tolist())]

"""What two texts have in common word for word: the runs of words that both contain."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.errors import SettingError
from neardup.features.words import WordSpans, find_words
from neardup.frozen import dataclass
from neardup.kernels.spans import Places, shared_runs, word_hashes

MIN_WORDS = 8


@dataclass(frozen=True)
class Span:
    """A run of words that two texts share: `a[a_start:a_end]` and `b[b_start:b_end]`.

    Positions count characters. Case, punctuation and white space may differ; `text` is that of a.
    """

    a_start: int
    a_end: int
    b_start: int
    b_end: int
    words: int
    text: str

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False)
class SharedSpans:
    """The spans of two texts, and how many words of each are in them."""

    spans: list[Span]
    words: tuple[int, int]
    shared: tuple[int, int]
    min_words: int

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        sides = {
            name: {"words": words, "shared": shared}
            for name, words, shared in zip("ab", self.words, self.shared, strict=True)
        }
        return {
            "min_words": self.min_words,
            **sides,
            "spans": [span.to_dict() for span in self.spans],
        }


def spans(a: str, b: str, *, min_words: int = MIN_WORDS) -> list[Span]:
    r"""Find the runs of words that two texts share, whatever their case and punctuation.

    A run is as long as it can be: with one more word of `a` on either side it is nowhere in `b`. Of
    several places in `b` the first is given. Runs come in the order of `a`, where they may overlap.
    Time is linear in the length of both texts.

    Args:
        a: The first text.
        b: The second text.
        min_words: Words of a run, at least. A character of Chinese or Japanese is a word.

    >>> import neardup as nd
    >>> page = "Home | News | THE QUICK BROWN FOX\njumps over the lazy dog. | Contact"
    >>> (span,) = nd.spans("The quick brown fox jumps over the lazy dog!", page)
    >>> span.words, page[span.b_start : span.b_end]
    (9, 'THE QUICK BROWN FOX\njumps over the lazy dog')
    """
    return find_spans(a, b, min_words).spans


def find_spans(a: str, b: str, min_words: int = MIN_WORDS) -> SharedSpans:
    """The spans of two texts, and how many words of each are in spans."""
    for name, text in (("a", a), ("b", b)):
        if not isinstance(text, str):
            raise SettingError(f"{name} must be a str, not {type(text).__name__}")
    if not isinstance(min_words, int) or min_words < 1:
        raise SettingError(f"min_words={min_words!r}: a span has at least one word")
    words_a, words_b = find_words(a), find_words(b)
    hashes_a, hashes_b = word_hashes(a), word_hashes(b)
    first, second, lengths = shared_runs(hashes_a, hashes_b, least=min_words)
    of_b, _, lengths_of_b = shared_runs(hashes_b, hashes_a, least=min_words)
    found = [
        _span(words_a, words_b, at_a, at_b, length)
        for at_a, at_b, length in zip(
            first.tolist(), second.tolist(), lengths.tolist(), strict=True
        )
    ]
    return SharedSpans(
        found,
        (len(words_a), len(words_b)),
        (_covered(first, lengths), _covered(of_b, lengths_of_b)),
        min_words,
    )


def _span(a: WordSpans, b: WordSpans, at_a: int, at_b: int, words: int) -> Span:
    a_start, a_end = int(a.starts[at_a]), int(a.ends[at_a + words - 1])
    b_start, b_end = int(b.starts[at_b]), int(b.ends[at_b + words - 1])
    return Span(a_start, a_end, b_start, b_end, words, a.text[a_start:a_end])


def _covered(starts: Places, lengths: Places) -> int:
    """The number of words in runs that may overlap; none is inside another."""
    if not len(starts):
        return 0
    ends = starts + lengths
    return int(ends[-1] - starts[0] - np.maximum(0, starts[1:] - ends[:-1]).sum())

"""What two texts have in common word for word: the runs of words that both contain."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.errors import SettingError
from neardup.features.words import WordSpans, find_words
from neardup.frozen import dataclass
from neardup.kernels.spans import Hashes, Places, shared_runs, word_hashes

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

    @property
    def longest_first(self) -> list[Span]:
        """The spans by their length, then in the order of a."""
        return sorted(self.spans, key=lambda span: (-span.words, span.a_start))

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
    sides = _Side.of("a", a), _Side.of("b", b)
    return _spans(*sides, *_runs(*sides, min_words))


def find_spans(a: str, b: str, min_words: int = MIN_WORDS) -> SharedSpans:
    """The spans of two texts, and how many words of each are in spans."""
    sides = _Side.of("a", a), _Side.of("b", b)
    runs, other_way = _runs(*sides, min_words), _runs(*sides[::-1], min_words)
    return SharedSpans(
        _spans(*sides, *runs),
        (len(sides[0].words), len(sides[1].words)),
        (_covered(runs[0], runs[2]), _covered(other_way[0], other_way[2])),
        min_words,
    )


@dataclass(frozen=True, eq=False)
class _Side:
    """The words of a text, and their hashes."""

    words: WordSpans
    hashes: Hashes

    @classmethod
    def of(cls, name: str, text: str) -> _Side:
        if not isinstance(text, str):
            raise SettingError(f"{name} must be a str, not {type(text).__name__}")
        return cls(find_words(text), word_hashes(text))


def _runs(a: _Side, b: _Side, min_words: int) -> tuple[Places, Places, Places]:
    if not isinstance(min_words, int) or min_words < 1:
        raise SettingError(f"min_words={min_words!r}: a span has at least one word")
    return shared_runs(a.hashes, b.hashes, least=min_words)


def _spans(a: _Side, b: _Side, first: Places, second: Places, lengths: Places) -> list[Span]:
    places = zip(first.tolist(), second.tolist(), lengths.tolist(), strict=True)
    return [_span(a.words, b.words, at_a, at_b, words) for at_a, at_b, words in places]


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

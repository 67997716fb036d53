"""The twin of the sentence kernels, with regular expressions.

`neardup.features.sentences` states the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from neardup.kernels.reference import text as reference

FIRM_ENDS = "。！？；｡؟۔।॥։።፧។៕။"
SOFT_ENDS = ".!?…‼⁇⁈⁉"
_CLOSERS = "\"'”’»›)]}」』）】〕》〉〗〙〛｝］｣＂＇"
SOFT_CLOSERS = _CLOSERS + "“‘"  # „German“ quotes; after 。 they open the next sentence
_OPENERS = "([{"
DIGITS = "0123456789"
_LINE_BREAK = "(?:\r\n|\r(?!\n)|[\n\x0b\x0c\x85\u2028\u2029])"


def cut_sentences(text: str) -> list[str]:
    """Cut a text into sentences, stripped of white space.

    >>> cut_sentences("It cost 3.14 (approx. 3) euros. “Why?” he asked. 好。”走了")
    ['It cost 3.14 (approx. 3) euros.', '“Why?” he asked.', '好。”', '走了']
    """
    return [sentence for paragraph in _paragraphs(text) for sentence in sentences_of(paragraph)]


def longest_sentences(text: str, count: int) -> list[str]:
    """The `count` sentences with the most words, in the order of the text.

    On ties, the sentence with more code points, then the earlier one. Of sentences with the same
    words, only the first of the longest counts.
    """
    sentences = cut_sentences(text)
    words = [tuple(reference.words(sentence)) for sentence in sentences]
    lengths = [(-len(w), -len(s)) for w, s in zip(words, sentences, strict=True)]
    found: dict[tuple[str, ...], int] = {}
    for place in sorted(range(len(sentences)), key=lengths.__getitem__):
        if len(found) == count:
            break
        found.setdefault(words[place], place)
    return [sentences[place] for place in sorted(found.values())]


def edge_sentences(text: str) -> list[str]:
    """The title and the first and last sentence of each paragraph, in the order of the text.

    The title is the first line with a word. Paragraphs are separated by blank lines; in a text
    without blank lines, each line is a paragraph. The title is not repeated as a sentence of the
    first paragraph.
    """
    lines = [line.strip(white_space()) for line in line_breaks().split(text)]
    lines = [line for line in lines if _word_character().search(line)]
    if not lines:
        return []
    paragraphs = [paragraph for paragraph in _paragraphs(text) if paragraph]
    edges = [_edges(sentences_of(part)) for part in (paragraphs if len(paragraphs) > 1 else lines)]
    edges = [pair for pair in edges if pair]
    edges[0] = [sentence for sentence in edges[0] if sentence != lines[0]]
    return [lines[0], *(sentence for pair in edges for sentence in pair)]


def _edges(sentences: Iterable[str]) -> list[str]:
    found = list(sentences)
    return [found[0], found[-1]] if len(found) > 1 else found


def _paragraphs(text: str) -> list[str]:
    return [part.strip(white_space()) for part in _blank_lines().split(text)]


def sentences_of(paragraph: str) -> Iterator[str]:
    """Cut one paragraph, stripped of white space."""
    start = 0
    for mark in _marks().finditer(paragraph):
        if mark[1] or _ends_softly(paragraph, mark):
            sentence = paragraph[start : mark.end()].strip(white_space())
            start = mark.end()
            if _word_character().search(sentence):
                yield sentence
    rest = paragraph[start:].strip(white_space())
    if _word_character().search(rest):
        yield rest


def _ends_softly(paragraph: str, mark: re.Match[str]) -> bool:
    """Whether a mark of rule 3 ends a sentence."""
    following = _after_white_space().match(paragraph, mark.end())
    if not following or following[1] in lower_case_or_digit():
        return False
    before = paragraph[max(0, mark.start() - 2) : mark.start()]
    return mark[0] != "." or not _one_character_word().fullmatch(before)


# Patterns are compiled on first use, because reading the tables of nd1 takes time.


@cache
def _marks() -> re.Pattern[str]:
    """A firm end is group 1. The pattern never backtracks over a mark, so time is linear."""
    firm, soft = re.escape(FIRM_ENDS), re.escape(SOFT_ENDS)
    return re.compile(
        rf"((?:[{firm}]|……|．(?![0-9０-９]))[{firm}{soft}．{re.escape(_CLOSERS)}]*)"
        rf"|[{soft}][{soft}{re.escape(SOFT_CLOSERS)}]*"
    )


@cache
def _blank_lines() -> re.Pattern[str]:
    blank = re.escape(re.sub(_LINE_BREAK, "", white_space()))
    return re.compile(f"{_LINE_BREAK}(?:[{blank}]*{_LINE_BREAK})+")


@cache
def line_breaks() -> re.Pattern[str]:
    """One line break."""
    return re.compile(_LINE_BREAK)


@cache
def _after_white_space() -> re.Pattern[str]:
    space = re.escape(white_space())
    return re.compile(f"[{space}]+([^{space}])")


@cache
def _one_character_word() -> re.Pattern[str]:
    """Matches the two characters before a full stop, or one at the start of the paragraph."""
    before = re.escape(white_space() + _OPENERS + ".")
    return re.compile(f"[{before}]?[{_characters('letter')}]")


@cache
def _word_character() -> re.Pattern[str]:
    return re.compile(f"[{_characters('letter')}{_characters('solo')}]")


@cache
def white_space() -> str:
    """All white space of nd1."""
    return "".join(chr(code) for code, kind in reference.kinds().items() if kind == "space")


@cache
def lower_case_or_digit() -> frozenset[str]:
    """Characters that do not begin a sentence behind a soft end."""
    return frozenset(map(chr, reference.lower_map().values())) | frozenset(DIGITS)


@cache
def _characters(kind: str) -> str:
    """All characters of a kind, as ranges for a regular expression."""
    codes = sorted(code for code, other in reference.kinds().items() if other == kind)
    firsts = [code for code, before in zip(codes, [-1, *codes], strict=False) if code != before + 1]
    lasts = [code for code, after in zip(codes, [*codes[1:], -1], strict=True) if code != after - 1]
    return "".join(
        rf"\U{first:08x}-\U{last:08x}" for first, last in zip(firsts, lasts, strict=True)
    )

"""The twin of `neardup.kernels.passages`, which states the rules; line by line, with strings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise

from neardup.kernels.reference import text as reference
from neardup.kernels.reference.sentences import (
    DIGITS,
    FIRM_ENDS,
    SOFT_CLOSERS,
    SOFT_ENDS,
    line_breaks,
    lower_case_or_digit,
    sentences_of,
    white_space,
)

_CODE = "(){}[]=<>;_*+&|\\#@$^~"
_FENCE = re.compile(r"(`{3,}(?=[^`]*\Z)|~{3,})(.*)", re.DOTALL)


def cut_passages(text: str, unit: str) -> list[str]:
    """The passages of a text, which together are the text."""
    if not text:
        return []
    begins = _begins(text, unit)
    begins = [0, *begins[1:], len(text)]
    return [text[begin:end] for begin, end in pairwise(begins)]


def words_of(passage: str) -> tuple[str, ...]:
    """The words by which passages are compared."""
    return tuple(reference.words(reference.lower(passage)))


def windows(words: Sequence[int], hashes: Sequence[int], size: int) -> list[bool]:
    """Which passages of one text begin a window; `hashes` are the first words of their keys."""
    found, fresh, held = [], True, 0
    for count, key in zip(words, hashes, strict=True):
        found.append(fresh)
        held = count if fresh else held + count
        chosen = key % max(2, size // 25) == 0
        fresh = 2 * held >= size and (chosen or held >= 2 * size)
    return found


class _Line:
    def __init__(self, begin: int, content: str) -> None:
        self.begin = begin
        self.content = content.lstrip(white_space())
        self.stripped = self.content.rstrip(white_space())
        self.end = begin + len(content)
        fence = _FENCE.fullmatch(self.stripped)
        self.fence = fence[1] if fence else ""
        self.closes = bool(fence and not fence[2])


_Block = tuple[str, list[_Line]]  # kind, lines


def _begins(text: str, unit: str) -> list[int]:
    lines, at = [], 0
    for found in line_breaks().finditer(text):
        lines.append(_Line(at, text[at : found.start()]))
        at = found.end()
    if at < len(text):
        lines.append(_Line(at, text[at:]))
    if unit == "line":
        return _line_begins(lines)
    begins: list[int] = []
    for kind, block in _blocks(lines):
        begins.append(block[0].begin)
        if unit == "sentence" and kind == "text":
            begins += _inner(text, block)
    return begins


def _line_begins(lines: list[_Line]) -> list[int]:
    """The lines that are not blank, but for those in which a wrapped sentence goes on."""
    begins = []
    for filled, group in groupby(lines, key=lambda line: bool(line.stripped)):
        paragraph = list(group) if filled else []
        for at, line in enumerate(paragraph):
            before = paragraph[at - 1] if at else None
            wrapped = before is not None and len(before.content) >= 40 and _goes_on(before, line)
            if not wrapped or _is_code(paragraph):
                begins.append(line.begin)
    return begins


def _blocks(lines: list[_Line]) -> list[_Block]:
    """Paragraphs and blocks of code, without the blank lines between them."""
    parts: list[_Block] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        end = next((i for i in range(at + 1, len(lines)) if _closes(line, lines[i])), None)
        if line.fence and end is not None:
            parts.append(("code", lines[at : end + 1]))
            at = end + 1
        else:
            parts.append(("text" if line.stripped else "blank", [line]))
            at += 1
    kinds = "".join(kind[0] for kind, _ in parts).strip("b")
    by_lines = "b" not in kinds
    blocks: list[_Block] = []
    before = "blank"
    for kind, part in parts:
        joins = kind == before == "text"
        if joins and (not by_lines or _goes_on(blocks[-1][1][-1], part[0])):
            blocks[-1][1].extend(part)
        elif kind != "blank":
            blocks.append((kind, list(part)))
        before = kind
    return blocks


def _closes(opening: _Line, line: _Line) -> bool:
    return line.closes and line.fence.startswith(opening.fence)


def _goes_on(line: _Line, following: _Line) -> bool:
    """Whether a sentence goes on in the next line."""
    first = following.stripped[0]
    if first not in lower_case_or_digit() or first in DIGITS:
        return False
    ending = line.stripped.rstrip(SOFT_CLOSERS)
    return not ending or ending[-1] not in FIRM_ENDS + SOFT_ENDS


def _is_code(paragraph: list[_Line]) -> bool:
    characters = [c for line in paragraph for c in line.content if c > " "]
    return len(paragraph) > 1 and 16 * sum(c in _CODE for c in characters) > len(characters)


def _inner(text: str, block: list[_Line]) -> list[int]:
    """Where the passages of a paragraph behind its first one begin."""
    if _is_code(block):
        return [line.begin for line in block[1:]]
    paragraph = text[block[0].begin : block[-1].end].strip(white_space())
    at = text.index(paragraph, block[0].begin)
    begins = []
    for sentence in sentences_of(paragraph):
        at = text.index(sentence, at)
        begins.append(at)
        at += len(sentence)
    return begins[1:]

"""A word diff that keeps every character of both texts."""

from __future__ import annotations

from collections.abc import Iterator

from neardup.comparison.alignment import Alignment
from neardup.features.words import WordSpans
from neardup.frozen import dataclass

# Aligned stretches are first compared whole, this many words at a time.
_STRETCH = 64


@dataclass(frozen=True)
class Edit:
    """One piece of a diff: `a` is a part of the first text, `b` of the second.

    `op` is `equal` (except for white space), `variant` (the same words with different case or
    punctuation), `replace`, `delete` (`b` is empty) or `insert` (`a` is empty).
    """

    op: str
    a: str
    b: str


def find_edits(a: WordSpans, b: WordSpans, alignment: Alignment) -> tuple[Edit, ...]:
    """Turn aligned words into edits; their `a` sides join to the first text, `b` to the second.

    >>> from neardup.features.words import find_words, number_words
    >>> from neardup.comparison.alignment import align
    >>> a, b = find_words("the red fox"), find_words("The old fox!")
    >>> for edit in find_edits(a, b, align(*number_words(a, b))):
    ...     print(edit.op, repr(edit.a), repr(edit.b))
    variant 'the' 'The'
    equal ' ' ' '
    replace 'red' 'old'
    equal ' fox' ' fox'
    variant '' '!'
    """
    return tuple(joined(_pieces(a, b, alignment)))


def _pieces(a: WordSpans, b: WordSpans, alignment: Alignment) -> Iterator[Edit]:
    i = j = 0
    for block_i, block_j, words in (*alignment.blocks, (len(a), len(b), 0)):
        if i < block_i and j < block_j:
            yield from _separators(a.separator(i), b.separator(j))
            yield Edit("replace", a.stretch(i, block_i), b.stretch(j, block_j))
            yield from _separators(a.separator(block_i), b.separator(block_j))
        elif i < block_i:
            yield from _deletion(a, i, block_i, b.separator(j))
        elif j < block_j:
            for edit in _deletion(b, j, block_j, a.separator(i)):
                yield Edit("insert" if edit.op == "delete" else edit.op, edit.b, edit.a)
        else:
            yield from _separators(a.separator(i), b.separator(j))
        if words:
            yield from _aligned(a, b, block_i, block_j, words)
        i, j = block_i + words, block_j + words


def _deletion(a: WordSpans, first: int, last: int, kept: str) -> Iterator[Edit]:
    """The edits for words that only `a` has; the other text has the separator `kept` instead."""
    before, after = a.separator(first), a.separator(last)
    gone = a.stretch(first, last)
    if _likeness(after, kept) > _likeness(before, kept):
        yield Edit("delete", before + gone, "")
        yield from _separators(after, kept)
    else:
        yield from _separators(before, kept)
        yield Edit("delete", gone + after, "")


def _aligned(a: WordSpans, b: WordSpans, i: int, j: int, words: int) -> Iterator[Edit]:
    """The edits of a stretch whose words are equal except for case."""
    for first in range(0, words, _STRETCH):
        last = min(first + _STRETCH, words)
        if first:
            yield from _separators(a.separator(i + first), b.separator(j + first))
        text_a, text_b = a.stretch(i + first, i + last), b.stretch(j + first, j + last)
        if text_a == text_b or text_a.split() == text_b.split():
            yield Edit("equal", text_a, text_b)
            continue
        parts_a, parts_b = a.parts(i + first, i + last), b.parts(j + first, j + last)
        for place, (part_a, part_b) in enumerate(zip(parts_a, parts_b, strict=True)):
            if place % 2:
                yield from _separators(part_a, part_b)
            else:
                yield Edit("equal" if part_a == part_b else "variant", part_a, part_b)


def _separators(a: str, b: str) -> Iterator[Edit]:
    """Compare the separators of aligned words; only the part that differs is a variant."""
    if _likeness(a, b):
        yield Edit("equal", a, b)
        return
    head = _common_start(a, b)
    tail = _common_start(a[head:][::-1], b[head:][::-1])
    a_end, b_end = len(a) - tail, len(b) - tail
    yield Edit("equal", a[:head], b[:head])
    yield Edit("variant", a[head:a_end], b[head:b_end])
    yield Edit("equal", a[a_end:], b[b_end:])


def _common_start(a: str, b: str) -> int:
    length = 0
    for char_a, char_b in zip(a, b, strict=False):
        if char_a != char_b:
            break
        length += 1
    return length


def _likeness(a: str, b: str) -> int:
    """Grade separators: 2 equal, 1 equal except for white space, 0 different."""
    return 2 if a == b else int(a.split() == b.split())


def joined(pieces: Iterator[Edit]) -> Iterator[Edit]:
    """Join adjacent edits with the same `op`, and drop empty ones."""
    op, sides_a, sides_b = "", [""], [""]
    for piece in pieces:
        if not piece.a and not piece.b:
            continue
        if piece.op != op:
            if op:
                yield Edit(op, "".join(sides_a), "".join(sides_b))
            op, sides_a, sides_b = piece.op, [], []
        sides_a.append(piece.a)
        sides_b.append(piece.b)
    if op:
        yield Edit(op, "".join(sides_a), "".join(sides_b))

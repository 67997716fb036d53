"""The twin of `neardup.kernels.contamination`: every word of every item beside every word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neardup.frozen import dataclass
from neardup.kernels.contamination import MOST_HITS, MOST_REPEATS
from neardup.kernels.reference import text as reference

Words = Sequence[str]


@dataclass(frozen=True)
class Item:
    """The fields of an item that are looked for, each a list of words."""

    fields: list[list[str]]
    min_words: int

    @classmethod
    def of(cls, texts: Sequence[str], min_words: int, short_words: int) -> Item:
        """Fields with `min_words` words; if there are none, the longest one, if it is long."""
        fields = [reference.words(text) for text in texts]
        long = [field for field in fields if len(field) >= min_words]
        if not long and fields:
            longest = max(fields, key=len)
            long = [longest] if len(longest) >= short_words else []
        return cls(long, min_words)

    def __bool__(self) -> bool:
        return bool(self.fields)


def same_as(items: Sequence[Item]) -> list[int]:
    """The first item with the same fields as each."""
    return [
        next(j for j, other in enumerate(items) if j == i or (item and other == item))
        for i, item in enumerate(items)
    ]


def holders_of(items: Sequence[Item]) -> dict[tuple[str, ...], set[int]]:
    """The items that have each window; of items that are the same, the first."""
    firsts = same_as(items)
    holders: dict[tuple[str, ...], set[int]] = {}
    for number, item in enumerate(items):
        for field in item.fields:
            for window in windows(field, item.min_words):
                holders.setdefault(window, set()).add(firsts[number])
    return holders


def counted(items: Sequence[Item], max_items: int) -> list[set[int]]:
    """The words of each item that count for its share, numbered over all its fields."""
    holders = holders_of(items)
    found = []
    for item in items:
        every, common = set(range(sum(map(len, item.fields)))), set()
        before = 0
        for field in item.fields:
            for start, window in enumerate(windows(field, item.min_words), before):
                if len(holders[window]) > max_items:
                    common |= set(range(start, start + item.min_words))
            before += len(field)
        found.append(every - common or every)
    return found


def seeds(items: Sequence[Item], max_items: int) -> list[list[set[int]]]:
    """For each field of each item, the windows that runs are looked for at, by their first word.

    Items that repeat an earlier one have none.
    """
    firsts, holders = same_as(items), holders_of(items)
    chosen = []
    for number, item in enumerate(items):
        of_item = []
        for field in item.fields:
            times: dict[tuple[str, ...], int] = {}
            own = set()
            for start, window in enumerate(windows(field, item.min_words)):
                times[window] = times.get(window, 0) + 1
                if len(holders[window]) <= max_items and times[window] <= MOST_REPEATS:
                    own.add(start)
            of_item.append(own if firsts[number] == number else set())
        chosen.append(of_item)
    return chosen


def windows(words: Words, size: int) -> list[tuple[str, ...]]:
    """Every run of `size` words; none if there are fewer."""
    return [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]


def maximal_runs(field: Words, document: Words, least: int) -> list[tuple[int, int, int]]:
    """All runs of `least` or more words that both have and that cannot be extended.

    Each as its first word in the document, its first word in the field, and its length.
    """
    found = []
    for at in range(len(document)):
        for start in range(len(field)):
            if at and start and document[at - 1] == field[start - 1]:
                continue
            length = 0
            while (
                at + length < len(document)
                and start + length < len(field)
                and document[at + length] == field[start + length]
            ):
                length += 1
            if length >= max(1, least):
                found.append((at, start, length))
    return found


def scan(
    items: Sequence[Item], max_items: int, document: str
) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
    """The hits of a document, and what it has of each item.

    The hits are in the order of the items, those of an item in the order of the document, and as
    many as are listed.
    """
    words = reference.words(document)
    places = word_places(document)
    all_seeds, firsts = seeds(items, max_items), same_as(items)
    counting = counted(items, max_items)
    hits, totals = [], []
    for number, item in enumerate(items):
        if firsts[number] != number:
            continue
        runs, before = [], 0
        for field, of_field in zip(item.fields, all_seeds[number], strict=True):
            least = min(item.min_words, len(field))
            for at, start, length in maximal_runs(field, words, least):
                inside = set(range(start, start + length - item.min_words + 1))
                if len(field) < item.min_words or inside & of_field:
                    runs.append((at, before + start, length))
            before += len(field)
        runs.sort()
        if not runs:
            continue
        covered = {word for _, start, length in runs for word in range(start, start + length)}
        totals.append(
            {
                "item": number,
                "covered": len(covered & counting[number]),
                "longest": max(length for *_, length in runs),
                "hits": min(len(runs), MOST_HITS),
            }
        )
        for at, start, length in runs[:MOST_HITS]:
            first, last = places[at], places[at + length - 1]
            hits.append(
                {
                    "item": number,
                    "item_start": start,
                    "words": length,
                    "start": first["start"],
                    "end": last["end"],
                    "start_byte": first["start_byte"],
                    "end_byte": last["end_byte"],
                }
            )
    return hits, totals


def word_places(text: str) -> list[dict[str, Any]]:
    """Where each word of a text begins and ends, in characters and in bytes."""
    found: list[dict[str, Any]] = []
    inside, at = False, 0
    for place, char in enumerate(text):
        kind = reference.kinds().get(ord(reference.lower(char)))
        size = len(char.encode())
        if (kind == "letter" and not inside) or kind == "solo":
            found.append({"start": place, "start_byte": at})
        inside = kind == "letter" or (kind == "mark" and inside)
        at += size
        if inside or kind == "solo":
            found[-1] |= {"end": place + 1, "end_byte": at}
    return found

"""The twin of `neardup.kernels.spans`: every run of the first document is looked for."""

from __future__ import annotations

import numpy as np

from neardup.kernels.reference import text as reference
from neardup.kernels.spans import Hashes, Places


def words_of(text: str) -> list[str]:
    """The words of a text, lower-cased, in order."""
    return reference.words(reference.lower(text))


def shared_runs(first: Hashes, second: Hashes, *, least: int) -> tuple[Places, Places, Places]:
    """Every run of `least` or more words of the first document that the second has, too."""
    a, b = first.tolist(), second.tolist()
    found: list[tuple[int, int, int]] = []
    reached = 0
    for begin in range(len(a)):
        length = place = 0
        for start in range(len(b)):
            while a[begin : begin + length + 1] == b[start : start + length + 1]:
                if begin + length == len(a) or start + length == len(b):
                    break
                length, place = length + 1, start
        if begin + length > reached and length >= max(1, least):
            found.append((begin, place, length))
        reached = max(reached, begin + length)
    columns = np.array(found, np.int64).reshape(-1, 3).T
    return columns[0].copy(), columns[1].copy(), columns[2].copy()

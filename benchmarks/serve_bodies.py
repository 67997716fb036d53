"""Request bodies, made before the clock starts: pages of about 300 words as JSON, in files.

A file of bodies has for each body its length in bytes on a line, then the body. The pages are those
of the similarity index: stored ones, new ones, and stored ones with 1–3.5 % of the words exchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa

from benchmarks import similar_index_pages as pages
from benchmarks.result import Json
from benchmarks.similar_index_once import NEAR
from benchmarks.similar_index_pages import BLOCK, NEW, STORED
from benchmarks.similar_index_tools import page_id

EDITED_BLOCKS = 10


def stored_texts(n: int) -> Iterator[tuple[int, pa.LargeStringArray]]:
    """The first n stored pages, a block at a time, with the number of the first."""
    for number in range(-(-n // BLOCK)):
        first = number * BLOCK
        yield first, pages.block(number, STORED).head(min(BLOCK, n - first)).texts()


def stored(n: int) -> Iterator[Json]:
    """The first n stored pages as documents."""
    for first, texts in stored_texts(n):
        for row, text in enumerate(texts.to_pylist(), first):
            yield {"id": page_id(row), "text": text}


def mixed(n: int, count: int, turn: int) -> Iterator[Json]:
    """A new page, an edited one of the first n, and so on; another `turn` has other pages.

    Each has an id of its own, so that none replaces another.
    """
    made = 0
    for part in range(-(-count // BLOCK)):
        half = min(BLOCK, count - made + 1) // 2
        state = np.random.RandomState([pages.SEED, turn, part])
        edited = _edited(n, half, state)
        new = pages.block(turn * 1_000 + part, NEW).head(half).texts().to_pylist()
        for place, (one, other) in enumerate(zip(new, edited, strict=True)):
            yield {"id": f"new-{turn}-{part}-{place}", "text": one}
            yield {"id": f"edited-{turn}-{part}-{place}", "text": other}
            made += 2


def _edited(n: int, count: int, state: np.random.RandomState) -> list[str]:
    """Edited pages from some places of the first n, in any order."""
    texts: list[str] = []
    numbers = state.permutation(max(1, n // BLOCK))[:EDITED_BLOCKS].tolist()
    for number in numbers:
        block = pages.block(number, STORED).head(min(BLOCK, n))
        rows = state.randint(0, len(block), -(-count // len(numbers))).tolist()
        texts += (each.text for each in block.edited(rows, NEAR, state))
    return [texts[place] for place in state.permutation(len(texts))[:count].tolist()]


def batches(documents: Iterable[Json], size: int) -> Iterator[Json]:
    """Documents, so many to a request."""
    given = iter(documents)
    while batch := list(islice(given, size)):
        yield {"documents": batch}


def write_bodies(path: Path, bodies: Iterable[Json]) -> int:
    """A file for the load; the number of bodies in it."""
    count = 0
    with path.open("wb") as file:
        for body in bodies:
            encoded = orjson.dumps(body)
            file.write(b"%d\n" % len(encoded))
            file.write(encoded)
            count += 1
    return count


def read_bodies(path: Path) -> Iterator[bytes]:
    """The bodies of a file, one after the other."""
    with path.open("rb") as file:
        while length := file.readline():
            yield file.read(int(length))


def write_lines(path: Path, documents: Iterable[Json]) -> None:
    """Documents as NDJSON."""
    with path.open("wb") as file:
        for document in documents:
            file.write(orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE))

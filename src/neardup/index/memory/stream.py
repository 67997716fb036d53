"""`unique`: drop near-duplicates from a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from neardup.errors import InputError
from neardup.index.api import BaseIndex
from neardup.index.entries import checked_id
from neardup.index.memory.index import MemoryIndex
from neardup.settings import suggests_settings

Item = TypeVar("Item")


@suggests_settings
def unique(
    stream: Iterable[Item],
    index: BaseIndex | None = None,
    *,
    max_distance: int | None = None,
    threshold: float | None = None,
) -> Iterator[Item]:
    """Yield the documents of a stream that are not near an earlier one, and add them to an index.

    Empty documents have no near-duplicates, so all of them are yielded.

    Args:
        stream: The documents: texts, (id, text) pairs, or dicts with `text` and optional `id`.
            Items are yielded unchanged. Those without an id are numbered; one whose id is in the
            index is skipped.
        index: The index to query and to fill. Default: a new `MemoryIndex`.
        max_distance: Maximum number of differing bits. Default: that of the index.
        threshold: Minimum similarity; needs an index that stores texts or features.

    >>> import neardup as nd
    >>> list(nd.unique(["one two three four", "Something else", "One, two, three, four!"]))
    ['one two three four', 'Something else']
    """
    seen = MemoryIndex() if index is None else index
    number = len(seen)
    for item in stream:
        id, document = _parts(item)
        if id is None:
            while number in seen:
                number += 1
            id = number
        elif id in seen:
            continue
        if not seen.query(document, max_distance, threshold, 1):
            seen.add(id, document)
            yield item


def _parts(item: Any) -> tuple[Any, Any]:
    if isinstance(item, tuple | list) and len(item) in (2, 3):
        return checked_id(item[0]), item[1]
    if isinstance(item, Mapping):
        if "text" not in item:
            raise InputError(f"a document of the stream has no 'text', only {sorted(item)}")
        id = item.get("id")
        return None if id is None else checked_id(id), item["text"]
    return None, item

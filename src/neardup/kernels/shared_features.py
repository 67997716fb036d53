"""Which features of documents others have, too, where no task sees the features of all.

A task sends the features of its documents to others by bucket, which are the first 16 bits of their
hashes, and gets back in how many documents each is: its frequency, exact up to 127 and above that
on a scale of eight steps to each power of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.kernels import _native
from neardup.kernels.set_join import Documents, Hashes, checked_sides, refused_in_a_sentence

BUCKET_BITS = 16
BUCKETS = 1 << BUCKET_BITS
MOST_WIDTH = 6

Frequencies = NDArray[np.uint8]
Places = NDArray[np.int64]
Asked = tuple[NDArray[np.uint32], NDArray[np.uint8]]


class Linked(NamedTuple):
    """Linked documents, ascending: the first of the component of each, and a posting of each."""

    documents: Places
    firsts: Places
    postings: Places
    links: int


def to_buckets(hashes: Hashes, width: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """The number of hashes in each bucket, and the `width` bytes of each hash after its bucket.

    The bytes are a row for each hash, the lowest byte first, in the order of the buckets; those of
    one bucket keep their order.

    >>> sizes, values = to_buckets(np.array([0xFFFF_0B << 40, 0x0001_0A << 40], np.uint64), 1)
    >>> values.tolist(), sizes.nonzero()[0].tolist()
    ([[10], [11]], [1, 65535])
    """
    checked_width(width)
    return refused_in_a_sentence(lambda: _native.to_buckets(np.ascontiguousarray(hashes), width))


def checked_width(width: int) -> None:
    """Refuse a number of bytes that hashes do not have after their bucket."""
    if not 1 <= width <= MOST_WIDTH:
        raise SettingError(f"width={width!r} must be from 1 to {MOST_WIDTH}")


def answer_frequencies(tasks: Sequence[Asked]) -> list[Frequencies]:
    """How often each feature occurs in all that tasks ask about; exact up to 127.

    Each asks about features as `to_buckets` sorts them, with the sizes of the same buckets.

    >>> sizes, values = np.array([2, 0], np.uint32), np.array([[7], [3]], np.uint8)
    >>> answer_frequencies([(sizes, values), (sizes[::-1], values), (sizes, values[::-1])])
    [array([2, 2], dtype=uint8), array([1, 1], dtype=uint8), array([2, 2], dtype=uint8)]
    """
    asked = [(np.ascontiguousarray(one), np.ascontiguousarray(rows)) for one, rows in tasks]
    return refused_in_a_sentence(lambda: _native.answer_frequencies(asked))


def from_buckets(hashes: Hashes, answers: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The answer about each hash; `answers` are in the order of `to_buckets`.

    >>> from_buckets(np.array([0xFFFF << 48, 0x0001 << 48], np.uint64), np.array([5, 7], np.uint8))
    array([7, 5], dtype=uint8)
    """
    return refused_in_a_sentence(
        lambda: _native.from_buckets(np.ascontiguousarray(hashes), np.ascontiguousarray(answers))
    )


def first_features(
    documents: Documents, frequency: Frequencies, share: float, *, squared: bool
) -> tuple[Places, Places]:
    """The positions of the features by which documents find similar ones, and their documents.

    Of the features in the order of their frequency (of equally frequent ones in their own), these
    are the first: those before which no more than all but `share` of the document's weight has
    passed. Features that no other document has are left out, and so are documents whose other
    features do not carry `share`. Weights are squared with `squared`.

    >>> offsets, hashes = np.array([0, 4]), np.arange(4, dtype=np.uint64)
    >>> frequency = np.array([9, 2, 1, 3], np.uint8)
    >>> first_features((offsets, hashes, None), frequency, 0.5, squared=False)[0].tolist()
    [1, 3]
    """
    checked, _ = checked_sides(documents, None)
    return refused_in_a_sentence(
        lambda: _native.first_features(
            checked, np.ascontiguousarray(frequency), share=share, squared=squared
        )
    )


def link_alike(
    values: NDArray[np.uint64], sizes: NDArray[np.float64], documents: Places, ratio: float
) -> Linked:
    """Link documents that share a value, if their sizes are alike.

    Among the documents of each value, by size and then number, each is linked to the next if its
    size is at least `ratio` of the size of that.

    >>> linked = link_alike(
    ...     np.array([5, 5, 5, 9], np.uint64), np.array([1.0, 4, 3, 3]), np.array([0, 1, 2, 3]), 0.5
    ... )
    >>> linked.documents.tolist(), linked.firsts.tolist(), linked.links
    ([1, 2], [1, 1], 1)
    """
    return Linked(
        *refused_in_a_sentence(
            lambda: _native.link_alike(
                np.ascontiguousarray(values),
                np.ascontiguousarray(sizes),
                np.ascontiguousarray(documents),
                ratio,
            )
        )
    )

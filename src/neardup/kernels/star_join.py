"""The star join: for each document the most similar kept one, in one pass in keep order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.kernels import _native
from neardup.kernels.set_join import (
    Documents,
    Offsets,
    checked_measure,
    checked_places,
    checked_sides,
    checked_threshold,
    refused_in_a_sentence,
)

Places = NDArray[np.int64]
OPEN, KEPT, REMOVED = range(3)


@dataclass(frozen=True, eq=False)
class Decisions:
    """What is known of all documents, by place.

    `decision` is OPEN, KEPT or REMOVED. `copy_of` is the first in keep order of the documents with
    the same features. `kept_for` is the most similar kept document so far, and `similarity` how
    similar it is; a document without one has its own place and NaN.
    """

    copy_of: Places
    decision: NDArray[np.uint8]
    kept_for: Places
    similarity: NDArray[np.float64]

    @classmethod
    def none(cls, copy_of: Places) -> Decisions:
        """All documents are open."""
        count = len(copy_of)
        return cls(
            np.ascontiguousarray(copy_of, np.int64),
            np.zeros(count, np.uint8),
            np.arange(count, dtype=np.int64),
            np.full(count, np.nan),
        )

    @property
    def arrays(self) -> tuple[Places, NDArray[np.uint8], Places, NDArray[np.float64]]:
        return self.copy_of, self.decision, self.kept_for, self.similarity


class DocumentCounts:
    """Counts roughly how many documents have each feature; the star join orders features by it.

    `features` is the approximate number of features, `most_bytes` the maximum size of the table,
    which has about one byte per feature. A small table costs time only.
    """

    def __init__(self, features: int, most_bytes: int) -> None:
        self.native = _native.DocumentCounts(max(1, features), max(1, most_bytes))

    def see(self, part: Documents, wanted: NDArray[np.bool_], *, threads: int = 1) -> None:
        """Count the features of the documents whose flag is set in `wanted`."""
        part, _ = checked_sides(part, None)
        refused_in_a_sentence(lambda: self.native.see(part, wanted, threads=threads))

    def finish(self, *, threads: int = 1) -> None:
        """Count what is still collected; a join does it with one thread if nobody did."""
        refused_in_a_sentence(lambda: self.native.finish(threads=threads))


class StoredFeatures:
    """The features of whole collections, in parts: in memory or in a file. Nothing is copied."""

    def __init__(self, *, weighted: bool) -> None:
        self.native = _native.StoredFeatures(weighted)

    def __len__(self) -> int:
        return len(self.native)

    def add(self, part: Documents) -> None:
        """The next documents, in memory."""
        part, _ = checked_sides(part, None)
        refused_in_a_sentence(lambda: self.native.add(part))

    def add_from_file(
        self, file: int, offsets: Offsets, *, hashes_at: int, weights_at: int
    ) -> None:
        """The next documents, in an open file: hashes and weights begin at these bytes."""
        refused_in_a_sentence(
            lambda: self.native.add_from_file(
                file, offsets, hashes_at=hashes_at, weights_at=weights_at
            )
        )


class StarJoin:
    """Decides on documents in keep order, or lists all pairs; the same with any number of threads.

    Only documents that the join keeps, or is told to insert, are in its index. `features` is the
    approximate number of features of all documents, `memory` the bytes at which the index is full.
    """

    def __init__(
        self,
        stored: StoredFeatures,
        counts: DocumentCounts,
        *,
        measure: str,
        threshold: float,
        features: int,
        memory: int,
    ) -> None:
        self._native = refused_in_a_sentence(
            lambda: _native.StarJoin(
                stored.native,
                counts.native,
                measure=checked_measure(measure),
                threshold=checked_threshold(threshold),
                features=features,
                memory=memory,
            )
        )
        self._count = len(stored)

    def decide(self, places: Places, known: Decisions, *, threads: int = 1) -> int:
        """Keep or remove these documents, in this order; how many were decided on.

        A document that is KEPT beforehand is put into the index. When the index is full, the rest
        stays open: pass it to `look_up`, `clear` the index, and call `decide` with the rest.
        """
        places = checked_places(places, self._count, "places")
        return refused_in_a_sentence(
            lambda: self._native.decide(places, *known.arrays, threads=threads)
        )

    def look_up(self, places: Places, known: Decisions, *, threads: int = 1) -> None:
        """Look up documents that come after all in the index, without deciding on them."""
        places = checked_places(places, self._count, "places")
        refused_in_a_sentence(lambda: self._native.look_up(places, *known.arrays, threads=threads))

    def pairs(
        self, places: Places, *, search: bool, insert: bool, most: int, threads: int = 1
    ) -> tuple[int, Places, Places, NDArray[np.float64]]:
        """Look documents up, insert them, or both, in this order.

        Returns how many were done, and their pairs as columns a < b and similarity, sorted by
        (a, b). Stops early if the index is full or about `most` pairs were found.
        """
        places = checked_places(places, self._count, "places")
        return refused_in_a_sentence(
            lambda: self._native.pairs(
                places, search=search, insert=insert, most=most, threads=threads
            )
        )

    def clear(self) -> None:
        """Empty the index."""
        self._native.clear()

    @property
    def full(self) -> bool:
        return self._native.full

    @property
    def compared(self) -> int:
        """The number of pairs that were compared feature by feature."""
        return self._native.compared


def stars_of_pairs(
    order: Places, a: Places, b: Places, similarity: NDArray[np.float64], known: Decisions
) -> None:
    """Decide on the documents of `order` by given pairs, each of any two copies."""
    count = len(known.copy_of)
    order = checked_places(order, count, "order")
    a, b = checked_places(a, count, "a"), checked_places(b, count, "b")
    similarity = np.ascontiguousarray(similarity, np.float64)
    refused_in_a_sentence(lambda: _native.stars_of_pairs(order, a, b, similarity, *known.arrays))

"""The most similar pairs of documents that a plan found."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from neardup.lab.sweep_documents import SweptDocuments
from neardup.lab.sweep_judges import TruePairs
from neardup.lab.sweep_result import SimilarPair


def top_pairs(documents: SweptDocuments, true: TruePairs, most: int) -> tuple[SimilarPair, ...]:
    """The first `most` pairs by similarity; among equal ones, those that come first in the input.

    Documents with the same features are pairs of similarity 1, which every plan finds.
    """
    if most < 1:
        return ()
    pairs = [*_of_one_kind(documents, most), *_of_two_kinds(documents, true, most)]
    pairs.sort(key=lambda pair: (-pair[2], pair[0], pair[1]))
    return tuple(
        SimilarPair(documents.ids[a].as_py(), documents.ids[b].as_py(), similarity)
        for a, b, similarity in pairs[:most]
    )


def _of_one_kind(documents: SweptDocuments, most: int) -> Iterator[tuple[int, int, float]]:
    for kind in np.flatnonzero(documents.sizes > 1)[:most].tolist():
        # m documents make more than m pairs, so that so many are enough.
        for a, b in combinations(documents.members(kind, most + 1).tolist(), 2):
            yield a, b, 1.0


def _of_two_kinds(
    documents: SweptDocuments, true: TruePairs, most: int
) -> Iterator[tuple[int, int, float]]:
    for place in np.lexsort((true.b, true.a, -true.similarity))[:most].tolist():
        sides = (documents.members(int(side[place]), most).tolist() for side in (true.a, true.b))
        for x, y in product(*sides):
            yield min(x, y), max(x, y), float(true.similarity[place])

"""Tables that find similar sets of features: documents, a tail, packed segments, and a view.

Sets without weights are found by bands of MinHash, those in crowded bands by their rarest features;
without bands, all are found by their rarest features, and none is missed. Matches are verified on
the stored features. The twin is `reference.set_index`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.kernels import _native
from neardup.kernels.hash_key import NO_KEY, HashKey

__all__ = [
    "NEVER",
    "NO_NUMBER",
    "FeatureBlock",
    "SetDocuments",
    "SetPlan",
    "SetSegment",
    "SetTail",
    "SetView",
    "pack_sets",
    "stored_features",
    "text_document",
]

SetPlan = _native.SetPlan
SetDocuments = _native.SetDocuments
SetTail = _native.SetTail
SetSegment = _native.SetSegment
SetView = _native.SetView
# A buffer, the first number, documents, and where numbers, expiry times (0: none), starts of
# features and features begin.
FeatureBlock = tuple[NDArray[np.uint8], int, int, int, int, int, int]

# No document has this number, and none expires at this time.
NO_NUMBER = 2**64 - 1
NEVER = 2**63 - 1


def text_document(
    plan: SetPlan,
    text: str,
    shingle: tuple[bool, int],
    bits: int,
    ties_up: bool,
    key: HashKey | None,
) -> tuple[SetDocuments, int, bytes]:
    """One text as a document: its set, its number of words, and its fingerprint as a row."""
    return _native.text_document(
        plan,
        text,
        shingles=[shingle],
        key=NO_KEY if key is None else key.words,
        bits=bits,
        ties_up=ties_up,
        isa="auto",
    )


def pack_sets(
    plan: SetPlan,
    blocks: Sequence[FeatureBlock],
    numbers: NDArray[np.uint64] | None,
    threads: int,
) -> bytes:
    """A segment of the documents in blocks that have these numbers, or of all; both ascend."""
    return _native.pack_sets(plan, list(blocks), numbers, threads=threads)


def stored_features(data: bytes) -> tuple[NDArray[np.uint64], NDArray[np.float64] | None]:
    """The features in stored bytes, ascending, and their weights.

    Without weights, features are the leading 32 bits of their hashes.
    """
    hashes, weights = _native.read_features(np.frombuffer(data, np.uint8))
    return hashes, None if weights is None else np.array(weights)

"""Bad arguments of the set joins are refused with a message, by Python and natively."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.errors import SettingError
from neardup.kernels import _native, set_join
from neardup.kernels.reference import set_join as twin

OFFSETS = np.array([0, 2, 4], np.int64)
HASHES = np.array([1, 2, 2, 3], np.uint64)
WEIGHTS = np.array([1.0, 2.0, 0.0, 0.5])
PLACES = np.array([0, 1], np.int64)
BOTH = pytest.mark.parametrize("module", [set_join, twin])

UNSORTED = np.array([2, 1, 2, 3], np.uint64)
REPEATED = np.array([1, 1, 2, 3], np.uint64)
WRONG_DOCUMENTS = [
    ((OFFSETS.astype(np.int32), HASHES, None), "int64"),
    ((OFFSETS, HASHES.astype(np.int64), None), "uint64"),
    ((OFFSETS, HASHES, WEIGHTS.astype(np.float32)), "float64"),
    ((OFFSETS[:0], HASHES, None), "one more than its documents"),
    ((OFFSETS, HASHES[:3], None), "outside the features"),
    ((OFFSETS - 1, HASHES, None), "outside the features"),
    ((OFFSETS[::-1].copy(), HASHES, None), "must not decrease"),
    ((OFFSETS, HASHES, WEIGHTS[:3]), "every feature needs its weight"),
    ((OFFSETS, UNSORTED, None), "ascend, each once"),
    ((OFFSETS, REPEATED, None), "ascend, each once"),
    ((OFFSETS, HASHES, -WEIGHTS), "1e-100"),
    ((OFFSETS, HASHES, WEIGHTS + np.inf), "1e-100"),
    ((OFFSETS, HASHES, WEIGHTS * 1e-200), "1e-100"),
]


@BOTH
@pytest.mark.parametrize(("documents", "message"), WRONG_DOCUMENTS)
def test_wrong_documents(module, documents, message):
    fine = OFFSETS, HASHES, WEIGHTS if documents[2] is not None else None
    with pytest.raises(SettingError, match=message):
        module.similarities(*documents, PLACES, PLACES, measure="cosine")
    for left, right in ((documents, None), (documents, fine), (fine, documents)):
        with pytest.raises(SettingError, match=message):
            module.join_similar(*left, measure="cosine", threshold=0.5, right=right)
        with pytest.raises(SettingError, match=message):
            module.predict_similar(*left, measure="cosine", threshold=0.5, right=right)


@BOTH
@pytest.mark.parametrize("threshold", [0, -0.5, 1.0000001, float("nan"), "0.5", None, True])
def test_wrong_threshold(module, threshold):
    with pytest.raises(SettingError, match="threshold="):
        module.join_similar(OFFSETS, HASHES, None, measure="jaccard", threshold=threshold)


@BOTH
def test_wrong_measure(module):
    with pytest.raises(SettingError, match="'dice'"):
        module.join_similar(OFFSETS, HASHES, None, measure="dice", threshold=0.5)
    with pytest.raises(SettingError, match="no weights"):
        module.join_similar(OFFSETS, HASHES, WEIGHTS, measure="jaccard", threshold=0.5)
    right = OFFSETS, HASHES, None
    with pytest.raises(SettingError, match="both collections"):
        module.join_similar(OFFSETS, HASHES, WEIGHTS, measure="cosine", threshold=0.5, right=right)


@BOTH
@pytest.mark.parametrize("wrong", [[0, 2], [-1, 0], [0.0, 1.0], [[0, 1]], [2**40, 0]])
def test_wrong_places(module, wrong):
    with pytest.raises(SettingError, match=r"a (names|must)"):
        module.similarities(OFFSETS, HASHES, None, wrong, PLACES, measure="jaccard")
    with pytest.raises(SettingError, match=r"b (names|must)"):
        module.components(2, PLACES, wrong)
    with pytest.raises(SettingError, match="one length"):
        module.similarities(OFFSETS, HASHES, None, PLACES[:1], PLACES, measure="jaccard")
    with pytest.raises(SettingError, match="one length"):
        module.components(2, PLACES, PLACES[:1])


def test_only_documents_in_pairs_are_checked():
    """A few pairs of a large collection must not cost a pass over all documents."""
    found = set_join.similarities(OFFSETS, UNSORTED, None, [1], [1], measure="jaccard")
    assert found.tolist() == [1.0]


@pytest.mark.parametrize("wrong", [np.array([2, 0]), np.array([-1, 0]), np.array([2**62, 0])])
def test_the_native_module_checks_every_place(wrong):
    documents = OFFSETS, HASHES, None
    for a, b in ((wrong, PLACES), (PLACES, wrong)):
        with pytest.raises(ValueError, match="not there"):
            _native.similarities(documents, None, a, b, measure="jaccard", threads=1)
        with pytest.raises(ValueError, match="not there"):
            _native.components(2, a, b)


def test_the_native_module_checks_every_setting():
    documents = OFFSETS, HASHES, None
    with pytest.raises(ValueError, match="threshold"):
        _native.join_similar(
            documents,
            None,
            measure="jaccard",
            threshold=0.0,
            most_postings=9,
            most_pairs=9,
            threads=1,
        )
    with pytest.raises(ValueError, match="thread"):
        _native.join_similar(
            documents,
            None,
            measure="jaccard",
            threshold=0.5,
            most_postings=9,
            most_pairs=9,
            threads=0,
        )
    with pytest.raises(ValueError, match="'dice'"):
        _native.predict_similar(documents, None, measure="dice", threshold=0.5, threads=1)


@BOTH
def test_nothing_is_similar_to_nothing(module):
    none = np.zeros(1, np.int64), np.zeros(0, np.uint64), None
    assert len(module.join_similar(*none, measure="jaccard", threshold=0.1)) == 0
    assert len(module.join_similar(*none, measure="jaccard", threshold=0.1, right=none)) == 0
    assert module.components(0, PLACES[:0], PLACES[:0]).tolist() == []
    empty = np.zeros(3, np.int64), np.zeros(0, np.uint64), None
    assert len(module.join_similar(*empty, measure="cosine", threshold=1e-9)) == 0
    assert module.similarities(*empty, [0, 0], [0, 1], measure="cosine").tolist() == [0.0, 0.0]

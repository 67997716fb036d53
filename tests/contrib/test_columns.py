"""Fingerprints and similarities, row by row."""

import pyarrow as pa
import pytest

import neardup as nd
from neardup.contrib.columns import ColumnFingerprints, ColumnSimilarity, hammings

TEXTS = ["to be or not to be", None, "To be, or not to be?", "", "... !", "x", "不以物喜，不以己悲"]


@pytest.mark.parametrize(
    "recipe",
    [{}, {"bits": 1}, {"bits": 40, "features": "char:4", "weights": "count"}, {"hash": "md5"}],
    ids=str,
)
def test_fingerprints_are_those_of_the_function(recipe):
    found = ColumnFingerprints.of(**recipe)(TEXTS)
    expected = nd.fingerprint(TEXTS, **recipe)
    assert found.type == pa.uint64()
    assert found.to_pylist() == [
        None if empty else value
        for value, empty in zip(expected, expected.empty.tolist(), strict=True)
    ]
    assert found.null_count == 3  # the null, and the two texts without words


def test_weights_by_rarity_need_a_table():
    with pytest.raises(nd.SettingError, match="count the texts first"):
        ColumnFingerprints.of(weights="tfidf")
    recipe = {"features": "word:1", "weights": "tfidf"}
    table = nd.idf(TEXTS, "word:1")
    parts = ColumnFingerprints.of(**recipe, idf=table)
    whole = list(nd.fingerprint(TEXTS, **recipe))
    assert parts(TEXTS[:1]).to_pylist() == whole[:1]


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ({"bit": 64}, "unknown setting 'bit'; did you mean 'bits'"),
        ({"bits": 65}, "fingerprints of up to 64 bits; use neardup.fingerprint"),
        ({"features": "terms"}, "features='terms' are no texts"),
        ({"features": "words"}, "not a feature spec"),
        ({"text": "name+city"}, "unknown setting 'text'"),
    ],
)
def test_a_wrong_recipe_is_refused_before_any_text_comes(recipe, said):
    with pytest.raises(nd.SettingError, match=said):
        ColumnFingerprints.of(**recipe)


def test_hamming_is_missing_where_a_fingerprint_is():
    a = pa.array([0, 2**64 - 1, None, 5], pa.uint64())
    b = pa.array([1, 0, 7, None], pa.uint64())
    assert hammings(a, b).to_pylist() == [1, 64, None, None]
    assert hammings(pa.nulls(2), pa.array([1, 2])).to_pylist() == [None, None]
    with pytest.raises(nd.InputError, match="4 rows cannot be compared with 2 one by one"):
        hammings(a, b[:2])
    with pytest.raises(nd.InputError, match="fingerprints are whole numbers, not string"):
        hammings(pa.array(["a"]), pa.array([1]))
    with pytest.raises(nd.InputError, match="a number from 0 to 2"):
        hammings(pa.array([1]), pa.array([-1]))


def test_similarities_are_those_of_the_run(monkeypatch):
    changed = [f"{text} more" if text else text for text in TEXTS]
    expected = [
        None if text is None else (nd.compare(text, other).jaccard or 0.0)
        for text, other in zip(TEXTS, changed, strict=True)
    ]
    assert ColumnSimilarity.of()(TEXTS, changed).to_pylist() == expected
    assert ColumnSimilarity.of()([None], ["x"]).to_pylist() == [None]
    assert ColumnSimilarity.of()([], []).to_pylist() == []
    # However many rows are compared at a time.
    monkeypatch.setattr("neardup.contrib.columns._TEXT_AT_ONCE", 10)
    assert ColumnSimilarity.of()(TEXTS, changed).to_pylist() == expected
    chunked = pa.chunked_array([TEXTS[:3], TEXTS[3:]])
    assert ColumnSimilarity.of()(chunked, changed).to_pylist() == expected


def test_features_of_similarities():
    a, b = ["abcdef"], ["abcdex"]
    assert ColumnSimilarity.of("char:3")(a, b).to_pylist() == [3 / 5]
    for features in ("terms", "keywords:5"):
        with pytest.raises(nd.SettingError, match="use word:N or char:N features"):
            ColumnSimilarity.of(features)
    with pytest.raises(nd.InputError, match="1 rows cannot be compared with 2 one by one"):
        ColumnSimilarity.of()(a, ["x", "y"])

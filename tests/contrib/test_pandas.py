"""The accessors of pandas."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from tests.contrib.collections import MISTAKES, SETTINGS, rows

import neardup as nd

pytest.importorskip("pandas", reason="pandas is not installed")

import pandas as pd

import neardup.contrib.pandas

A, B = "to be or not to be", "To be, or not to be?"
PLAIN = ["body", "score"]


@pytest.fixture(scope="module")
def df():
    columns = rows()
    count = len(columns["body"])
    body = [np.nan if place % 50 == 49 else text for place, text in enumerate(columns["body"])]
    return pd.DataFrame(
        {
            "site": pd.Categorical(columns["site"]),
            "body": body,
            "score": np.array(columns["score"], np.float32),
            "small": np.arange(count).astype(np.int8),
            "object": [slice(place) for place in range(count)],  # has no Arrow type
        }
    )


def indexes(count):
    """Labels of every kind, and None for those that a frame has anyhow."""
    tens = np.arange(count) // 10
    return {
        "plain": None,
        "texts": [f"row {place}" for place in range(count)],
        "repeated": tens,
        "many levels": pd.MultiIndex.from_arrays([tens, np.arange(count) % 10], names=["x", "y"]),
        "dates": pd.date_range("2020-01-01", periods=count),
    }


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_dedup_keeps_the_rows_that_nd_dedup_keeps(df, settings):
    expected = nd.dedup(df[PLAIN], text="body", **settings)
    assert expected.summary["removed"] > 10
    kept = df.neardup.dedup("body", **settings)
    pd.testing.assert_frame_equal(kept, df.iloc[expected.kept_rows])


@pytest.mark.parametrize("kind", indexes(0))
def test_rows_keep_their_labels(df, kind):
    labels = indexes(len(df))[kind]
    labelled = df if labels is None else df.set_axis(labels, axis=0)
    expected = nd.dedup(df[PLAIN], text="body")
    kept = labelled.neardup.dedup("body")
    pd.testing.assert_frame_equal(kept, labelled.iloc[expected.kept_rows])
    for duplicated in (
        labelled.neardup.duplicated("body"),
        labelled["body"].neardup.duplicated(),
    ):
        assert duplicated.dtype == bool
        pd.testing.assert_index_equal(duplicated.index, labelled.index)
        assert duplicated.tolist() == (~expected.keeps).tolist()
    pd.testing.assert_frame_equal(labelled[~labelled["body"].neardup.duplicated()], kept)
    marked = labelled.neardup.mark("body")
    pd.testing.assert_frame_equal(marked[list(df.columns)], labelled)
    fps = labelled["body"].neardup.fingerprint()
    pd.testing.assert_index_equal(fps.index, labelled.index)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_mark_says_what_became_of_each_row(df, settings):
    marked = df.neardup.mark("body", **settings)
    expected = nd.dedup(df[PLAIN], text="body", **settings).documents
    assert set(marked.columns[5:]) == set(expected.column_names) - {"id"}
    for name in marked.columns[5:]:
        found = pa.array(marked[name], from_pandas=True).to_pylist()
        assert found == expected[name].to_pylist()
    pd.testing.assert_frame_equal(
        marked[marked["kept"]][list(df.columns)], df.neardup.dedup("body", **settings)
    )
    assert list(df.columns) == ["site", "body", "score", "small", "object"]


def test_types_and_names_of_marks():
    df = pd.DataFrame({"text": [A, B], "kept": ["x", "y"], "id": ["first", "second"]})
    marked = df.neardup.mark()
    assert marked.dtypes[3:].astype(str).to_dict() == {
        "cluster": "Int64",
        "duplicate_of": "string",
        "similarity": "float64",
        "kept_1": "bool",
    }
    assert marked["duplicate_of"].tolist() == [pd.NA, "first"]
    assert marked["kept"].tolist() == ["x", "y"]


def test_the_kept_rows_are_a_frame_of_their_own(df):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = df.neardup.dedup("body")
        kept["new"] = 1
        kept.loc[kept.index[0], "body"] = "changed"
    assert "new" not in df
    assert df["body"][0] != "changed"


def test_the_whole_result_is_at_hand(df, tmp_path):
    result = df.drop(columns="object").neardup.result("body")
    assert result.pairs == nd.dedup(df[PLAIN], text="body").pairs
    result.save(tmp_path / "out")
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.parametrize(("wrong", "said"), MISTAKES, ids=[said for _, said in MISTAKES])
def test_mistakes_get_a_sentence(df, wrong, said):
    said = said.replace("double", "float")
    with pytest.raises(nd.NeardupError, match=said):
        df.neardup.dedup(**{"text": "body", **wrong})


def test_the_column_that_looks_like_text_is_named(df):
    with pytest.raises(nd.InputError, match=r"'body' looks like text .*: add text='body'"):
        df.neardup.dedup()


def test_columns_that_cannot_be_read_get_a_sentence(df):
    with pytest.raises(nd.InputError, match="the column 'object' has values of several types"):
        df.neardup.dedup("object")
    twice = df[["body", "body"]]
    with pytest.raises(nd.InputError, match="has 2 columns 'body'; rename all but one"):
        twice.neardup.dedup("body")
    assert len(df[["body", "score", "score"]].neardup.dedup("body")) < len(df)
    numbered = df.rename(columns={"score": 7})
    assert numbered.neardup.mark("body").columns[2] == 7


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(df, rows):
    few = df.head(rows)
    assert few.neardup.dedup("body").shape == (rows, 5)
    assert few.neardup.mark("body")["kept"].tolist() == [True] * rows
    assert few["body"].neardup.fingerprint().dtype == "UInt64"
    assert few["body"].neardup.duplicated().tolist() == [False] * rows


@pytest.mark.parametrize("dtype", ["object", "category", "string", "string[pyarrow]"])
def test_a_column_of_texts_of_any_type(dtype):
    texts = pd.Series([A, None, B, "x y z", ""], [3, 3, 1, 2, 0], dtype, name="t")
    expected = nd.fingerprint([A, None, B, "x y z", ""])
    fps = texts.neardup.fingerprint()
    assert (fps.dtype, fps.name, fps.index.tolist()) == ("UInt64", "t", [3, 3, 1, 2, 0])
    assert fps.isna().tolist() == expected.empty.tolist()
    assert fps.dropna().tolist() == [value for value in expected if value]
    kept = texts.neardup.dedup()
    pd.testing.assert_series_equal(kept, texts.iloc[[0, 1, 3, 4]])
    same = texts.neardup.jaccard(texts)
    assert same.dropna().tolist() == [1.0, 1.0, 1.0, 0.0]
    assert texts.neardup.jaccard(A).isna().tolist() == [False, True, False, False, False]
    assert fps.neardup.hamming(fps).dropna().tolist() == [0, 0, 0]


def test_hamming_of_columns_lists_and_numbers():
    fps = pd.Series([0, 2**64 - 1, None], ["a", "b", "b"], "UInt64", name="fp")
    for other in (pd.Series([3, 0, 1], fps.index), [3, 0, 1], np.array([3, 0, 1])):
        found = fps.neardup.hamming(other)
        assert (found.dtype, found.name) == ("Int64", "fp")
        assert found.tolist() == [2, 64, pd.NA]
    assert fps.neardup.hamming(1).tolist() == [1, 63, pd.NA]
    with pytest.raises(nd.InputError, match="fingerprints are whole numbers, not"):
        pd.Series(["x"]).neardup.hamming(3)


def test_columns_of_other_rows_are_refused():
    texts = pd.Series([A, B])
    with pytest.raises(nd.InputError, match=r"different indexes.*align them first"):
        texts.neardup.jaccard(texts.iloc[::-1])
    with pytest.raises(nd.InputError, match="2 rows cannot be compared with 1 one by one"):
        texts.neardup.jaccard([A])
    with pytest.raises(nd.SettingError, match="did you mean 'bits'"):
        texts.neardup.fingerprint(bit=3)
    with pytest.raises(nd.SettingError, match="did you mean 'threshold'"):
        texts.neardup.duplicated(treshold=3)

"""The namespaces of Polars."""

import numpy as np
import pytest
from tests.contrib.collections import MISTAKES, SETTINGS, rows

import neardup as nd

pytest.importorskip("polars", reason="Polars is not installed")

import polars as pl

import neardup.contrib.polars

# Older versions of Polars wrap what a query raises.
RAISED = (nd.NeardupError, pl.exceptions.ComputeError)
A, B = "to be or not to be", "To be, or not to be?"


@pytest.fixture(scope="module")
def df():
    columns = rows()
    count = len(columns["body"])
    return pl.DataFrame(
        [
            pl.Series("site", columns["site"], pl.Categorical),
            pl.Series("body", columns["body"]),
            pl.Series("score", columns["score"], pl.Float32),
            pl.Series("list", [[place, None] for place in range(count)], pl.List(pl.Int8)),
            pl.Series("object", [{place} for place in range(count)], pl.Object),
        ]
    )


def plain(df):
    """The columns that a run can read; an Object has no Arrow type."""
    return df.drop("object")


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_dedup_keeps_the_rows_that_nd_dedup_keeps(df, settings):
    expected = nd.dedup(plain(df), text="body", **settings)
    assert expected.summary["removed"] > 10
    kept = df.neardup.dedup("body", **settings)
    assert kept.schema == df.schema
    assert kept["list"].to_list() == expected.kept["list"].to_pylist()
    assert kept["object"].to_list() == [{place} for place in expected.kept_rows]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_mark_says_what_became_of_each_row(df, settings):
    marked = df.neardup.mark("body", **settings)
    expected = nd.dedup(plain(df), text="body", **settings).documents
    assert marked.columns[:5] == df.columns
    assert set(marked.columns[5:]) == set(expected.column_names) - {"id"}
    for name in marked.columns[5:]:
        assert marked[name].to_list() == expected[name].to_pylist()
    assert marked.select(df.columns[:4]).equals(df.select(df.columns[:4]))
    kept = marked.filter("kept").select(df.columns[:4])
    assert kept.equals(df.neardup.dedup("body", **settings).select(df.columns[:4]))


def test_columns_of_the_frame_keep_their_names():
    df = pl.DataFrame({"text": [A, B], "kept": ["x", "y"], "similarity": [1, 2]})
    marked = df.neardup.mark()
    assert marked.columns[3:] == ["cluster", "duplicate_of", "similarity_1", "kept_1"]
    assert marked["kept"].to_list() == ["x", "y"]
    assert marked["kept_1"].to_list() == [True, False]


def test_the_whole_result_is_at_hand(df, tmp_path):
    result = plain(df).neardup.result("body")
    assert result.pairs == nd.dedup(plain(df), text="body").pairs
    result.save(tmp_path / "out")
    assert (tmp_path / "out" / "report.html").exists()


def test_another_frame_may_be_compared_with(df):
    seen = df.head(60)
    new = plain(df).tail(60).neardup.dedup("body", against=plain(seen))
    assert (
        new["body"].to_list()
        == nd.dedup(plain(df).tail(60), text="body", against=plain(seen)).kept["body"].to_pylist()
    )


def test_lazy_frames_are_collected(df):
    lazy = plain(df).lazy().filter(pl.col("score") < 9)
    expected = lazy.collect().neardup.dedup("body")
    assert lazy.neardup.dedup("body").collect().equals(expected)
    assert (
        lazy.neardup.mark("body").filter("kept").select(expected.columns).collect().equals(expected)
    )
    assert (
        lazy.neardup.result("body").kept_rows.tolist()
        == lazy.collect().neardup.result("body").kept_rows.tolist()
    )


@pytest.mark.parametrize(("wrong", "said"), MISTAKES, ids=[said for _, said in MISTAKES])
def test_mistakes_get_a_sentence(df, wrong, said):
    said = said.replace("double", "float")
    with pytest.raises(nd.NeardupError, match=said):
        df.neardup.dedup(**{"text": "body", **wrong})


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(df, rows):
    few = df.head(rows)
    assert few.neardup.dedup("body").shape == (rows, 5)
    assert few.neardup.mark("body")["kept"].to_list() == [True] * rows
    assert few.select(pl.col("body").neardup.fingerprint()).dtypes == [pl.UInt64]


def test_fingerprints_in_any_context(df):
    expected = [value or None for value in nd.fingerprint(df["body"])]
    of_column = pl.col("body").neardup.fingerprint()
    eager = df.with_columns(fp=of_column)
    assert eager.schema["fp"] == pl.UInt64
    assert eager["fp"].to_list() == expected
    lazy = plain(df).lazy().with_columns(fp=of_column)
    assert lazy.collect_schema()["fp"] == pl.UInt64
    assert lazy.filter(pl.col("score") > 3).collect()["fp"].to_list() == [
        value for value, score in zip(expected, df["score"], strict=True) if score > 3
    ]
    assert eager.select(pl.col("body").neardup.fingerprint().over("site"))["body"].to_list() == (
        expected
    )
    groups = df.group_by("site", maintain_order=True).agg(of_column)
    assert groups.schema["body"] == pl.List(pl.UInt64)
    assert groups["body"].to_list() == [expected[start::3] for start in range(3)]
    assert df["body"].neardup.fingerprint().to_list() == expected


def test_text_may_be_categorical():
    texts = pl.Series("t", [A, B, None, A], pl.Categorical)
    assert (
        texts.neardup.fingerprint().to_list()
        == texts.cast(pl.String).neardup.fingerprint().to_list()
    )
    assert texts.to_frame().neardup.dedup("t")["t"].to_list() == [A, None]
    assert texts.to_frame().neardup.dedup("t")["t"].dtype == pl.Categorical


def test_hamming_of_columns_and_numbers():
    fps = pl.DataFrame(
        {"a": [0, 2**64 - 1, None], "b": [3, 0, 1]}, schema_overrides={"a": pl.UInt64}
    )
    found = fps.select(
        pl.col("a").neardup.hamming("b"),
        one=pl.col("a").neardup.hamming(2**64 - 1),
        other=pl.col("b").neardup.hamming(pl.col("b") + 1),
    )
    assert found.schema == {"a": pl.Int64, "one": pl.Int64, "other": pl.Int64}
    assert found.rows() == [(2, 64, 3), (64, 0, 1), (None, None, 2)]
    assert fps["a"].neardup.hamming(fps["b"]).to_list() == [2, 64, None]
    with pytest.raises(RAISED, match="fingerprints are whole numbers, not"):
        pl.Series(["x"]).neardup.hamming(3)


def test_jaccard_of_columns_and_one_text():
    df = pl.DataFrame({"a": [A, A, None, "?"], "b": [B, "to be or not", "x", "?"]})
    found = df.select(
        pl.col("a").neardup.jaccard("b"),
        one=pl.col("a").neardup.jaccard(pl.lit(A)),
        chars=pl.col("a").neardup.jaccard(pl.col("b"), features="char:30"),
    )
    assert found.schema == {"a": pl.Float64, "one": pl.Float64, "chars": pl.Float64}
    assert found["a"].to_list() == [1.0, 0.5, None, 0.0]
    assert found["one"].to_list() == [1.0, 1.0, None, 0.0]
    assert found["chars"].to_list()[1:] == [0.0, None, 0.0]
    assert df["a"].neardup.jaccard(df["b"]).to_list() == [1.0, 0.5, None, 0.0]
    groups = df.group_by(pl.lit(1)).agg(
        pl.col("a").neardup.jaccard("b"), one=pl.col("b").neardup.jaccard(pl.lit("x"))
    )
    assert groups["a"].to_list() == [[1.0, 0.5, None, 0.0]]
    assert groups["one"].to_list() == [[0.0, 0.0, 1.0, 0.0]]


def test_is_kept_is_an_expression(df):
    whole = df.filter(pl.col("body").neardup.is_kept(threshold=0.7))
    assert whole["list"].to_list() == df.neardup.dedup("body", threshold=0.7)["list"].to_list()
    by_site = df.select(pl.col("body").neardup.is_kept().over("site"))["body"]
    for site in range(3):
        part = df["body"].gather_every(3, site)
        expected = np.zeros(len(part), np.bool_)
        expected[nd.dedup(part).kept_rows] = True
        assert by_site.gather_every(3, site).to_list() == expected.tolist()
    assert df["body"].neardup.is_kept().to_list() == df.neardup.mark("body")["kept"].to_list()
    with pytest.raises(RAISED, match="did you mean 'threshold'"):
        df.select(pl.col("body").neardup.is_kept(treshold=0.7))
    with pytest.raises(RAISED, match="leave it out, as this is one column"):
        df.select(pl.col("body").neardup.is_kept(text="body"))


def test_a_wrong_recipe_is_refused_as_the_query_is_written():
    with pytest.raises(nd.SettingError, match="did you mean 'bits'"):
        pl.col("a").neardup.fingerprint(bit=3)
    with pytest.raises(nd.SettingError, match="not a feature spec"):
        pl.col("a").neardup.jaccard("b", "words")

"""Tables of any library in memory, and lists of strings that are really paths."""

import warnings
from copy import copy
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import neardup as nd
from neardup.errors import InputError
from neardup.read.memory import require_no_paths, table_of

ROWS = {
    "id": ["a", "b", "c", "d"],
    "text": ["one two three four", None, "One, two, three, four!", "something else again"],
    "city": ["Oslo", "Bergen", "Oslo", "Tromsø"],
}
TERMS = {"terms": [["x", "y"], ["x"], []], "weights": [[3.0, 4.0], [3.0], []]}


class Stream:
    """A foreign class that exports its rows by the Arrow stream protocol."""

    def __init__(self, rows):
        self._table = pa.table(rows)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def relation(rows):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("given", pa.table(rows))
    return connection.table("given")


SHAPES = {
    "Arrow table": pa.table,
    "Arrow record batch": pa.RecordBatch.from_pydict,
    "Arrow reader": lambda rows: pa.table(rows).to_reader(),
    "reader of several batches": lambda rows: pa.RecordBatchReader.from_batches(
        pa.table(rows).schema, pa.table(rows).to_batches(max_chunksize=1)
    ),
    "pandas": pd.DataFrame,
    "Polars": pl.DataFrame,
    "Polars, lazy": pl.LazyFrame,
    "DuckDB": relation,
    "Arrow stream": Stream,
}
EVERY = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


@EVERY
def test_every_function_takes_it(shape):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What earlier tests left open may be collected here.
        warnings.simplefilter("ignore", ResourceWarning)
        found = nd.dedup(shape(ROWS))
        assert found.kept["id"].to_pylist() == ["a", "b", "d"]
        assert found.kept["city"].to_pylist() == ["Oslo", "Bergen", "Tromsø"]
        assert found.pairs.select(["a", "b"]).to_pylist() == [{"a": "a", "b": "c"}]
        assert nd.exact_pairs(shape(ROWS))["b"].to_pylist() == ["c"]
        assert nd.tune(shape(ROWS)).documents == 4
        assert nd.sweep(shape(ROWS), bands=2, band_bits=4).rows[0].true == 1
        prints = nd.fingerprint(shape(ROWS), text="text")
        assert prints == nd.fingerprint(ROWS["text"])
        assert nd.idf(shape(ROWS), text="text").content == nd.idf(ROWS["text"]).content


@EVERY
def test_fields_of_records(shape):
    expected = nd.fingerprint(pa.table(ROWS), "char:2", text="city*2+text")
    assert nd.fingerprint(shape(ROWS), "char:2", text="city*2+text") == expected
    found = nd.dedup(shape(ROWS), text="city+text", features="char:2", threshold=0.5)
    assert found.kept["id"].to_pylist() == ["a", "b", "d"]


@EVERY
def test_terms(shape):
    expected = nd.fingerprint(pa.table(TERMS), "terms")
    assert nd.fingerprint(shape(TERMS), "terms") == expected
    pairs = nd.exact_pairs(shape(TERMS), 0.5, features="terms")
    assert pairs.to_pylist() == [{"a": 0, "b": 1, "similarity": 0.6}]


@EVERY
def test_an_index_takes_it(shape):
    index = nd.MemoryIndex()
    assert index.add_many(shape(ROWS), metadata=["city"]) == 4
    assert [match.id for match in index.query("one two three four")] == ["a", "c"]
    assert index.get("d").metadata == {"city": "Tromsø"}


@EVERY
def test_a_missing_column_is_named(shape):
    with pytest.raises(InputError, match=r"the table has no column 'body', only \['id', 'text'"):
        nd.dedup(shape(ROWS), text="body")


@EVERY
def test_both_collections(shape):
    old = {"text": ["something else again"]}
    found = nd.dedup(shape(ROWS), against=shape(old))
    assert found.kept["id"].to_pylist() == ["a", "b", "c"]


@EVERY
def test_no_rows(shape):
    none = {"id": pa.array([], pa.string()), "text": pa.array([], pa.string())}
    if shape is pd.DataFrame:
        none = pa.table(none).to_pandas()  # which keeps the types
    elif shape in (pl.DataFrame, pl.LazyFrame):
        none = {name: [] for name in none}
    assert len(nd.dedup(shape(none)).kept) == 0


def test_a_reader_is_read_once_and_held():
    reader = pa.table(ROWS).to_reader()
    found = nd.dedup(reader, weights="tfidf")  # which iterates over the documents several times
    assert found.summary["documents"] == 4
    assert len(found.kept) == 3


@pytest.mark.parametrize(
    "column",
    [["a"], pa.array(["a"]), pa.chunked_array([["a"]]), pd.Series(["a"]), pl.Series(["a"]), "a", 7],
    ids=lambda column: type(column).__name__ + type(column).__module__,
)
def test_a_column_is_no_table(column):
    assert table_of(column) is None


def test_a_stream_of_one_column_is_no_table():
    class Column:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.chunked_array([["a b"]]).__arrow_c_stream__(requested_schema)

    assert table_of(Column()) is None
    assert len(nd.fingerprint(Column())) == 1


def test_a_table_that_arrow_cannot_read_is_a_sentence():
    mixed = pd.DataFrame({"text": ["a", "b"], "x": [1, "two"]}, dtype=object)
    with pytest.raises(
        InputError, match=r"^the DataFrame has values of several types in .* 'x'; .+"
    ):
        nd.dedup(mixed)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv", "notes"):
        (tmp_path / name).write_text(f"id,text\n{name},one two three\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    return tmp_path


TAKERS = {
    "dedup": nd.dedup,
    "against": lambda names: nd.dedup(["some text"], against=names),
    "tune": nd.tune,
    "sweep": lambda names: nd.sweep(names, bands=1, band_bits=4),
    "exact_pairs": nd.exact_pairs,
    "fingerprint": nd.fingerprint,
    "idf": nd.idf,
}


@pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS)
@pytest.mark.parametrize("names", [["a.csv", "b.csv"], ("a.csv",), ["notes", "folder"]])
def test_names_of_files_are_not_taken_for_texts(files, take, names):
    with pytest.raises(InputError, match=r"^\['.*'\] are names of existing files; ") as caught:
        take(names)
    assert "\n" not in str(caught.value)


def test_it_says_how_to_give_paths(files):
    with pytest.raises(
        InputError, match=r"give paths as pathlib\.Path objects, or one string with"
    ):
        nd.dedup(["a.csv", "b.csv"])
    assert nd.dedup([Path("a.csv"), Path("b.csv")]).summary["documents"] == 2
    assert nd.dedup("*.csv").summary["documents"] == 2
    assert nd.dedup(pa.array(["a.csv", "b.csv"])).summary["documents"] == 2


@pytest.mark.parametrize(
    ("names", "files_named"),
    [
        (["a.csv", "missing.csv"], "files"),  # a misspelt name among others
        (["part-*.jsonl.gz", "b.csv"], "files"),
        (["a.csv", "b.csv", "notes", "folder"], r"existing files"),
    ],
)
def test_some_of_them_exist(files, names, files_named):
    with pytest.raises(InputError, match=f"are names of {files_named};"):
        require_no_paths(names, "do otherwise")


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["notes", "a text about notes"],
        ["missing.csv", "other.csv"],
        ["folder", ""],
        ["/"],
        [".", ".."],
        ["notes", None],
        ["a.csv", "x" * 5000],
        ["a\0b", "\udc00"],
        "a.csv",
        {"a.csv"},
    ],
)
def test_texts_are_texts(files, texts):
    given = copy(texts)
    require_no_paths(texts, "do otherwise")
    assert texts == given


def test_paths_and_texts_are_not_mixed(files):
    with pytest.raises(InputError, match=r"item 0 is a path, but item 1 is of type str; give all"):
        nd.dedup([Path("a.csv"), "b.csv"])
    with pytest.raises(InputError, match="text 1 is of type PosixPath"):
        nd.dedup(["b.csv", Path("a.csv")])


def test_a_long_list_is_shortened(files):
    with pytest.raises(InputError, match=r"^\['a.csv', 'a.csv', 'a.csv', \.\.\.\] are names"):
        nd.dedup(["a.csv"] * 1000)


def test_a_document_of_an_index_may_be_the_name_of_a_file(files):
    index = nd.MemoryIndex()
    index.add(1, "a.csv")
    assert [match.id for match in index.query("a.csv")] == [1]
    assert [len(found) for found in index.query_many(["a.csv", "b.csv"])] == [1, 0]

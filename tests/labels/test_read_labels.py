"""Labels: every format and spelling, decisions, and what is refused."""

import bz2
import gzip
import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from neardup.decisions import DecisionFile, Named, content_of
from neardup.decisions.tables import export
from neardup.errors import InputError
from neardup.labels import read_labels

TABLE = pa.table(
    {"a": ["x", "x", "y", "z"], "b": ["y", "z", "w", "w"], "same": [True, False, None, True]}
)
ANSWERS = [("x", "y", True), ("x", "z", False), ("z", "w", True)]


def rows_of(labels):
    return list(zip(labels.a.to_pylist(), labels.b.to_pylist(), labels.same.tolist(), strict=True))


def lines_of(table):
    return "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()


def csv_of(table):
    file = io.BytesIO()
    pa_csv.write_csv(table, file)
    return file.getvalue()


def written(path, table):
    name = path.name
    if ".parquet" in name:
        pq.write_table(table, path)
    elif name.endswith(".arrow"):
        feather.write_feather(table, path, compression="uncompressed")
    else:
        data = lines_of(table) if ".jsonl" in name else csv_of(table)
        pack = {"gz": gzip.compress, "bz2": bz2.compress}.get(name.rpartition(".")[2], bytes)
        path.write_bytes(pack(data))
    return path


@pytest.mark.parametrize(
    "name",
    ["l.parquet", "l.csv", "l.jsonl", "l.arrow", "l.csv.gz", "l.jsonl.gz", "l.jsonl.bz2"],
)
def test_every_format(tmp_path, name):
    labels = read_labels(written(tmp_path / name, TABLE))
    assert rows_of(labels) == ANSWERS
    assert labels.source == str(tmp_path / name)
    assert labels.has_different


@pytest.mark.parametrize(
    "held",
    [TABLE, TABLE.to_batches()[0], TABLE.to_reader(), TABLE.to_pandas(), pl.from_arrow(TABLE)],
)
def test_tables_in_memory(held):
    assert rows_of(read_labels(held)) == ANSWERS


@pytest.mark.parametrize(("yes", "no"), [("true", "false"), ("TRUE", "False"), ("1", "0")])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_spellings_as_texts(tmp_path, yes, no, kind):
    table = pa.table({"a": [1, 2, 3], "b": [4, 5, 6], "same": [yes, f" {no} ", ""]})
    labels = read_labels(written(tmp_path / f"l.{kind}", table))
    assert rows_of(labels) == [("1", "4", True), ("2", "5", False)]


@pytest.mark.parametrize(
    ("yes", "no"), [("yes", "no"), ("same", "different"), (1, 0), (1.0, 0.0), ("Same", "DIFFERENT")]
)
def test_other_spellings(yes, no):
    table = pa.table({"a": [1, 2, 3], "b": [4, 5, 6], "same": [yes, no, None]})
    assert read_labels(table).same.tolist() == [True, False]


def test_numbers_with_gaps_as_pandas_stores_them():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6], "same": [1, 0, np.nan]})
    assert read_labels(frame).same.tolist() == [True, False]


@pytest.mark.parametrize("word", ["maybe", "2", "t", "null", "'"])
def test_another_word_is_refused_with_its_row(tmp_path, word):
    path = tmp_path / "l.csv"
    path.write_text(f"a,b,same\n1,2,yes\n1,3,{word}\n")
    with pytest.raises(InputError, match=r"l\.csv, row 2: same=.* is no answer; write true or fal"):
        read_labels(path)


def test_without_a_column_same_all_pairs_are_the_same():
    labels = read_labels(TABLE.select(["b", "a"]))
    assert labels.same.tolist() == [True] * 4
    assert not labels.has_different
    with pytest.raises(InputError, match="only pairs that are the same; label pairs that are diff"):
        read_labels(TABLE.select(["a", "b"]), need_different=True)


@pytest.mark.parametrize("name", ["l.parquet", "l.csv", "l.jsonl"])
@pytest.mark.parametrize(
    ("columns", "missing"),
    [
        (["id_a", "id_b", "same"], "'a'"),
        (["left", "right", "same"], "'a'"),
        (["a", "right", "same"], "'b'"),
    ],
)
def test_missing_columns_are_told_with_those_that_are_there(tmp_path, name, columns, missing):
    path = written(tmp_path / name, TABLE.rename_columns(columns))
    with pytest.raises(InputError) as caught:
        read_labels(path)
    message = str(caught.value)
    assert f"{path} has no column {missing}; its columns are" in message
    assert all(f"'{one}'" in message for one in columns)
    assert message.endswith("name the ids of two documents 'a' and 'b'")


def test_missing_columns_of_a_table():
    with pytest.raises(InputError, match="the table has no column 'b'; its columns are 'a', 'c'"):
        read_labels(pa.table({"a": [1], "c": [2]}))


@pytest.mark.parametrize("name", ["l.parquet", "l.csv", "l.jsonl"])
def test_no_labelled_pair(tmp_path, name):
    table = TABLE.set_column(2, "same", pa.nulls(4, pa.string()))
    path = written(tmp_path / name, table)
    with pytest.raises(InputError, match=r"no labelled pair; fill in its column 'same', or answer"):
        read_labels(path)
    with pytest.raises(InputError, match="no labelled pair"):
        read_labels(written(tmp_path / f"empty.{name}", table.slice(0, 0)))


def test_an_empty_file(tmp_path):
    for name in ("e.csv", "e.jsonl"):
        (tmp_path / name).touch()
        with pytest.raises(InputError, match="no labelled pair"):
            read_labels(tmp_path / name)


@pytest.mark.parametrize("name", ["missing.csv", "missing.parquet", "missing"])
def test_a_file_that_is_not_there(tmp_path, name):
    with pytest.raises(InputError, match="missing"):
        read_labels(tmp_path / name)


def test_no_labels_in_a_text_or_anything_else(tmp_path):
    (tmp_path / "l.txt").write_text("a b same")
    with pytest.raises(InputError, match="cannot hold labelled pairs; give a"):
        read_labels(tmp_path / "l.txt")
    with pytest.raises(InputError, match="int is no table of labels; give the name of a file"):
        read_labels(5)


def test_a_repeated_pair_counts_once_whichever_comes_first():
    table = pa.table({"a": [1, 2, 1], "b": [2, 1, 2], "same": [True, True, None]})
    assert rows_of(read_labels(table)) == [("1", "2", True)]


def test_two_answers_to_one_pair_are_an_error():
    table = pa.table(
        {"a": [7, 1, 8, 2, 8], "b": [8, 2, 9, 1, 7], "same": [True, True, True, False, False]}
    )
    with pytest.raises(InputError) as caught:
        read_labels(table)
    assert str(caught.value) == (
        "the table labels the pair '2', '1' same in row 2 and different in row 4; delete one of "
        "them"
    )


def test_a_pair_with_itself_and_an_empty_id():
    with pytest.raises(InputError, match="the table, row 2: a pair of '5' with itself; delete it"):
        read_labels(pa.table({"a": [4, 5], "b": ["6", "5"]}))
    with pytest.raises(InputError, match="the table, row 2: 'b' is empty; give an id"):
        read_labels(pa.table({"a": [4, 5], "b": [6, None]}))
    # A row that is not labelled may be anything.
    table = pa.table({"a": [1, 5], "b": [2, 5], "same": [True, None]})
    assert len(read_labels(table)) == 1


def test_a_broken_row_is_no_label_lost(tmp_path):
    path = tmp_path / "l.jsonl"
    path.write_text('{"a": 1, "b": 2}\n{"a": 1, "b"\n')
    with pytest.raises(InputError, match=r"l.jsonl, row 2: line 2: broken JSON .*; mend the row"):
        read_labels(path)
    path = tmp_path / "l.csv"
    path.write_text("a,b,same\n1,2,yes\n1,3\n")
    with pytest.raises(InputError, match=r"row 2: line 3: fields: 2, where the header has 3"):
        read_labels(path)


def test_ids_are_compared_as_strings(tmp_path):
    path = written(tmp_path / "l.csv", pa.table({"a": [3, 11], "b": [1, 2], "same": [1, 0]}))
    labels = read_labels(path)
    placed = labels.at(pa.array([1, 2, 3, 4]))
    assert (placed.a.tolist(), placed.b.tolist(), placed.same.tolist()) == ([0], [2], [True])
    assert (placed.unknown, placed.example) == (1, "11")
    texts = labels.at(pa.array(["11", "3", "2", "1"]))
    assert (texts.a.tolist(), texts.b.tolist(), texts.unknown) == ([1, 0], [3, 2], 0)
    rows = labels.at(pa.array(np.arange(12)))
    assert (rows.a.tolist(), rows.b.tolist()) == ([1, 2], [3, 11])


def test_ids_that_spreadsheets_would_take_for_formulas(tmp_path):
    path = tmp_path / "l.csv"
    path.write_text("a,b,same\n'=x,'tis,yes\n-1,2,no\n")
    assert rows_of(read_labels(path)) == [("=x", "'tis", True), ("-1", "2", False)]


def test_a_million_labels(tmp_path):
    n = 1_000_000
    generator = np.random.default_rng(5)
    a = generator.integers(0, 1 << 40, n)
    table = pa.table({"a": a, "b": a + 1 + generator.integers(0, 1000, n), "same": a % 3 == 0})
    labels = read_labels(written(tmp_path / "l.parquet", table))
    # A pair as one number: sorting numbers takes a tenth of the time of `unique` of pairs.
    pairs = np.sort(a << 10 | table["b"].to_numpy() - a)
    assert len(labels) == 1 + np.count_nonzero(np.diff(pairs))
    placed = labels.at(pa.array(np.unique(np.concatenate([a, table["b"].to_numpy()]))))
    assert placed.unknown == 0


# Decisions


def named(id, text=None, other=False):
    return Named(id, content_of(f"text of {id}" if text is None else text), other)


@pytest.fixture
def decisions(tmp_path):
    return DecisionFile(tmp_path / "decisions.jsonl")


def answers_of(labels):
    return {frozenset((a, b)): same for a, b, same in rows_of(labels)}


def test_decisions_are_labels(tmp_path, decisions):
    decisions.add("same", [named(1), named(2)], by="ann")
    decisions.add("different", [named(2), named(3)], by="ann")
    decisions.add("keep", [named(7), named(8)], by="ann")
    decisions.add("skip", [named(5), named(6)], by="ann")
    taken_back = decisions.add("same", [named(8), named(9)], by="ann")
    decisions.undo(taken_back.key, by="bob")
    decisions.add("same", [named(3), named(4)], by="ann")
    decisions.add("different", [named(4), named(3)], by="ann")
    expected = {frozenset("12"): True, frozenset("23"): False, frozenset("34"): False}
    for given in (decisions.path, str(decisions.path), tmp_path):
        labels = read_labels(given)
        assert answers_of(labels) == expected
        assert labels.notes == ()


def test_decisions_under_another_name(tmp_path, decisions):
    decisions.add("same", [named(1), named(2)], by="ann")
    other = decisions.path.rename(tmp_path / "ann.jsonl")
    assert answers_of(read_labels(other)) == {frozenset("12"): True}


def test_a_list_of_documents_is_every_pair_of_it(decisions):
    decisions.add("same", [named("x"), named("y"), named("z")], by="ann")
    decisions.add("different", [named("x"), named("z")], by="ann")
    assert answers_of(read_labels(decisions.path)) == {
        frozenset("xy"): True,
        frozenset("yz"): True,
        frozenset("xz"): False,
    }


def test_where_reviewers_disagree_there_is_no_label(decisions):
    decisions.add("same", [named(1), named(2)], by="ann")
    decisions.add("same", [named(3), named(4)], by="ann")
    decisions.add("different", [named(1), named(2)], by="bob")
    labels = read_labels(decisions.path)
    assert answers_of(labels) == {frozenset("34"): True}
    assert labels.notes == ("1 pair left out: reviewers disagree",)


def test_a_decision_on_an_earlier_content_does_not_count(decisions):
    decisions.add("different", [named(1, "old"), named(2)], by="ann")
    decisions.add("different", [named(3), named(2)], by="ann")
    decisions.add("same", [named(1, "new"), named(2)], by="bob")
    labels = read_labels(decisions.path)
    assert answers_of(labels) == {frozenset("12"): True, frozenset("23"): False}
    assert labels.notes == ("1 decision left out: about an earlier content of a document",)


def test_documents_of_another_collection_have_no_labels(decisions):
    decisions.add("same", [named(1), named(2, other=True)], by="ann")
    with pytest.raises(InputError, match=r"decisions\.jsonl has no labelled pair$"):
        read_labels(decisions.path)
    decisions.add("same", [named(1), named(2)], by="ann")
    labels = read_labels(decisions.path)
    assert labels.notes == (
        "1 decision left out: about documents of another collection (--against)",
    )


def test_a_folder_without_decisions(tmp_path):
    with pytest.raises(InputError, match=r"is a folder without decisions\.jsonl"):
        read_labels(tmp_path)


def test_damaged_decisions(decisions):
    decisions.add("same", [named(1), named(2)], by="ann")
    decisions.path.write_text('{"says": "same"}\n')
    with pytest.raises(InputError, match=r"decisions\.jsonl, line 1: .* missing"):
        read_labels(decisions.path)


@pytest.mark.parametrize("name", ["d.csv", "d.parquet", "d.csv.gz"])
def test_a_table_that_decisions_export_wrote(tmp_path, decisions, name):
    decisions.add("same", [named("=1"), named(2)], by="ann")
    decisions.add("same", [named(3), named(4), named(5)], by="ann")
    decisions.add("different", [named(3), named(5)], by="bob")
    decisions.add("keep", [named(7), named(8)], by="bob")
    plain = tmp_path / name.removesuffix(".gz")
    export(decisions.current().decisions, plain)
    path = tmp_path / name
    if path != plain:
        path.write_bytes(gzip.compress(plain.read_bytes()))
    labels = read_labels(path)
    assert answers_of(labels) == {
        frozenset(("=1", "2")): True,
        frozenset("34"): True,
        frozenset("45"): True,
    }
    assert labels.notes == ("1 pair left out: reviewers disagree",)


def test_decisions_beside_a_table_win(tmp_path):
    path = written(tmp_path / "l.csv", TABLE)
    beside = DecisionFile(tmp_path / "l.csv.decisions.jsonl")
    beside.add("different", [named("y"), named("x")], by="ann")
    beside.add("same", [named("y"), named("w")], by="ann")
    beside.add("same", [named("w"), named("z")], by="ann")
    beside.add("different", [named("w"), named("z")], by="bob")
    labels = read_labels(path)
    assert answers_of(labels) == {
        frozenset("xy"): False,
        frozenset("yw"): True,
        frozenset("xz"): False,
    }
    assert labels.source == str(path)
    assert labels.notes == ("1 pair left out: reviewers disagree",)


def test_decisions_beside_a_table_of_texts_that_have_changed(tmp_path):
    texts = {"a_text": ["1", "1", "2", "3"], "b_text": ["2", "3", "4", "4"]}
    table = TABLE
    for name, column in texts.items():
        table = table.append_column(name, pa.array(column))
    path = written(tmp_path / "l.parquet", table)
    beside = DecisionFile(tmp_path / "l.parquet.decisions.jsonl")
    beside.add("same", [named("y", "2"), named("w", "4")], by="ann")
    beside.add("different", [named("x", "another"), named("y", "2")], by="ann")
    labels = read_labels(path)
    assert answers_of(labels)[frozenset("xy")]
    assert answers_of(labels)[frozenset("yw")]
    assert labels.notes == ("1 decision left out: about an earlier content of a document",)

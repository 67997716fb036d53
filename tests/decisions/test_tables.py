"""Decisions as tables: what is exported can be imported, and nothing twice."""

import csv
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from neardup.decisions import Decision, DecisionFile, Named, content_of
from neardup.decisions.tables import COLUMNS, export, imported
from neardup.errors import InputError, SettingError

A, B, C = (Named(place, content_of(f"text {place}")) for place in range(3))
names = st.text(max_size=6)
ids = st.integers(-(2**63), 2**64 - 1) | names
named = st.builds(Named, ids, st.text(max_size=3).map(content_of), st.booleans())


@st.composite
def decisions(draw):
    says = draw(st.sampled_from(["same", "different", "keep", "skip"]))
    least = 1 if says in ("keep", "skip") else 2
    return partial(
        Decision,
        says,
        tuple(draw(st.lists(named, min_size=least, max_size=4, unique=True))),
        draw(names),
        "2026-01-02T03:04:05.678Z",
        why=draw(names),
        similarity=draw(st.none() | st.floats(0, 1)),
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@settings(max_examples=100)
@given(made=st.lists(decisions(), max_size=5))
def test_import_of_an_export_is_the_identity(made, suffix, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / f"labels.{suffix}"
    said = tuple(one(key=f"key {number}") for number, one in enumerate(made))
    export(said, path)
    found = imported(path)
    assert found == said
    for one, other in zip(found, said, strict=True):
        assert [type(x.id) for x in one.documents] == [type(x.id) for x in other.documents]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_what_is_there_is_not_imported_twice(tmp_path, suffix):
    file = DecisionFile(tmp_path / "decisions.jsonl")
    file.add("same", [A, B, C], by="ann", why="=HYPERLINK(1)")
    file.add("keep", [A, B], by="bob")
    assert export(file.current().decisions, tmp_path / f"out.{suffix}") == 4
    other = DecisionFile(tmp_path / "other.jsonl")
    assert len(other.merge(imported(tmp_path / f"out.{suffix}"))) == 2
    assert other.merge(imported(tmp_path / f"out.{suffix}")) == ()
    assert file.merge(imported(tmp_path / f"out.{suffix}")) == ()
    assert other.current().decisions == file.current().decisions


def test_a_table_of_numbers_has_numbers(tmp_path):
    file = DecisionFile(tmp_path / "decisions.jsonl")
    file.add("different", [A, B], by="ann", similarity=0.7)
    export(file.history(), tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert tuple(table.column_names) == COLUMNS
    assert table.schema.field("a").type == pa.int64()
    assert table["same"].to_pylist() == [False]
    assert table["a"].to_pylist() == [0]


def test_a_spreadsheet_takes_no_text_for_a_formula(tmp_path):
    file = DecisionFile(tmp_path / "decisions.jsonl")
    file.add("same", [Named("=1+1", A.content), B], by="@ann", why="-cmd")
    export(file.history(), tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as lines:
        row = next(csv.DictReader(lines))
    assert (row["a"], row["by"], row["why"]) == ("'=1+1", "'@ann", "'-cmd")


def test_labels_of_others_need_few_columns(tmp_path):
    lines = ["a,b,a_content,b_content,same", f"1,x,{A.content},{B.content},TRUE"]
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    file = DecisionFile(tmp_path / "decisions.jsonl")
    [said] = file.merge(imported(tmp_path / "labels.csv"))
    assert said.says == "same"
    assert said.documents == (Named(1, A.content), Named("x", B.content))
    assert file.merge(imported(tmp_path / "labels.csv")) == ()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a,b\n1,2\n", "row 1"),
        (f"a,b,a_content,b_content\n1,2,{A.content},{B.content}\n", "neither 'says' nor 'same'"),
        (f"a,b,a_content,b_content,says\n1,2,{A.content},{B.content},maybe\n", "unknown"),
        (f"a,b,a_content,b_content,same\n1,2,{A.content},xyz,true\n", "32 hexadecimal"),
        (f"a,b,a_content,b_content,same\n1,2,{A.content},{B.content},perhaps\n", "true nor false"),
        (f"a,b,a_content,b_content,same\n1,2,{A.content}\n", "cells"),
        (f"a,b,a_content,b_content,says\n1,2,{A.content},{B.content},undo\n", "no 'undo'"),
        ("a\n\x00", "row"),
    ],
)
def test_a_broken_table_is_named(tmp_path, text, word):
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(InputError, match=r"labels\.csv") as refused:
        imported(tmp_path / "labels.csv")
    assert word in str(refused.value)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "labels.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(InputError, match="not a parquet file"):
        imported(tmp_path / "labels.parquet")
    (tmp_path / "labels.csv").write_bytes(b"\xff\xfea,b\n1,2\n")
    with pytest.raises(InputError, match="not a csv file"):
        imported(tmp_path / "labels.csv")
    with pytest.raises(InputError, match="cannot read"):
        imported(tmp_path / "none.csv")
    with pytest.raises(SettingError, match=r"\.parquet or \.csv"):
        imported(tmp_path / "labels.txt")

"""The kinds of samples, and how they are written."""

import csv
import json
from collections import defaultdict
from itertools import combinations

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import neardup as nd
from neardup.cli.app import app
from neardup.samples.kinds import KINDS
from neardup.samples.write import write_sample


@pytest.mark.parametrize("name", KINDS)
def test_every_format_holds_the_same_rows(tmp_path, name):
    table = nd.sample(name)
    for suffix in (".jsonl", ".csv", ".parquet"):
        assert write_sample(name, tmp_path / f"s{suffix}") == table.num_rows
    lines = (tmp_path / "s.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == table.to_pylist()
    assert pq.read_table(tmp_path / "s.parquet").to_pylist() == table.to_pylist()
    csv.field_size_limit(10_000_000)  # notebooks
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == table.column_names
    assert len(rows) == 1 + table.num_rows


@pytest.mark.parametrize("name", KINDS)
def test_what_is_said_of_a_kind_is_true(name):
    numbers = [int(word) for word in KINDS[name].about.split() if word.isdigit()]
    assert all(number == nd.sample(name).num_rows for number in numbers)


def test_an_unknown_kind_is_refused_by_name():
    with pytest.raises(nd.SettingError, match="no sample 'text'; choose texts, code, records"):
        nd.sample("text")


def test_a_folder_of_code(tmp_path):
    write_sample("code", tmp_path / "code")
    write_sample("code", tmp_path / "code")  # the same again
    for row in nd.sample("code").to_pylist():
        assert (tmp_path / "code" / row["id"]).read_bytes() == row["text"].encode()
    (tmp_path / "code" / "mine.py").touch()
    with pytest.raises(nd.NeardupError, match="other content"):
        write_sample("code", tmp_path / "code")


def test_nothing_is_replaced(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("mine")
    with pytest.raises(nd.NeardupError, match="other content; choose another name"):
        write_sample("records", path)
    assert path.read_text() == "mine"
    with pytest.raises(nd.SettingError, match=r"give the name of a \.jsonl"):
        write_sample("records", tmp_path / "folder")


def test_copies_of_code_are_near_their_original():
    rows = {row["id"]: row for row in nd.sample("code").to_pylist()}
    for row in rows.values():
        if row["copy_of"]:
            same = row["change"] in ("copy", "indented")
            compared = nd.compare(row["text"], rows[row["copy_of"]]["text"])
            assert same == (compared.jaccard == 1), row["id"]
            assert compared.jaccard > 0.6, row["id"]
    originals = [row["text"] for row in rows.values() if not row["copy_of"]]
    assert len(originals) == 10
    assert not len(nd.exact_pairs(originals, 0.2))


def test_labels_say_what_the_truth_says():
    ids = set(nd.sample("records")["id"].to_pylist())
    true = {(row["a"], row["b"]) for row in nd.sample("truth").to_pylist() if row["same"]}
    labels = nd.sample("labels").to_pylist()
    assert len({(row["a"], row["b"]) for row in labels}) == len(labels)
    assert all(row["same"] == ((row["a"], row["b"]) in true) for row in labels)
    assert {id for row in labels for id in (row["a"], row["b"])} <= ids
    assert 60 < sum(row["same"] for row in labels) < 140


def test_the_truth_is_transitive():
    near = defaultdict(set)
    pairs = {(row["a"], row["b"]) for row in nd.sample("truth").to_pylist()}
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    for others in near.values():
        assert all(pair in pairs for pair in combinations(sorted(others), 2))


def test_records_can_be_linked():
    people = nd.sample("records")
    text = "given_name:char:2 + surname:char:2 + street:char:2*0.5 + born:date*2 + phone:char:2"
    found = nd.evaluate(
        nd.dedup(people, text=text, threshold=0.6), nd.sample("truth"), complete=True
    )
    assert found.pairs.rates.f1 > 0.85


def test_standard_output_takes_json_lines():
    printed = CliRunner().invoke(app, ["sample", "labels"]).stdout
    lines = printed.splitlines()
    assert [json.loads(line) for line in lines] == nd.sample("labels").to_pylist()
    assert CliRunner().invoke(app, ["sample", "labels", "-o", "-"]).stdout == printed

"""The file of pairs to label: each format, what it never replaces, and reading it back."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.decisions import DecisionFile, Named, content_of
from neardup.errors import InputError, NeardupError, SettingError
from neardup.labels import PairsToLabel, read_labels, write_pairs_to_label
from neardup.labels.to_label import COLUMNS, about_pairs, pairs_to_label

TEXTS = ["=1+1", 'two "quoted"\r\nlines\rhere', "'tis; a, b\tc", "東京 😀", "", "name: x\ncity: y"]


def made(ids=("x", "y", "z"), texts=TEXTS):
    return PairsToLabel(
        pa.array([ids[0], ids[1], ids[2]]),
        pa.array([ids[1], ids[2], ids[0]]),
        pa.array(texts[:3]),
        pa.array(texts[3:]),
        np.array([0.25, np.nan, 1.0]),
        ["word:1 tfidf 0.2–0.3", "=low", ""],
    )


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_what_is_written_is_read(tmp_path, suffix):
    path = tmp_path / f"pairs{suffix}"
    write_pairs_to_label(path, made(), about={"command": "neardup tune x.csv"})
    (rows,) = pairs_to_label(path)
    assert tuple(rows.columns) == COLUMNS
    assert rows.columns["a_text"].to_pylist() == TEXTS[:3]
    assert rows.columns["b_text"].to_pylist() == TEXTS[3:]
    assert rows.columns["a"].to_pylist() == ["x", "y", "z"]
    assert rows.columns["why"].to_pylist() == ["word:1 tfidf 0.2–0.3", "=low", ""]
    assert [float(one or "nan") for one in rows.columns["similarity"].to_pylist()][::2] == [0.25, 1]
    assert rows.columns["same"].to_pylist() == ["", "", ""]
    expected = {"command": "neardup tune x.csv"} if suffix == ".parquet" else {}
    assert about_pairs(path) == expected
    with pytest.raises(InputError, match=r"no labelled pair; fill in its column 'same', or answer"):
        read_labels(path)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_the_same_pairs_give_the_same_bytes(tmp_path, suffix):
    contents = []
    for name in ("one", "two"):
        write_pairs_to_label(tmp_path / f"{name}{suffix}", made(), about={})
        contents.append((tmp_path / f"{name}{suffix}").read_bytes())
    assert contents[0] == contents[1]


def test_ids_that_are_numbers_stay_numbers(tmp_path):
    write_pairs_to_label(tmp_path / "p.jsonl", made((1, 2, 3)), about={})
    first = json.loads((tmp_path / "p.jsonl").read_text("utf-8").splitlines()[0])
    assert first == {
        "a": 1,
        "b": 2,
        "same": None,
        "similarity": 0.25,
        "why": "word:1 tfidf 0.2–0.3",
        "a_text": "=1+1",
        "b_text": "東京 😀",
    }


@pytest.mark.parametrize("name", ["pairs.txt", "pairs", "pairs.jsonl.gz"])
def test_another_suffix_is_refused(tmp_path, name):
    with pytest.raises(SettingError, match=r"ends in \.jsonl, \.csv or \.parquet"):
        write_pairs_to_label(tmp_path / name, made(), about={})
    assert not (tmp_path / name).exists()


def test_labels_are_replaced_only_if_told(tmp_path):
    path = tmp_path / "p.csv"
    write_pairs_to_label(path, made(), about={})
    write_pairs_to_label(path, made(), about={})  # nobody has labelled anything
    content = path.read_bytes()
    # As a spreadsheet or an editor fills it in.
    path.write_bytes(content.replace(b'"x","y","",', b'"x","y",yes,'))
    assert read_labels(path).same.tolist() == [True]
    with pytest.raises(NeardupError, match=r"p\.csv has 1 label and is not replaced; name ano"):
        write_pairs_to_label(path, made(), about={})
    write_pairs_to_label(path, made(), about={}, overwrite=True)
    assert path.read_bytes() == content


def test_a_file_with_answers_beside_it_is_replaced_only_if_told(tmp_path):
    path = tmp_path / "p.jsonl"
    write_pairs_to_label(path, made(), about={})
    beside = DecisionFile(tmp_path / "p.jsonl.decisions.jsonl")
    beside.add(
        "same", [Named("x", content_of(TEXTS[0])), Named("y", content_of(TEXTS[3]))], by="ann"
    )
    with pytest.raises(NeardupError, match=r"p\.jsonl\.decisions\.jsonl has answers to"):
        write_pairs_to_label(path, made(), about={})
    write_pairs_to_label(path, made(), about={}, overwrite=True)
    assert beside.path.exists()


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_of_another_kind_is_never_replaced(tmp_path, overwrite):
    path = tmp_path / "people.csv"
    path.write_text("id,text\n1,one\n")
    with pytest.raises(NeardupError, match=r"people\.csv is not a file of pairs to label"):
        write_pairs_to_label(path, made(), about={}, overwrite=overwrite)
    assert path.read_text() == "id,text\n1,one\n"


def test_nothing_is_left_of_a_file_that_cannot_be_written(tmp_path):
    pairs = made()
    broken = PairsToLabel(pairs.a, pairs.b, pairs.a_text, pairs.b_text, pairs.similarity, ["one"])
    with pytest.raises(pa.ArrowInvalid):
        write_pairs_to_label(tmp_path / "p.parquet", broken, about={})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (
            '{"a": 1, "b": 2, "same": true}\n',
            "no column 'a_text'; its columns are 'a', 'b'",
        ),
        ('{"a": 1, "b": 1, "a_text": "", "b_text": ""}\n', "row 1: a pair of '1' with itself"),
        ('{"a": 1, "b": null, "a_text": "", "b_text": ""}\n', "row 1: 'b' is empty; give an id"),
    ],
)
def test_what_is_no_file_of_pairs_to_label(tmp_path, lines, fault):
    path = tmp_path / "p.jsonl"
    path.write_text(lines)
    with pytest.raises(InputError, match=fault):
        list(pairs_to_label(path))


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_long_texts_are_whole(tmp_path, suffix):
    long = ['long text, "quoted"\n' * 150_000, "b", "c", "d", "e" * 3_000_000, "f"]
    path = tmp_path / f"p{suffix}"
    write_pairs_to_label(path, made(texts=long), about={})
    found = []
    for rows in pairs_to_label(path):
        found += rows.columns["a_text"].to_pylist() + rows.columns["b_text"].to_pylist()
    assert sorted(found) == sorted(long)


def test_parquet_of_others_says_nothing_about_itself(tmp_path):
    pq.write_table(made().table(), tmp_path / "p.parquet")
    assert about_pairs(tmp_path / "p.parquet") == {}

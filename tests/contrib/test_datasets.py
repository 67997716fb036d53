"""Functions for Hugging Face datasets, and whole datasets."""

import os
import subprocess
import sys

import pytest
from tests.contrib.collections import MISTAKES, SETTINGS, rows

import neardup as nd

pytest.importorskip("datasets", reason="datasets is not installed")

import datasets
from datasets.fingerprint import Hasher

from neardup.contrib.datasets import dedup, fingerprint, first_seen, mark

FIRST = 40


@pytest.fixture(autouse=True)
def same_environment(monkeypatch):
    """Put `os.environ` back, which `map` with several processes replaces by a copy of it."""
    monkeypatch.setattr(os, "environ", os.environ)


@pytest.fixture(scope="module", autouse=True)
def quiet():
    """Without progress bars."""
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


@pytest.fixture
def ds(tmp_path):
    """A dataset in a file, so that what is made of it is cached."""
    columns = rows()
    columns["small"] = list(range(len(columns["body"])))
    features = datasets.Features(
        site=datasets.ClassLabel(names=["site-0", "site-1", "site-2"]),
        body=datasets.Value("string"),
        score=datasets.Value("float32"),
        small=datasets.Value("uint8"),
    )
    datasets.Dataset.from_dict(columns, features).save_to_disk(str(tmp_path / "ds"))
    return datasets.load_from_disk(str(tmp_path / "ds"))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("shuffled", [False, True])
def test_dedup_keeps_the_rows_that_nd_dedup_keeps(ds, settings, shuffled):
    if shuffled:
        ds = ds.shuffle(seed=1)
    expected = nd.dedup(ds.with_format("arrow")[:], text="body", **settings)
    assert expected.summary["removed"] > 10
    kept = dedup(ds, "body", **settings)
    assert kept.features == ds.features
    assert kept["small"][:] == expected.kept["small"].to_pylist()
    # Nothing is copied: the rows stay in the file of the whole dataset.
    assert kept.cache_files[0] == ds.cache_files[0]
    assert len(kept.data) == len(ds.data)


def test_mark_says_what_became_of_each_row(ds):
    shuffled = ds.shuffle(seed=1)
    marked = mark(shuffled, "body")
    expected = nd.dedup(shuffled.with_format("arrow")[:], text="body").documents
    assert marked.column_names[4:] == ["cluster", "duplicate_of", "similarity", "kept"]
    assert marked["small"][:] == shuffled["small"][:]
    for name in marked.column_names[4:]:
        assert marked[name][:] == expected[name].to_pylist()


@pytest.mark.parametrize(("wrong", "said"), MISTAKES, ids=[said for _, said in MISTAKES])
def test_mistakes_get_a_sentence(ds, wrong, said):
    said = said.replace("double", "float")
    with pytest.raises(nd.NeardupError, match=said):
        dedup(ds, **{"text": "body", **wrong})


def test_what_is_no_dataset_is_refused(ds):
    with pytest.raises(nd.InputError, match=r"give one split of the dataset, such as ds\['test'\]"):
        dedup(datasets.DatasetDict(test=ds), "body")
    with pytest.raises(nd.InputError, match="read as it arrives; filter it"):
        mark(ds.to_iterable_dataset(), "body")


@pytest.mark.parametrize("format", [None, "arrow", "numpy"])
@pytest.mark.parametrize("processes", [None, 2])
def test_fingerprints_are_those_of_the_function(ds, format, processes):
    if format == "numpy" and processes:
        pytest.skip("one of both is enough")
    expected = list(nd.fingerprint(ds["body"][:]))
    mapped = ds.with_format(format).map(
        fingerprint("body"), batched=True, batch_size=50, num_proc=processes
    )
    assert mapped.features["fingerprint"] == datasets.Value("uint64")
    assert mapped.with_format(None)["fingerprint"][:] == expected
    assert mapped.column_names == [*ds.column_names, "fingerprint"]


def test_fingerprints_of_a_stream(ds):
    stream = ds.to_iterable_dataset().map(fingerprint("body", "fp", bits=40), batched=True)
    found = [row["fp"] for row in stream]
    assert found == list(nd.fingerprint(ds["body"][:], bits=40))


def test_fingerprints_replace_a_column(ds):
    for one in (ds, ds.with_format("arrow")):
        mapped = one.map(fingerprint("body", "score"), batched=True, remove_columns=["site"])
        assert mapped.features["score"] == datasets.Value("uint64")


def test_the_cache_knows_a_recipe_again(ds):
    def cached(make):
        return ds.map(make(), batched=True).cache_files

    first = cached(lambda: fingerprint("body", features="char:4", bits=32))
    assert first == cached(lambda: fingerprint("body", bits=32, features="char:4"))
    assert first != cached(lambda: fingerprint("body", features="char:4"))
    code = (
        "from datasets.fingerprint import Hasher\n"
        "from neardup.contrib.datasets import fingerprint\n"
        "print(Hasher.hash(fingerprint('body', bits=32)))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert other.stdout.decode().strip() == Hasher.hash(fingerprint("body", bits=32))


@pytest.mark.parametrize("format", [None, "arrow"])
@pytest.mark.parametrize("stream", [False, True])
def test_the_first_of_near_duplicates_are_let_through(ds, format, stream):
    if stream and format and int(datasets.__version__.split(".")[0]) < 5:
        pytest.skip("datasets before 5 cannot filter a stream in the format arrow")
    expected = nd.dedup(ds["body"][:]).kept_rows.tolist()  # `small` numbers the rows
    given = ds.to_iterable_dataset() if stream else ds
    seen = first_seen("body", complete=True)
    kept = given.with_format(format).filter(seen, batched=True, batch_size=50)
    found = [row["small"] for row in kept]
    if format == "arrow":  # each row is a table
        found = [value for column in found for value in column.to_pylist()]
    assert found == expected
    assert len(seen.index) == len(expected)
    assert [match.id for match in seen.index.query(ds["body"][0])] == [0]


def test_a_second_dataset_is_compared_with_the_first_in_every_run(ds):
    """Even if the cache of datasets could answer for the first one."""
    train, test = ds.select(range(FIRST)), ds.select(range(FIRST, len(ds)))
    expected = dedup(ds, "body")["small"][:]
    for _ in range(2):
        seen = first_seen("body", complete=True)
        kept = [part.filter(seen, batched=True)["small"][:] for part in (train, test)]
        assert kept[0] + kept[1] == expected
        # By now all has been seen; the last four texts have no words, and are near nothing.
        assert test.filter(seen, batched=True)["small"][:] == ds["small"][-4:]


def test_a_stream_may_be_read_twice(ds):
    expected = dedup(ds, "body")["small"][:]
    stream = ds.to_iterable_dataset()
    by_number = stream.filter(first_seen("body", complete=True), batched=True, with_indices=True)
    by_id = stream.filter(first_seen("body", id="small", complete=True), batched=True)
    for kept in (by_number, by_id):
        for _ in range(2):
            assert [row["small"] for row in kept] == expected


def test_an_index_lasts(ds, tmp_path):
    expected = dedup(ds, "body")["small"][:]
    for _ in range(2):
        with nd.Index(tmp_path / "seen.index", complete=True) as index:
            kept = ds.filter(first_seen("body", id="small", index=index), batched=True)
            assert kept["small"][:] == expected
    with nd.Index(tmp_path / "seen.index") as index:
        with pytest.raises(nd.SettingError, match="an index needs ids; name the column"):
            first_seen("body", index=index)
        with pytest.raises(nd.SettingError, match="threshold: an index has settings of its own"):
            first_seen("body", id="small", index=index, threshold=0.9)


def test_records_are_compared_by_their_fields():
    people = datasets.Dataset.from_dict(
        {"name": ["Ann Lee", "ann lee", "Ann Lee"], "city": ["Oslo", "Oslo", "Rome"]}
    )
    seen = first_seen("name+city", features="word:1", threshold=0.9)
    assert people.filter(seen, batched=True)["city"][:] == ["Oslo", "Rome"]


def test_several_processes_are_refused(ds):
    with pytest.raises(nd.SettingError, match="in one process; leave out num_proc"):
        ds.filter(first_seen("body"), batched=True, num_proc=2)


@pytest.mark.parametrize("make", [fingerprint, first_seen])
def test_wrong_calls_get_a_sentence(ds, make):
    def call(function, **how):
        return (ds.map if make is fingerprint else ds.filter)(function, **how)

    with pytest.raises(nd.SettingError, match="call map or filter with batched=True"):
        call(make("body"))
    with pytest.raises(nd.InputError, match="the dataset has no column 'text', only"):
        call(make(), batched=True)
    with pytest.raises(nd.SettingError, match="leave input_columns out"):
        call(make("body"), batched=True, input_columns="body")
    with pytest.raises(nd.SettingError, match="did you mean 'bits'"):
        make("body", bit=32)

"""Datasets of Hugging Face: in memory, streamed, saved to disk, and back."""

import pyarrow as pa
import pytest
from tests.cli import forked
from tests.read.foreign.tables import TEXTS, read

import neardup as nd
from neardup.errors import InputError
from neardup.read import streams
from neardup.read.memory import table_of

datasets = pytest.importorskip("datasets")

IDS = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def given():
    datasets.disable_progress_bars()
    return datasets.Dataset.from_dict({"id": IDS, "text": TEXTS})


def generated(values):
    return datasets.IterableDataset.from_generator(
        lambda: ({"id": id, "text": text} for id, text in zip(IDS, values, strict=True))
    )


def kept(given, **options):
    return nd.dedup(given, **options).kept["id"].to_pylist()


def test_a_dataset_and_its_choices(given):
    assert kept(given) == ["a", "c", "d"]
    assert kept(given.with_format("numpy")) == ["a", "c", "d"]
    assert kept(given.select([3, 2, 1])) == ["d", "c", "b"]
    assert kept(given.filter(lambda row: row["id"] != "a")) == ["b", "c", "d"]
    assert kept(given, against=given.select([2])) == ["a", "b", "d"]


def test_the_kept_rows_as_a_dataset(given):
    chosen = given.select([3, 2, 1, 0])
    result = nd.dedup(chosen)
    assert chosen.select(result.kept_rows)["id"] == ["d", "c", "b"]
    back = datasets.Dataset(result.kept)
    assert list(back["text"]) == list(result.kept["text"].to_pylist())


def test_every_function_takes_it(given):
    prints = nd.fingerprint(TEXTS)
    for some in (given, given.select([0, 1, 2, 3]), given.to_iterable_dataset()):
        assert nd.fingerprint(some, text="text") == prints
    assert nd.tune(given).documents == 4
    assert nd.exact_pairs(given)["b"].to_pylist() == ["b"]
    assert nd.passages(given).summary["documents"] == 4
    index = nd.MemoryIndex()
    assert index.add_many(given.to_iterable_dataset()) == 4


def test_streams(given):
    assert kept(given.to_iterable_dataset()) == ["a", "c", "d"]
    assert (
        kept(given.to_iterable_dataset().map(lambda row: {"n": len(row["text"])}))
        == IDS[:1] + IDS[2:]
    )
    assert kept(generated(TEXTS)) == ["a", "c", "d"]
    assert kept(generated([None, None, "a b c", "a b c"])) == ["a", "b", "c"]
    with pytest.raises(InputError, match="the IterableDataset cannot be read as an Arrow table: "):
        kept(generated(["a", "b", "c", 4]))


def test_splits_are_chosen_by_the_user(given):
    both = datasets.DatasetDict({"train": given, "test": given})
    with pytest.raises(InputError) as refused:
        nd.dedup(both)
    assert str(refused.value) == (
        "the DatasetDict has splits; choose one, for example data['train'], and compare with "
        "another by against=data['test']"
    )


def test_saved_datasets(given, tmp_path):
    more = datasets.concatenate_datasets([given, given.map(lambda row: {"id": row["id"] * 2})])
    more.save_to_disk(tmp_path / "one", num_shards=2)
    rows, rejected = read(tmp_path / "one")
    assert rows == {"id": [*IDS, "aa", "bb", "cc", "dd"], "text": TEXTS * 2}
    assert rejected == []
    both = datasets.DatasetDict({"train": more, "test": given})
    both.save_to_disk(tmp_path / "both")
    done = forked.neardup("dedup", tmp_path / "both", "-o", tmp_path / "out")
    assert done.returncode == 1
    assert f"name one: {tmp_path}/both/train, {tmp_path}/both/test" in done.stderr
    train, test = (tmp_path / "both" / name for name in ("train", "test"))
    done = forked.neardup("dedup", train, "--against", test, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert nd.Result.load(tmp_path / "out").kept.num_rows == 0


def test_a_state_file_of_another_program_is_no_dataset(tmp_path):
    (tmp_path / "state.json").write_text('{"text": "a b c"}')
    (tmp_path / "dataset_dict.json").write_text("[]")
    assert read(tmp_path)[0]["text"] == ["a b c"]


def test_tables_are_not_copied(given, tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "_HELD_BYTES", 0)
    given.save_to_disk(tmp_path / "one")
    loaded = datasets.load_from_disk(tmp_path / "one")
    before = pa.total_allocated_bytes()
    table = table_of(loaded)
    assert pa.total_allocated_bytes() == before
    assert table.column("text").chunk(0).buffers()[2].address == (
        loaded.data.table.column("text").chunk(0).buffers()[2].address
    )

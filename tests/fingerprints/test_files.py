"""Fingerprint files: what is in them, and what happens to those that are none."""

from __future__ import annotations

import json
import random
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.errors import InputError, NeardupError

TEXTS = ["one two three four", "", "日本語", "one two three", None, "?"]
WIDTHS = [1, 7, 8, 9, 42, 63, 64, 65, 127, 128, 129, 512, 4096]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fps.parquet"


@pytest.mark.parametrize("bits", WIDTHS)
def test_what_was_saved_is_loaded(path, bits):
    fps = nd.fingerprint(TEXTS, "char:2", "count", bits, tie=">=0")
    fps.save(path)
    loaded = nd.Fingerprints.load(path)
    assert loaded == fps
    assert loaded.scheme == fps.scheme
    assert loaded.words.tolist() == fps.words.tolist()
    assert loaded.array.dtype == fps.array.dtype
    assert loaded.ids.to_pylist() == list(range(6))
    assert loaded.hex() == fps.hex()


def test_no_fingerprints_are_saved_as_none(path):
    nd.fingerprint([], bits=65).save(path)
    loaded = nd.Fingerprints.load(str(path))
    assert loaded.array.shape == (0, 2)
    assert str(loaded.scheme) == "nd1/word:3/set/65"


def test_a_part_is_saved_as_it_is(path):
    whole = nd.fingerprint([f"text {i} of many" for i in range(300)] + [""])
    whole[150:].save(path)
    assert nd.Fingerprints.load(path) == whole[150:]


@pytest.mark.parametrize(
    "ids", [["a", "b", "ü"], [10, -5, 2**40], [None, "x", "y"]], ids=["str", "int", "nulls"]
)
def test_ids_are_kept(path, ids):
    plain = nd.fingerprint(["a", "b", ""])
    nd.Fingerprints(plain.array, plain.scheme, plain.words, ids).save(path)
    assert nd.Fingerprints.load(path).ids.to_pylist() == ids


def test_what_the_file_holds(path):
    fps = nd.fingerprint(TEXTS, bits=42)
    fps.save(path)
    table = pq.read_table(path)
    assert table.column_names == ["id", "words", "fingerprint"]
    assert table.schema.field("words").type == pa.uint32()
    assert table.schema.field("fingerprint").type == pa.binary(6)
    assert table["words"].to_pylist() == [4, 0, 3, 3, 0, 0]
    stored = table["fingerprint"].to_pylist()
    assert [value is None for value in stored] == [False, True, False, False, True, True]
    assert stored[0] == (fps[0] << 6).to_bytes(6, "big")
    metadata = table.schema.metadata
    assert metadata[b"neardup.format"] == b"neardup fingerprints 1"
    assert metadata[b"neardup.scheme"] == b"nd1/word:3/set/42"
    settings = json.loads(metadata[b"neardup.settings"])
    assert settings["bits"] == 42
    assert settings["features"] == "word:3"
    assert settings["version"] == nd.__version__


def test_saving_replaces_and_leaves_nothing_else_behind(path):
    nd.fingerprint(["a"]).save(path)
    nd.fingerprint(["b", "c"]).save(path)
    assert len(nd.Fingerprints.load(path)) == 2
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(NeardupError, match="nowhere"):
        nd.fingerprint(["a"]).save(tmp_path / "nowhere" / "fps.parquet")


def assert_refused(path, why):
    with pytest.raises(InputError, match=why) as caught:
        nd.Fingerprints.load(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(path):
    assert_refused(path, "no such file")


@pytest.mark.parametrize("data", [b"", b"PAR1", b"hello world, this is text", b"PAR1" * 10])
def test_another_kind_of_file_is_refused(path, data):
    path.write_bytes(data)
    assert_refused(path, "fingerprint file")


def test_another_parquet_file_is_refused(path):
    pq.write_table(pa.table({"id": [1], "words": [1], "fingerprint": [b"12345678"]}), path)
    assert_refused(path, "not a fingerprint file")


@pytest.mark.parametrize("size", [10, 100, -1, -8, -100])
def test_a_cut_off_file_is_refused(path, size):
    nd.fingerprint(TEXTS).save(path)
    path.write_bytes(path.read_bytes()[:size])
    assert_refused(path, "fingerprint file")


def without(name):
    return lambda table: table.drop_columns([name])


def with_metadata(key, value):
    def change(table):
        metadata = dict(table.schema.metadata)
        metadata.pop(key)
        if value is not None:
            metadata[key] = value
        return table.replace_schema_metadata(metadata)

    return change


def with_column(name, column):
    def change(table):
        return table.set_column(table.column_names.index(name), name, column)

    return change


CHANGES = {
    "no id": without("id"),
    "no words": without("words"),
    "no fingerprint": without("fingerprint"),
    "no format": with_metadata(b"neardup.format", None),
    "later format": with_metadata(b"neardup.format", b"neardup fingerprints 2"),
    "garbled format": with_metadata(b"neardup.format", b"\xff"),
    "no scheme": with_metadata(b"neardup.scheme", None),
    "unknown scheme": with_metadata(b"neardup.scheme", b"nd7/word:3/set/64"),
    "other width": with_metadata(b"neardup.scheme", b"nd1/word:3/set/128"),
    "words missing": with_column("words", pa.array([None] * 6, pa.uint32())),
    "words as text": with_column("words", pa.array(["1"] * 6)),
    "words without fingerprints": with_column("words", pa.array([5] * 6, pa.uint32())),
    "fingerprints as text": with_column("fingerprint", pa.array(["x" * 8] * 6)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_was_tampered_with_is_refused(path, change):
    nd.fingerprint(TEXTS).save(path)
    pq.write_table(CHANGES[change](pq.read_table(path)), path)
    assert_refused(path, "fingerprint")


def test_a_flipped_bit_is_noticed(path):
    """Whatever bit of the data flips, the file is refused or the same as before."""
    fps = nd.fingerprint([f"document {i} of many" for i in range(300)] + [""])
    fps.save(path)
    data = path.read_bytes()
    (footer,) = struct.unpack("<I", data[-8:-4])
    rng = random.Random(0)
    wrong = 0
    for _ in range(200):
        damaged = bytearray(data)
        damaged[rng.randrange(4, len(data) - 8 - footer)] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            loaded = nd.Fingerprints.load(path)
        except InputError:
            continue
        wrong += (
            loaded != fps
            or not np.array_equal(loaded.words, fps.words)
            or loaded.ids.to_pylist() != list(range(301))
        )
    assert wrong == 0

"""Damaged indexes, one kind of damage at a time; `tests/torture/damage.py` is random."""

import os
import struct

import lmdb
import pytest
from tests.index.texts import pairs, text

import neardup as nd
from neardup.index.disk import change


def _spoil(path, kind, spoil):
    """Change the first value of a kind."""
    with (
        lmdb.open(os.fspath(path)) as environment,
        environment.begin(write=True) as transaction,
    ):
        cursor = transaction.cursor()
        assert cursor.set_range(kind)
        assert cursor.key()[:1] == kind[:1]
        value = bytearray(cursor.value())
        spoil(value)
        transaction.put(bytes(cursor.key()), bytes(value))


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(change, "MOST_IN_TAIL", 50)
    path = tmp_path / "x.index"
    with nd.Index(path, store_text=True) as index:
        index.add_many([(f"id {n}", text(n), {"n": n}) for n in range(200)])
    return path


def _offset_beyond_the_block(block):
    count, width = struct.unpack_from("<I", block, 4)[0], struct.unpack_from("<I", block, 16)[0]
    even = -(-4 * count // 8) * 8
    ids = 56 + 2 * even + 8 * width * count
    struct.pack_into("<I", block, ids + 4 * (count // 2), 0x7FFFFFFF)


def _zeros(value):
    value[:] = bytes(len(value))


def _cut(value):
    del value[len(value) // 2 :]


@pytest.mark.parametrize(
    ("kind", "spoil"),
    [
        (b"b", _offset_beyond_the_block),
        (b"b", _zeros),
        (b"b", _cut),
        (b"i", _zeros),
        (b"i", _cut),
        (b"s", _zeros),
        (b"s", _cut),
        (b"astate", _zeros),
        (b"astate", _cut),
        (b"asettings", _cut),
    ],
)
def test_damage_is_told_by_the_path_and_what_to_do(path, kind, spoil):
    _spoil(path, kind, spoil)
    with (
        pytest.raises(
            nd.NeardupError, match=r"is damaged \(.*\); restore it from a backup"
        ) as told,
        nd.Index(path) as index,
    ):
        index.query(text(3))
        list(index.ids())
        index.add("id 3", text(4))
        index.compact()
    assert str(path) in str(told.value)


def test_a_large_file_is_walked_through_too(tmp_path):
    """Pages beyond 256 MB used to be followed unchecked."""
    path = tmp_path / "x.index"
    with nd.Index(path, store_text=True) as index:
        index.add_many(pairs(0, 300))
    with lmdb.open(os.fspath(path)) as environment:
        root = environment.stat()["psize"] * (environment.info()["last_pgno"] + 1)
    data = path / "data.mdb"
    os.truncate(data, 300 << 20)  # only longer, so that nothing is missing
    nd.Index(path).close()
    with data.open("r+b") as file:
        for page in range(2 * 4096, root, 4096):
            file.seek(page)
            file.write(b"\xff" * 16)
    with pytest.raises(nd.NeardupError, match="is damaged"):
        nd.Index(path)

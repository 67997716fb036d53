"""Damaged indexes, one kind of damage at a time; `tests/torture/damage.py` is random."""

import multiprocessing
import os
import random
import struct
from contextlib import suppress

import lmdb
import pytest
from tests.index.texts import edited, pairs, text

import neardup as nd
from neardup.index.disk import kinds
from neardup.index.disk.damage import DamagedIndexError


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


FORK = multiprocessing.get_context("fork")
KINDS = {
    "bands": {"ttl": 1e6},
    "complete": {"complete": True},
    "counts": {"weights": "count"},
    "distance": {"max_distance": 3, "store_text": True},
}


@pytest.fixture(params=list(KINDS))
def path(request, tmp_path, monkeypatch):
    monkeypatch.setattr(kinds, "MOST_IN_TAIL", 50)
    monkeypatch.setattr(kinds, "MOST_WEIGHTED_IN_TAIL", 50)
    path = tmp_path / "x.index"
    with nd.Index(path, **KINDS[request.param]) as index:
        index.add_many([(f"id {n}", text(n), {"n": n}) for n in range(200)])
        index.delete("id 5")
        index.check("seen", text(3))
    return path


def _offset_beyond_the_block(block):
    count, width = struct.unpack_from("<I", block, 4)[0], struct.unpack_from("<I", block, 16)[0]
    even = -(-4 * count // 8) * 8
    kinds = struct.unpack_from("<I", block, 20)[0]
    times = 8 * count * (2 if kinds & 16 else 1)
    ids = 64 + 2 * even + 8 * width * count + times
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
        (b"d", _cut),
        (b"t", _cut),
        (b"astate", _zeros),
        (b"astate", _cut),
        (b"astate", bytearray.clear),
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
        list(index.query_many([text(n) for n in range(200)]))
        list(index.ids())
        index.get("id 3")
        index.check("again", text(3))
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


def _answers(index):
    asked = [text(n) for n in range(200)] + [edited(n) for n in range(0, 200, 5)]
    return list(index.query_many(asked)), [index.get(id) for id in index.ids()]


def _flip_and_ask(path, good, expected, seed):
    """Open copies with one wrong byte, or cut short; exit with the number of those refused."""
    chance = random.Random(seed)
    data, refused = path / "data.mdb", 0
    for step in range(60):
        spoilt = bytearray(good)
        if step % 4:
            spoilt[chance.randrange(len(good))] ^= 1 << chance.randrange(8)
        else:
            del spoilt[chance.randrange(len(good)) :]
        data.write_bytes(spoilt)
        (path / "lock.mdb").unlink(missing_ok=True)
        try:
            with nd.Index(path, create=False, threads=1) as index:
                with suppress(DamagedIndexError):  # and never another error
                    _answers(index)
                index._store.verify()
                found = _answers(index)
        except nd.NeardupError as error:
            refused += str(path) in str(error)
            continue
        assert found == expected, step
    os._exit(refused)


def test_a_wrong_byte_is_found_by_verifying_or_changes_nothing(path):
    with nd.Index(path) as index:
        expected = _answers(index)
    good = (path / "data.mdb").read_bytes()
    process = FORK.Process(target=_flip_and_ask, args=(path, good, expected, 5))
    process.start()
    process.join()
    assert 25 < process.exitcode < 60  # no signal; an assertion ends with 1


@pytest.mark.parametrize(
    "call", [len, lambda index: list(index.ids()), lambda index: index.compact()]
)
def test_an_empty_state_is_not_taken_for_a_new_index(path, call):
    _spoil(path, b"astate", bytearray.clear)
    with nd.Index(path) as index, pytest.raises(DamagedIndexError, match="its state"):
        call(index)

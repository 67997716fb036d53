"""The page check of LMDB files, compared with that of py-lmdb."""

import os
import random

import lmdb
import pytest
from lmdb.verify import VerifyError, verify
from tests.torture.damage import damaged_file

from neardup.kernels.index_tables import check_pages


def problem(path):
    file = os.open(path, os.O_RDONLY)
    try:
        check_pages(file, front_only=True)
        check_pages(file)
    except ValueError as error:
        return str(error)
    finally:
        os.close(file)
    return None


def problem_by_twin(path):
    try:
        return next(iter(verify(os.fspath(path), subdir=False)), None)
    except VerifyError as error:
        return str(error)


def changed_at_random(folder, seed, commits):
    """An environment after some commits, with large and small values, added and removed keys."""
    chance = random.Random(seed)
    with lmdb.open(os.fspath(folder), map_size=1 << 26, sync=False) as environment:
        for _ in range(commits):
            with environment.begin(write=True) as transaction:
                # Each key once: the twin refuses values written twice in a commit.
                for number in chance.sample(range(2000), chance.randrange(120)):
                    key = b"%d" % number * chance.choice([1, 1, 20])
                    size = chance.choice([0, 3, 100, 1500, 2030, 5000, 40_000])
                    if chance.random() < 0.4:
                        transaction.delete(key)
                    else:
                        transaction.put(key, chance.randbytes(size))
    return folder / "data.mdb"


@pytest.mark.parametrize("seed", range(12))
def test_sound_files_pass(tmp_path, seed):
    data = changed_at_random(tmp_path / "sound", seed, commits=seed * 4)
    assert problem(data) is None
    assert problem_by_twin(data) is None


def test_a_value_may_have_been_longer_in_the_same_commit(tmp_path):
    with lmdb.open(os.fspath(tmp_path / "x")) as environment, environment.begin(write=True) as one:
        one.put(b"key", bytes(40_000))
        one.put(b"key", bytes(9_000))
    assert problem(tmp_path / "x" / "data.mdb") is None


def test_what_passes_here_passes_there(tmp_path):
    samples = [
        changed_at_random(tmp_path / f"{seed}", seed, commits=6).read_bytes() for seed in range(4)
    ]
    data = tmp_path / "damaged"
    refused = 0
    for seed in range(400):
        chance = random.Random(seed)
        kind, spoilt = damaged_file(bytearray(chance.choice(samples)), chance)
        data.write_bytes(spoilt)
        found = problem(data)
        if found is None:
            assert problem_by_twin(data) is None, (seed, kind)
        refused += found is not None
    assert refused > 100


@pytest.mark.parametrize("size", [0, 1, 100, 4095, 4096, 5000, 8191])
def test_files_that_are_too_short_are_refused(tmp_path, size):
    data = changed_at_random(tmp_path / "x", 3, commits=2)
    os.truncate(data, size)
    assert problem(data)

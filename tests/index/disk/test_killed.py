"""Acknowledged changes survive, and no change is partial, however a writer ends."""

import json
import multiprocessing
import os
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from tests.index.disk.killed_writer import KINDS
from tests.index.texts import text

import neardup as nd
from neardup.index.disk.environment import Environment

# With all kinds of index, with and without a reader: 80 kills. `make torture` has thousands.
KILLS = 10
SEED = 7
FORK = multiprocessing.get_context("fork")
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("reader", [[], ["reader"]])
@pytest.mark.parametrize("kind", list(KINDS))
def test_writers_are_killed_at_any_moment(tmp_path, kind, reader):
    words = [str(tmp_path), str(KILLS), str(SEED), kind, *reader]
    command = [sys.executable, "-m", "tests.index.disk.killed_writer", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["kills"] >= KILLS
    assert counts["steps"]


def _commit_and_die_before_telling(path):
    """Leave the files as a kill between the two writes of a commit does.

    The commit is in the file. Its number is not in the lock file, and the writers' lock is held by
    a dead process.
    """
    index = nd.Index(path)
    index.add("last", text("last"))
    assert isinstance(index._store.environment, Environment)
    environment = index._store.environment._lmdb
    committed = environment.info()["last_txnid"]
    writing = environment.begin(write=True)
    lock = os.open(path / "lock.mdb", os.O_RDWR)
    head = os.pread(lock, 256, 0)
    at = next(at for at in range(8, 256, 8) if struct.unpack_from("<Q", head, at)[0] == committed)
    os.pwrite(lock, struct.pack("<Q", committed - 1), at)
    os.kill(os.getpid(), signal.SIGKILL)
    writing.abort()  # never reached


def _hold_open(path, ready):
    with nd.Index(path, readonly=True) as index:
        assert len(index) == 1
        ready.set()
        signal.pause()


@pytest.mark.parametrize("readonly", [True, False])
def test_what_a_killed_writer_committed_is_seen_at_once_or_never(tmp_path, readonly):
    path = tmp_path / "x.index"
    with nd.Index(path) as index:
        index.add("first", text("first"))
    ready = FORK.Event()
    reader = FORK.Process(target=_hold_open, args=(path, ready))
    reader.start()
    assert ready.wait(20)
    writer = FORK.Process(target=_commit_and_die_before_telling, args=(path,))
    writer.start()
    writer.join()
    assert writer.exitcode == -signal.SIGKILL
    try:
        with nd.Index(path, readonly=readonly) as index:
            assert list(index.ids()) == ["first", "last"]
        with nd.Index(path) as index:
            index.add("next", text("next"))
            assert list(index.ids()) == ["first", "last", "next"]
    finally:
        reader.kill()
        reader.join()

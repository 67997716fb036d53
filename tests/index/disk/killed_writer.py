"""Kill writers in the middle of their work, one after another; run by `test_killed`.

    python killed_writer.py FOLDER KILLS SEED [reader]

Each writer is a fork of this process. It reports each step through a pipe, before and after. After
its end the index is opened at once and compared with the reports. With `reader`, a process keeps
the index open all the time, so that the lock file is in use.
"""

import json
import os
import random
import signal
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import neardup as nd
from neardup.index.disk import change

# Small, so that documents are packed and segments merged often.
change.MOST_IN_TAIL = 16


def text_of(id, version):
    numbers = random.Random(f"{id} {version}")
    return " ".join(f"w{numbers.randrange(10_000)}" for _ in range(12))


def write(path, pipe, seed):
    """Add, replace, delete and check at random, reporting each step before and after."""
    chance = random.Random(seed)
    index = nd.Index(path, sync=chance.random() < 0.1)
    os.write(pipe, b"open\n")
    step = 0
    while True:
        step += 1
        some = [f"d{chance.randrange(200)}" for _ in range(chance.choice([1, 1, 1, 5, 40]))]
        some = list(dict.fromkeys(some))
        kind = chance.choice(["add", "add", "add", "delete", "compact"])
        version = f"{seed}.{step}"
        tell(pipe, "will", kind, version, some)
        if kind == "delete":
            index.delete_many(some)
        elif kind == "compact":
            index.compact()
        elif len(some) == 1:
            index.add(some[0], text_of(some[0], version), {"version": version})
        else:
            batch = [(id, text_of(id, version), {"version": version}) for id in some]
            index.add_many(batch, at_once=True)
        tell(pipe, "did", kind, version, some)


def tell(pipe, word, kind, version, ids):
    os.write(pipe, f"{word} {kind} {version} {' '.join(ids)}\n".encode())


def run(path, seed, chance):
    """Start a writer, kill it after a moment, and return its reports."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            write(path, writing, seed)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as told:
        assert told.readline() == "open\n"
        time.sleep(chance.random() * 0.04)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, "the writer failed by itself"
        return [line.split() for line in told.read().splitlines()]


def follow(known, lines):
    """The contents without and with the last step, which may not have finished."""
    perhaps = None
    for word, kind, version, *ids in lines:
        after = dict(known)
        if kind == "delete":
            for id in ids:
                after.pop(id, None)
        elif kind == "add":
            after.update(dict.fromkeys(ids, version))
        if word == "did":
            known, perhaps = after, None
        else:
            perhaps = after
    return known, perhaps


def held(path, before, readonly):
    """The contents of the index, opened by a new reader; new documents are also queried."""
    with nd.Index(path, create=False, threads=1, readonly=readonly) as index:
        now = {
            id: json.loads(about)["version"]
            for entries in index.entries()
            for id, about in zip(entries.ids.to_pylist(), entries.metadata.to_pylist(), strict=True)
        }
        assert len(index) == len(now)
        new = [id for id, version in now.items() if before.get(id) != version]
        texts = [text_of(id, now[id]) for id in new]
        prints = nd.fingerprint(texts, threads=1)
        for place, (id, matches) in enumerate(zip(new, index.query_many(texts, 0), strict=True)):
            assert index.get(id).fingerprint == prints[place], id
            assert id in [match.id for match in matches], id
        return now


@contextmanager
def reader(path):
    """A process that keeps the index open and reads it from time to time."""
    ready, telling = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with nd.Index(path, readonly=True) as index:
                os.write(telling, b"open")
                while True:
                    len(index)
                    time.sleep(0.001)
        finally:
            os._exit(1)
    assert os.read(ready, 4) == b"open"
    try:
        yield
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "the reader failed by itself"
    finally:
        os.kill(child, signal.SIGKILL)


def main():
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    path = folder / "killed.index"
    with nd.Index(path) as index:  # also imports all modules that the writers need
        index.add_many([("d0", text_of("d0", "0"), {"version": "0"})])
        index.compact()
    with reader(path) if "reader" in sys.argv else nullcontext():
        kill(path, kills, seed)


def kill(path, kills, seed):
    """Kill writers, and check the contents after each."""
    chance = random.Random(seed)
    known, unfinished, steps, most = {"d0": "0"}, 0, 0, 0
    for number in range(kills):
        before = known
        told = run(path, seed + number, chance)
        steps += len(told) // 2
        known, perhaps = follow(known, told)
        now = held(path, before, readonly=bool(number % 2))
        assert now in (known, perhaps), (number, now, known, perhaps)
        unfinished += now == perhaps and now != known
        most = max(most, len(now))
        known = now
    print(f"{kills} kills, {steps} steps, {unfinished} done but not told, {most} documents")


if __name__ == "__main__":
    main()

"""Kill writers in the middle of their work, again and again; run by `test_killed`.

    python -m tests.index.disk.killed_writer FOLDER KILLS SEED KIND [reader]

KIND is one of `KINDS`. Each writer is a fork of this process, with one or several threads, and most
of the time there are several. Each thread reports each step through a pipe, before and after. After
the end of all writers the index is opened at once and compared with the reports: every acknowledged
change is there, none is half there, and nothing else is. With `reader`, a process keeps the index
open all the time, so that the lock file is in use.

A worker is a thread of a writer, such as `0.1`. It changes documents of its own, and all check
members of the same families, of which the index must end up with one each.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import neardup as nd
from neardup.index.disk import kinds

KINDS: dict[str, dict[str, Any]] = {
    "bands": {},
    "complete": {"complete": True, "store_text": True},
    "counts": {"weights": "count"},
    "distance": {"max_distance": 3},
}
FAMILIES = 300
STEPS = [
    *["add"] * 4,
    *["add_many"] * 2,
    *["check"] * 3,
    *["family"] * 3,
    "check_many",
    "delete",
    "delete",
    "mortal",
    "expire",
    "compact",
    "backup",
]
# All documents with a ttl have expired by then.
LATE = 1e10

Contents = dict[str, str]


def text_of(id: str, version: str, words: int = 12) -> str:
    numbers = random.Random(f"{id} {version}")
    return " ".join(f"w{numbers.randrange(10_000)}" for _ in range(words))


def family_text(family: str, id: str, kind: str) -> str:
    return text_of("family", family, 40) + ("" if kind == "distance" else f" {id}")


class Worker:
    """Adds, checks and deletes at random, reporting each step before and after."""

    def __init__(self, index: nd.Index, name: str, kind: str, pipe: int, seed: str) -> None:
        self.index, self.name, self.kind, self.pipe = index, name, kind, pipe
        self.chance = random.Random(f"{seed} {name}")
        self.seed = seed
        # Documents expire for all, so that only one worker has such documents.
        self.has_mortals = name == "0.0" and kind != "distance"

    def tell(self, *words: str) -> None:
        os.write(self.pipe, (" ".join([self.name, *words]) + "\n").encode())

    def run(self) -> None:
        self.tell("open")
        step = 0
        while True:
            step += 1
            version = f"{self.seed}.{step}"
            kind = self.chance.choice(STEPS)
            if kind in ("mortal", "expire") and not self.has_mortals:
                kind = "add"
            ids = self.some_ids(kind, version)
            self.tell("will", kind, version, *ids)
            self.tell("did", kind, version, *ids, *self.do(kind, version, ids))

    def some_ids(self, kind: str, version: str) -> list[str]:
        chance = self.chance
        if kind in ("compact", "expire", "backup"):
            return []
        if kind == "family":
            return [f"{chance.randrange(FAMILIES)}/{version}@{self.name}"]
        count = chance.choice([5, 40]) if kind.endswith("many") else 1
        if kind == "delete":
            count = chance.choice([1, 5, 40])
        first = "m" if kind == "mortal" else "d"
        some = [f"{first}{chance.randrange(120)}@{self.name}" for _ in range(count)]
        return list(dict.fromkeys(some))

    def do(self, kind: str, version: str, ids: list[str]) -> list[str]:
        index, about = self.index, {"version": version}
        batch = [(id, text_of(id, version), about) for id in ids]
        if kind == "delete":
            index.delete_many(ids)
        elif kind == "compact":
            index.compact()
        elif kind == "expire":
            index.expire(LATE)
        elif kind == "backup":
            index.backup(index.path.with_name(f"backup {self.name} {version}"))
        elif kind == "add_many":
            index.add_many(batch, at_once=True)
        elif kind == "check_many":
            assert all(verdict.added for verdict in index.check_many(batch))
        elif kind == "check":
            assert index.check(*batch[0]).added
        elif kind == "family":
            family = ids[0].split("/")[0]
            verdict = index.check(ids[0], family_text(family, ids[0], self.kind), about)
            return ["added" if verdict.added else str(verdict.matches[0].id)]
        else:
            index.add(*batch[0], ttl=None if kind == "add" else 1e6)
        return []


def write(path: Path, name: str, threads: int, kind: str, pipe: int, seed: str) -> None:
    """Run the workers of a writer, until it is killed."""
    index = nd.Index(path, sync=random.Random(f"{seed} {name}").random() < 0.1)

    def work(thread: int) -> None:
        try:
            Worker(index, f"{name}.{thread}", kind, pipe, seed).run()
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    for thread in range(1, threads):
        threading.Thread(target=work, args=(thread,)).start()
    work(0)


def run(path: Path, kind: str, seed: str, chance: random.Random) -> list[list[str]]:
    """Start writers, kill them after a moment, and return all reports in order."""
    reading, writing = os.pipe()
    threads = [chance.choice([1, 1, 3]) for _ in range(chance.choice([1, 2, 3]))]
    children = []
    for number, count in enumerate(threads):
        child = os.fork()
        if child == 0:
            try:
                os.close(reading)
                write(path, str(number), count, kind, writing, seed)
            finally:
                traceback.print_exc()
                os._exit(1)
        children.append(child)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as told:
        lines = []
        while sum(line.endswith(" open\n") for line in lines) < sum(threads):
            lines.append(told.readline())
            assert lines[-1], "a writer failed by itself"
        time.sleep(chance.random() * chance.choice([0.03, 0.03, 0.2]))
        chance.shuffle(children)
        for child in children:
            os.kill(child, signal.SIGKILL)
            if chance.random() < 0.3:
                time.sleep(chance.random() * 0.01)  # the others go on
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        assert set(codes) == {-signal.SIGKILL}, "a writer failed by itself"
        lines += told.readlines()
    return [line.split() for line in lines]


class Expected:
    """What the reports say of the contents: of each worker, and of the families."""

    def __init__(self) -> None:
        self.of: dict[str, Contents] = {}
        self.perhaps: dict[str, Contents] = {}  # with the last step, if it was not acknowledged
        self.kept: dict[str, str] = {}  # family to id
        self.seen: Counter[str] = Counter()  # acknowledged sightings of families
        self.unsure: Counter[str] = Counter()  # checks of families that may have counted
        self.backups: dict[str, tuple[str, Contents, bool]] = {}
        self.steps = 0

    def follow(self, lines: list[list[str]]) -> None:
        self.perhaps, self.backups = {}, {}
        for worker, word, *step in lines:
            if word == "open":
                continue
            known = self.of.setdefault(worker, {})
            kind, version, *ids = step
            if kind == "family":
                self._family(word, ids)
            elif kind == "backup":
                name = f"backup {worker} {version}"
                self.backups[name] = (worker, dict(known), word == "did")
            elif word == "will":
                self.perhaps[worker] = changed(known, kind, version, ids)
            else:
                self.of[worker] = self.perhaps.pop(worker)
            self.steps += word == "did"

    def _family(self, word: str, ids: list[str]) -> None:
        family = ids[0].split("/")[0]
        if word == "will":
            self.unsure[family] += 1
            return
        self.unsure[family] -= 1
        kept = ids[0] if ids[1] == "added" else ids[1]
        # A worker may tell of a match before the one that added it does.
        assert self.kept.setdefault(family, kept) == kept, (ids, self.kept[family])
        assert kept.split("/")[0] == family, ids
        self.seen[family] += ids[1] != "added"


def changed(known: Contents, kind: str, version: str, ids: list[str]) -> Contents:
    after = dict(known)
    if kind == "delete":
        for id in ids:
            after.pop(id, None)
    elif kind == "expire":
        after = {id: version for id, version in known.items() if not id.startswith("m")}
    else:
        after.update(dict.fromkeys(ids, version))
    return after


def held(path: Path, *, readonly: bool) -> tuple[Contents, Counter[str]]:
    """The contents of the index and the sightings of families; every document is asked for."""
    with nd.Index(path, create=False, threads=1, readonly=readonly) as index:
        now = {
            id: json.loads(about)["version"]
            for entries in index.entries()
            for id, about in zip(entries.ids.to_pylist(), entries.metadata.to_pylist(), strict=True)
        }
        assert len(index) == len(now) == index._store.verify()
        assert sum(part.documents for part in index.stats(0).segments) == len(now)
        own = [id for id in now if "/" not in id]
        texts = [text_of(id.removesuffix("@none"), now[id]) for id in own]
        prints = nd.fingerprint(texts, weights=index.scheme.weights, threads=1)
        for place, (id, matches) in enumerate(zip(own, index.query_many(texts), strict=True)):
            stored = index.get(id)
            assert stored is not None, id
            assert stored.fingerprint == prints[place], id
            assert id in [match.id for match in matches], id
        times: Counter[str] = Counter()
        for id in now:
            if "/" in id:
                stored = index.get(id)
                assert stored is not None, id
                times[id.split("/")[0]] += stored.seen.times - 1
        return now, times


def compare(now: Contents, times: Counter[str], expected: Expected) -> int:
    """Require what is expected; return how many steps were done, but not told."""
    unfinished = 0
    found: dict[str, Contents] = {worker: {} for worker in expected.of}
    families: dict[str, list[str]] = {}
    for id, version in now.items():
        if "/" in id:
            families.setdefault(id.split("/")[0], []).append(id)
        else:
            found[id.split("@")[1]][id] = version
    for worker, contents in found.items():
        known, perhaps = expected.of[worker], expected.perhaps.get(worker)
        assert contents in (known, perhaps), (worker, contents, known, perhaps)
        unfinished += contents != known
        expected.of[worker] = contents
    for family, ids in families.items():
        assert len(ids) == 1, f"family {family} is there twice: {ids}"
        unfinished += family not in expected.kept
        expected.kept.setdefault(family, ids[0])
    assert {family: ids[0] for family, ids in families.items()} == expected.kept
    for family in expected.kept:
        least = expected.seen[family]
        assert least <= times[family] <= least + expected.unsure[family], family
    return unfinished


def compare_backups(path: Path, expected: Expected) -> Counter[str]:
    """Backups are complete or absent, and have what their worker had written."""
    counts: Counter[str] = Counter()
    there = {each.name for each in path.parent.glob("backup *")}
    assert there <= expected.backups.keys()
    for name, (worker, contents, is_acknowledged) in expected.backups.items():
        if name not in there:
            assert not is_acknowledged, f"{name} is lost"
            counts["backups that were not made"] += 1
            continue
        now, _ = held(path.with_name(name), readonly=True)
        own = {id: version for id, version in now.items() if id.endswith(f"@{worker}")}
        assert {id: own[id] for id in own if "/" not in id} == contents, name
        shutil.rmtree(path.with_name(name))
        counts["backups"] += 1
    return counts


@contextmanager
def reader(path: Path) -> Iterator[None]:
    """A process that keeps the index open and searches it all the time."""
    ready, telling = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with nd.Index(path, readonly=True) as index:
                os.write(telling, b"open")
                while True:
                    found = index.query(text_of("first", "0"))
                    assert [match.id for match in found] == ["first@none"], found
                    time.sleep(0.001)
        finally:
            traceback.print_exc()
            os._exit(1)
    assert os.read(ready, 4) == b"open"
    try:
        yield
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "the reader failed by itself"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def main() -> None:
    # Small, so that documents are packed and segments merged often.
    kinds.MOST_IN_TAIL = kinds.MOST_WEIGHTED_IN_TAIL = 16
    folder, kills, seed, kind = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    path = folder / "killed.index"
    with nd.Index(path, **KINDS[kind]) as index:  # also imports all modules that writers need
        index.add_many([("first@none", text_of("first", "0"), {"version": "0"})])
        index.compact()
        index.backup(folder / "first")
    shutil.rmtree(folder / "first")
    with reader(path) if "reader" in sys.argv else nullcontext():
        counts = kill(path, kind, kills, seed)
    print(json.dumps(counts))


def kill(path: Path, kind: str, kills: int, seed: int) -> dict[str, int]:
    """Kill writers until there were so many kills, and check the contents after each round."""
    chance = random.Random(f"{seed} {kind}")
    expected = Expected()
    expected.of["none"] = {"first@none": "0"}
    counts: Counter[str] = Counter()
    while counts["kills"] < kills:
        counts["rounds"] += 1
        told = run(path, kind, f"{seed}.{counts['rounds']}", chance)
        counts["kills"] += len({line[0].split(".")[0] for line in told})
        expected.follow(told)
        now, times = held(path, readonly=bool(counts["rounds"] % 2))
        counts["done but not told"] += compare(now, times, expected)
        counts.update(compare_backups(path, expected))
        counts["largest index"] = max(counts["largest index"], len(now))
    counts["steps"] = expected.steps
    return dict(counts)


if __name__ == "__main__":
    main()

"""Indexes with damaged bytes: every operation ends with a result or a NeardupError.

    run(rounds=10_000, seed=1)

Each round damages a valid index at random, and opens, queries, changes and exports it in a child
process. A signal, a hang, another kind of error, or one that does not name the index is a finding.
Half of the damage is to bytes of the file, the rest to single values, whose checksums are mostly
recomputed: no read may rely on an earlier check.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import struct
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import lmdb
import numpy as np
from tests.index.texts import pairs, text

import neardup as nd
from neardup.index.disk import kinds
from neardup.index.files import export_index
from neardup.kernels.segment_format import HEAD_WORDS, checksum

DATA = "data.mdb"
PAGE = 4096
# A round takes a few hundredths of a second, and no more memory than the program already has.
SECONDS = 20
MOST_MEMORY = 6 << 30

BLOCK_HEAD = struct.Struct("<4sIQIIQQQQII")
SETS_MAGIC = b"enrdset\x1a"
SETS_HEAD_WORDS = 18
IDS_HEAD = struct.Struct("<4sIQII")


def run(rounds: int, seed: int) -> dict[str, int]:
    """Damage indexes `rounds` times; the AssertionError has the first finding of each kind."""
    with tempfile.TemporaryDirectory(prefix="neardup-damage-") as folder:
        samples = [path.read_bytes() for path in _samples(Path(folder))]
        counts: Counter[str] = Counter()
        findings: dict[str, str] = {}
        done = 0
        while done < rounds:
            for outcome in _told_by_child(samples, Path(folder), seed, done, rounds):
                kind, _, about = outcome.partition(" ")
                counts[kind] += 1
                if kind == "finding":
                    findings.setdefault(about.partition("\0")[0], f"round {done}: {about}")
                done += 1
        assert not findings, f"{counts['finding']} of {rounds} rounds, seed {seed}:\n" + "\n".join(
            text.replace("\0", "\n").replace("\1", "\n") for text in findings.values()
        )
    return {"rounds": rounds, **counts}


def _samples(folder: Path) -> Iterator[Path]:
    """Data files of valid indexes that together contain every type of value."""
    usual = kinds.MOST_IN_TAIL, kinds.MOST_WEIGHTED_IN_TAIL
    kinds.MOST_IN_TAIL = kinds.MOST_WEIGHTED_IN_TAIL = 100
    try:
        for name, chosen in SIMILAR.items():
            with nd.Index(folder / name, sync=False, **chosen) as index:
                _fill(index)
                index.add_many([("short", _document(index, 44))], ttl="1s")
                index.check("seen", _document(index, 5))
        with nd.Index(folder / "template", threshold=0.5, sync=False) as index:
            # So many near-duplicates that their bands are crowded.
            words = text(1, 40)
            index.add_many([(n, f"{words} {n}") for n in range(1500)])
        with nd.Index(folder / "texts", max_distance=3, store_text=True, sync=False) as index:
            _fill(index)
        with nd.Index(folder / "records", text="a*2+b", bits=128, plan="bands:8x16",
                      store_features=True, sync=False) as index:  # fmt: skip
            index.add_many([(n, _document(index, n)) for n in range(240)])
            index.add("empty", {"a": "", "b": ""})
        table = nd.idf([text(n) for n in range(20)])
        with nd.Index(folder / "tfidf", features="word:1", weights="tfidf", idf=table,
                      sync=False) as index:  # fmt: skip
            index.add_many(pairs(0, 40))
        with nd.Index(folder / "large", max_distance=3, sync=False) as index:
            prints = np.random.default_rng(1).integers(0, 2**64, 20_000, np.uint64)
            index.add_many(nd.Fingerprints(prints, index.scheme, ids=np.arange(20_000)))
            index.delete_many(range(0, 500, 5))
    finally:
        kinds.MOST_IN_TAIL, kinds.MOST_WEIGHTED_IN_TAIL = usual
    for name in (*SIMILAR, *SIMILAR, "template", "texts", "records", "tfidf", "large"):
        yield folder / name / DATA


SIMILAR: dict[str, dict[str, Any]] = {
    "bands": {"ttl": "30d", "store_text": True},
    "complete": {"complete": True, "threshold": 0.6},
    "counts": {"weights": "count"},
    "fields": {"text": "a*2+b", "features": "char:3"},
}


def _fill(index: nd.Index) -> None:
    for first in range(0, 600, 150):
        index.add_many(
            [(f"id {n} é", _document(index, n), {"n": n}) for n in range(first, first + 150)]
        )
    index.delete_many([f"id {n} é" for n in range(0, 300, 7)])
    index.add_many([(n, _document(index, n)) for n in range(2000, 2030)])
    index.delete(2003)


def _told_by_child(
    samples: list[bytes], folder: Path, seed: int, first: int, end: int
) -> Iterator[str]:
    """The outcome of each round, up to the one that ended the child."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            _rounds(samples, folder, seed, range(first, end), writing)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(writing)
    told, last = 0, "before the first round"
    with os.fdopen(reading, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            word, _, about = line.rstrip("\n").partition(" ")
            if word == "begin":
                last = about
            else:
                told += 1
                yield about
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if told < end - first:
        reason = signal.Signals(-code).name if code < 0 else f"exit {code}"
        yield f"finding {reason} in {last.partition(' ')[2]}"


def _rounds(samples: list[bytes], folder: Path, seed: int, rounds: range, pipe: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + MOST_MEMORY, resource.RLIM_INFINITY))
    for number in rounds:
        chance = random.Random(f"{seed} {number}")
        path = folder / "damaged"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        kind = damage(path, chance.choice(samples), chance)
        os.write(pipe, f"begin {number} {kind}\n".encode())
        signal.alarm(SECONDS)
        try:
            outcome = exercise(path, chance)
        except BaseException as error:
            stack = "".join(traceback.format_exception(error)[-12:]).replace("\n", "\1")
            place = traceback.extract_tb(error.__traceback__)[-1]
            about = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
            outcome = f"finding {about}\0{kind}\1{stack}"
        signal.alarm(0)
        os.write(pipe, f"end {outcome}\n".encode(errors="backslashreplace"))


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def damage(path: Path, sample: bytes, chance: random.Random) -> str:
    """Write a damaged copy of a sample into a folder; return a description of the damage."""
    data = path / DATA
    if chance.random() < 0.5:
        kind, spoilt = damaged_file(bytearray(sample), chance)
        data.write_bytes(spoilt)
        return kind
    data.write_bytes(sample)
    with (
        lmdb.open(str(path), sync=False, map_size=1 << 28) as environment,
        environment.begin(write=True) as transaction,
    ):
        times = chance.choice([1, 1, 1, 3])
        return ", ".join([damaged_value(transaction, chance) for _ in range(times)])


def damaged_file(data: bytearray, chance: random.Random) -> tuple[str, bytes]:
    """The bytes of a file with random damage."""
    kind = chance.choice(
        ["bit", "bits", "zeros", "noise", "page", "cut", "longer", "meta", "heads"]
    )
    at = chance.randrange(len(data))
    if kind == "bit":
        data[at] ^= 1 << chance.randrange(8)
    elif kind == "bits":
        for _ in range(chance.randrange(2, 200)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind in ("zeros", "noise"):
        size = min(chance.choice([4, 64, 512, PAGE, 3 * PAGE, 1 << 16]), len(data) - at)
        data[at : at + size] = bytes(size) if kind == "zeros" else chance.randbytes(size)
    elif kind == "page":  # like a misdirected or lost write
        pages = len(data) // PAGE
        source, to = PAGE * chance.randrange(pages), PAGE * chance.randrange(pages)
        data[to : to + PAGE] = data[source : source + PAGE]
    elif kind == "cut":
        del data[at if chance.random() < 0.5 else at // PAGE * PAGE :]
    elif kind == "longer":
        data += chance.randbytes(chance.randrange(3 * PAGE))
    elif kind == "meta":
        for _ in range(chance.choice([1, 1, 3, 30])):
            place = PAGE * chance.randrange(2) + chance.randrange(160)
            data[place] = chance.choice([0, 255, data[place] ^ 1 << chance.randrange(8)])
    else:  # page headers, the most important part for LMDB
        for _ in range(chance.choice([1, 3, 30])):
            place = PAGE * chance.randrange(len(data) // PAGE) + chance.randrange(64)
            data[place] = chance.choice([0, 255, chance.randrange(256)])
    return kind, bytes(data)


def damaged_value(transaction: lmdb.Transaction, chance: random.Random) -> str:
    """Damage a value of some type through LMDB, so that its pages stay valid."""
    keys = [bytes(key) for key in transaction.cursor().iternext(values=False)]
    kinds = sorted({key[:1] for key in keys})
    key = chance.choice([key for key in keys if key[:1] == chance.choice(kinds)] or keys)
    value = bytearray(transaction.get(key))
    wrongs = ["cut", "longer", "empty", "gone", "moved", *["bytes"] * 6]
    kind = chance.choice(wrongs) if value else "longer"
    if kind == "cut":
        del value[chance.randrange(len(value)) :]
    elif kind == "longer":
        value += chance.randbytes(8 * chance.randrange(1, 9))
    elif kind == "empty":
        value = bytearray()
    elif kind == "bytes":
        # Headers and offsets are at the front, where damage has most effect.
        end = chance.choice([min(len(value), 80), min(len(value), 400), len(value)])
        for _ in range(chance.choice([1, 1, 2, 8])):
            at = chance.randrange(end)
            value[at] = chance.choice([0, 1, 127, 255, value[at] ^ 1 << chance.randrange(8)])
    sums = ""
    if chance.random() < 0.8 and kind not in ("gone", "moved"):
        value = bytearray(_with_right_sums(key[:1], bytes(value)))
        sums = " with right checksums"
    if kind in ("gone", "moved"):
        transaction.delete(key)
    if kind == "moved":
        other = chance.choice(keys)
        transaction.put(other, bytes(value))
    elif kind != "gone":
        transaction.put(key, bytes(value))
    return f"{kind} of {key[:9]!r}{sums}"


def _with_right_sums(kind: bytes, value: bytes) -> bytes:
    if kind == b"b" and len(value) >= BLOCK_HEAD.size:
        head = list(BLOCK_HEAD.unpack_from(value))
        head[-2] = crc32(value[BLOCK_HEAD.size :])
        return BLOCK_HEAD.pack(*head) + value[BLOCK_HEAD.size :]
    if kind == b"i" and len(value) >= IDS_HEAD.size:
        head = list(IDS_HEAD.unpack_from(value))
        head[-2] = crc32(value[IDS_HEAD.size :])
        return IDS_HEAD.pack(*head) + value[IDS_HEAD.size :]
    if value[:8] == SETS_MAGIC and len(value) >= 8 * SETS_HEAD_WORDS and len(value) % 8 == 0:
        words = np.frombuffer(value, np.uint64).copy()
        words[SETS_HEAD_WORDS - 3] = len(value)
        words[SETS_HEAD_WORDS - 2] = checksum(words[SETS_HEAD_WORDS:].tobytes())
        words[SETS_HEAD_WORDS - 1] = checksum(words[: SETS_HEAD_WORDS - 1].tobytes())
        return words.tobytes()
    if kind == b"s" and len(value) >= 8 * HEAD_WORDS and len(value) % 8 == 0:
        words = np.frombuffer(value, np.uint64).copy()
        bits, masks = int(words[2]), int(words[3])
        body = HEAD_WORDS + masks * (-(-bits // 64))
        if body <= len(words):
            words[6] = len(value)
            words[7] = checksum(words[body:].tobytes())
            words[8] = checksum(words[HEAD_WORDS:body].tobytes())
            words[9] = checksum(words[: HEAD_WORDS - 1].tobytes())
        return words.tobytes()
    return value


def exercise(path: Path, chance: random.Random) -> str:
    """Run all operations on an index; return "unharmed", "refused" or "unopened"."""
    steps = [
        len,
        lambda index: list(index.ids()),
        lambda index: [index.get(id) for id in islice(index.ids(), 0, None, 50)],
        lambda index: [f"id {number} é" in index for number in range(20)],
        lambda index: [index.query(_question(index, n)) for n in (7, 2**63, 2**64 - 1)],
        lambda index: [index.query(_document(index, number)) for number in (1, 3, 500)],
        lambda index: list(index.query_many([_document(index, n) for n in range(0, 900, 60)])),
        lambda index: index.query(_document(index, 9), threshold=0.8),
        lambda index: index.stats(3),
        lambda index: export_index(index, path.with_name("out.jsonl")),
        lambda index: export_index(index, path.with_name("out.parquet")),
        lambda index: index.check("checked", _document(index, 5)),
        lambda index: index.check_many([(n, _document(index, n)) for n in range(40, 50)]),
        lambda index: index.expire(),
        lambda index: _backed_up(index, path.with_name("backup")),
        lambda index: index._store.verify(),
        lambda index: index.add_many([(n, _document(index, n + 1)) for n in range(30)]),
        lambda index: index.add("id 8 é", _document(index, 8)),
        lambda index: index.delete_many([1, 2, "id 9 é"]),
        lambda index: index.compact(),
    ]
    chance.shuffle(steps)
    refused = 0
    index = None
    for step in (None, *steps):
        try:
            if index is None:
                index = nd.Index(path, create=False, threads=1)
            if step is not None:
                step(index)
        except nd.NeardupError as error:
            if isinstance(error, nd.SettingError) and "threshold" in str(error):
                continue  # an index without texts
            if str(path) not in str(error):
                raise
            refused += 1
            if index is None:
                return "unopened"
    index.close()
    return "refused" if refused else "unharmed"


def _backed_up(index: nd.Index, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    index.backup(folder)


def _question(index: nd.Index, number: int) -> object:
    """A fingerprint, or a document for an index by similarity."""
    return number if index.settings.plan is not None else _document(index, number)


def _document(index: nd.Index, number: int) -> object:
    if index.scheme.fields is None:
        return text(number)
    return {"a": text(number, 3), "b": text(number + 1, 9)}


if __name__ == "__main__":
    import sys

    print(run(int(sys.argv[1]), int(sys.argv[2])))

"""No space for the output: a small tmpfs, if one can be mounted, and a file size limit.

A command that cannot write prints one sentence and exits with 1; existing files stay, and nothing
unfinished is left. An index keeps all acknowledged documents.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.torture.commands import Argument, Ran, neardup, require_manners, workplace
from tests.torture.outputs import Snapshot, remove, require_clean, snapshot, whole
from tests.torture.rounds import repeat
from tests.torture.scenes import documents, scene, write_lines

WRITING = (
    "dedup",
    "fingerprint",
    "pairs",
    "sweep",
    "curve",
    "tune",
    "idf",
    "sphere",
    "index export",
)


def run(rounds: int, seed: int) -> dict[str, int]:
    return repeat("full_disk", trial, rounds, seed)


def trial(chance: random.Random) -> dict[str, int]:
    mounted = mounting() == "" and chance.random() < 0.6
    with workplace("full") as folder:
        calls = scene(folder, chance, chance.choice([300, 1500]))
        if chance.random() < 0.3:
            return full_index(chance, folder, mounted)
        name = chance.choice(WRITING)
        call = calls[name]
        assert call.output is not None
        finished = neardup(*call.words, cwd=folder)
        assert finished.code == 0, f"a sound call fails: {finished}"
        expected = snapshot(folder / call.output)
        if not mounted:
            remove(folder / call.output)
            # At least one sentence on standard error, which is a file here.
            limits = {"file": chance.choice([5000, 8000, 20_000, 50_000])}
            ran = neardup(*call.words, cwd=folder, limits=limits)
            return judged(ran, folder / call.output, expected)
        with small_disk(folder / "small", chance.choice([4, 8, 20, 60, 200])) as disk:
            words: list[Argument] = [
                disk / str(word) if word == call.output else word for word in call.words
            ]
            environment = {"TMPDIR": str(disk)} if chance.random() < 0.3 else {}
            ran = neardup(*words, cwd=folder, environment=environment)
            return judged(ran, disk / call.output, expected)


def judged(ran: Ran, output: Path, expected: Snapshot) -> dict[str, int]:
    require_manners(ran, (0, 1))
    after = snapshot(output)
    if ran.code == 0:
        assert whole(output.name, after, expected), f"the output is not whole: {ran}"
    else:
        assert after is None, f"part of an output is left: {ran}"
    try:
        require_clean(output.parent)
    except AssertionError as error:
        raise AssertionError(f"{error}: {ran}") from None
    return {"refused": int(ran.code != 0), "had room": int(ran.code == 0)}


def full_index(chance: random.Random, folder: Path, mounted: bool) -> dict[str, int]:
    """Add to an index until the disk is full: it stays readable and loses nothing acknowledged.

    A backup on the same disk is complete or absent.
    """
    write_lines(folder / "many.jsonl", documents(chance, 3000), "x")
    with small_disk(folder / "small", 400) if mounted else plain_folder(folder / "small") as disk:
        index = disk / "x.index"
        kind = chance.choice([(), ("--complete",), ("--max-distance", "3")])
        for words in (
            ("index", "create", index, "--store-text", *kind),
            ("index", "add", index, "more.jsonl", "--no-sync"),
        ):
            made = neardup(*words, cwd=folder)
            assert made.code == 0, f"the scene cannot be set: {made}"
        limits = {} if mounted else {"file": chance.choice([100_000, 300_000, 700_000])}
        old = exported(folder, index)
        ran = neardup("index", "add", index, "many.jsonl", "--no-sync", cwd=folder, limits=limits)
        require_manners(ran, (0, 1))
        found = exported(folder, index)
        assert old <= found, f"{len(old - found)} documents are lost: {ran}"
        if ran.code == 0:
            assert len(found) == len(old) + 3000, f"{len(found)} documents: {ran}"
        copied = neardup("index", "backup", index, disk / "copy", cwd=folder, limits=limits)
        require_manners(copied, (0, 1))
        if copied.code == 0:
            assert exported(folder, disk / "copy") == found, f"the backup differs: {copied}"
        else:
            assert not (disk / "copy").exists(), f"part of a backup is left: {copied}"
        require_clean(disk)
        return {"refused": int(ran.code != 0), "had room": int(ran.code == 0)}


def exported(folder: Path, index: Path) -> set[str]:
    ran = neardup("index", "export", index, "-o", "ids.jsonl", cwd=folder)
    assert ran.code == 0, f"the index cannot be read: {ran}"
    lines = (folder / "ids.jsonl").read_text(encoding="utf-8").splitlines()
    return {json.loads(line)["id"] for line in lines}


@contextmanager
def plain_folder(path: Path) -> Iterator[Path]:
    path.mkdir()
    yield path


@contextmanager
def small_disk(path: Path, pages: int) -> Iterator[Path]:
    """A tmpfs with this number of 4 KB pages."""
    path.mkdir()
    options = f"size={4096 * pages}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", path], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=True)


@cache
def mounting() -> str:
    """Why no file system can be mounted here; "" if one can."""
    with workplace("mount") as folder:
        try:
            with small_disk(folder / "small", 4):
                return ""
        except (subprocess.CalledProcessError, OSError) as error:
            return f"no small disk can be mounted here ({error}); only file sizes were limited"

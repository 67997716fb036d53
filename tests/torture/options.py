"""Every option of every command, found by introspection, with hostile values.

For any values, a command exits with 0, 1 or 2 and one sentence, changes nothing but its outputs,
and writes them completely or not at all.
"""

from __future__ import annotations

import os
import random
import stat
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.cli.hostile_usage import commands
from tests.torture.commands import Argument, Process, Ran, neardup, require_manners, workplace
from tests.torture.outputs import remove, require_clean
from tests.torture.rounds import repeat
from tests.torture.scenes import Call, scene

MEMORY = 6 << 30  # address space
SCENES = 25  # trials per scene, whose setup costs more than a trial

NUMBERS = (
    *("0", "-1", "1", "2", "63", "64", "65", "4096", "4097", "1000000", "2147483648", "1e3", "0.5"),
    *("99999999999999999999", "-99999999999999999999", "nan", "inf", "-inf", "1e308", "1e-320"),
    *("0x10", "1_000", "٣", "1.0000001", "1.5", "-0", "-0.0", " 7", "7 ", "+7", "1e400"),
)
WORDS = (
    *(
        "",
        " ",
        "-",
        "--",
        "---",
        "*",
        ".",
        "..",
        "%s%n",
        "{}",
        "\n",
        "\x1b[31mred",
        "\u202e",
        "\ufeff",
    ),
    *(
        "nope",
        "text",
        "id",
        "row",
        "all",
        "n",
        "a" * 5000,
        "é",
        "中文",
        "\u0000".strip("\u0000"),
        "'",
    ),
)
SPECS = (
    *(
        "word:0",
        "word:-1",
        "word:3",
        "word:999999999999",
        "char:x",
        "char:4",
        "word:",
        "sentences:0",
    ),
    *(
        "keywords:0",
        "edges",
        "terms",
        "word:1+",
        "+",
        "word:1+word:1",
        "keywords:5+word:1",
        "raw:3",
    ),
    *(
        "set",
        "count",
        "tfidf",
        "idf",
        "tfidf:lab",
        "given",
        "nd1",
        "nd1:",
        "md5",
        "sha1",
        "nd1:key",
        "nd2",
    ),
    *("sphere:0x0", "sphere:42x64", "sphere:4x", "sphere:99999x99999", ">0", ">=0", "=", "<"),
    *(
        "bands:4x0",
        "bands:0x4",
        "bands:4x16",
        "bands:1x64",
        "bands:9999999x9",
        "blocks:3",
        "blocks:0",
    ),
    *(
        "blocks:64",
        "blocks:999",
        "all",
        "exact",
        "auto",
        "rotate:3",
        "probe:2",
        "prefix:9",
        "length",
    ),
    *(
        "first",
        "longest",
        "shortest",
        "max:n",
        "max:nope",
        "max:",
        "min:text",
        "components",
        "dense",
        "dense:0.5",
        "dense:0",
        "star",
    ),
    *("jaccard", "weighted-jaccard", "cosine", "hamming", "parquet", "jsonl", "csv", "xlsx"),
    *(
        "0B",
        "1B",
        "1KB",
        "100MB",
        "2GB",
        "1e9TB",
        "-1GB",
        "GB",
        "2 GB",
        "1,2,3",
        "1-",
        "2..9",
        "caim",
    ),
    *("text*0", "text*-1", "text*nan", "text*1e308", "text+text", "text*2+n", "+text", "text*"),
)
PATHS: tuple[Argument, ...] = (
    *("in.jsonl", "more.jsonl", "one.txt", "fps.parquet", "seen.index", "nothing", "in.jsonl/x"),
    *(".", "..", "empty", "full.device", "null.device", "a.fifo.txt.nothing", "link", "dangling"),
    *(
        "out",
        "out.parquet",
        "new/deep/out",
        b"\xff\xfe",
        "in.jsonl ",
        "~",
        "file:///nowhere",
        "s3://",
    ),
    *(
        "unreadable",
        "http://127.0.0.1:9/x.jsonl",
        "x" * 300,
        "*.jsonl",
        "[",
        "**",
        "seen.index/data.mdb",
    ),
)


def run(rounds: int, seed: int) -> dict[str, int]:
    return repeat("options", trial, rounds, seed)


@cache
def parameters() -> dict[str, list[Any]]:
    """The options and arguments of every command."""
    return {name: list(command.params) for name, command in commands().items()}


def trial(chance: random.Random) -> dict[str, int]:
    counted = {"accepted": 0, "refused": 0}
    with workplace("options") as folder:
        calls = scene(folder, chance, 30)
        known = parameters().keys() - {"serve", "explore"}  # which do not end by themselves
        assert known == calls.keys(), "scenes.py lacks a command, or has one too many"
        furnish(folder)
        for _ in range(SCENES):
            call = calls[chance.choice(list(calls))]
            ran = attempt(chance, folder, call)
            counted["accepted" if ran.code == 0 else "refused"] += 1
        odd_streams(chance, folder, calls[chance.choice(list(calls))])
        return counted


def odd_streams(chance: random.Random, folder: Path, call: Call) -> None:
    """A command whose standard streams are closed, full, or read by nobody."""
    words = call.words
    if chance.random() < 0.3 and "in.jsonl" in words:
        words = tuple("-" if word == "in.jsonl" else word for word in words)
    full = "full.device" if (folder / "full.device").exists() else "/dev/full"
    way = chance.choice(['exec "$@" <&-', 'exec "$@" >&-', f'exec "$@" > {full}', '"$@" | true'])
    ran = Process(*words, cwd=folder, shell=way).wait()
    try:
        require_manners(ran)
        require_clean(folder)
    except AssertionError as error:
        raise AssertionError(f"{error} (started by {way})") from None
    restore(folder)


def furnish(folder: Path) -> None:
    """More hostile paths."""
    (folder / "empty").mkdir()
    (folder / "link").symlink_to("in.jsonl")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "unreadable").write_bytes(b"x")
    (folder / "unreadable").chmod(0)
    if os.geteuid() == 0:  # separate devices, to keep those of the system safe
        os.mknod(folder / "null.device", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        os.mknod(folder / "full.device", 0o666 | stat.S_IFCHR, os.makedev(1, 7))


def attempt(chance: random.Random, folder: Path, call: Call) -> Ran:
    options = [option for option in parameters()[" ".join(call.command)] if option.opts]
    named = [option for option in options if option.opts[0].startswith("-")]
    words: list[Argument] = list(call.arguments)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        kind = chance.random()
        if kind < 0.8 and named:
            option = chance.choice(named)
            words.append(chance.choice([*option.opts, *option.secondary_opts]))
            if not option.is_flag or chance.random() < 0.05:
                words.append(value(chance, option.name))
        elif kind < 0.9:
            words.append(value(chance, ""))
        elif words:
            del words[chance.randrange(len(words))]
    protected = ("in.jsonl", "more.jsonl", "one.txt", "two.txt", "empty", "link", "unreadable")
    before = {name: state(folder / name) for name in (*protected, "null.device", "full.device")}
    ran = neardup(*call.command, *words, cwd=folder, limits={"memory": MEMORY})
    require_manners(ran)
    for name, old in before.items():
        changed = state(folder / name) != old
        assert not changed or replaceable(name, words, old[0], ran), f"{name} has changed: {ran}"
    try:
        require_clean(folder)
    except AssertionError as error:
        raise AssertionError(f"{error}: {ran}") from None
    restore(folder)
    return ran


def replaceable(name: str, words: list[Argument], kind: str, ran: Ran) -> bool:
    """Whether a file was only named as the output of a successful command."""
    named = [os.fsdecode(word) for word in words]
    names = (name, "link") if name == "in.jsonl" else (name,)  # the link points to it
    as_output = any(
        option in ("-o", "--output", "--plot") and word in names for option, word in pairwise(named)
    )
    return kind == "file" and ran.code == 0 and as_output and sum(map(named.count, names)) == 1


def value(chance: random.Random, name: str) -> Argument:
    if name in ("output", "config", "idf", "index", "against", "truth", "inputs", "words", "plot"):
        return chance.choice([*PATHS, *PATHS, *WORDS])
    kinds: tuple[tuple[Argument, ...], ...] = (NUMBERS, NUMBERS, WORDS, SPECS, SPECS, PATHS)
    return chance.choice(chance.choice(kinds))


def state(path: Path) -> tuple[str, Any]:
    if path.is_symlink():
        return "link", os.readlink(path)
    if not path.exists():
        return "nothing", None
    if path.is_dir():
        return "folder", sorted(entry.name for entry in path.iterdir())
    if path.is_file():
        return "file", path.read_bytes()
    return "device", path.stat().st_rdev


def restore(folder: Path) -> None:
    """Remove outputs, so that trials are independent."""
    for name in ("out", "out.parquet", "out.svg", "out.toml", "out.npy", "out.jsonl", "new.index"):
        remove(folder / name)

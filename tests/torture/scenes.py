"""Small collections, and one valid call of every command."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

from tests.torture.commands import Argument, neardup

from neardup.decisions import content_of

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("", "n", "r", "st")]


def text_of(chance: random.Random, words: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(words))


def edited(chance: random.Random, text: str, edits: int) -> str:
    words = text.split()
    for _ in range(edits):
        words[chance.randrange(len(words))] = chance.choice(WORDS)
    return " ".join(words)


def documents(chance: random.Random, count: int, words: int = 40) -> list[str]:
    """Texts; about every third is an exact or edited copy of an earlier one."""
    texts: list[str] = []
    for _ in range(count):
        if texts and chance.random() < 0.35:
            texts.append(edited(chance, chance.choice(texts), chance.choice([0, 0, 1, 1, 2, 5])))
        else:
            texts.append(text_of(chance, max(1, int(chance.gauss(words, words / 4)))))
    return texts


def write_lines(path: Path, texts: list[str], prefix: str = "d") -> Path:
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(texts):
            file.write(json.dumps({"id": f"{prefix}{number}", "text": text, "n": number}) + "\n")
    return path


@dataclass(frozen=True)
class Call:
    """A command with valid arguments, and the name of its output."""

    command: tuple[str, ...]
    arguments: tuple[Argument, ...]
    output: str | None = None  # its file or folder name

    @property
    def words(self) -> tuple[Argument, ...]:
        return (*self.command, *self.arguments)


def labels(a: str, b: str) -> str:
    """A table that says of two documents that they differ."""
    return (
        f"says,a,b,a_content,b_content,by\ndifferent,d0,d1,{content_of(a)},{content_of(b)},nobody\n"
    )


def scene(folder: Path, chance: random.Random, count: int) -> dict[str, Call]:
    """Create input files; return a valid call of every command that ends by itself, by name."""
    texts = documents(chance, count)
    write_lines(folder / "in.jsonl", texts)
    write_lines(folder / "more.jsonl", documents(chance, max(2, count // 4)), "m")
    (folder / "one.txt").write_text(texts[0], encoding="utf-8")
    (folder / "labels.csv").write_text(labels(texts[0], texts[1]), encoding="utf-8")
    (folder / "labelled").mkdir()
    write_lines(folder / "labelled" / "docs.jsonl", texts)
    (folder / "labelled" / "pairs.csv").write_text("a,b\nd0,d1\n", encoding="utf-8")
    (folder / "two.txt").write_text(edited(chance, texts[0], 2), encoding="utf-8")
    for words in (
        ("fingerprint", "in.jsonl", "-o", "fps.parquet"),
        ("index", "create", "seen.index", "--store-text"),
        ("index", "add", "seen.index", "in.jsonl", "--no-sync"),
        ("keys", "create", "keys.toml", "reader", "--role", "read"),
        ("dedup", "in.jsonl", "-o", "run", "--floor", "0.5"),
    ):
        made = neardup(*words, cwd=folder)
        assert made.code == 0, f"the scene cannot be set: {made}"
    output = ("-o", "out")
    calls = (
        Call(("dedup",), ("in.jsonl", *output), "out"),
        Call(("contamination",), ("in.jsonl", "--benchmark", "more.jsonl", *output), "out"),
        Call(("fingerprint",), ("in.jsonl", "-o", "out.parquet"), "out.parquet"),
        Call(
            ("pairs",), ("fps.parquet", "--max-distance", "3", "-o", "out.parquet"), "out.parquet"
        ),
        Call(("plan",), ("--n", "1000000")),
        Call(("sweep",), ("in.jsonl", "--bands", "4,8", "--band-bits", "8", *output), "out"),
        Call(("curve",), ("--plan", "bands:8x8", "-o", "out.svg"), "out.svg"),
        Call(("tune",), ("in.jsonl", "-o", "out.toml"), "out.toml"),
        Call(("passages",), ("in.jsonl", *output), "out"),
        Call(("compare",), ("one.txt", "two.txt")),
        Call(("explain",), ("run", "d0")),
        Call(("review",), ("run", "--by", "nobody")),
        Call(("decisions",), ("run", "--import", "labels.csv")),
        Call(("rethreshold",), ("run", "0.9", *output), "out"),
        Call(
            ("evaluate",),
            ("run", "--truth", "labelled/pairs.csv", "-o", "out.html"),
            "out.html",
        ),
        Call(("idf",), ("in.jsonl", "-o", "out.parquet"), "out.parquet"),
        Call(("presets",), ()),
        Call(("hashes",), ("nd1",)),
        Call(("sphere",), ("--dim", "3", "--count", "6", "-o", "out.npy"), "out.npy"),
        Call(("reproduce",), ("slides",)),
        Call(("sample",), ("records", "-o", "out.csv"), "out.csv"),
        Call(("benchmark",), ("labelled", "-o", "rates.json"), "rates.json"),
        Call(("completion",), ("zsh",)),
        Call(("index", "query"), ("seen.index", "-i", "more.jsonl")),
        Call(("index", "check"), ("seen.index", "nothing of the kind", "--add", "never")),
        Call(("index", "create"), ("new.index",), "new.index"),
        Call(("index", "add"), ("seen.index", "more.jsonl", "--no-sync")),
        Call(("index", "delete"), ("seen.index", "d0")),
        Call(("index", "expire"), ("seen.index",)),
        Call(("index", "stats"), ("seen.index",)),
        Call(("index", "backup"), ("seen.index", "new.index"), "new.index"),
        Call(("index", "upgrade"), ("seen.index",)),
        Call(("index", "export"), ("seen.index", "-o", "out.jsonl"), "out.jsonl"),
        Call(("index", "compact"), ("seen.index",)),
        Call(("keys", "create"), ("new.toml", "writer", "--role", "write"), "new.toml"),
        Call(("keys", "list"), ("keys.toml",)),
        Call(("keys", "delete"), ("keys.toml", "reader")),
    )
    return {" ".join(call.command): call for call in calls}

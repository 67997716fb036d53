"""Hostile inputs: broken, odd and misnamed files of every format, alone, in folders, from a pipe.

For any input, a command exits with 0, 1 or 2, gives the reason in one sentence, does not change its
inputs, and writes a complete output or none. If the number of rows is known, each is a document or
a rejected row.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from tests.torture.commands import Argument, Ran, contents, neardup, require_manners, workplace
from tests.torture.outputs import require_clean, require_counts
from tests.torture.rounds import repeat
from tests.torture.scenes import documents, text_of

MEMORY = 6 << 30  # maximum address space of a command

ODD_TEXTS: tuple[str, ...] = (
    *("", " ", "\u0000", "a\u0000b", "\ufeff", "\ufeffword word word", "\u202eabc", "\x1b[31mred"),
    *("é" * 300, "e\u0301" * 300, "中" * 500, "🧑‍🚀" * 50, "\u2028\u2029", "=1+1", "@SUM(A1)"),
    *("-1", "+1", '"', "'", "\\", "\t\t", "\r", "line\nline", "a" * 200_000, "a b " * 20_000),
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 1e308, 2**63, 2**64, -(2**63), 10**40, [], {}, [1, "a"]),
    *({"a": None}, {"": {}}, "7", 7, [[[]]], "nan", "2020-01-01", "x" * 1000),
)
ODD_LINES: tuple[bytes, ...] = (
    *(b"{", b"}", b"null", b"[]", b"1", b'"text"', b"{}", b'{"text": }', b'{"text": "a"', b"nan"),
    *(b'{"text": NaN}', b'{"text": "a",}', b"{'text': 'a'}", b'{"text": "\\ud800"}', b"\xff\xfe"),
    *(b'{"text": "\xc3\x28"}', b'{"text": "\xed\xa0\x80"}', b'{"text": "a\x00b"}', b"\x00" * 50),
    *(b'{"text": "a"} {"text": "b"}', b'{"text": "a", "text": "b"}', b'{"te\\u0078t": "a b c"}'),
    *(b'{"text": ' + b"[" * 900 + b"]" * 900 + b"}", b'{"a": ' * 500 + b"1" + b"}" * 500),
    *(
        b"[" * 100_000,
        b'{"text": "' + b"\\u0041" * 5000 + b'"}',
        b'{"text": 1e400}',
        b"\xef\xbb\xbf{}",
    ),
    *(b'{"id": [1], "text": "a b c"}', b'{"id": 1e3, "text": "a b"}', b'{"id": "", "text": "a"}'),
)
SUFFIXES = (
    *(".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".arrow", ".feather", ".txt"),
    *(".md", ".rst", ".jsonl.gz", ".jsonl.zst", ".jsonl.bz2", ".csv.gz", ".parquet.gz", ".txt.bz2"),
    *(".unknown", ".gz", "", ".JSONL", ".jsonl.jsonl", ".png"),
)


def run(rounds: int, seed: int) -> dict[str, int]:
    return repeat("inputs", trial, rounds, seed)


def trial(chance: random.Random) -> dict[str, int]:
    if chance.random() < 0.35:
        return known_rows(chance)
    with workplace("inputs") as folder:
        inputs = folder / "in"
        inputs.mkdir()
        made = [hostile_file(chance, inputs) for _ in range(chance.choice([1, 1, 1, 2, 5]))]
        odd_companions(chance, inputs)
        before = contents(folder)
        feeder: subprocess.Popen[bytes] | None = None
        named: list[Argument] = ["in"]
        stdin: Path | None = None
        way = chance.choice(["file", "file", "file", "folder", "glob", "stdin", "pipe", "several"])
        if way == "file":
            named = [Path("in") / chance.choice(made).name]
        elif way == "several":
            named = [Path("in") / path.name for path in made]
        elif way == "glob":
            named = ["in/*"]
        elif way == "stdin":
            named, stdin = ["-"], chance.choice(made)
        elif way == "pipe":
            source = chance.choice(made)
            pipe = folder / f"pipe{''.join(source.suffixes)[-20:]}"
            os.mkfifo(pipe)
            feeder = subprocess.Popen(
                ["sh", "-c", 'cat "$1" > "$2"', "sh", source, pipe], stderr=subprocess.DEVNULL
            )
            named = [pipe.name]
        try:
            ran = attempt(chance, folder, named, stdin)
        finally:
            if feeder is not None:
                feeder.kill()
                feeder.wait()
        after = contents(folder)
        changed = [name for name in before if after.get(name, b"gone") != before[name]]
        assert not changed, f"the input {changed} has changed: {ran}"
        return {"accepted": int(ran.code == 0), "refused": int(ran.code != 0)}


def attempt(chance: random.Random, folder: Path, named: list[Argument], stdin: Path | None) -> Ran:
    """One of the commands that read documents."""
    options: list[Argument] = []
    if chance.random() < 0.1:
        options += ["--text", chance.choice(["text", "body", "a+b", "id", "", "text*2+n"])]
    if chance.random() < 0.2:
        options += ["--id", chance.choice(["id", "row", "n", "nope"])]
    command = chance.choice(["dedup", "dedup", "dedup", "fingerprint", "idf", "index", "tune"])
    output = folder / ("out.index" if command == "index" else "out")
    limits = {"memory": MEMORY}
    if command == "index":
        neardup("index", "create", "out.index", cwd=folder)
        words: list[Argument] = ["index", "add", "out.index", *named, *options, "--no-sync"]
    else:
        words = [command, *named, *options, "-o", "out"]
        if command == "dedup":
            words += ["--format", chance.choice(["parquet", "parquet", "jsonl", "csv"])]
    ran = neardup(*words, cwd=folder, stdin=stdin, limits=limits)
    require_manners(ran)
    try:
        if command == "index":
            stats = neardup("index", "stats", "out.index", cwd=folder)
            assert stats.code == 0, f"the index is broken: {stats}"
        else:
            assert output.exists() == (ran.code == 0), "an output without success, or the reverse"
            if command == "dedup" and ran.code == 0:
                require_counts(output)
        require_clean(folder)
    except AssertionError as error:
        raise AssertionError(f"{error}: {ran}") from None
    return ran


def known_rows(chance: random.Random) -> dict[str, int]:
    """Valid and invalid JSON lines; each is a document or a rejected row."""
    lines: list[bytes] = []
    for number, text in enumerate(documents(chance, chance.choice([3, 30, 1200]), 12)):
        lines.append(json.dumps({"id": f"d{number}", "text": text}).encode())
        if chance.random() < 0.2:
            odd = chance.choice(ODD_TEXTS)
            lines.append(json.dumps({"id": f"o{number}", "text": odd}).encode())
        if chance.random() < 0.2:
            value = chance.choice(ODD_VALUES)
            lines.append(json.dumps({"id": f"v{number}", "text": value}).encode())
        if chance.random() < 0.2:
            value = chance.choice(ODD_VALUES)
            lines.append(json.dumps({"id": f"w{number}", "text": "w", "extra": value}).encode())
        if chance.random() < 0.3:
            lines.append(chance.choice(ODD_LINES))
        if chance.random() < 0.1:
            lines.append(chance.choice([b"", b" ", b"\t\r"]))
    rows = sum(bool(line.strip(b" \t\r")) for line in lines)
    end = chance.choice([b"\n", b"\r\n"])
    data = end.join(lines) + chance.choice([b"", end, end * 3])
    with workplace("inputs") as folder:
        (folder / "in.jsonl").write_bytes(data)
        words = ("dedup", "in.jsonl", "--id", "row", "-o", "out")
        ran = neardup(*words, cwd=folder, limits={"memory": MEMORY})
        require_manners(ran)
        assert ran.code == 0, f"good rows among bad ones are refused: {ran}"
        try:
            found = require_counts(folder / "out", rows)
        except AssertionError as error:
            raise AssertionError(f"{error}: {ran}") from None
        require_clean(folder)
        assert (folder / "in.jsonl").read_bytes() == data, f"the input has changed: {ran}"
        return {"known": 1, "rows": rows, "rejected rows": found["rejected"]}


def hostile_file(chance: random.Random, folder: Path) -> Path:
    """A file of some format, perhaps damaged, perhaps with a wrong suffix."""
    make, suffixes = chance.choice(MAKERS)
    data = make(chance, rows_of(chance))
    suffix = chance.choice(suffixes)
    if chance.random() < 0.3:
        pack, ending = chance.choice(PACKERS)
        data, suffix = pack(data), suffix + ending
    for _ in range(chance.choice([0, 0, 0, 1, 1, 3])):
        data = chance.choice(DAMAGES)(chance, data)
    if chance.random() < 0.15:
        suffix = chance.choice(SUFFIXES)
    path = folder / f"f{chance.randrange(1000)}{suffix}"
    path.write_bytes(data)
    return path


def odd_companions(chance: random.Random, folder: Path) -> None:
    """Other entries of folders."""
    if chance.random() < 0.2:
        (folder / "README.md").write_text("about this folder", encoding="utf-8")
    if chance.random() < 0.2:
        (folder / "data.unknown").write_bytes(b"\x00\x01")
    if chance.random() < 0.1:
        (folder / "broken.jsonl").symlink_to("nowhere")
    if chance.random() < 0.1:
        (folder / "loop").symlink_to(".")
    if chance.random() < 0.1:
        os.mkfifo(folder / "waiting.jsonl")
    if chance.random() < 0.1:
        (folder / "\x1b[31mred\x07.txt").write_bytes(b"x")
    if chance.random() < 0.1:
        Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.txt")).write_bytes(b"not a name")
    if chance.random() < 0.1:
        (folder / "empty.jsonl").write_bytes(b"")
    if chance.random() < 0.05:
        (folder / "deep").mkdir()
        (folder / "deep" / "a.jsonl").write_bytes(b'{"text": "a b c"}\n')


def rows_of(chance: random.Random) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    extra = chance.choice([0, 0, 1, 3, 300])
    for number, text in enumerate(documents(chance, chance.choice([0, 1, 5, 60]), 10)):
        row: dict[str, Any] = {"id": chance.choice([number, f"d{number}"]), "text": text}
        if chance.random() < 0.1:
            row["text"] = chance.choice([*ODD_TEXTS, *ODD_VALUES])
        if chance.random() < 0.05:
            row["id"] = chance.choice(ODD_VALUES)
        if chance.random() < 0.05:
            del row[chance.choice(list(row))]
        for column in range(extra):
            row[f"c{column}"] = chance.choice(ODD_VALUES) if extra < 10 else column
        rows.append(row)
    return rows


def json_lines(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    lines = [json.dumps(row, ensure_ascii=chance.random() < 0.5).encode() for row in rows]
    if chance.random() < 0.4:
        lines.insert(chance.randrange(len(lines) + 1), chance.choice(ODD_LINES))
    return chance.choice([b"\n", b"\r\n", b"\n\n"]).join(lines)


def json_array(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    whole: Any = chance.choice([rows, {"rows": rows}, [rows], rows[0] if rows else None])
    return json.dumps(whole, indent=chance.choice([None, 2])).encode()


def delimited(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    out = io.StringIO(newline="")
    names = list(rows[0]) if rows else ["id", "text"]
    writer = csv.writer(out, delimiter=chance.choice([",", ",", "\t", ";"]))
    writer.writerow(chance.choice([names, names, [*names, names[0]] if names else [], []]))
    for row in rows:
        cells = [str(row.get(name, "")) for name in names]
        if chance.random() < 0.05:
            cells = chance.choice([[], cells * 2, cells[:1], ["\x00"], ['"unclosed']])
        writer.writerow(cells)
    if chance.random() < 0.1:
        out.write('"open quote, "")\n' + text_of(chance, 2000))
    return out.getvalue().encode("utf-8", "surrogatepass")


def table_of(chance: random.Random, rows: list[dict[str, Any]]) -> pa.Table:
    """A table of unusual types; values that do not fit become text."""
    types: list[pa.DataType | None] = [
        *(None, None, None, pa.large_string(), pa.binary(), pa.string_view()),
        pa.dictionary(pa.int32(), pa.string()),
    ]
    columns: dict[str, pa.Array] = {}
    for name in {key: None for row in rows for key in row} or {"text": None}:
        values = [row.get(name) for row in rows]
        try:
            columns[name] = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            columns[name] = pa.array([None if value is None else str(value) for value in values])
        if pa.types.is_null(columns[name].type) and chance.random() < 0.8:
            columns[name] = columns[name].cast(pa.string())
        wanted = chance.choice(types)
        if name in ("id", "text") and wanted and pa.types.is_string(columns[name].type):
            columns[name] = columns[name].cast(wanted)
    if chance.random() < 0.1:
        columns["nested"] = pa.array(
            [{"a": [1]}] * len(rows), pa.struct({"a": pa.list_(pa.int8())})
        )
    return pa.table(columns)


def parquet(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    table = table_of(chance, rows)
    try:
        pq.write_table(table, out, row_group_size=chance.choice([1, 7, 1000]))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # types that Parquet lacks
        pq.write_table(pa.table({"text": ["a b c"]}), out)
    return out.getvalue()


def arrow(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    table = table_of(chance, rows)
    out = io.BytesIO()
    opened = chance.choice([pa.ipc.new_file, pa.ipc.new_stream])(out, table.schema)
    with opened as writer:
        writer.write_table(table, max_chunksize=chance.choice([1, 1000]))
    return out.getvalue()


def plain(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    text = "\n".join(str(row.get("text")) for row in rows)
    encoding = chance.choice(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "utf-32"])
    return text.encode(encoding, "surrogatepass" if encoding.startswith("utf") else "replace")


def noise(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    return chance.randbytes(chance.choice([0, 1, 2, 3, 100, 70_000]))


Maker = Callable[[random.Random, list[dict[str, Any]]], bytes]
MAKERS: tuple[tuple[Maker, tuple[str, ...]], ...] = (
    (json_lines, (".jsonl", ".ndjson", ".json")),
    (json_array, (".json",)),
    (delimited, (".csv", ".tsv")),
    (parquet, (".parquet",)),
    (arrow, (".arrow", ".feather")),
    (plain, (".txt", ".md", ".rst", ".jsonl", ".csv")),
    (noise, SUFFIXES),
)


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return packed


PACKERS: tuple[tuple[Callable[[bytes], bytes], str], ...] = (
    (gzip.compress, ".gz"),
    (bz2.compress, ".bz2"),
    (zstd, ".zst"),
    (lambda data: gzip.compress(data) + gzip.compress(data), ".gz"),
    (lambda data: gzip.compress(data) + b"rubbish", ".gz"),
    (lambda data: gzip.compress(data + bytes(50_000_000)), ".gz"),  # unpacks a thousandfold
)


def cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def flipped(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 8]) if changed else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def spliced(chance: random.Random, data: bytes) -> bytes:
    at, to = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    part = chance.choice([b"", b"\x00" * 100, chance.randbytes(9), data[at:to] * 2, b"\r\n", b'"'])
    return data[:at] + part + data[to:]


def marked(chance: random.Random, data: bytes) -> bytes:
    return chance.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"PAR1", b"\x1f\x8b"]) + data


DAMAGES = (cut, flipped, flipped, spliced, spliced, marked)

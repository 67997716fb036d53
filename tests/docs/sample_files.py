"""Files, folders and runs made of the bundled sample and of rules, for pages that assume some."""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.docs.steps import ROOT, blocks

import neardup as nd
from neardup.samples.write import write_sample

Make = Callable[[Path], Any]
_GIVEN = [
    "Anna",
    "Otto",
    "Maria",
    "Ines",
    "Rui",
    "Carla",
    "Jonas",
    "Petra",
    "Emil",
    "Nadia",
    "Karim",
    "Ruth",
]
_FAMILY = [
    "Berg",
    "Costa",
    "Lang",
    "Kern",
    "Moreau",
    "Novak",
    "Silva",
    "Brandt",
    "Okafor",
    "Lindgren",
    "Haddad",
    "Weiss",
]
_STREETS = [
    "Mill Lane",
    "Station Road",
    "Harbour Street",
    "Elm Avenue",
    "Old Market",
    "Church Hill",
]
_TOWNS = ["Bern", "Porto", "Graz", "Leeds", "Malmö", "Lyon"]
_BRANDS = ["Canon", "Sony", "Nikon", "Braun", "Bosch"]
_KINDS = ["camera", "lens", "drill", "kettle", "radio"]


def stem(name: str) -> str:
    found = re.match(r"[a-z]+-?\d+", name)
    return found[0] if found else name


def sample_rows(number: int | None = None) -> list[dict[str, Any]]:
    lines = (ROOT / "examples" / "sample.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines[:number]]


def lines(path: Path) -> None:
    shutil.copy(ROOT / "examples" / "sample.jsonl", path)


def packed(path: Path) -> None:
    path.write_bytes(gzip.compress((ROOT / "examples" / "sample.jsonl").read_bytes()))


def parquet(path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(sample_rows()), path)


def folder(path: Path) -> None:
    path.mkdir()
    for row in sample_rows(60):
        (path / f"{row['id']}.txt").write_text(row["text"] + "\n", "utf-8")


def code(path: Path) -> None:
    write_sample("code", path)


def crawled(path: Path) -> None:
    """A WARC file with the answer of a server."""
    page = "<h1>The ferry</h1><p>It leaves at nine, every day in summer.</p>"
    answer = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}"
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        "WARC-Target-URI: https://example.org/\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(answer)}\r\n"
    )
    path.write_bytes(gzip.compress(f"{head}\r\n{answer}\r\n\r\n".encode()))


def people(path: Path) -> None:
    """Persons with a name, an address and more; a third of them twice, with slips of the pen."""
    made = random.Random(7)
    rows = []
    for number in range(120):
        row = {
            "id": f"p{number}",
            "name": f"{made.choice(_GIVEN)} {made.choice(_FAMILY)}",
            "street": f"{made.randrange(1, 200)} {made.choice(_STREETS)}",
            "city": made.choice(_TOWNS),
            "phone": f"0{made.randrange(10**8, 10**9)}",
            "dob": f"19{made.randrange(40, 99)}-03-{made.randrange(1, 29):02}",
        }
        rows.append(row)
        if number % 3 == 0:
            cut = made.randrange(1, len(row["name"]) - 1)
            name = row["name"][:cut] + row["name"][cut + 1 :]
            rows.append(row | {"id": f"p{number}b", "name": name})
    table(rows)(path)


def examples(path: Path) -> None:
    shutil.copytree(ROOT / "examples", path)


def table(rows: list[dict[str, Any]]) -> Make:
    """Write rows to a file of the format that its name says."""

    def write(path: Path) -> None:
        if path.suffix == ".parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        elif path.suffix == ".csv":
            with path.open("w", encoding="utf-8", newline="") as file:
                table = csv.DictWriter(file, list(rows[0]))
                table.writeheader()
                table.writerows(rows)
        else:
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")

    return write


def folder_with(name: str, write: Make) -> Make:
    """Make a folder with one file."""

    def make(path: Path) -> None:
        path.mkdir()
        write(path / name)

    return make


def block(page: str, kind: str, number: int = 0) -> Make:
    """The block of a page that shows the file."""

    def write(path: Path) -> None:
        found = [each for each in blocks((ROOT / page).read_text("utf-8")) if each.kind == kind]
        path.write_text("\n".join(found[number].lines) + "\n", "utf-8")

    return write


def run(**settings: Any) -> Make:
    """A run of dedup over the sample, in which one pair is decided."""

    def write(path: Path) -> None:
        rows = [row | {"cluster_id": stem(row["id"])} for row in sample_rows()]
        rows.append(rows[0] | {"id": "d44"})
        nd.dedup(rows, **settings).save(path)
        _neardup("review", path, keys="s\nq\n")

    return write


def _neardup(*arguments: object, keys: str = "") -> None:
    subprocess.run(
        [sys.executable, "-m", "neardup", *map(str, arguments)],
        input=keys.encode(),
        stdout=subprocess.DEVNULL,
        check=True,
    )


def index(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    index = nd.Index(path)
    index.add_many((row["id"], row["text"]) for row in sample_rows())
    index.add_many([("doc-17", "one two three"), ("doc-18", "four five six"), ("first", "seven")])
    index.close()


def fingerprints(path: Path) -> None:
    nd.fingerprint([row["text"] for row in sample_rows(60)]).save(path)


def terms(path: Path) -> None:
    rows = [{"id": row["id"], "terms": row["text"].lower().split()} for row in sample_rows()]
    table([row | {"weights": [1.0] * len(row["terms"])} for row in rows])(path)


def service_keys(path: Path) -> None:
    _neardup("keys", "create", path, "crawler", "--role", "write")


LABELS = [
    {"a": row["copy_of"], "b": row["id"], "same": True} for row in sample_rows() if row["copy_of"]
] + [
    {"a": one["id"], "b": other["id"], "same": False}
    for one, other in zip(sample_rows(), sample_rows()[1:], strict=False)
    if stem(one["id"]) != stem(other["id"])
]
_MADE = random.Random(11)
PRODUCTS = [
    {
        "id": f"{side}{number}",
        "title": f"{brand} {_MADE.choice(_KINDS)} {model} {extra}".strip(),
        "price": f"{_MADE.randrange(20, 900)}.00",
    }
    for number in range(40)
    for brand, model in [(_MADE.choice(_BRANDS), f"{_MADE.choice('XTZ')}{_MADE.randrange(1000)}")]
    for side, extra in (("l", ""), ("r", _MADE.choice(["black", "new", "with case"])))
]
PRODUCT_LABELS = [
    {"a": f"l{number}", "b": f"r{(number + shift) % 40}", "same": shift == 0}
    for number in range(40)
    for shift in (0, 1)
]
QUESTIONS = [
    {"question": row["text"], "choices": "yes, no, maybe", "answer": "no"}
    for row in sample_rows(20)
]
RECORDS = [
    row
    | {"name": row["source"], "street": row["text"][:30], "town": row["lang"], "phone": "1"}
    | {"given_name": row["id"], "surname": row["source"], "address_1": row["text"][:20]}
    | {
        "suburb": row["lang"],
        "postcode": "1",
        "date_of_birth": row["date"],
        "soc_sec_id": row["id"],
    }
    | {"title": row["text"][:50], "authors": row["source"], "year": 2000 + number % 20}
    | {"brand": row["lang"], "modelno": row["id"], "price": 10 + number % 5}
    for number, row in enumerate(sample_rows(120))
]
TO_LABEL = [
    {
        **{"a": a, "b": b, "same": None, "similarity": similarity, "why": "word:1 tfidf 0.6–0.7"},
        **{"a_text": f"name: {one}\ncity: Bern", "b_text": f"name: {other}\ncity: {city}"},
    }
    for a, b, similarity, one, other, city in (
        ("p1", "p2", 0.6, "Anna Berg", "Anna Bergh", "Bern"),
        ("p2", "p3", 0.1, "Anna Bergh", "Otto Kern", "Chur"),
    )
]


def answered(path: Path) -> None:
    """The answers of a reviewer to a file of pairs."""
    pairs = path.with_name(path.name.removesuffix(".decisions.jsonl"))
    table(TO_LABEL)(pairs)
    _neardup("review", pairs, keys="s\nd\n")


def collection(path: Path) -> None:
    path.mkdir()
    parquet(path / "docs.parquet")
    table(LABELS)(path / "pairs.parquet")


def service_data(path: Path) -> None:
    index(path / "indexes" / "pages")
    (path / "corpus").mkdir()
    lines(path / "corpus" / "sample.jsonl")

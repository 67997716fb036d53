"""What the pages assume a reader to have: files, folders, and variables of Python examples.

A stand-in is made just before the first step that names it, unless the page has made it by then.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import neardup as nd
from tests.docs.steps import ROOT, Step, blocks

_GIVEN = "Anna Otto Maria Ines Rui Carla Jonas Petra Emil Nadia Karim Ruth".split()
_FAMILY = "Berg Costa Lang Kern Moreau Novak Silva Brandt Okafor Lindgren Haddad Weiss".split()
_STREETS = "Mill Lane,Station Road,Harbour Street,Elm Avenue,Old Market,Church Hill".split(",")
_TOWNS = "Bern Porto Graz Leeds Malmö Lyon".split()
Make = Callable[[Path], Any]
_CREATED_BY = r"(?:-o|--output|--propose|--fit|-o=|index create|keys create)\s+['\"]?"


def _rows(number: int | None = None) -> list[dict[str, Any]]:
    lines = (ROOT / "examples" / "sample.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines[:number]]


def _lines(path: Path) -> None:
    shutil.copy(ROOT / "examples" / "sample.jsonl", path)


def _packed(path: Path) -> None:
    path.write_bytes(gzip.compress((ROOT / "examples" / "sample.jsonl").read_bytes()))


def _parquet(path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(_rows()), path)


def _folder(path: Path) -> None:
    path.mkdir()
    for row in _rows(60):
        (path / f"{row['id']}.txt").write_text(row["text"] + "\n", "utf-8")


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
            "dob": f"19{made.randrange(40, 99)}-{made.randrange(1, 13):02}-{made.randrange(1, 29):02}",
        }
        rows.append(row)
        if number % 3 == 0:
            cut = made.randrange(1, len(row["name"]) - 1)
            name = row["name"][:cut] + row["name"][cut + 1 :]
            rows.append(row | {"id": f"p{number}b", "name": name})
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def _examples(path: Path) -> None:
    shutil.copytree(ROOT / "examples", path)


# Files that any page may name.
FILES: dict[str, Make] = {
    "examples": _examples,
    "corpus.jsonl": _lines,
    "corpus.jsonl.gz": _packed,
    "corpus": _folder,
    "pages": _folder,
    "pages.jsonl": _lines,
    "pages.parquet": _parquet,
    "docs.parquet": _parquet,
    "people.csv": people,
}

# Files of one page.
FILES_OF_PAGES: dict[str, dict[str, Make]] = {}

# The commands of these pages are alternatives: each is run in a folder of its own.
ALTERNATIVES = {"docs/reference/commands.md", "docs/start/choosing-settings.md"}


def make(page: Path, step: Step, folder: Path) -> None:
    """Make the stand-ins that a step names and that are not there yet."""
    for name, write in (FILES | FILES_OF_PAGES.get(step.page, {})).items():
        named = rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)"
        created = rf"{_CREATED_BY}{re.escape(name)}(?![\w-]|\.\w)"
        if (
            re.search(named, step.text)
            and not re.search(created, step.text)
            and not (folder / name).exists()
        ):
            write(folder / name)


def keys(step: Step, folder: Path) -> str:
    """The keys that answer `neardup review`: the same person or text has the same stem of the id."""
    found = re.match(r"neardup review (\S+\.(?:csv|jsonl))", step.text)
    if not found:
        return "q\n" if step.text.startswith("neardup review") else ""
    pairs = folder / found[1]
    if not pairs.exists():
        return ""
    with pairs.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file) if pairs.suffix == ".csv" else map(json.loads, file))
    same = (_stem(str(row["a"])) == _stem(str(row["b"])) for row in rows)
    return "".join("s\n" if each else "d\n" for each in same)


def _stem(name: str) -> str:
    found = re.match(r"[a-z]+-?\d+", name)
    return found[0] if found else name


def variables(page: Path) -> dict[str, Any]:
    """The variables that Python examples assume."""
    texts = ["one two three four five", "One, two, three, four five", "else here is"]
    fps = nd.fingerprint(texts)
    return {
        "nd": nd,
        **{"texts": texts, "stream": texts, "text": texts[0], "url": "https://example.org"},
        **{"fps": fps, "new": fps, "old": fps},
        "table": pa.table({"id": ["x", "y"], "text": texts[:2]}),
    }

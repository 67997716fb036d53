"""Runs to look at in a browser, made by `neardup dedup` as a person makes them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow.parquet as pq

NEARDUP = str(Path(sys.executable).with_name("neardup"))
EXAMPLES = Path(__file__).parents[3] / "examples"

# What tries to run, to mislead, or to break a page.
EVIL = (
    "<script>window.__hacked=1;alert(1)</script>",
    '"><img src=x onerror="window.__hacked=1">',
    "' onmouseover='window.__hacked=1' autofocus onfocus='window.__hacked=1",
    "</textarea></title></script><svg/onload=window.__hacked=1>",
    "javascript:window.__hacked=1",
    "{{7*7}}{% raw %}${7*7}<%= 7*7 %>",
    "\u202etxt.exe\u2066 and \u200bzero\u200bwidth\ufeff",
    "nul\x00 escape\x1b[31m bell\x07\r\nSet-Cookie: a=b",
    "*{background:url(//evil.example/x)} @import '//evil.example'",
    "</style><style>body{display:none}</style>",
    "W" * 3000,
    "𝕳̷̧̛͓͈̦̀̈́ĕ̸̗͇͗̒ļ̵͎͚̾p" * 40,
    "../../etc/passwd",
    "%2e%2e%2f?a=b#c&d;e",
)


def run_neardup(*arguments: str | Path) -> str:
    """What a command prints; its complaint is the error if it fails."""
    command = [NEARDUP, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """A file of JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def deduplicated(folder: Path, rows: Iterable[Mapping[str, Any]], *arguments: str) -> Path:
    """The output folder of a run over these rows."""
    source = write_rows(folder / "rows.jsonl", rows)
    run_neardup("dedup", source, "-o", folder / "out", "-q", *arguments)
    return folder / "out"


def sample_run(folder: Path) -> Path:
    """Notices in six languages, with near misses down to 0.5."""
    out = folder / "out"
    run_neardup("dedup", EXAMPLES / "sample.jsonl", "-o", out, "-q", "--floor", "0.5")
    return out


def records_run(folder: Path) -> Path:
    """People whose records differ in some fields."""
    return deduplicated(
        folder,
        _people(),
        *("--text", "name:char:3*2 + street:char:3 + city:char:3 + phone:exact + born:date:2"),
        *("--threshold", "0.6", "--pairs", "all"),
    )


def code_run(folder: Path) -> Path:
    """Functions that were copied and changed, in two folders."""
    for name, text in _functions().items():
        path = folder / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    out = folder / "out"
    run_neardup("dedup", folder / "source", "-o", out, "-q", "--threshold", "0.4", "--floor", "0.2")
    return out


def hostile_run(folder: Path) -> Path:
    """A cluster in which every id, text, column and value is hostile, and near misses of it."""
    words = [f"word{place}" for place in range(120)]
    column = '<b onclick="window.__hacked=1">\u202ecolumn' + "x" * 300
    rows = [
        {
            "id": f"{evil}{place}",
            "text": " ".join([*words[: 118 - place], evil, *words[119 - place :]]) + evil,
            column: evil,
            "style=x": EVIL[-place],
        }
        for place, evil in enumerate(EVIL)
    ]
    return deduplicated(folder, rows, "--threshold", "0.8", "--floor", "0.5")


def hostile_records_run(folder: Path) -> Path:
    """Records in which every field, its name included, is hostile, and nearly the same."""
    field = '<b onclick="window.__hacked=1">\u202ef' + "x" * 300
    rows = [
        {
            "id": f"{evil}{place}",
            "name": f"the same name of many words {evil}",
            field: f"{evil} the same words again and again {place % 2}",
            "long": " ".join([f"word{number}" for number in range(3_000)] + [evil]),
        }
        for place, evil in enumerate(EVIL)
    ]
    fields = f"name:char:3*2 + {quote(field, safe=' ')}:word:1 + long:word:1"
    return deduplicated(folder, rows, "--text", fields, "--threshold", "0.4", "--pairs", "all")


def kept_ids(out: Path | str) -> list[Any]:
    """The ids in kept.parquet."""
    return pq.read_table(Path(out) / "kept.parquet")["id"].to_pylist()


def _people() -> list[dict[str, str]]:
    streets = ("Harbour Street", "Mill Lane", "Station Road", "Church Hill", "Garden Close")
    cities = ("Bremen", "Leeds", "杭州市西湖区", "القاهرة", "Valencia")
    people = []
    for place in range(12):
        record = {
            "id": f"person-{place}",
            "name": f"{['Anna', 'Bert', 'Clara', 'David'][place % 4]} Sommerfeld{place * 37}",
            "street": f"{place * 13 + 4} {streets[place % 5]}",
            "city": f"{cities[place % 5]} {place * 7919 % 9000}",
            "phone": f"0{place * 48_271 % 9_999_991:07d}" if place % 4 else "",
            "born": f"19{50 + place}-03-{place + 10}",
            "source": "register" if place % 3 else "newsletter",
        }
        moved = {**record, "id": f"person-{place}-moved", "street": "99 New Quay", "phone": ""}
        typo = {**record, "id": f"person-{place}-typo", "name": record["name"].replace("mm", "m")}
        people += [record, typo, {**record, "id": f"person-{place}-again", "source": "shop"}]
        people += [moved] if place % 2 else []
    return people


def _functions() -> dict[str, str]:
    base = '''def settle(account, payments, *, limit=None):
    """Book the payments of an account, oldest first."""
    booked = []
    for payment in sorted(payments, key=lambda one: one.date):
        if limit is not None and len(booked) >= limit:
            break
        if payment.amount <= 0:
            raise ValueError(f"payment {payment.number} has no amount")
        account.balance += payment.amount
        booked.append(payment)
\treturn_code = 0
    return booked
'''
    other = '''class Queue:
    """First in, first out."""

    def __init__(self):
        self._items = []

    def put(self, item):
        self._items.append(item)

    def take(self):
        if not self._items:
            raise IndexError("the queue is empty")
        return self._items.pop(0)
'''
    return {
        "ledger/settle.py": base,
        "ledger/settle_copy.py": base,
        "shop/settle.py": base.replace("payment", "invoice"),
        "shop/settle_old.py": base.replace("        account.balance += payment.amount\n", ""),
        "ledger/queue.py": other,
        "shop/queue.py": other.replace("take", "get").replace("pop(0)", "popleft()"),
        "shop/alone.py": "import sys\n\nprint(sys.argv[1:])\n",
    }

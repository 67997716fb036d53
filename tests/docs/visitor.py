"""What somebody who follows a page answers when neardup asks."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from pathlib import Path

from tests.docs.sample_files import stem
from tests.docs.steps import Step

import neardup as nd


def keys(step: Step, folder: Path) -> str:
    """The keys that answer `neardup review`: ids of the same person or text have the same stem."""
    found = re.match(r"neardup review (\S+\.(?:csv|jsonl))", step.text)
    if not found:
        return "s\nq\n" if step.text.startswith("neardup review") else ""
    pairs = folder / found[1]
    if not pairs.exists():
        return ""
    with pairs.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file) if pairs.suffix == ".csv" else map(json.loads, file))
    same = (stem(str(row["a"])) == stem(str(row["b"])) for row in rows)
    return "".join("s\n" if each else "d\n" for each in same)


def visit(command: str, folder: Path, environment: dict[str, str]) -> None:
    """Decide about one pair of the run that `neardup explore` shows, as somebody would there."""
    found = re.match(r"neardup explore .*?(\w\S*)(?:\s+#.*)?$", command)
    if found and (folder / found[1] / "clusters.parquet").exists():
        subprocess.run(
            ["neardup", "review", found[1]],
            input=b"s\nq\n",
            stdout=subprocess.DEVNULL,
            cwd=folder,
            env=environment,
            check=True,
        )


def prepare_index(url: str, step: Step) -> None:
    """Have the index `pages` of a service with a document, or none for a step that creates it."""
    with nd.Client(url) as client:
        if any(index.name == "pages" for index in client.indexes()):
            client.delete_index("pages")
        if "-X PUT" not in step.text:
            client.create_index("pages").add("first", "to be or not to be, that is the question")

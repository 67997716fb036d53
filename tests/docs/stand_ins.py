"""What the pages assume a reader to have: files, folders, and variables of Python examples.

A stand-in is made just before the first step that names it, unless the page has made it by then.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.docs import sample_files
from tests.docs.steps import Step

import neardup as nd

_CREATED_BY = r"(?:-o|--output|--propose|--fit|-o=|index create|keys create)\s+['\"]?"

_OTHER = [row | {"id": f"other-{row['id']}"} for row in sample_files.sample_rows(30)]

# Files that any page may name.
FILES: dict[str, sample_files.Make] = {
    "examples": sample_files.examples,
    "corpus.jsonl": sample_files.lines,
    "corpus.jsonl.gz": sample_files.packed,
    "corpus": sample_files.folder,
    "crawl": sample_files.folder,
    "more": sample_files.folder_with("part.jsonl", sample_files.table(_OTHER)),
    "docs.parquet": sample_files.parquet,
    "features.parquet": sample_files.terms,
    "fps.parquet": sample_files.fingerprints,
    "new.jsonl": sample_files.table(sample_files.sample_rows(100)),
    "old.jsonl": sample_files.table(sample_files.sample_rows()[80:]),
    "pages": sample_files.folder,
    "pages.jsonl": sample_files.lines,
    "pages.parquet": sample_files.parquet,
    "people.csv": sample_files.people,
    "test.jsonl": sample_files.table(sample_files.QUESTIONS),
    "data": sample_files.service_data,
}

# Files of one page.
FILES_OF_PAGES: dict[str, dict[str, sample_files.Make]] = {
    "docs/guides/benchmark.md": {"my-collection": sample_files.collection},
    "docs/guides/contamination.md": {
        "pages.jsonl": sample_files.block("docs/guides/contamination.md", "json", 0),
        "test.jsonl": sample_files.block("docs/guides/contamination.md", "json", 1),
        "test.parquet": sample_files.table(sample_files.QUESTIONS),
        "gsm8k.jsonl": sample_files.table(sample_files.QUESTIONS),
        "mmlu": sample_files.folder_with("law.jsonl", sample_files.table(sample_files.QUESTIONS)),
        "corpus.jsonl": sample_files.table([{"text": "One, two, three, four, five."}] * 6),
    },
    "docs/guides/decisions.md": {"out2": sample_files.run(floor=0.6)},
    "docs/guides/dedup.md": {
        "new.parquet": sample_files.table(sample_files.sample_rows(100)),
        "old.parquet": sample_files.table(sample_files.sample_rows()[80:]),
        "january.parquet": sample_files.table(sample_files.sample_rows()[0::3]),
        "february.parquet": sample_files.table(sample_files.sample_rows()[1::3]),
        "march.parquet": sample_files.table(sample_files.sample_rows()[2::3]),
    },
    "docs/guides/evaluate.md": {
        "out": sample_files.run(),
        "pairs.parquet": sample_files.table(sample_files.LABELS),
        "people.csv": sample_files.block("docs/guides/evaluate.md", "csv", 0),
        "pairs.csv": sample_files.block("docs/guides/evaluate.md", "csv", 1),
    },
    "docs/guides/input.md": {
        "extra.parquet": sample_files.parquet,
        "old.jsonl.gz": sample_files.packed,
        "src": sample_files.code,
        "site": sample_files.folder_with(
            "index.html", lambda path: path.write_text("<h1>One page</h1>", "utf-8")
        ),
        "part-1.txt": lambda path: path.write_text("one line\nanother line\n", "utf-8"),
        "part-2.txt": lambda path: path.write_text("a third line\n", "utf-8"),
        "dump": sample_files.lines,
        "CC-MAIN-00001.warc.gz": sample_files.crawled,
    },
    "docs/guides/labels.md": {
        "pairs.csv": sample_files.table(sample_files.TO_LABEL),
        "bob.csv.decisions.jsonl": sample_files.answered,
    },
    "docs/guides/model.md": {
        "products.csv": sample_files.table(sample_files.PRODUCTS),
        "labels.csv": sample_files.table(sample_files.PRODUCT_LABELS),
    },
    "docs/guides/records.md": {"people.csv": sample_files.block("docs/guides/records.md", "csv")},
    "docs/guides/results.md": {
        "a.json": sample_files.table(
            [{"name": "Anna Berg", "street": "12 Station Rd", "city": "Leeds"}]
        ),
        "b.json": sample_files.table(
            [{"name": "Ana Berg", "street": "12 Station Road", "city": None}]
        ),
    },
    "docs/how-it-works/reproductions.md": {
        "pairs.parquet": sample_files.table(sample_files.LABELS),
        "poems.parquet": sample_files.parquet,
    },
    "docs/how-it-works/scheme-comparison.md": {"poems.jsonl": sample_files.lines},
    "docs/reference/commands.md": {
        "draft.txt": lambda path: path.write_text("one two three four five", "utf-8"),
        "final.txt": lambda path: path.write_text("one two three four six", "utf-8"),
        "keys.toml": sample_files.service_keys,
        "out": sample_files.run(floor=0.6),
        "pairs.jsonl": sample_files.table(sample_files.LABELS),
        "pairs.parquet": sample_files.table(sample_files.LABELS),
        "people.csv": sample_files.table(sample_files.sample_rows()),
        "seen.index": sample_files.index,
    },
    "docs/reference/plans.md": {
        "new.parquet": sample_files.fingerprints,
        "old.parquet": sample_files.fingerprints,
    },
    "docs/start/choosing-settings.md": {
        "IN": sample_files.folder_with("records.jsonl", sample_files.table(sample_files.RECORDS)),
    },
}

# The commands of these pages are alternatives: what one has written is gone before the next.
ALTERNATIVES = {"docs/reference/commands.md", "docs/start/choosing-settings.md"}

# A service runs while somebody reads these pages, and its index `pages` is there when it is needed.
SERVED = {"docs/reference/http-api.md"}


def make(step: Step, folder: Path) -> set[str]:
    """Make the stand-ins that a step names and that are not there yet; return their names."""
    made = set()
    for name, write in (FILES | FILES_OF_PAGES.get(step.page, {})).items():
        if _names(step, name) and not _creates(step, name) and not (folder / name).exists():
            write(folder / name)
            made.add(name)
    return made


def tidy(step: Step, folder: Path, made: set[str]) -> None:
    """Remove what steps have made, and the stand-ins that a step is about to create."""
    for path in folder.iterdir():
        if path.name not in made or _creates(step, path.name):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _names(step: Step, name: str) -> bool:
    return bool(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", step.text))


def _creates(step: Step, name: str) -> bool:
    return bool(re.search(rf"{_CREATED_BY}{re.escape(name)}(?![\w-]|\.\w)", step.text))


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

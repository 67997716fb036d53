"""Try the neardup that this Python has installed: its kernels, `dedup`, an index, the explorer.

    python installed.py sample.jsonl

It needs no more than the package itself and a JSONL file with `id` and `text`, so that a wheel can
be tried in an environment without compiler, repository or test tools.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import neardup as nd
from neardup import kernels
from neardup.kernels.reference import text as twin

RECIPES = [
    {"unit": unit, "size": size, "distinct": distinct, "bits": bits, "ties_up": False}
    for unit, size in (("word", 3), ("char", 4))
    for distinct in (True, False)
    for bits in (64, 128)
]
SECONDS = 300


def main() -> int:
    """Run every trial; the first that fails ends the program."""
    if len(sys.argv) != 2:
        print("usage: python installed.py sample.jsonl", file=sys.stderr)
        return 2
    sample = Path(sys.argv[1]).resolve()
    documents = [json.loads(line) for line in sample.read_text(encoding="utf-8").splitlines()]
    trials: list[Callable[[list[dict[str, str]], Path, Path], str]] = [
        try_package,
        try_kernels,
        try_dedup,
        try_explore,
        try_index,
    ]
    with tempfile.TemporaryDirectory() as made:
        for trial in trials:
            print(f"{trial.__name__}: {trial(documents, sample, Path(made))}", flush=True)
    return 0


def require(holds: bool, what: str) -> None:
    """End with a sentence unless it holds; `assert` would be silent under -O."""
    if not holds:
        raise SystemExit(f"not so: {what}")


def command(*words: str | Path) -> Sequence[str]:
    """A command line of the installed package."""
    return [sys.executable, "-m", "neardup", *map(str, words)]


def try_package(documents: list[dict[str, str]], sample: Path, folder: Path) -> str:
    """The package is the one of this environment, and tells its version."""
    place = Path(str(nd.__file__)).resolve()
    require(
        place.is_relative_to(Path(sys.prefix).resolve()), f"{place} belongs to {sys.executable}"
    )
    said = subprocess.run(
        command("--version"), check=True, capture_output=True, text=True, cwd=folder
    ).stdout
    require(version("neardup") in said, f"--version says {version('neardup')}, but {said!r}")
    native = Path(str(kernels._native.__file__))
    return f"{said.strip()}, {native.name} of {native.stat().st_size:,} bytes"


def try_kernels(documents: list[dict[str, str]], sample: Path, folder: Path) -> str:
    """Every instruction set gives the bits of the slow twin in Python."""
    texts = [document["text"] for document in documents][::5]
    for recipe in RECIPES:
        expected = [twin.fingerprint(text, **recipe) for text in texts]  # type: ignore[arg-type]
        for isa in kernels.available_isas():
            rows, _ = kernels.fingerprint(
                pa.array(texts, pa.large_string()),
                **recipe,  # type: ignore[arg-type]
                isa=isa,
                threads=2,
            )
            require(rows.tolist() == expected, f"{isa} and the twin agree on {recipe}")
    return f"{', '.join(kernels.available_isas())} equal the twin"


def try_dedup(documents: list[dict[str, str]], sample: Path, folder: Path) -> str:
    """Every document is kept, or removed for a kept one; one thread gives the same as two."""
    kept: list[list[str]] = []
    for threads in ("1", "2"):
        out = folder / f"out-{threads}"
        subprocess.run(
            command("dedup", sample, "-o", out, "--threads", threads),
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            timeout=SECONDS,
        )
        kept.append(pq.read_table(out / "kept.parquet").column("id").to_pylist())
        removed = pq.read_table(out / "removed.parquet")
        require(len(kept[-1]) + len(removed) == len(documents), "every document is in the output")
        require(len(removed) > 0, "the sample has duplicates")
        require(
            set(removed.column("duplicate_of").to_pylist()) <= set(kept[-1]),
            "every removed document names a kept one",
        )
        page = (out / "report.html").read_text(encoding="utf-8")
        require("<html" in page and "</html>" in page, "report.html is a page")
    require(kept[0] == kept[1], "the threads do not change the result")
    return f"{len(kept[0])} of {len(documents)} documents kept"


def try_explore(documents: list[dict[str, str]], sample: Path, folder: Path) -> str:
    """The explorer opens the output and serves its first page."""
    with subprocess.Popen(
        command("explore", folder / "out-2", "--no-browser", "--port", "0"),
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as server:
        assert server.stderr is not None
        said, address = "", None
        while address is None:
            line = server.stderr.readline()
            require(line != "", f"neardup explore starts; it said: {said}")
            said += line
            address = re.search(r"http://\S+", said)
        try:
            with urllib.request.urlopen(address[0], timeout=SECONDS) as answer:
                page = answer.read().decode()
        finally:
            server.terminate()
    require("</html>" in page and str(len(documents)) in page, "the overview is a page of the run")
    return f"a page of {len(page):,} characters"


def try_index(documents: list[dict[str, str]], sample: Path, folder: Path) -> str:
    """An index remembers what was added after it is opened again."""
    long = [document for document in documents if len(document["text"]) > 100][:50]
    with nd.Index(folder / "index") as index:
        for document in long:
            index.add(document["id"], document["text"])
    with nd.Index(folder / "index") as index:
        require(len(index) == len(long), "the index has all documents after reopening")
        for document in long:
            found = {match.id for match in index.query(document["text"]) if match.similarity == 1.0}
            require(document["id"] in found, f"the index finds {document['id']}")
    return f"{len(long)} documents stored and found"


if __name__ == "__main__":
    sys.exit(main())

"""Write the numbers in README.md, between two marks, from benchmarks/results.

    python -m scripts.readme_numbers [--check]

With --check nothing is written; the exit code tells whether the numbers are those of the results.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import dedup_contests, fingerprint, index, similar_index_tools as similar
from benchmarks.result import Json, Result
from benchmarks.similar_index_runs import MILLION

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- numbers: written by make docs -->", "<!-- end of the numbers -->"
TOOLS = ("neardup", "rensa", "gaoya", "datasketch", "simhash-pybind", "simhash")
_US = "p50_microseconds"

Load = Callable[[str], Result]


def numbers(load: Load = Result.load) -> str:
    """The section, from the results that `load` reads."""
    return "\n".join([*_table(load), "", *_sentences(load)])


def _table(load: Load) -> Iterator[str]:
    contests = (dedup_contests.USUAL.name, dedup_contests.MILLION.name)
    yield f"| | fingerprints, MB/s | {' | '.join(f'dedup of {name}' for name in contests)} |"
    yield "|---|---:|---:|---:|"
    for tool in TOOLS:
        name = f"**{tool}**" if tool == TOOLS[0] else tool
        speed = load("fingerprint").find(corpus="English", task=fingerprint.WORDS, name=tool)
        cells = ["" if speed is None else f"{speed['megabytes_per_second']:.0f}"]
        for task in contests:
            run = load("dedup").find(task=task, tool=tool)
            cells.append("" if run is None else f"{run['cpu_seconds']:.1f} ({run['recall']:.3f})")
        bold = [f"**{cell}**" if tool == TOOLS[0] and cell else cell for cell in cells]
        yield f"| {' | '.join([name, *bold])} |"


def _sentences(load: Load) -> Iterator[str]:
    dedup = load("dedup")
    large = dedup.row(task=dedup_contests.LARGE_FILE.name, tool="neardup")
    pages = dedup.row(task=dedup_contests.RUSTDOC[0].name, tool="neardup")
    yield (
        f"- **Large files**: {large['documents']:,} documents in a file of "
        f"{large['file_bytes'] / 1e9:.1f} GB take {large['cpu_seconds']:.0f} CPU seconds, with a "
        f"peak memory of {large['peak_megabytes'] / 1e3:.1f} GB."
    )
    yield (
        f"- **Families**: {pages['documents']:,} pages made from a few templates take "
        f"{pages['cpu_seconds']:.1f} CPU seconds, because only kept documents are searched."
    )
    yield _fingerprint_index(load("index"))
    yield _similarity_index(load("similar_index"))


def _fingerprint_index(result: Result) -> str:
    asked: dict[str, float] = {
        tool: _found(result, tool)[_US]
        for tool in (index.MEMORY, index.DURABLE, index.GAOYA, index.FAISS)
    }
    return (
        f"- **An index of {index.LARGEST:,} fingerprints** (k = 3) answers in "
        f"{asked[index.MEMORY]:.1f} µs in memory and {asked[index.DURABLE]:.0f} µs from a folder; "
        f"gaoya takes {asked[index.GAOYA]:.0f} µs, faiss {asked[index.FAISS]:.0f} µs."
    )


def _found(result: Result, tool: str) -> Json:
    row = index.find(result, index.Run(tool, index.LARGEST))
    if row is None:
        raise SystemExit(f"the result of the index has no {tool}: run python -m benchmarks.index")
    return row


def _similarity_index(result: Result) -> str:
    def asked(tool: str) -> Json:
        rows = (row for row in result.rows if row["part"] == "speed" and row["tool"] == tool)
        return next(row for row in rows if row["n"] == MILLION)

    memory, folder = asked(similar.MEMORY), asked(similar.FOLDER)
    return (
        f"- **An index by similarity** of {MILLION:,} pages of 300 words answers in "
        f"{memory['new_p50_microseconds']:.0f} µs for a new page and "
        f"{memory['edited_p50_microseconds']:.0f} µs for an edited one "
        f"({folder['new_p50_microseconds']:.0f} and {folder['edited_p50_microseconds']:.0f} µs "
        "from a folder), with tokenizing and verification."
    )


def written(text: str, section: str) -> str:
    """The text of README with this section between the marks."""
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"{README} needs the marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{section}\n{END}{after}"


def main() -> None:
    """Write the numbers, or check them."""
    text = README.read_text(encoding="utf-8")
    wanted = written(text, numbers())
    if "--check" in sys.argv[1:]:
        sys.exit(text != wanted)
    README.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()

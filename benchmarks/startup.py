"""How long a user waits before anything happens, beside a Python that does nothing.

Each row has the milliseconds that it adds to `python -c pass` (whose own row has all of its), the
ratio of the two wall times, and the CPU seconds of the process, user and system.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks import child, measure
from benchmarks.result import Result, package_versions

BENCHMARK = "startup"
BARE = "python -c pass"
IMPORT = "import neardup"
VERSION = "neardup --version"
HELP = "neardup --help"
COMMAND_HELP = "neardup dedup --help"
SMALL = "neardup dedup twenty.jsonl -o OUT"
RUN = "neardup dedup examples/sample.jsonl -o OUT"
SAMPLE = Path(__file__).parents[1] / "examples" / "sample.jsonl"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    chosen = measure.options(BENCHMARK, __doc__, rounds=20).parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        twenty = Path(folder) / "twenty.jsonl"
        twenty.write_text("".join(_twenty()), encoding="utf-8")
        output = [*("-o", f"{folder}/out"), *("--overwrite", "--quiet")]
        program = child.neardup_command()
        commands = {
            BARE: [sys.executable, "-c", "pass"],
            IMPORT: [sys.executable, "-c", IMPORT],
            VERSION: [program, "--version"],
            HELP: [program, "--help"],
            COMMAND_HELP: [program, "dedup", "--help"],
            SMALL: [program, "dedup", str(twenty), *output],
            RUN: [program, "dedup", str(SAMPLE), *output],
        }
        spent: dict[str, list[float]] = {name: [] for name in commands}
        runs = [partial(_run, command, spent[name]) for name, command in commands.items()]
        walls = [timing.wall for timing in measure.interleaved(runs, chosen.rounds)]
    rows = [
        {
            "name": name,
            "milliseconds": round((wall if name == BARE else wall - walls[0]) * 1e3, 1),
            "ratio": round(wall / walls[0], 2),
            "cpu_seconds": round(min(spent[name]), 3),
        }
        for name, wall in zip(commands, walls, strict=True)
    ]
    versions = package_versions(["neardup", "click"])
    conditions = {"rounds": chosen.rounds}
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


def _twenty() -> Iterator[str]:
    """Ten documents, each followed by a near-duplicate of it."""
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    texts = sorted((json.loads(line)["text"] for line in lines), key=len)
    for number, text in enumerate(texts[-10:]):
        for copy, more in enumerate(("", " and more")):
            yield json.dumps({"id": 2 * number + copy, "text": text + more}) + "\n"


def _run(command: Sequence[str], spent: list[float]) -> None:
    """Run a command, and add the CPU seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


if __name__ == "__main__":
    main()

"""How long a user waits before anything happens, beside a Python that does nothing.

Each row has the milliseconds that it adds to `python -c pass` (whose own row has all of its), and
the ratio of the two wall times.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
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
RUN = "neardup dedup examples/sample.jsonl -o OUT"
SAMPLE = Path(__file__).parents[1] / "examples" / "sample.jsonl"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    chosen = measure.options(BENCHMARK, __doc__, rounds=20).parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        output = [*("-o", f"{folder}/out"), *("--overwrite", "--quiet")]
        program = child.neardup_command()
        commands = {
            BARE: [sys.executable, "-c", "pass"],
            IMPORT: [sys.executable, "-c", IMPORT],
            VERSION: [program, "--version"],
            HELP: [program, "--help"],
            COMMAND_HELP: [program, "dedup", "--help"],
            RUN: [program, "dedup", str(SAMPLE), *output],
        }
        runs = [
            partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)
            for command in commands.values()
        ]
        walls = [timing.wall for timing in measure.interleaved(runs, chosen.rounds)]
    rows = [
        {
            "name": name,
            "milliseconds": round((wall if name == BARE else wall - walls[0]) * 1e3, 1),
            "ratio": round(wall / walls[0], 2),
        }
        for name, wall in zip(commands, walls, strict=True)
    ]
    versions = package_versions(["neardup", "click"])
    conditions = {"rounds": chosen.rounds}
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


if __name__ == "__main__":
    main()

"""How long a user waits before anything happens: `import neardup` and `neardup --help`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import partial

from benchmarks import child, measure
from benchmarks.result import Result, package_versions

BENCHMARK = "startup"
IMPORT = "import neardup"
HELP = "neardup --help"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    chosen = measure.options(BENCHMARK, __doc__, rounds=10).parse_args(arguments)
    commands = (
        [sys.executable, "-c", "pass"],
        [sys.executable, "-c", IMPORT],
        [child.neardup_command(), "--help"],
    )
    runs = [
        partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)
        for command in commands
    ]
    bare, imported, helped = measure.interleaved(runs, chosen.rounds)
    rows = [
        {"name": "python -c pass", "milliseconds": round(bare.wall * 1e3, 1)},
        {"name": IMPORT, "milliseconds": round((imported.wall - bare.wall) * 1e3, 1)},
        {"name": HELP, "milliseconds": round(helped.wall * 1e3, 1)},
    ]
    versions = package_versions(["neardup"])
    conditions = {"rounds": chosen.rounds}
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


if __name__ == "__main__":
    main()

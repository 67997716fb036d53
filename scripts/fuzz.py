"""Run the fuzzers that `make fuzz` built, one after the other, and add up their figures.

    python scripts/fuzz.py --seconds 900

The figures of all runs are stored in benchmarks/results/fuzz.json, for
docs/how-it-works/reliability.md. An input that ends a fuzzer stays in build/fuzz; its name is
printed.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "build" / "fuzz"
CORPUS = ROOT / "tests" / "fuzz_corpus"
RESULTS = ROOT / "benchmarks" / "results" / "fuzz.json"


def main() -> int:
    """Run every fuzzer that has a corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=900, help="of each (default 900)")
    seconds = parser.parse_args().seconds
    figures: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    failed = 0
    for topic in sorted(path.name for path in CORPUS.iterdir()):
        code, said, cpu = run(topic, seconds)
        sys.stdout.write(said[-400:] + "\n")
        failed += code != 0
        add(figures.setdefault(topic, {}), code, said, cpu)
        RESULTS.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 1 if failed else 0


def run(topic: str, seconds: int) -> tuple[int, str, float]:
    """One fuzzer: its exit code, what it said, the seconds of processor time it took."""
    found = BUILT / "corpus" / topic
    found.mkdir(parents=True, exist_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(
        [
            *(BUILT / f"fuzz_{topic}", found, CORPUS / topic, "-max_len=4096", "-timeout=60"),
            *(f"-max_total_time={seconds}", "-print_final_stats=1", "-report_slow_units=60"),
            f"-artifact_prefix={BUILT}/crash-{topic}-",
        ],
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ran.returncode, ran.stderr, cpu


def add(figures: dict[str, Any], code: int, said: str, cpu: float) -> None:
    """Add one run to the figures of its topic."""
    executed = re.findall(r"number_of_executed_units: (\d+)", said)
    edges = [int(number) for number in re.findall(r" cov: (\d+) ", said)]
    figures["executions"] = figures.get("executions", 0) + int(executed[-1] if executed else 0)
    figures["cpu_seconds"] = round(figures.get("cpu_seconds", 0) + cpu)
    figures["edges"] = max([figures.get("edges", 0), *edges])
    figures["findings"] = figures.get("findings", 0) + (code != 0)


if __name__ == "__main__":
    sys.exit(main())

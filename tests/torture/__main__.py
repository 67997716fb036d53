"""Run campaigns, print a line for each and a table at the end; exit with 1 on a finding.

python -m tests.torture [--campaign NAME]... [--rounds N | --minutes M] [--seed S] [--json FILE]
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

# The share of the time for each long campaign.
CAMPAIGNS = {
    "kills": 2,
    "signals": 2,
    "inputs": 3,
    "options": 3,
    "adversarial": 3,
    "full_disk": 1,
    "damage": 1,
    "index_kills": 1,
}
# Rounds per call, where the start takes longer than a round.
STEPS = {"damage": 500, "index_kills": 40}
LARGEST = "largest "  # counts with this prefix are not added up


@dataclass
class Report:
    """The counts and the findings of a campaign."""

    name: str
    seed: int
    rounds: int = 0
    seconds: float = 0.0
    counted: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def add(self, counted: dict[str, int]) -> None:
        for name, number in counted.items():
            if name == "rounds":
                continue
            if name.startswith(LARGEST):
                self.counted[name] = max(self.counted[name], number)
            else:
                self.counted[name] += number

    def __str__(self) -> str:
        counts = ", ".join(f"{number:,} {name}" for name, number in self.counted.items())
        return (
            f"{self.name}: {self.rounds:,} rounds, {counts}; {len(self.findings)} findings, "
            f"{self.seconds:.0f} s"
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--campaign", action="append", choices=list(CAMPAIGNS))
    parser.add_argument("--rounds", type=int, help="of each campaign")
    parser.add_argument("--minutes", type=float, default=45, help="in all (default 45)")
    parser.add_argument("--seed", type=int, default=None, help="default: the clock")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    options = parser.parse_args()
    seed = int(time.time()) if options.seed is None else options.seed
    wanted = options.campaign or [name for name in CAMPAIGNS if there(name)]
    shares = sum(CAMPAIGNS[name] for name in wanted)
    reports = []
    for name in wanted:
        seconds = 60 * options.minutes * CAMPAIGNS[name] / shares
        report = campaign(name, options.rounds, seconds, seed)
        print(report, flush=True)
        reports.append(report)
    table(reports)
    if options.json:
        write(options.json, reports)
    return 1 if any(report.findings for report in reports) else 0


def there(name: str) -> bool:
    return Path(__file__).with_name(f"{name}.py").exists()


def campaign(name: str, rounds: int | None, seconds: float, seed: int) -> Report:
    """Run a campaign for a number of rounds or seconds; a finding does not stop it."""
    module = importlib.import_module(f"tests.torture.{name}")
    report = Report(name, seed)
    begun = time.monotonic()
    while report.rounds < rounds if rounds is not None else time.monotonic() - begun < seconds:
        step = STEPS.get(name, 1)
        step = step if rounds is None else min(step, rounds - report.rounds)
        try:
            report.add(module.run(step, seed + report.rounds))
        except AssertionError as error:
            report.findings.append(str(error))
            print(f"FINDING in {name}: {error}\n", file=sys.stderr, flush=True)
        report.rounds += step
    report.seconds = time.monotonic() - begun
    return report


def table(reports: list[Report]) -> None:
    print(f"\n{'campaign':<12} {'rounds':>7} {'findings':>9} {'seconds':>8}")
    for report in reports:
        found, seconds = len(report.findings), report.seconds
        print(f"{report.name:<12} {report.rounds:>7,} {found:>9,} {seconds:>8,.0f}")


def write(path: Path, reports: list[Report]) -> None:
    figures = {
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "campaigns": [{**vars(report), "counted": dict(report.counted)} for report in reports],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

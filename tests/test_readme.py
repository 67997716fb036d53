"""README: its numbers are those of the results, and its example prints what it shows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.result import Result
from scripts import readme_numbers

ROOT = Path(__file__).parents[1]
README = readme_numbers.README.read_text(encoding="utf-8")


def test_the_numbers_are_those_of_the_results():
    assert readme_numbers.written(README, readme_numbers.numbers()) == README


def test_other_results_are_other_numbers():
    def slower(name: str) -> Result:
        result = Result.load(name)
        rows = re.sub(r'": (\d+\.\d)', r'": 9\1', json.dumps(result.rows))
        return replace(result, rows=json.loads(rows))

    ours, others = (
        set(re.findall(r"\d[\d,.]*", text))
        for text in (readme_numbers.numbers(), readme_numbers.numbers(slower))
    )
    assert len(ours - others) > 15


def test_the_example_prints_what_is_shown(tmp_path):
    (tmp_path / "examples").mkdir()
    name = "examples/sample.jsonl"
    (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    command = re.search(r"^\$ neardup (dedup .*)\n((?:.+\n)+)", README, re.M)
    done = subprocess.run(
        [sys.executable, "-m", "neardup", *command[1].split()],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    shown = [line for line in command[2].splitlines() if line != "…"]
    assert len(shown) == 3
    assert [line for line in done.stdout.splitlines() if line in shown] == shown


def test_the_rule_of_the_first_lines():
    """Demo and tests stand above everything else that can be run."""
    code = [line.split()[:2] for line in README.splitlines() if line.startswith(("    ", "$ "))]
    assert code[:2] == [["make", "demo"], ["make", "test"]]

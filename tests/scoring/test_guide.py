"""The examples of the guide on records do what it says."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import neardup as nd

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "records.md"
TEXT = GUIDE.read_text("utf-8")


def test_the_commands_print_what_the_guide_shows(tmp_path):
    (people,) = re.findall(r"^```csv\n(.*?)^```", TEXT, re.M | re.S)
    (tmp_path / "people.csv").write_text(people, "utf-8")
    blocks = re.findall(r"^```text\n\$ neardup (.*?)\n(.*?)^```", TEXT, re.M | re.S)
    assert len(blocks) == 2
    for command, shown in blocks:
        done = subprocess.run(
            [sys.executable, "-m", "neardup", *shlex.split(command)],
            cwd=tmp_path,
            text=True,
            capture_output=True,
            check=True,
        )
        printed = [line.rstrip() for line in done.stdout.splitlines()]
        assert [line for line in shown.splitlines() if line not in (*printed, "…")] == []


def test_the_python_example_runs():
    failed, tried = doctest.testfile(str(GUIDE), module_relative=False, globs={"nd": nd})
    assert tried >= 5
    assert failed == 0

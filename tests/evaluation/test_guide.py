"""The example of docs/guides/evaluate.md prints what the page shows."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from neardup.cli.app import main

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "evaluate.md"


def test_the_example_prints_what_the_guide_shows(tmp_path, monkeypatch, capsys):
    page = GUIDE.read_text(encoding="utf-8")
    people, pairs = re.findall(r"^```csv\n(.*?)^```", page, re.M | re.S)
    (shown,) = re.findall(r"^```text\n(.*?)^```", page, re.M | re.S)
    commands = re.findall(r"^```sh\n(.*?)^```", page, re.M | re.S)[1].splitlines()
    (tmp_path / "people.csv").write_text(people, encoding="utf-8")
    (tmp_path / "pairs.csv").write_text(pairs, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for command in commands:
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed == shown.splitlines()

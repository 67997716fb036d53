"""The table of fields in the guide on results is what the command prints."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from neardup.cli.app import main

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "results.md"
A = {"name": "Anna Berg", "street": "12 Station Rd", "city": "Leeds"}
B = {"name": "Ana Berg", "street": "12 Station Road", "city": None}


def test_the_command_prints_what_the_guide_shows(tmp_path, monkeypatch, capsys):
    blocks = re.findall(
        r"^```text\n\$ (neardup .*?)\n(.*?)^```", GUIDE.read_text("utf-8"), re.M | re.S
    )
    ((command, shown),) = (block for block in blocks if "--fields" in block[0])
    for name, record in (("a.json", A), ("b.json", B)):
        (tmp_path / name).write_text(json.dumps(record), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    with pytest.raises(SystemExit):
        main()
    printed = "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines())
    assert printed == shown.rstrip("\n")

"""The example of docs/guides/contamination.md prints what the page shows."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from neardup.cli.app import main

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "contamination.md"


def test_the_example_prints_what_the_guide_shows(tmp_path, monkeypatch, capsys):
    page = GUIDE.read_text(encoding="utf-8")
    pages, items = re.findall(r"^```json\n(.*?)^```", page, re.M | re.S)
    (shown,) = re.findall(r"^```text\n(.*?)^```", page, re.M | re.S)
    command = re.findall(r"^```sh\n(.*?)^```", page, re.M | re.S)[1]
    (tmp_path / "pages.jsonl").write_text(pages, encoding="utf-8")
    (tmp_path / "test.jsonl").write_text(items, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    printed, expected = (
        [line.rstrip() for line in text.splitlines() if "peak memory" not in line]
        for text in (capsys.readouterr().out, shown)
    )
    assert printed == expected

"""Without matplotlib only the plots are missing, and a sentence says what to install."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"
INSTALL = "pip install 'neardup[plots]'"
WITHOUT = """
import sys

class NoMatplotlib:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoMatplotlib)
sys.argv = ["neardup", *sys.argv[1:]]
from neardup.cli.entry import main
main()
"""


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("curve", "--plan", "bands:4x16", "-o", "curve.png"),
        ("sphere", "--dim", "3", "--count", "6", "--plot", "charges.svg"),
    ],
)
def test_a_command_that_was_asked_for_a_plot_refuses_at_once(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("neardup: a plot needs matplotlib")
    assert done.stderr.endswith(f"{INSTALL}\n")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_writes_its_table(tmp_path):
    grid = ("--bands", "2,3", "--band-bits", "8,12", "--exact")
    done = run("sweep", SAMPLE, *grid, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["sweep.csv", "sweep.json"]
    assert len(json.loads((tmp_path / "out" / "sweep.json").read_text())["rows"]) == 4
    (warning,) = [line for line in done.stderr.splitlines() if line.startswith("neardup: ")]
    assert "no plots" in warning
    assert INSTALL in warning
    assert done.stdout.splitlines()[-1] == f"table → {tmp_path / 'out'}"


def test_dedup_with_levels_leaves_out_one_picture(tmp_path):
    done = run("dedup", SAMPLE, "-o", tmp_path / "out", "--preset", "sphere", "--quiet")
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"kept.parquet", "report.html", "duplicates-5.txt"} <= names
    assert "cluster-sizes.png" not in names
    assert "cluster-sizes.png is left out" in done.stderr
    assert INSTALL in done.stderr


def test_the_page_of_a_dedup_needs_no_matplotlib(tmp_path):
    done = run("dedup", SAMPLE, "-o", tmp_path / "out", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert "<svg" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")

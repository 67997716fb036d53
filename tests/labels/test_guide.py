"""The commands of the guide on labels do what it says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.labels.samples import written

from neardup.labels import read_labels

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "labels.md"
BLOCKS = re.findall(r"^```text\n(.*?)^```", GUIDE.read_text("utf-8"), re.M | re.S)
PEOPLE = {
    "p1": "name: Anna Berg\ncity: Bern",
    "p2": "name: Anna Bergh\ncity: Bern",
    "p3": "name: Otto Kern\ncity: Chur",
}
PAIRS = [("p1", "p2"), ("p2", "p3")]


@pytest.fixture
def ran(tmp_path, monkeypatch):
    monkeypatch.setenv("NEARDUP_CACHE", str(tmp_path / "cache"))

    def run(command, keys=""):
        words = command.removeprefix("$ neardup ").split()
        done = subprocess.run(
            [sys.executable, "-m", "neardup", *words],
            cwd=tmp_path,
            input=keys,
            text=True,
            capture_output=True,
            check=True,
        )
        return done.stdout

    return run


def shown(block):
    """The lines that a command prints: without itself and without prompts, which need keys."""
    return [line for line in block.splitlines() if not line.startswith(("$", "s same,"))]


def pairs(path):
    written(path, pairs=PAIRS, texts=PEOPLE, similarity=[0.6, 0.1])
    content = path.read_text("utf-8").replace("word:1 tfidf stratum 0", "word:1 tfidf 0.6–0.7")
    path.write_text(content, "utf-8")


def test_the_short_way(tmp_path, ran):
    pairs(tmp_path / "pairs.csv")
    printed = ran(BLOCKS[0].splitlines()[0], "s\nd\n").splitlines()
    assert shown(BLOCKS[0])
    without_ends = [line.rstrip() for line in printed]
    assert [line for line in shown(BLOCKS[0]) if line not in without_ends] == []
    assert printed[-2:] == shown(BLOCKS[1])
    assert sorted(read_labels(tmp_path / "pairs.csv").same.tolist()) == [False, True]


def test_several_reviewers(tmp_path, ran):
    for name, keys in (("pairs", "s\nd\n"), ("bob", "s\ns\n")):
        pairs(tmp_path / f"{name}.csv")
        ran(f"$ neardup review {name}.csv --by {name}", keys)
    for command in BLOCKS[2].splitlines():
        ran(command)
    labels = read_labels(tmp_path / "pairs.csv")
    assert (labels.a.to_pylist(), labels.b.to_pylist()) == (["p1"], ["p2"])
    assert labels.notes == ("1 pair left out: reviewers disagree",)


def test_labels_of_one_s_own(tmp_path, ran, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = re.search(r"^```python\n(people.*?)^```", GUIDE.read_text("utf-8"), re.M | re.S)
    exec(code[1], {})
    ran("$ neardup review own.csv --by ann", "s\nd\n")
    assert sorted(read_labels("own.csv").same.tolist()) == [False, True]

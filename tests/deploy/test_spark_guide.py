"""The commands of docs/guides/spark.md are ones that neardup knows, and its Python example runs."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.hostile_usage import commands as all_commands

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "spark.md"
_COMMAND = re.compile(r"^(?:    |\$ )((?:[A-Z_]+=\S+ )?neardup .*)$", re.M)
_ENTRY = re.compile(r"job\.py (dedup .*)$", re.M)
# Java that compiles less: it works for a few seconds only.
_QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_EXAMPLE = """
import doctest, sys
failed, tried = doctest.testfile(
    sys.argv[1], module_relative=False, optionflags=doctest.ELLIPSIS
)
sys.exit(failed or tried < 10)
"""


def commands() -> list[list[str]]:
    """The arguments of every call on the page and in README."""
    found = []
    for page in (GUIDE, ROOT / "README.md"):
        text = page.read_text(encoding="utf-8")
        for line in _COMMAND.findall(text) + _ENTRY.findall(text):
            words = shlex.split(line.partition("   #")[0], comments=False)
            while "=" in words[0] or words[0] == "neardup":
                words.pop(0)
            if "--engine" in words:
                found.append(words)
    return found


def test_there_are_commands():
    assert len(commands()) >= 8


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_a_command_parses(words):
    command = all_commands()[words[0]]
    with command.make_context("neardup", words[1:]) as context:
        assert context.params["engine"] == "spark"
        for setting in context.params["conf"]:
            assert re.fullmatch(r"spark\.[\w.-]+=.+", setting)


def test_a_wrong_option_is_noticed():
    command = all_commands()["dedup"]
    with pytest.raises(Exception, match="--masters"):
        command.make_context("neardup", ["x", "-o", "out", "--masters", "yarn"])


def test_the_place_for_figures_is_marked():
    text = GUIDE.read_text(encoding="utf-8")
    assert text.count("<!-- figures -->") == text.count("<!-- end of the figures -->") == 1


def test_the_python_example_is_one_that_doctest_sees():
    examples = doctest.DocTestParser().get_examples(GUIDE.read_text(encoding="utf-8"))
    assert any("neardup.spark.dedup" in example.source for example in examples)


def test_the_python_example_runs(tmp_path):
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java")
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "sample.jsonl", tmp_path / "examples")
    # A process of its own, because a process can start Java once only.
    done = subprocess.run(
        [sys.executable, "-c", _EXAMPLE, str(GUIDE)],
        cwd=tmp_path,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": _QUICK_JAVA},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]

"""scripts/spark_archive.py packs what executors need, and says how to use it.

The installation itself needs a network and minutes; here a small environment is packed instead.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.cli.hostile_usage import commands as all_commands

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    path = ROOT / "scripts" / "spark_archive.py"
    about = importlib.util.spec_from_file_location("spark_archive", path)
    module = importlib.util.module_from_spec(about)
    about.loader.exec_module(module)
    return module


def test_pyspark_is_not_packed_but_what_it_needs_is(script):
    assert [re.match(r"\w+", one)[0] for one in script.requirements()] == ["pandas"]


def test_the_printed_options_parse(script):
    (line,) = re.findall(r"neardup dedup .*", script.usage(Path("x.tar.gz")).replace("\\\n", ""))
    words = shlex.split(line.replace("…", "in.jsonl -o out"), comments=False)
    with all_commands()["dedup"].make_context("neardup", words[2:]) as context:
        assert context.params["conf"] == (
            "spark.archives=x.tar.gz#environment",
            "spark.pyspark.python=./environment/bin/python",
        )


def test_another_suffix_is_refused(script, capsys):
    with pytest.raises(SystemExit):
        script.main(["-o", "environment.rar"])
    assert "end it with .tar.gz" in capsys.readouterr().err


def test_a_missing_packer_is_named(script, tmp_path, monkeypatch):
    monkeypatch.setattr(script.shutil, "which", lambda *_, **__: None)
    with pytest.raises(SystemExit, match="make spark-archive"):
        script.pack(tmp_path, tmp_path / "x.tar.gz", None)


def test_a_packed_environment_works_in_another_folder(script, tmp_path):
    if shutil.which("venv-pack", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("venv-pack is not installed; `make spark-archive` does it")
    made = tmp_path / "made"
    venv = [sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(made)]
    subprocess.run(venv, check=True)
    (packages,) = made.glob("lib/python*/site-packages")
    (packages / "packed.py").write_text("where = __file__\n")
    archive = tmp_path / "packed.tar.gz"
    script.pack(made, archive, None)
    shutil.rmtree(made)
    unpacked = tmp_path / "environment"
    unpacked.mkdir()
    subprocess.run(["tar", "-xzf", str(archive), "-C", str(unpacked)], check=True)
    said = subprocess.run(
        [str(unpacked / "bin" / "python"), "-c", "import packed; print(packed.where)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.startswith(str(unpacked))

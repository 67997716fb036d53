"""Commands import only what they use. Times are in benchmarks/startup.py."""

import subprocess
import sys
from pathlib import Path

import pytest

import neardup

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"
MODULES = """
import atexit, sys
sys.argv = ["neardup", *sys.argv[1:]]
from neardup.cli.entry import main
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
main()
"""
# Packages that a user may have installed or other commands use; a plain dedup needs none.
UNUSED = {
    *("matplotlib", "pandas", "polars", "lmdb", "jieba", "rich", "pygments", "fsspec", "typer"),
    *("pydantic", "hypothesis", "networkx", "duckdb", "jinja2", "markupsafe"),
}
# Each takes longer to import than the documents of a small run take.
UNUSED_MODULES = {
    *("pyarrow.compute", "pyarrow.dataset", "numpy.ma", "tomllib", "html", "logging", "csv"),
    *("hashlib", "concurrent.futures", "asyncio", "multiprocessing"),
    *("neardup.pairs.by_fingerprints", "neardup.features.given", "neardup.features.terms"),
    *("neardup.hashes.strings", "neardup.hashes.integers", "neardup.presets"),
}


def imported(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", MODULES, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def modules_of_pyarrow():
    """It imports cloudpickle if that is installed, which imports logging."""
    show = "import sys, pyarrow; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def packages(modules):
    """The imported packages outside the standard library."""
    return {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)


def foreign(modules):
    return {name for name in packages(modules) if not name.startswith("_")}


@pytest.mark.parametrize("arguments", [["--help"], ["dedup", "--help"]])
def test_help_imports_click_alone(arguments):
    assert foreign(imported(*arguments)) == {"click", "neardup"}


def test_the_version_imports_next_to_nothing():
    found = imported("--version")
    assert {name for name in found if name.startswith("neardup")} == {
        *("neardup", "neardup.cli", "neardup.cli.entry", "neardup.cli.stopping"),
        *("neardup.cli.streams", "neardup.errors"),
        *("neardup.system", "neardup.system.signals", "neardup.system.streams"),
    }
    assert foreign(found) == {"neardup"}
    assert found & {"typing", "inspect", "dataclasses", "pathlib", "re", "tempfile"} == set()


def test_the_version_is_what_click_prints():
    def printed(start):
        command = [sys.executable, "-c", f"{start} import main; main()", "--version"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert printed("from neardup.cli.entry") == printed("from neardup.cli.app")
    assert printed("from neardup.cli.entry") == f"neardup {neardup.__version__}\n"


def test_only_the_command_that_is_called_is_imported():
    commands = "neardup.cli.commands."
    found = {name for name in imported("tune", "--help") if name.startswith(commands)}
    assert found == {f"{commands}tune"}
    assert not {name for name in imported("--version") if name.startswith(commands)}


def test_dedup_imports_nothing_that_it_does_not_use(tmp_path):
    found = imported("dedup", SAMPLE, "-o", tmp_path / "out", "--quiet")
    assert (tmp_path / "out" / "kept.parquet").exists()
    assert "pyarrow" in found
    assert packages(found) & UNUSED == set()
    assert found & UNUSED_MODULES - modules_of_pyarrow() == set()
    parts = {name.split(".")[1] for name in found if name.startswith("neardup.")}
    assert parts & {"lab", "index", "sphere", "service", "explore"} == set()


def test_an_index_is_what_needs_lmdb(tmp_path):
    found = imported("dedup", SAMPLE, "-o", tmp_path / "out", "--index", tmp_path / "i", "-q")
    assert "lmdb" in packages(found)

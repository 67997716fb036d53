"""The process ends at once after a command, and nothing that Python does at exit is lost."""

import subprocess
import sys

import pytest

PROGRAM = """
import atexit, sys, threading, time, weakref
sys.argv = ["neardup", *sys.argv[1:]]
from neardup.cli.entry import main
{before}
main()
"""
UNREACHED = """
class Loud:
    def __del__(self):
        print("taken apart", flush=True)
loud = [Loud()]
"""
THREAD = """
def late():
    time.sleep(0.2)
    print("late", flush=True)
threading.Thread(target=late).start()
"""


def run(before, *arguments, **more):
    command = [sys.executable, "-c", PROGRAM.format(before=before), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def test_the_interpreter_is_not_taken_apart():
    done = run(UNREACHED, "presets")
    assert done.returncode == 0
    assert "taken apart" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code"), [(["presets"], 0), (["dedup"], 2), (["compare", "no", "no"], 1)]
)
def test_exit_hooks_run_and_codes_are_kept(arguments, code):
    done = run('atexit.register(lambda: print("hook"))', *arguments)
    assert done.returncode == code
    assert done.stdout.endswith("hook\n")


def test_finalizers_run():
    done = run('weakref.finalize(main, print, "finalized")', "--version")
    assert done.stdout.splitlines()[1:] == ["finalized"]


def test_a_thread_that_still_runs_is_waited_for():
    assert run(THREAD, "--version").stdout.splitlines()[1:] == ["late"]


def test_a_reader_that_has_gone_is_no_traceback():
    command = f"{sys.executable} -c 'from neardup.cli.entry import main; main()'"
    for arguments in ("--version", "presets", "--help"):
        done = subprocess.run(
            ["bash", "-c", f"({command} {arguments}; echo $? >&2) | true"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr in ("141\n", "0\n")  # it may have read all before it left


@pytest.mark.parametrize("arguments", ["--version", "presets"])
def test_a_full_device_is_a_sentence(arguments):
    command = f"{sys.executable} -c 'from neardup.cli.entry import main; main()' {arguments}"
    done = subprocess.run(
        f"{command} > /dev/full", shell=True, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("neardup: cannot write standard output")
    assert done.stderr.endswith(": No space left on device\n")


def test_the_version_without_standard_output_is_a_sentence():
    command = f"{sys.executable} -c 'from neardup.cli.entry import main; main()' --version"
    done = subprocess.run(f"{command} >&-", shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "standard output is closed" in done.stderr

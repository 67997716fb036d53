"""Shell completion: the scripts, and the completions they request."""

import os
import shutil
import subprocess
import sys

import pytest

from neardup.collection.settings import DedupSettings
from neardup.errors import SettingError
from neardup.pairs.choose import require_plan
from neardup.settings import SETTINGS

PROGRAM = [sys.executable, "-c", "from neardup.cli.app import main; main()"]


def completions(line, shell="bash"):
    """The completions for the last word of a line."""
    words = line.split(" ")
    asked = {
        "_NEARDUP_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1),
    }
    done = subprocess.run(
        PROGRAM, env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    if shell == "zsh":
        return done.stdout.splitlines()[1::3]
    told = filter(None, done.stdout.splitlines())
    return [line.partition(",")[2].partition("\t")[0] for line in told]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_and_options(shell):
    assert completions("neardup ded", shell) == ["dedup"]
    assert completions("neardup index q", shell) == ["query"]
    assert completions("neardup dedup --thr", shell) == ["--threshold", "--threads"]


@pytest.mark.parametrize(
    ("line", "proposed"),
    [
        ("neardup dedup --preset i", ["irrs"]),
        (
            "neardup sweep --preset ",
            ["caim", "irrs", "blog", "slides", "sphere", "google2007"],
        ),
        ("neardup reproduce s", ["slides", "sphere"]),
        (
            "neardup dedup --similarity ",
            [
                *("jaccard", "weighted-jaccard", "cosine", "containment", "inclusion"),
                *("hamming", "fields", "model"),
            ],
        ),
        ("neardup dedup --cluster s", ["star"]),
        ("neardup dedup --keep l", ["longest"]),
        ("neardup dedup --format j", ["jsonl"]),
        ("neardup curve --similarity c", ["cosine"]),
        ("neardup completion z", ["zsh"]),
        ("neardup nonsense x", []),
    ],
)
def test_names_and_choices(line, proposed):
    assert completions(line) == proposed


def test_files_are_left_to_the_shell():
    for line in ("neardup dedup corp", "neardup dedup -o corp", "neardup dedup --config corp"):
        assert completions(line) == ["corp"]


FITTING = {
    "given": {"features": "terms"},
    "hamming": {"threshold": 3},
    "fields": {"text": "name:exact + city"},
    "weighted-jaccard": {"weights": "count"},
}

STORED = {"dense": "dense:0.25"}


@pytest.mark.parametrize(
    ("name", "choice"), [(one.name, choice) for one in SETTINGS.values() for choice in one.choices]
)
def test_what_is_proposed_is_accepted(name, choice):
    if choice == "model":
        with pytest.raises(SettingError, match="needs a fitted model"):
            DedupSettings.of(similarity=choice)
        return
    settings = DedupSettings.of(**{name: choice}, **FITTING.get(choice, {}))
    require_plan(settings)
    assert settings.as_dict()[name] == STORED.get(choice, choice)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(shell, tmp_path):
    done = subprocess.run(
        [*PROGRAM, "completion", shell], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"_NEARDUP_COMPLETE={shell}_complete" in done.stdout
    if shutil.which(shell):
        (tmp_path / "script").write_text(done.stdout)
        subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)


def test_another_shell_is_refused():
    done = subprocess.run(
        [*PROGRAM, "completion", "tcsh"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "neardup: shell 'tcsh' is unknown; choose bash, zsh, fish\n"

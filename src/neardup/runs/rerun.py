"""The command that runs a deduplication again, so that it obeys the decisions."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from neardup.deduplication.repeat import chosen_settings
from neardup.settings import SETTINGS

if TYPE_CHECKING:
    from neardup.runs.run import Run

_OUTPUT = ("-o", "--output")
_DECISIONS = "--decisions"
_ASSIGNED = tuple(f"{name}=" for name in (*_OUTPUT, _DECISIONS))
_OVERWRITE = ("--overwrite",)


def rerun_command(run: Run) -> str:
    """The run's own command with its decisions and a new output.

    For pairs to label, it is the command that chooses settings by the labels. A run that no
    `neardup dedup` made is described by its settings: as a command if its inputs have names, else
    in Python.
    """
    if run.to_label is not None:
        return run.to_label.next_command
    decisions, output = str(run.path / run.decisions.path.name), f"{run.path}2"
    words = _words(run.summary.get("command"))
    inputs = [one["name"] for one in run.summary.get("inputs") or ()]
    if words[:2] != ["neardup", "dedup"]:
        chosen = chosen_settings(run.summary["settings"])
        if not inputs:
            given = "".join(f", {name}={value!r}" for name, value in chosen)
            return f"nd.dedup(documents{given}, decisions={decisions!r}).save({output!r})"
        options = [part for name, value in chosen for part in (SETTINGS[name].option, str(value))]
        against = [one["name"] for one in run.summary.get("against") or ()]
        words = ["neardup", "dedup", *inputs, *options]
        words += [part for name in against for part in ("--against", name)]
        words += ["--within"] if against and run.summary.get("within") else []
    kept = _without(words)
    end = kept.index("--") if "--" in kept else len(kept)  # behind it, everything is an input
    return shlex.join([*kept[:end], _DECISIONS, decisions, "-o", output, *kept[end:]])


def _words(command: str | None) -> list[str]:
    try:
        return shlex.split(command or "")
    except ValueError:  # a quote is open, so it is not a command line of ours
        return []


def _without(words: list[str]) -> list[str]:
    """The command without its output, and without earlier decisions."""
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in (*_OUTPUT, _DECISIONS):
            skip = True
        elif not word.startswith(_ASSIGNED) and word not in _OVERWRITE:
            kept.append(word)
    return kept

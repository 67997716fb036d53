"""The command that runs a deduplication again, so that it obeys the decisions."""

from __future__ import annotations

import shlex

from neardup.runs import Run

_OUTPUT = ("-o", "--output")
_DECISIONS = "--decisions"
_ASSIGNED = tuple(f"{name}=" for name in (*_OUTPUT, _DECISIONS))
_OVERWRITE = ("--overwrite",)


def rerun_command(run: Run) -> str:
    """The run's own command with its decisions and a new output; in Python, if that made it."""
    decisions = str(run.path / run.decisions.path.name)
    command = run.summary.get("command")
    if not command:
        return f"nd.dedup(..., decisions={decisions!r}).save({str(run.path) + '2'!r})"
    try:
        words = shlex.split(command)
    except ValueError:  # a quote is open, so it is not a command line of ours
        words = ["neardup", "dedup", "INPUT"]
    kept = _without(words)
    inputs = kept.index("--") if "--" in kept else len(kept)  # only inputs follow a `--`
    given = [_DECISIONS, decisions, "-o", f"{run.path}2"]
    return shlex.join([*kept[:inputs], *given, *kept[inputs:]])


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

"""`neardup decisions`: what people have decided about the documents of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import count, say, say_columns, say_json

if TYPE_CHECKING:
    from neardup.decisions import Current, Decision

_DISAGREEMENTS = 5


@click.command(cls=Command)
@options.path_argument(
    "file", "FILE", "File of decisions, or the folder of a run that has a decisions.jsonl."
)
@options.path(
    "--export", help="Write the decisions in force as a table of pairs: a .parquet or .csv file."
)
@options.path(
    "--import",
    "imported",
    help="Append the decisions of a .parquet or .csv file that are not in FILE yet, by their keys.",
)
@options.flag("--history", help="List everything that was decided, with what was undone.")
@options.as_json
def decisions(
    file: Path, export: Path | None, imported: Path | None, history: bool, json: bool
) -> None:
    """List what people have decided about documents; export and import it as a table.

    A line per decision: time, reviewer, what it says, ids, reason. Decisions that were undone, or
    replaced by a later one of the same reviewer, are left out. Of documents on which reviewers
    disagree, neither decision is obeyed. `neardup dedup --decisions` obeys the others.

    Example: neardup decisions out --export labels.csv
    """
    from neardup.decisions import DecisionFile
    from neardup.errors import InputError

    stored = DecisionFile.at(file)
    stopping.if_stopped(lambda: f"{stored.path} is complete")
    if imported is not None:
        from neardup.decisions.tables import imported as decisions_in

        if file.is_dir() and not (file / "summary.json").exists():
            raise InputError(f"{file} is not a folder that dedup wrote: it has no summary.json")
        added = stored.merge(decisions_in(imported))
        say(f"{count(len(added), 'decision')} added to {stored.path}", err=True)
    elif not stored.path.exists():
        raise InputError(
            f"there is no file of decisions at {stored.path}; decide with `neardup explore` or "
            "`neardup review`"
        )
    current = stored.current()
    if export is not None:
        from neardup.decisions.tables import export as write_table

        rows = write_table(current.decisions, export)
        say(f"{count(len(current), 'decision')} in {count(rows, 'row')} → {export}", err=True)
    shown = stored.history() if history else current.decisions
    if json:
        say_json({"decisions": [_plain(one) for one in shown], "counts": _counts(current)})
    elif export is None and imported is None:
        _print(shown, current)


def _print(shown: tuple[Decision, ...], current: Current) -> None:
    for one in shown:
        ids = ", ".join(map(str, one.documents))
        undone = f"takes back {one.undoes}" if one.undoes else one.why
        say_columns((one.at, one.by, one.says, ids, undone))
    counts = _counts(current)
    say(
        f"{count(len(current), 'decision')} in force: {counts['same']:,} same, "
        f"{counts['different']:,} different, {counts['keep']:,} keep, {counts['skip']:,} skip",
        err=True,
    )
    disagreements = current.disagreements
    for disagreement in disagreements[:_DISAGREEMENTS]:
        say(f"Warning: {disagreement}", err=True)
    if len(disagreements) > _DISAGREEMENTS:
        more = len(disagreements) - _DISAGREEMENTS
        say(f"Warning: {count(more, 'more disagreement')}", err=True)


def _counts(current: Current) -> dict[str, int]:
    says = ("same", "different", "keep", "skip")
    counts = {name: sum(one.says == name for one in current.decisions) for name in says}
    return {**counts, "disagreements": len(current.disagreements)}


def _plain(decision: Decision) -> dict[str, object]:
    """The decision as its line has it."""
    import json

    from neardup.decisions.model import as_line

    return dict(json.loads(as_line(decision)))

"""Open a stored run for a command, with its progress, and find documents by their ids."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from neardup.errors import InputError

if TYPE_CHECKING:
    from neardup.cli.progress import Stages
    from neardup.collection.source import Progress
    from neardup.runs import Run

_LONGEST_NAME = 200


def opened(out: Path, *, read_only: bool = False) -> Run:
    """The run in a folder; if its index is built, progress is shown."""
    from neardup.cli.progress import Stages
    from neardup.runs import open_run

    with Stages(quiet=False) as stages:
        return open_run(out, progress=_once_it_begins(stages), read_only=read_only)


def place_of(run: Run, id: str) -> int:
    """The place of a document of the run, or of the other collection, by its id."""
    for other in (False, True):
        place = run.find(id, other)
        if place is not None:
            return place
    close = run.suggestions(id)
    hint = f"; similar ids are {', '.join(map(repr, close))}" if close else ""
    raise InputError(f"{run.path} has no document with the id {_short(id)!r}{hint}")


def user_name() -> str:
    """The login name, which signs decisions."""
    import getpass

    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # a user without a name, as in some containers
        return "somebody"


def _once_it_begins(stages: Stages) -> Progress:
    """Progress of a stage that may not be needed: it is shown from its first report on."""
    shown: list[Progress | None] = []

    def progress(done: int, total: int | None, documents: int) -> None:
        if not shown:
            shown.append(stages("explore"))
        if shown[0] is not None:
            shown[0](done, total, documents)

    return progress


def _short(id: str) -> str:
    return id if len(id) <= _LONGEST_NAME else f"{id[:_LONGEST_NAME]}…"

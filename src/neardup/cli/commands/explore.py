"""`neardup explore`: look at a run in the browser, and decide."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import say

if TYPE_CHECKING:
    from neardup.cli.progress import Stages
    from neardup.collection.source import Progress

# A separate process: a browser that it starts must not inherit the signals blocked here, and one
# that runs in a terminal would take this one.
_OPEN = (
    "import signal, sys, webbrowser; "
    "signal.pthread_sigmask(signal.SIG_SETMASK, []); "
    "webbrowser.open(sys.argv[1])"
)


@click.command(cls=Command)
@options.path_argument("out", "OUT", "Folder that `neardup dedup` wrote.")
@options.option(
    "--port",
    type=int,
    note="7800, or the next free one",
    help="Port to listen on; 0 chooses a free one.",
)
@options.flag("--no-browser", help="Do not open a browser; print the address alone.")
@options.flag("--read-only", help="Show everything, but take no decisions.")
@options.option(
    "--by", metavar="NAME", note="your user name", help="Who decides: the name in decisions.jsonl."
)
def explore(out: Path, port: int | None, no_browser: bool, read_only: bool, by: str | None) -> None:
    """Look at the duplicates of a run in the browser, and decide about the doubtful ones.

    Pages: overview, clusters, documents, review queue, threshold, decisions, laboratory. Only
    this machine can open them. The first start builds an index in OUT. Decisions are stored in
    OUT/decisions.jsonl, which `neardup dedup --decisions` obeys. Ctrl-C ends it.

    Example: neardup explore out
    """
    from neardup.cli.progress import Stages
    from neardup.explore.app import Explorer
    from neardup.explore.server import ExploreServer
    from neardup.runs import open_run

    stopping.if_stopped(lambda: f"{out} is unchanged")
    with Stages(quiet=False) as stages:
        run = open_run(out, progress=_once_it_begins(stages))
    explorer = Explorer(run, read_only=read_only, reviewer=by or _user(), title=out.absolute().name)
    server = ExploreServer(explorer, port)
    stopping.instead(lambda _number: server.shutdown())
    say(f"neardup explores {out} on {server.address} (Ctrl-C ends it)", err=True)
    if not no_browser:
        _open_browser(server.address)
    server.serve_forever()
    server.finish()


def _once_it_begins(stages: Stages) -> Progress:
    """Progress of a stage that may not be needed: it is shown from its first report on."""
    shown: list[Progress | None] = []

    def progress(done: int, total: int | None, documents: int) -> None:
        if not shown:
            shown.append(stages("explore"))
        if shown[0] is not None:
            shown[0](done, total, documents)

    return progress


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        return "somebody"


def _open_browser(address: str) -> None:
    """Open the address where there is a screen: a text browser would take the terminal."""
    screens = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    if sys.platform != "darwin" and not any(os.environ.get(name) for name in screens):
        return
    import subprocess

    subprocess.Popen(
        [sys.executable, "-c", _OPEN, address],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )

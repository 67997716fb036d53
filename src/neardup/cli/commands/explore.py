"""`neardup explore`: look at a run in the browser, and decide."""

from __future__ import annotations

from pathlib import Path

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import say
from neardup.system.browser import open_browser


@click.command(cls=Command)
@options.path_argument(
    "out",
    "OUT",
    "Folder that `neardup dedup`, `passages` or `contamination` wrote, or a file of pairs to "
    "label. Without it, only the laboratory is opened.",
    required=False,
)
@options.option(
    "--port",
    type=int,
    note="7800, or the next free one",
    help="Port to listen on; 0 chooses a free one.",
)
@options.flag("--no-browser", help="Do not open a browser; print the address alone.")
@options.flag(
    "--read-only", help="Show everything, but take no decisions and write nothing to OUT."
)
@options.option(
    "--by", metavar="NAME", note="your user name", help="Who decides: the name in decisions.jsonl."
)
def explore(
    out: Path | None, port: int | None, no_browser: bool, read_only: bool, by: str | None
) -> None:
    """Look at the duplicates of a run in the browser, and decide about the doubtful ones.

    Pages: overview, clusters, documents, review queue, threshold, decisions, laboratory. Only
    this machine can open them. The first start builds an index in OUT. Decisions are stored in
    OUT/decisions.jsonl, which `neardup dedup --decisions` obeys. Ctrl-C ends it.

    A file of pairs to label, as `neardup tune` writes it, opens at its first pair. The answers are
    stored beside it, in FILE.decisions.jsonl; they are labels.

    Example: neardup explore out
    """
    from neardup.cli.stored_run import opened, user_name
    from neardup.explore.app import Explorer, routes_of_contamination, routes_of_passages
    from neardup.explore.server import ExploreServer
    from neardup.parts.contamination.opened import ContaminationFolder, is_contamination_folder
    from neardup.parts.passages.opened import PassagesFolder, is_passages_folder

    run, routes, title, shown = None, None, "", "the laboratory"
    if out is not None:
        stopping.if_stopped(lambda: f"{out} is unchanged")
        title, shown = out.absolute().name, str(out)
        if is_passages_folder(out):
            routes = routes_of_passages(PassagesFolder(out))
        elif is_contamination_folder(out):
            routes = routes_of_contamination(ContaminationFolder(out))
        else:
            run = opened(out, read_only=read_only)
    explorer = Explorer(
        run, read_only=read_only, reviewer=by or user_name(), title=title, routes=routes
    )
    server = ExploreServer(explorer, port)
    stopping.instead(lambda _number: server.shutdown())
    say(f"neardup explores {shown} on {server.address} (Ctrl-C ends it)", err=True)
    if not no_browser:
        open_browser(server.address)
    server.serve_forever()
    server.finish()

"""`neardup benchmark`: scores on public benchmarks, or on a collection with labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import plain_console, say, say_json

if TYPE_CHECKING:
    from neardup.lab.benchmark.result import BenchmarkResult


@click.command(cls=Command)
@options.argument(
    "what",
    "The benchmark: core, news-copy, or a folder with docs.parquet, pairs.parquet (columns a and "
    "b) and, if known, non_pairs.parquet.",
    metavar="WHAT",
    shell_complete=options.one_of(("core", "news-copy")),
)
@options.argument("data", "Files or folder of the public data set.", metavar="[DATA...]", nargs=-1)
@options.path("--output", "-o", help="JSON file to write.")
@options.path(
    "--config",
    multiple=True,
    help="Settings file to score as well, as `neardup tune` writes it. Repeatable.",
)
@options.quiet
@options.as_json
@options.progress
@options.settings("text", "id", "memory", "threads")
@click.pass_context
def benchmark(
    context: click.Context,
    /,
    what: str,
    data: tuple[str, ...],
    output: Path | None,
    config: tuple[Path, ...],
    quiet: bool,
    json: bool,
    progress: str,
    **_settings: Any,
) -> None:
    """Score neardup on a public benchmark, beside published figures, or on labelled documents.

    Runs the defaults, what `neardup tune` recommends without labels, and a fixed setting. The data
    of the public benchmarks are not included.

    Example: neardup benchmark core core-2020-05-10.parquet
    """
    from neardup.atomic import require_apart, require_writable
    from neardup.cli.progress import Stages
    from neardup.collection.settings import settings_in
    from neardup.lab.benchmark.run import benchmark as run_benchmark

    if output is not None:
        require_writable(output)
        require_apart(output, [what, *data, *map(str, config)])
    stopping.writes(output)
    given = options.given_settings(context)
    with Stages(quiet=quiet or json, progress=progress) as stages:
        done = run_benchmark(
            what,
            data,
            names={name: given[name] for name in ("text", "id") if name in given},
            limits={name: given[name] for name in ("memory", "threads") if name in given},
            others={path.name: settings_in(path) for path in config},
            stage=stages,
        )
    if output is not None:
        done.save(output)
    if json:
        say_json(done.to_dict())
    elif not quiet:
        _print(done)


def _print(done: BenchmarkResult) -> None:
    from neardup.report.tables import print_whole

    say(f"{done.about}; {done.documents:,} documents in {done.data}")
    say()
    print_whole(done.table(), plain_console())
    say()
    for note in done.notes:
        say(f"· {note}")

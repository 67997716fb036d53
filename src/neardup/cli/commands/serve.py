"""`neardup serve`: indexes and jobs over HTTP."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command


@click.command(cls=Command)
@options.path_argument("data", "DATA", "Folder with the indexes; it is created if necessary.")
@options.option("--port", type=int, default=7700, help="Port to listen on; 0 chooses a free one.")
@options.option(
    "--host",
    default="127.0.0.1",
    metavar="HOST",
    help="Address to listen on. One that other machines can reach needs --keys.",
)
@options.option(
    "--workers",
    type=int,
    note="one per core, up to 4",
    help="Number of processes that answer requests, 1 to 64.",
)
@options.path(
    "--keys", help="File with the keys that requests need; see `neardup keys`. Default: no keys."
)
@options.option(
    "--max-body",
    default="64MB",
    metavar="SIZE",
    help="Largest JSON or Arrow body, packed and unpacked. NDJSON streams have no limit.",
)
@options.option("--max-text", default="16MB", metavar="SIZE", help="Largest document.")
@options.option(
    "--max-documents", type=int, default=10_000, help="Most documents in a JSON or Arrow body."
)
@options.flag("--quiet", help="Log no requests, only failures.")
@options.flag("--log-text", help="Log the sentences of errors, which may quote documents.")
def serve(
    data: Path,
    port: int,
    host: str,
    workers: int | None,
    keys: Path | None,
    max_body: str,
    max_text: str,
    max_documents: int,
    quiet: bool,
    log_text: bool,
) -> None:
    """Serve indexes over HTTP: check, query, add and delete documents, from any language.

    DATA/indexes holds an index for each name, DATA/backups their backups, DATA/jobs the runs that
    were asked for. /docs describes every endpoint. What was acknowledged is durable. SIGTERM and
    Ctrl-C answer the requests that have begun, then end; a second Ctrl-C does not wait.

    Example: neardup serve data --port 7700
    """
    from neardup.errors import NeardupError, SettingError
    from neardup.settings import bytes_of

    if sys.platform == "win32":
        raise NeardupError("neardup serve needs Linux or macOS; on Windows, run it in WSL")
    try:
        from neardup.service.limits import Limits
        from neardup.service.settings import ServeSettings
        from neardup.service.supervisor import Supervisor
    except ModuleNotFoundError as error:
        raise NeardupError(
            f"neardup serve needs {error.name}; install it with: pip install 'neardup[serve]'"
        ) from None
    if max_documents < 1:
        raise SettingError(f"--max-documents {max_documents} must be 1 or more")
    limits = replace(
        Limits(),
        body=bytes_of(max_body, "max_body"),
        text=bytes_of(max_text, "max_text"),
        documents=max_documents,
    )
    supervisor = Supervisor(
        ServeSettings(
            data,
            host=host,
            port=port,
            workers=workers,
            keys=keys,
            log_requests=not quiet,
            log_texts=log_text,
            limits=limits,
        )
    )
    stopping.instead(supervisor.stop)
    supervisor.run(
        lambda url: print(f"neardup serves {data} on {url}", file=sys.stderr, flush=True)
    )

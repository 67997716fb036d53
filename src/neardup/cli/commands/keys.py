"""`neardup keys`: the keys of `neardup serve`."""

from __future__ import annotations

from pathlib import Path

import click

from neardup.cli import options, stopping
from neardup.cli.command import Group
from neardup.cli.terminal import say, say_columns

_ROLES = ("read", "write", "admin")
_file = options.path_argument("path", "KEYS", "File of the keys, for example keys.toml.")
_name = options.argument("name", "Name of the key, for example crawler.", metavar="NAME")


@click.group(cls=Group)
def keys() -> None:
    """Make, list and revoke the keys of `neardup serve`."""


@keys.command()
@_file
@_name
@options.option(
    "--role",
    required=True,
    metavar="ROLE",
    shell_complete=options.one_of(_ROLES),
    help="What the key allows: read (query, compare, stats), write (and check, add, delete), or "
    "admin (and create, delete and back up indexes, run jobs).",
)
@options.option(
    "--index",
    "indexes",
    multiple=True,
    metavar="PATTERN",
    note="all",
    help="Index that the key is for, by name or pattern such as 'news*'. Repeatable.",
)
def create(path: Path, name: str, role: str, indexes: tuple[str, ...]) -> None:
    """Make a key and print it; only its hash is stored, so it cannot be shown again.

    Example: neardup keys create keys.toml crawler --role write --index 'news*'
    """
    from neardup.service.keys import create_key

    stopping.writes(path)
    say(create_key(path, name, role, indexes or ("*",)))


@keys.command()
@_file
def list(path: Path) -> None:
    """List the keys: name, role, and indexes.

    Example: neardup keys list keys.toml
    """
    from neardup.service.keys import read_keys

    for key in read_keys(path):
        say_columns([key.name, key.role, " ".join(key.indexes)])


@keys.command()
@_file
@_name
def delete(path: Path, name: str) -> None:
    """Revoke a key; running services refuse it within a second.

    Example: neardup keys delete keys.toml crawler
    """
    from neardup.service.keys import delete_key

    stopping.writes(path)
    delete_key(path, name)
    say(f"the key {name} is revoked")

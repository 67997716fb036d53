"""Whether a call of `neardup` has every argument, and whether its options exist."""

from __future__ import annotations

import re
import shlex

import click
from tests.cli.hostile_usage import commands

_OPTION = re.compile(r"--?[a-zA-Z]")
_REST = re.compile(r"\s[|>&;].*$")
_OF_ALL = {"--help", "--version"}


def is_complete(call: str) -> bool:
    """Whether a call could be run: the command exists, and nothing that it needs is missing."""
    command, rest = _found(call)
    if command is None or not rest:
        return False
    try:
        with command.make_context("neardup", rest):
            return True
    except click.UsageError:
        return False


def unknown(call: str) -> str | None:
    """What a call names that there is not: a command or an option."""
    command, rest = _found(call)
    first = rest[0] if rest else ""
    if command is None:
        groups = {name.partition(" ")[0] for name in commands() if " " in name}
        if first in groups and len(rest) == 1:
            return None
        known = re.fullmatch(r"[A-Z]+|…", first) or not first or first in _OF_ALL
        return None if known else f"there is no command {first!r}"
    options = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    for word in rest:
        name = word.partition("=")[0]
        if _OPTION.match(word) and name not in options | _OF_ALL:
            return f"there is no option {name}"
    return None


def _found(call: str) -> tuple[click.Command | None, list[str]]:
    words = shlex.split(_REST.sub("", call), comments=True)[1:]
    for length in (2, 1):
        command = commands().get(" ".join(words[:length]))
        if command is not None:
            return command, words[length:]
    return None, words

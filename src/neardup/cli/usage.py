"""Wrong usage: what typer says about it, without what steers the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from typer import BadParameter
from typer.core import TyperGroup

from neardup.visible import visible

_UsageError: Any = BadParameter.__base__  # typer does not give it a public name


class CommandGroup(TyperGroup):
    """Commands whose usage errors quote arguments visibly."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Read the options that come before the command."""
        with _visible_messages():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        """Read the options of the command and run it."""
        with _visible_messages():
            return super().invoke(ctx)


@contextmanager
def _visible_messages() -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        error.message = visible(error.message)
        raise

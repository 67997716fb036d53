"""Which options were given, so that they go before what a preset or a file says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import typer


def chosen_options(context: typer.Context, names: Iterable[str]) -> dict[str, Any]:
    """Those of the named options that stand on the command line, with their values."""
    return {name: context.params[name] for name in names if _is_chosen(context, name)}


def _is_chosen(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"

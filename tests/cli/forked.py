"""Run `neardup` in a fork of a process that has imported it: all but the start of Python.

The tests of many short commands need this; the start itself has its own tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess

from tests.torture import commands


def neardup(
    *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> CompletedProcess[str]:
    """What the command printed and how it ended; `env` is added to the environment."""
    words = tuple(map(str, arguments))
    ran = commands.neardup(*words, cwd=cwd or Path.cwd(), environment=env)
    return CompletedProcess(words, ran.code, ran.out.decode(), ran.err.decode())

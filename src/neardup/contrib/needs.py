"""The program that a module of `neardup.contrib` is named after, or a sentence if it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neardup.errors import NeardupError


class MissingLibraryError(NeardupError, ImportError):
    """A library that a module needs cannot be imported; the message says how to install it."""


@contextmanager
def needs(library: str, install: str) -> Iterator[None]:
    """Import a library in this block; if it cannot be, say what to `pip install`."""
    try:
        yield
    except ImportError as error:
        raise MissingLibraryError(
            f"neardup.contrib.{library} needs {library}, which cannot be imported ({error}); "
            f"install it with pip install '{install}'",
            name=error.name,
        ) from None

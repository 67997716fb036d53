"""Errors that a user can cause; each message says what, where, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable


class NeardupError(Exception):
    """Base class of all errors; the command line prints the message and exits with 1."""


class SettingError(NeardupError, ValueError):
    """An option or argument has an invalid value; the command line exits with 2."""


class InputError(NeardupError):
    """An input is missing, unreadable or invalid."""


class UnreadableError(InputError):
    """A file cannot be read or lacks a column: an error if it was named, skipped in a folder."""


class NoColumnError(UnreadableError):
    """A table lacks a column; `found` are those that it has."""

    def __init__(self, message: str, found: Iterable[str]) -> None:
        super().__init__(message)
        self.found = tuple(found)


class SchemeMismatchError(NeardupError):
    """Fingerprints of two different schemes cannot be mixed."""

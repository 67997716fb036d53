"""Errors that a user can cause; each message says what, where, and what to do next."""


class NeardupError(Exception):
    """Base class of all errors; the command line prints the message and exits with 1."""


class SettingError(NeardupError, ValueError):
    """An option or argument has an invalid value; the command line exits with 2."""


class InputError(NeardupError):
    """An input is missing, unreadable or invalid."""


class UnreadableError(InputError):
    """A file cannot be read or lacks a column: an error if it was named, skipped in a folder."""


class SchemeMismatchError(NeardupError):
    """Fingerprints of two different schemes cannot be mixed."""

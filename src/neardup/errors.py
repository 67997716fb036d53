"""The errors a user can cause, each a sentence that says what, where, and what to do next."""


class NeardupError(Exception):
    """Anything neardup refuses; the command line prints its message and exits with 1."""


class SettingError(NeardupError, ValueError):
    """An option or argument has a value that cannot work; the command line exits with 2."""


class InputError(NeardupError):
    """Something to be read is missing, unreadable or not what it should be."""


class UnreadableError(InputError):
    """One file cannot be read or lacks a column: named by itself an error, left out of a folder."""


class SchemeMismatchError(NeardupError):
    """Fingerprints of two different schemes were about to be mixed."""

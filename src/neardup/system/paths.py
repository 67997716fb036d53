"""Names of files: with forward slashes on every system, so that ids are the same on all."""

from __future__ import annotations

import sys

_VERBATIM = "\\\\?\\"  # a name that Windows takes as it is, where only backslashes separate


def with_slashes(path: str) -> str:
    """The same path with forward slashes; elsewhere, a backslash is part of a name.

    >>> with_slashes("news/2024")
    'news/2024'
    """
    if sys.platform != "win32" or path.startswith(_VERBATIM):
        return path
    return path.replace("\\", "/")


def of_file_url(path: str) -> str:
    """The local path in a file: URL; Windows has a slash before the drive there."""
    return path.lstrip("/") if sys.platform == "win32" and path[2:3] == ":" else path

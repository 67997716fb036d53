"""Settings files: the settings of a deduplication as TOML, by the names of the options."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from neardup.errors import InputError, SettingError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MOST_BYTES = 1_000_000
_TEXT = (str,)
_NUMBER = (int, float)
KEYS: dict[str, tuple[type, ...]] = {
    "features": _TEXT,
    "weights": _TEXT,
    "bits": (int,),
    "hash": _TEXT,
    "tie": _TEXT,
    "projection": _TEXT,
    "text": _TEXT,
    "id": _TEXT,
    "similarity": _TEXT,
    "threshold": _NUMBER,
    "candidates": _TEXT,
    "recall": _NUMBER,
    "keep": _TEXT,
    "cluster": _TEXT,
    "memory": (str, int),
    "threads": (int,),
    "max_document": (str, int),
}


def settings_in(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The settings in a file such as `tune` writes; a name that is none is an error."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise InputError(f"{path} has more than 1 MB; a settings file has some lines of TOML")
        found = tomllib.loads(data.decode())
    except OSError as error:
        raise InputError(f"cannot read the settings in {path}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    unknown = [name for name in found if name not in KEYS]
    if unknown:
        raise SettingError(
            f"{path} has {', '.join(map(repr, unknown))}, which dedup does not know; "
            f"its settings are {', '.join(KEYS)}"
        )
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, KEYS[name]):
            wanted = "a text" if KEYS[name] == _TEXT else "a number"
            raise SettingError(f"{path}: {name} = {value!r} must be {wanted}")
    return found

"""Keys: who may do what with which indexes. Only hashes of keys are stored."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from neardup.atomic import replacing
from neardup.errors import InputError, NeardupError, SettingError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Each role may do what the roles before it may.
ROLES = ("read", "write", "admin")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PATTERN = re.compile(r"[A-Za-z0-9._*?-]{1,100}")
_KEY = re.compile(r"nd_([0-9a-f]{16})_([0-9a-f]{64})")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_SECONDS_BETWEEN_LOOKS = 1.0
_ABOUT = """\
# Keys of neardup serve. A key is shown once, when it is made; only its hash is here.
# Make one:    neardup keys create {name} NAME --role read|write|admin --index 'news*'
# Revoke one:  neardup keys delete {name} NAME (in force within a second)
"""


@dataclass(frozen=True)
class Key:
    """A key as it is stored: its public part, the hash of the whole key, and what it allows."""

    name: str
    part: str
    hash: str
    role: str
    indexes: tuple[str, ...] = ("*",)

    def allows(self, role: str) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)

    def sees(self, index: str) -> bool:
        return any(fnmatchcase(index, pattern) for pattern in self.indexes)

    @property
    def sees_all(self) -> bool:
        return "*" in self.indexes


# Whoever can connect to the loopback interface of a server without keys may do everything.
ANYBODY = Key("anybody", "", "", "admin")


class Keys:
    """The keys of a file; changes of the file are in force within a second."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._keys: Mapping[str, Key] = {key.part: key for key in read_keys(path)}
        self._seen = _stamp(path)
        self._next_look = 0.0
        self.fault: str | None = None

    def find(self, given: str) -> Key | None:
        """The key that was given, or None; the time that this takes does not depend on its hash."""
        self._look()
        found = _KEY.fullmatch(given)
        key = self._keys.get(found[1]) if found else None
        # A hash is made and compared for unknown keys as well.
        is_right = hmac.compare_digest(hash_of(given), key.hash if key else hash_of(""))
        return key if key is not None and is_right else None

    def _look(self) -> None:
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + _SECONDS_BETWEEN_LOOKS
        stamp = _stamp(self._path)
        if stamp == self._seen:
            return
        try:
            self._keys = {key.part: key for key in read_keys(self._path)}
            self.fault = None
        except NeardupError as error:
            # A file that cannot be read must not lock everybody out, nor let anybody in.
            self.fault = f"{error}; the keys from before are still in force"
        self._seen = stamp


def read_keys(path: Path) -> list[Key]:
    """The keys of a file."""
    try:
        with path.open("rb") as file:
            found = tomllib.load(file)
    except OSError as error:
        raise InputError(
            f"the keys {path} cannot be read: {error.strerror}; make a key with neardup keys create"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the keys {path} are not valid TOML: {error}") from None
    unknown = set(found) - {"key"}
    rows = found.get("key", [])
    if unknown or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"the keys {path} must be tables [[key]], and nothing else")
    keys = [_key(row, path) for row in rows]
    for names in ([key.name for key in keys], [key.part for key in keys]):
        if len(set(names)) < len(names):
            raise InputError(f"two keys of {path} have the same name; rename one of them")
    return keys


def create_key(path: Path, name: str, role: str, indexes: Sequence[str] = ("*",)) -> str:
    """Add a key to a file, which is made if there is none; return the key, which is not stored."""
    keys = read_keys(path) if path.exists() else []
    if any(key.name == name for key in keys):
        raise SettingError(f"{path} has a key {name!r} already; choose another name, or delete it")
    part, secret = secrets.token_hex(8), secrets.token_hex(32)
    given = f"nd_{part}_{secret}"
    row = {"name": name, "part": part, "hash": hash_of(given), "role": role}
    key = _key({**row, "indexes": list(indexes)}, path)
    _write(path, [*keys, key])
    return given


def delete_key(path: Path, name: str) -> None:
    """Remove a key from a file."""
    keys = read_keys(path)
    kept = [key for key in keys if key.name != name]
    if len(kept) == len(keys):
        raise InputError(f"{path} has no key {name!r}; it has {_listed(keys)}")
    _write(path, kept)


def hash_of(key: str) -> str:
    """The hash that is stored of a key. Keys are 256 random bits, so that no salt is needed."""
    return f"sha256:{hashlib.sha256(key.encode(errors='replace')).hexdigest()}"


def _listed(keys: Sequence[Key]) -> str:
    return ", ".join(key.name for key in keys) or "none"


def _key(row: Mapping[str, Any], path: Path) -> Key:
    """A key of a file, checked."""
    name = row.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SettingError(
            f"the name {name!r} of a key in {path} must be up to 64 letters, digits, '.', '_', '-'"
        )
    known = {"name", "part", "hash", "role", "indexes"}
    if set(row) - known:
        raise SettingError(f"key {name} in {path} has an unknown entry {min(set(row) - known)!r}")
    role, indexes = row.get("role"), row.get("indexes", ["*"])
    if role not in ROLES:
        raise SettingError(f"the role of key {name} must be read, write or admin, not {role!r}")
    if (
        not isinstance(indexes, list)
        or not indexes
        or not all(isinstance(each, str) and _PATTERN.fullmatch(each) for each in indexes)
    ):
        raise SettingError(
            f"the indexes of key {name} must be names or patterns such as 'news*', not {indexes!r}"
        )
    part, hashed = row.get("part"), row.get("hash")
    if not (isinstance(part, str) and re.fullmatch(r"[0-9a-f]{16}", part)) or not (
        isinstance(hashed, str) and _HASH.fullmatch(hashed)
    ):
        raise SettingError(f"key {name} in {path} has no valid hash; make it with neardup keys")
    return Key(name, part, hashed, role, tuple(indexes))


def _write(path: Path, keys: Sequence[Key]) -> None:
    rows = []
    for key in keys:
        indexes = ", ".join(f'"{each}"' for each in key.indexes)
        rows.append(
            f'\n[[key]]\nname = "{key.name}"\nrole = "{key.role}"\nindexes = [{indexes}]\n'
            f'part = "{key.part}"\nhash = "{key.hash}"\n'
        )
    with replacing(path) as new:
        new.touch(0o600)
        new.write_text(_ABOUT.format(name=path.name) + "".join(rows), encoding="utf-8")


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        about = os.stat(path)
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino

"""Backups: a consistent, verified copy of an index, made while others write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neardup.atomic import FolderKind, replacing_folder, require_apart
from neardup.errors import NeardupError, SettingError
from neardup.index.disk import environment as environments
from neardup.index.disk.damage import DamagedIndexError, DamageError, damage_told
from neardup.index.disk.environment import Environment
from neardup.index.disk.opening import open_store
from neardup.index.disk.store import DEFAULT_TIMEOUT, DiskStore

# A backup replaces nothing, so that no marker is needed.
_FOLDER = FolderKind(marker=environments.DATA, keys=frozenset(), files=(r"(data|lock)\.mdb",))
_AT_ONCE = 1 << 20


def backup(store: DiskStore, destination: Path) -> int:
    """Copy the last commit to a new folder and verify the copy; return its documents.

    The folder appears when it is complete and verified.
    """
    environment = store.environment
    if not isinstance(environment, Environment):
        raise SettingError("an index in memory has no backup; use an Index in a folder")
    require_apart(destination, [environment.path])
    if destination.is_dir() and any(destination.iterdir()):
        raise NeardupError(f"{destination} is there already; name a new folder for the backup")
    with (
        replacing_folder(destination, _FOLDER, overwrite=False) as folder,
        environment.reading() as transaction,
    ):
        environment.copy(transaction, folder)
        try:
            return _verified(folder, transaction)
        except DamagedIndexError as error:
            raise NeardupError(
                f"the copy of {environment.path} is damaged ({error.__cause__ or error}), so no "
                "backup was written; try again and, if it fails again, check the disk and the index"
            ) from error


def _verified(folder: Path, original: Any) -> int:
    """Compare a copy with the transaction that it was made from, and read every block and segment.

    Returns its number of documents.
    """
    copy = open_store(
        folder, {}, create=False, readonly=True, sync=True, threads=1, timeout=DEFAULT_TIMEOUT
    )
    try:
        with damage_told(folder), copy.environment.reading() as transaction:
            _require_same(original, transaction)
        return copy.verify()
    finally:
        copy.close()


def _require_same(one: Any, other: Any) -> None:
    """Raise a `DamageError` unless two transactions see the same keys and values."""
    with one.cursor() as first, other.cursor() as second:
        for (key, value), (copied_key, copied) in zip(first, second, strict=True):
            if bytes(key) != bytes(copied_key) or not _is_same(value, copied):
                raise DamageError("a value is not as it was copied")


def _is_same(one: memoryview, other: memoryview) -> bool:
    return len(one) == len(other) and all(
        bytes(one[at : at + _AT_ONCE]) == bytes(other[at : at + _AT_ONCE])
        for at in range(0, len(one), _AT_ONCE)
    )

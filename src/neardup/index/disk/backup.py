"""Backups: a consistent, verified copy of an index, made while others write."""

from __future__ import annotations

from pathlib import Path

from neardup.atomic import FolderKind, replacing_folder, require_apart
from neardup.errors import SettingError
from neardup.index.disk import environment as environments
from neardup.index.disk.environment import Environment
from neardup.index.disk.store import DiskStore

# A backup replaces nothing, so that no marker is needed.
_FOLDER = FolderKind(marker=environments.DATA, keys=frozenset(), files=(r"(data|lock)\.mdb",))


def backup(store: DiskStore, destination: Path) -> int:
    """Copy the last commit to a new folder and verify the copy; return its documents.

    The folder appears when it is complete and verified.
    """
    environment = store.environment
    if not isinstance(environment, Environment):
        raise SettingError("an index in memory has no backup; use an Index in a folder")
    require_apart(destination, [environment.path])
    with replacing_folder(destination, _FOLDER, overwrite=False) as folder:
        environment.copy(folder)
        return _verified(folder, store)


def _verified(folder: Path, original: DiskStore) -> int:
    """Read every page, block and segment of a copy; return its number of documents."""
    environment = environments.acquire(folder, readonly=True, sync=True)
    try:
        copy = DiskStore(environment, original.settings, original.idf, threads=1, writable=False)
        return copy.verify()
    finally:
        environments.release(environment)

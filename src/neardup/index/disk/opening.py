"""Open, create and upgrade the index in a folder: its format, its settings, its idf table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from neardup.atomic import TemporaryFolder
from neardup.errors import NeardupError
from neardup.features.idf import IdfTable
from neardup.index.disk import environment as environments
from neardup.index.disk.damage import DamageError, damage_told
from neardup.index.disk.environment import Environment
from neardup.index.disk.records import (
    FORMAT_KEY,
    IDF_KEY,
    SETTINGS_KEY,
    STATE_KEY,
    OpenSegments,
    State,
    Stored,
)
from neardup.index.disk.store import DEFAULT_TIMEOUT, DiskStore, Transactions
from neardup.index.settings import IndexSettings

FORMAT, FORMAT_1 = "neardup index 2", "neardup index 1"


def open_store(
    path: Path,
    chosen: Mapping[str, Any],
    *,
    create: bool,
    readonly: bool,
    sync: bool,
    threads: int,
    timeout: float,
) -> DiskStore:
    """Open the index in a folder, or create it; an existing one must have the given settings."""
    creates = create and not readonly
    if creates and not is_index(path):
        wanted(chosen)  # wrong settings raise before anything is created
    is_new = _require_place(path, create=creates)
    try:
        environment, held, is_old = _opened(
            path, chosen, creates=creates, readonly=readonly, sync=sync
        )
        return DiskStore(environment, *held, threads=threads, timeout=timeout, writable=not is_old)
    except BaseException:
        if is_new:
            _unmake(path)
        raise


def _opened(
    path: Path, chosen: Mapping[str, Any], *, creates: bool, readonly: bool, sync: bool
) -> tuple[Environment, tuple[IndexSettings, IdfTable | None], bool]:
    environment = environments.acquire(path, readonly=readonly, sync=sync)
    try:
        with environment.reading() as transaction:
            stored = Stored(transaction, OpenSegments())
            held = _read(stored, path)
            is_old = held is not None and _format_of(stored) == FORMAT_1
        if held is None:
            if not creates:
                raise NeardupError(f"{path} holds no index; create one with neardup index create")
            held = made(environment, *wanted(chosen))
        else:
            held[0].require(chosen, str(path))
        return environment, held, is_old
    except BaseException:
        environments.release(environment)
        raise


def upgrade(path: Path) -> bool:
    """Convert an index of format 1, in place; return False if it is of this format already."""
    _require_place(path, create=False)
    environment = environments.acquire(path, readonly=False, sync=True)
    try:

        def convert(transaction: Any) -> bool:
            stored = Stored(transaction, OpenSegments())
            held = _read(stored, path)
            if held is None:
                raise NeardupError(f"{path} holds no index; there is nothing to upgrade")
            if _format_of(stored) == FORMAT:
                return False
            # Blocks and segments of format 1 can be read as they are.
            stored.put_about(SETTINGS_KEY, held[0].to_bytes())
            stored.put_about(STATE_KEY, stored.state().to_bytes())
            stored.put_about(FORMAT_KEY, FORMAT.encode())
            return True

        return environment.write(convert, DEFAULT_TIMEOUT)
    finally:
        environments.release(environment)


def is_made(path: Path) -> bool:
    """Whether a folder holds an index; an interrupted run may have left an empty environment."""
    if not is_index(path):
        return False
    environment = environments.acquire(path, readonly=not os.access(path, os.W_OK), sync=True)
    try:
        with environment.reading() as transaction:
            return not Stored(transaction, OpenSegments()).is_empty()
    finally:
        environments.release(environment)


def _unmake(path: Path) -> None:
    """Remove the folder of an index that could not be created, unless it has other files."""
    with suppress(OSError):
        for name in environments.FILES:
            (path / name).unlink(missing_ok=True)
        path.rmdir()


def _require_place(path: Path, *, create: bool) -> bool:
    """Check the path and create the folder if needed; return whether it is new."""
    try:
        if not path.exists():
            if not create:
                raise NeardupError(
                    f"there is no index {path}; create one with neardup index create"
                )
            try:
                path.mkdir()
            except OSError as error:
                raise NeardupError(f"cannot create {path}: {error.strerror}") from None
            return True
        if not path.is_dir():
            raise NeardupError(f"{path} is a file, but an index is a folder; name another path")
        if not (path / environments.DATA).is_file() and not (create and _is_unused(path)):
            raise NeardupError(f"{path} is a folder, but not an index; name another one")
        return False
    except OSError as error:
        raise NeardupError(f"{path} cannot be opened: {error.strerror}") from None
    except ValueError as error:  # a character that is invalid in paths
        raise NeardupError(f"{str(path)!r} cannot be an index: {error}") from None


def _is_unused(path: Path) -> bool:
    """Whether a folder is empty, but for the locks that an interrupted creation left behind."""
    return all(entry.name in environments.FILES for entry in path.iterdir())


def wanted(chosen: Mapping[str, Any]) -> tuple[IndexSettings, IdfTable | None]:
    """The settings of a new index, and its idf table if it needs one."""
    settings = IndexSettings.of(chosen)
    given = chosen.get("idf")
    table = given if given is None or isinstance(given, IdfTable) else IdfTable.load(given)
    settings.fingerprinter(chosen.get("hash"), table, 1)
    return settings if table is None else settings.with_idf(table), table


def made(
    environment: Transactions, settings: IndexSettings, table: IdfTable | None
) -> tuple[IndexSettings, IdfTable | None]:
    """Write settings and an empty state in one transaction."""

    def write(transaction: Any) -> None:
        stored = Stored(transaction, OpenSegments())
        stored.put_about(FORMAT_KEY, FORMAT.encode())
        stored.put_about(SETTINGS_KEY, settings.to_bytes())
        stored.put_about(STATE_KEY, State.new().to_bytes())
        if table is not None:
            stored.put_about(IDF_KEY, _saved(table))

    environment.write(write, DEFAULT_TIMEOUT)
    return settings, table


def _read(stored: Stored, path: Path) -> tuple[IndexSettings, IdfTable | None] | None:
    """The settings of an index; None if nothing was ever committed."""
    if stored.is_empty():
        return None
    found = _format_of(stored)
    if found is None:
        raise NeardupError(
            f"{path} belongs to another program: it is an LMDB environment, but not an index; name "
            "another folder"
        )
    if found not in (FORMAT, FORMAT_1):
        raise NeardupError(
            f"{path} is {found}, but this version reads {FORMAT}; use the version that wrote it"
        )
    with damage_told(path):
        return _settings(stored)


def _format_of(stored: Stored) -> str | None:
    data = stored.about(FORMAT_KEY)
    return None if data is None else bytes(data).decode(errors="replace")


def _settings(stored: Stored) -> tuple[IndexSettings, IdfTable | None]:
    try:
        settings = IndexSettings.of_bytes(bytes(stored.about(SETTINGS_KEY) or b""))
        data = stored.about(IDF_KEY)
        table = None if data is None else _loaded(bytes(data))
    except (NeardupError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamageError(f"its settings cannot be read: {error}") from error
    if (settings.scheme.idf or None) != (None if table is None else table.content):
        raise DamageError("its idf table is not the one that it was made with")
    return settings, table


def _saved(table: IdfTable) -> bytes:
    with TemporaryFolder() as folder:
        path = folder / "idf.parquet"
        table.save(path)
        return path.read_bytes()


def _loaded(data: bytes) -> IdfTable:
    with TemporaryFolder() as folder:
        path = folder / "idf.parquet"
        path.write_bytes(data)
        return IdfTable.load(path)


def is_index(path: str | os.PathLike[str]) -> bool:
    """Whether a folder has the data file of an index."""
    return os.path.isfile(Path(path, environments.DATA))

"""Indexes that are deleted and created again while a worker opens them."""

from __future__ import annotations

import asyncio
import shutil
from typing import Any

import pytest

from neardup.index import Index
from neardup.index.disk.damage import DamagedIndexError
from neardup.index.disk.opening import is_made
from neardup.service import readers as readers_module
from neardup.service.data_root import DataRoot
from neardup.service.limits import Limits
from neardup.service.problems import Problem
from neardup.service.readers import Readers
from neardup.service.shared import Shared


class Service:
    """Readers of a data folder, with what the writer does to an index."""

    def __init__(self, path: Any) -> None:
        self.root = DataRoot(path)
        self.root.indexes.mkdir(parents=True)
        self.shared = Shared()
        self.readers = Readers(self.root, Limits(), self.shared, 1)
        self.path = self.root.index("seen")

    def create(self, text: str) -> None:
        with Index(self.path) as index:
            index.add("only", text)
        self.shared.next_generation()

    def delete(self) -> None:
        shutil.rmtree(self.path)
        self.shared.next_generation()

    def open(self) -> Any:
        return asyncio.run(self.readers.get("seen"))


@pytest.fixture
def service(tmp_path):
    return Service(tmp_path)


def during_opening(monkeypatch, number: int, act: Any) -> None:
    """Let something happen before an index is opened for the n-th time."""
    opened = iter(range(1, 1000))

    def open_index(*arguments: Any, **settings: Any) -> Index:
        if next(opened) == number:
            act()
        return Index(*arguments, **settings)

    monkeypatch.setattr(readers_module, "Index", open_index)


@pytest.mark.parametrize("number", [1, 2], ids=["before-both", "between-both"])
def test_an_index_deleted_while_it_is_opened_is_not_found(service, monkeypatch, number):
    service.create("one two three four five")
    during_opening(monkeypatch, number, service.delete)
    with pytest.raises(Problem) as caught:
        service.open()
    assert caught.value.code == "index_not_found"


@pytest.mark.parametrize("number", [1, 2], ids=["before-both", "between-both"])
def test_an_index_replaced_while_it_is_opened_is_opened_anew(service, monkeypatch, number):
    def replace() -> None:
        aside = service.path.with_name(".aside")
        service.path.rename(aside)  # it stays on disk, so the new one has another inode
        service.shared.next_generation()
        service.create("six seven eight nine ten")

    service.create("one two three four five")
    during_opening(monkeypatch, number, replace)
    reader = service.open()
    for index in (reader.index, reader.apart):
        assert index.query("six seven eight nine ten")
        assert not index.query("one two three four five")


def test_an_index_created_after_its_opening_failed_is_opened(service, monkeypatch):
    """The error of the index that was deleted is not the answer for the one that is there now."""
    service.create("one two three four five")
    during_opening(monkeypatch, 1, service.delete)

    def created_meanwhile(path: Any) -> bool:
        service.create("six seven eight nine ten")
        return is_made(path)

    monkeypatch.setattr(readers_module, "is_made", created_meanwhile)
    assert service.open().index.query("six seven eight nine ten")


def test_a_damaged_index_keeps_its_own_error(service):
    service.create("one two three four five")
    (service.path / "data.mdb").write_bytes(b"no index" * 4096)
    with pytest.raises(DamagedIndexError, match="is damaged"):
        service.open()

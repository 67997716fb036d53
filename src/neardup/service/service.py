"""What the endpoints of a worker have at hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.index.entries import Id
from neardup.service.data_root import DataRoot
from neardup.service.keys import Key
from neardup.service.limits import Limits
from neardup.service.log import Log
from neardup.service.metrics import Counters
from neardup.service.problems import Problem
from neardup.service.readers import Readers
from neardup.service.shared import Shared
from neardup.service.writer_link import WriterLink

if TYPE_CHECKING:
    from neardup.service.explore.pages import Pages


@dataclass(eq=False)
class Service:
    """One worker: its data, its connection to the writer, its limits. `streams` are being read.

    `secret` is that of the forms of all workers; `pages` are made when a browser asks for one.
    """

    root: DataRoot
    limits: Limits
    readers: Readers
    writer: WriterLink
    counters: Counters
    shared: Shared
    log: Log
    new_id: Callable[[int], Id]
    secret: bytes
    pages: Pages | None = None
    streams: int = 0
    documents: int = 0

    def made_id(self) -> Id:
        """An id that was never used before."""
        self.documents += 1
        return self.new_id(self.documents)

    async def make_index(self, key: Key, name: str) -> None:
        """Create an index with the default settings if there is none, as a request asked."""
        if not self.readers.exists(name):
            require_role(key, "admin", "to create an index")
            await self.writer.call("open", (name, True))


def require_role(key: Key, role: str, reason: str = "for this") -> None:
    """Refuse a key that does not allow what is asked."""
    if not key.allows(role):
        raise Problem(
            "forbidden",
            f"the key {key.name} has the role {key.role}, but {role} is needed {reason}; use "
            "another key",
        )

"""The living index: documents that come and go, and what is near them."""

from neardup.index.disk.index import Index
from neardup.index.match import Answers, Match
from neardup.index.memory.index import MemoryIndex
from neardup.index.memory.stream import unique

__all__ = ["Answers", "Index", "Match", "MemoryIndex", "unique"]

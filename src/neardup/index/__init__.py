"""The living index: documents that come and go, and what is near them."""

from neardup.index.durable import Index
from neardup.index.match import Answers, Match
from neardup.index.memory import MemoryIndex
from neardup.index.stream import unique

__all__ = ["Answers", "Index", "Match", "MemoryIndex", "unique"]

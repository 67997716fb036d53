"""An index of documents: add, remove, and find near-duplicates."""

from neardup.index.disk.index import Index
from neardup.index.match import Answers, Match, Verdict
from neardup.index.memory.index import MemoryIndex, unique

__all__ = ["Answers", "Index", "Match", "MemoryIndex", "Verdict", "unique"]

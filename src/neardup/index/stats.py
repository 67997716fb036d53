"""What an index tells about itself, and about a document."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from neardup.index.ids import Id


@dataclass(frozen=True)
class StoredDocument:
    """What an index holds of a document; `fingerprint` is None for an empty one."""

    id: Id
    fingerprint: int | None
    words: int
    metadata: Any
    text: str | None


@dataclass(frozen=True)
class IndexStats:
    """How large an index is.

    `bytes` are those of its parts. `largest_buckets` are the sizes of the largest sets of
    different fingerprints that agree on a mask of the plan.
    """

    scheme: str
    plan: str
    tables: int
    documents: int
    bytes: dict[str, int]
    largest_buckets: list[int]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return asdict(self)

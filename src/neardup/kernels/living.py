"""Living tables: numbered fingerprints that come and go; `living_reference` is the twin."""

from neardup.kernels.living_reference import (
    MOST_NUMBER,
    Matches,
    MemoryTables,
    check_segment,
    merge_segments,
    pack_segment,
    query_segment,
    segment_rows,
)

__all__ = [
    "MOST_NUMBER",
    "Matches",
    "MemoryTables",
    "check_segment",
    "merge_segments",
    "pack_segment",
    "query_segment",
    "segment_rows",
]

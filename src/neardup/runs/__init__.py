"""A run that was saved in a folder, opened again: its clusters, documents, pairs and queue."""

from neardup.runs.run import Run, open_run
from neardup.runs.views import (
    ChainStep,
    ClusterPage,
    ClusterQuery,
    ClusterRow,
    DocumentRow,
    Histogram,
    Link,
    Matrix,
    QueueItem,
    SourceCount,
    ThresholdRow,
    ThresholdTable,
)

__all__ = [
    "ChainStep",
    "ClusterPage",
    "ClusterQuery",
    "ClusterRow",
    "DocumentRow",
    "Histogram",
    "Link",
    "Matrix",
    "QueueItem",
    "Run",
    "SourceCount",
    "ThresholdRow",
    "ThresholdTable",
    "open_run",
]

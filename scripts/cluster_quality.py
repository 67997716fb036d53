"""Measure the table of docs/how-it-works/clusters.md: star, components and dense on labelled data.

    python scripts/cluster_quality.py ../shared/data

Prints, for each collection and threshold, the F1 of "both documents are in one cluster", with
`--features word:1 --weights tfidf`. Where not all true pairs are labelled (products, citations),
only labelled pairs count.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import neardup as nd
from neardup.cluster import components
from neardup.evaluation.scores import Rates, pairwise

COLLECTIONS = ("persons", "citations", "products")
WAYS = ("star", "components", "dense:0.1", "dense", "dense:0.5", "dense:0.75")
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.5)


class Labelled:
    """A collection and its labelled pairs, by places."""

    def __init__(self, folder: Path) -> None:
        self.documents = pq.read_table(folder / "docs.parquet")
        place = {id: n for n, id in enumerate(self.documents["id"].to_pylist())}
        self._place = place
        self.same = self._pairs(folder / "pairs.parquet")
        different = folder / "non_pairs.parquet"
        self.different = self._pairs(different) if different.exists() else None

    def _pairs(self, path: Path) -> NDArray[np.int64]:
        pairs = pq.read_table(path)
        ends = [[self._place[id] for id in pairs[side].to_pylist()] for side in "ab"]
        return np.array(ends, np.int64)

    def rates(self, clusters: NDArray[np.int64]) -> Rates:
        """Of all pairs if the truth is complete, else of the labelled ones."""
        if self.different is None:
            return pairwise(components(len(clusters), *self.same), clusters)
        right = int((clusters[self.same[0]] == clusters[self.same[1]]).sum())
        wrong = int((clusters[self.different[0]] == clusters[self.different[1]]).sum())
        return Rates.of_counts(right, right + wrong, self.same.shape[1])


def clusters_of(documents: pa.Table, way: str, threshold: float) -> tuple[NDArray[np.int64], str]:
    """The cluster of each document (documents in none have numbers of their own), and its size."""
    result = nd.dedup(
        documents.select(["id", "text"]),
        features="word:1",
        weights="tfidf",
        threshold=threshold,
        cluster=way,
    )
    found = result.clustering
    clusters = np.arange(len(documents)) + len(documents)
    clusters[found.place] = found.cluster
    summary = result.summary
    return clusters, (
        f"{summary['removed']:,} removed, {summary['unproven']:,} unproven, "
        f"largest cluster {found.sizes.max():,}"
    )


def main() -> None:
    """Print a line for each collection, threshold and kind of cluster."""
    for name in COLLECTIONS:
        labelled = Labelled(Path(sys.argv[1]) / name)
        for threshold in THRESHOLDS:
            for way in WAYS:
                clusters, size = clusters_of(labelled.documents, way, threshold)
                rates = labelled.rates(clusters)
                print(
                    f"{name} {threshold:.2f} {way:10} F1 {rates.f1:.3f} "
                    f"(precision {rates.precision:.3f}, recall {rates.recall:.3f}); {size}",
                    flush=True,
                )


if __name__ == "__main__":
    main()

"""Clusters: verified pairs → clusters of documents, and the document to keep of each."""

from neardup.cluster.clusters import WAYS, Clusters, Copies, Pairs, star
from neardup.cluster.keep import KeepPolicy, keep
from neardup.kernels.set_join import components

__all__ = ["WAYS", "Clusters", "Copies", "KeepPolicy", "Pairs", "components", "keep", "star"]

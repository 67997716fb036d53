"""Clusters: proven pairs → which documents belong together, and which of them stays."""

from neardup.cluster.clusters import WAYS, Clusters, Copies, Pairs
from neardup.cluster.keep import KeepPolicy, keep
from neardup.cluster.star import star
from neardup.kernels.similar import components

__all__ = ["WAYS", "Clusters", "Copies", "KeepPolicy", "Pairs", "components", "keep", "star"]

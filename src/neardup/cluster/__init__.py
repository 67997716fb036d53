"""Clusters: proven pairs → which documents belong together, and which of them stays."""

from neardup.cluster.clusters import WAYS, Clusters, Copies, Pairs, star
from neardup.cluster.keep import KeepPolicy, keep
from neardup.kernels.set_join import components

__all__ = ["WAYS", "Clusters", "Copies", "KeepPolicy", "Pairs", "components", "keep", "star"]

"""Clusters: which documents belong together, and which of them are kept."""

from neardup.cluster.chains import Chains, chains
from neardup.cluster.clusters import Clusters, pairs_in
from neardup.cluster.dense import dense
from neardup.cluster.keep import KeepPolicy
from neardup.cluster.rule import ClusterRule
from neardup.kernels.set_join import components

__all__ = [
    "Chains",
    "ClusterRule",
    "Clusters",
    "KeepPolicy",
    "chains",
    "components",
    "dense",
    "pairs_in",
]

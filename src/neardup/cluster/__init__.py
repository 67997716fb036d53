"""Clusters: which documents belong together, and which of them are kept."""

from neardup.cluster.chains import Chains, chains
from neardup.cluster.clusters import Clusters
from neardup.cluster.keep import KeepPolicy
from neardup.kernels.set_join import components

__all__ = ["Chains", "Clusters", "KeepPolicy", "chains", "components"]

"""Published figures of others on the two public benchmarks; none are ours.

The rows of text-dedup, and those of the three papers, are as its README lists them (ChenghaoMou/
text-dedup, README.md at commit 09fe44ae); the papers are the sources of their own rows.
"""

from __future__ import annotations

from neardup.frozen import dataclass

TEXT_DEDUP = "text-dedup, README"
GYAWALI = "Gyawali, Anastasiou and Knoth, LREC 2020"
RETSIM = "Zhang et al., RETSim, ICLR 2024"
SILCOCK = "Silcock et al., Noise-Robust De-Duplication at Scale, ICLR 2023"


@dataclass(frozen=True)
class PublishedCore:
    """A row on CORE: rates of duplicates, rates of non-duplicates, the mean, accuracy, seconds."""

    method: str
    source: str
    precision_duplicates: float
    recall_duplicates: float
    precision_others: float
    recall_others: float
    macro_published: float
    accuracy: float
    seconds: float | None = None


@dataclass(frozen=True)
class PublishedNews:
    """A row on NEWS-COPY."""

    method: str
    source: str
    ari: float


CORE = (
    PublishedCore("MinHash", TEXT_DEDUP, 0.9594, 0.9445, 0.9474, 0.9616, 0.9534, 0.924, 18.88),
    PublishedCore("MinHash Spark", TEXT_DEDUP, 0.957, 0.9445, 0.9471, 0.959, 0.952, 0.9202, 691.77),
    PublishedCore("UniSim", TEXT_DEDUP, 0.9307, 0.8924, 0.9055, 0.9394, 0.9181, 0.9054, 1305.79),
    PublishedCore("SimHash", TEXT_DEDUP, 0.9042, 0.721, 0.792, 0.9329, 0.8481, 0.8321, 644.36),
    PublishedCore("Exact Title", TEXT_DEDUP, 0.8302, 0.5521, 0.7098, 0.9065, 0.77, 0.7456),
    PublishedCore("RETSim Partial-Dup", RETSIM, 0.945, 0.941, 0.945, 0.949, 0.945, 0.928),
    PublishedCore("RETSim Near-Dup", RETSIM, 0.928, 0.937, 0.942, 0.934, 0.935, 0.926),
    PublishedCore("LaBSE", RETSIM, 0.937, 0.923, 0.930, 0.943, 0.933, 0.919),
    PublishedCore("Multilingual E5-Base", RETSIM, 0.931, 0.908, 0.919, 0.939, 0.924, 0.920),
    PublishedCore("MinHash + LSH", RETSIM, 0.929, 0.902, 0.915, 0.938, 0.921, 0.918),
    PublishedCore("Multilingual USE", RETSIM, 0.917, 0.907, 0.918, 0.927, 0.917, 0.909),
    PublishedCore("Hybrid Method", GYAWALI, 0.908, 0.828, 0.899, 0.979, 0.904, 0.903),
    PublishedCore("Document Vector Similarity", GYAWALI, 0.912, 0.779, 0.861, 0.986, 0.885, 0.883),
    PublishedCore("Exact Title Matching", GYAWALI, 0.830, 0.50, 0.709, 0.992, 0.757, 0.746),
    PublishedCore("Simhash Matching", GYAWALI, 0.697, 0.247, 0.598, 0.985, 0.631, 0.616),
)

NEWS_COPY = (
    PublishedNews("Re-ranking", SILCOCK, 0.937),
    PublishedNews("Bi-encoder", SILCOCK, 0.915),
    PublishedNews("RETSim Partial-Dup", RETSIM, 0.831),
    PublishedNews("MinHash", RETSIM, 0.783),
    PublishedNews("MinHash", TEXT_DEDUP, 0.742),
    PublishedNews("Multilingual E5-Base", RETSIM, 0.742),
    PublishedNews("MinHash (Spark)", TEXT_DEDUP, 0.740),
    PublishedNews("MinHash", SILCOCK, 0.737),
    PublishedNews("Multilingual USE", RETSIM, 0.730),
    PublishedNews("RETSim Near-Dup", RETSIM, 0.704),
    PublishedNews("S-BERT", SILCOCK, 0.700),
    PublishedNews("SimHash", RETSIM, 0.695),
    PublishedNews("SimHash", TEXT_DEDUP, 0.612),
    PublishedNews("n-gram", SILCOCK, 0.440),
    # text-dedup remarks that it could not reproduce the figure of the paper.
    PublishedNews("RETSim Near-Dup + ANN", TEXT_DEDUP, 0.051),
)

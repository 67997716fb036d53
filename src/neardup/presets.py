"""Presets: the settings of known systems, by name."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from neardup.errors import SettingError
from neardup.settings import RECIPE, Similarity


@dataclass(frozen=True)
class Preset:
    """The settings of a known system: fingerprints, search, and accepted pairs.

    A pair is accepted if its similarity is at least `threshold` or, for similarity `hamming`, if it
    is within `max_distance` bits; several distances give several results in one run.
    """

    name: str
    about: str
    features: str
    weights: str
    hash: str
    bits: int
    candidates: str
    similarity: Similarity
    threshold: float | None = None
    max_distance: tuple[int, ...] = ()
    tie: str = ">0"
    projection: str | None = None

    @property
    def recipe(self) -> dict[str, Any]:
        """The settings that make fingerprints, as `Scheme.of` takes them."""
        return {name: getattr(self, name) for name in RECIPE}

    def to_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return asdict(self)


_ALL = (
    # CAIM (Moreno and Lagos, UPC, 2025): tf-idf vectors of 58,102 arXiv abstracts, term bits of
    # MD5, bit 1 where the sum is > 0, true from cosine 0.9. It measures M = 2, 3, 4 tables of K
    # = 10, 12, 18, 27 bits without a preference; 3 x 18 is in its table and the choice of IRRS.
    Preset(
        name="caim",
        about="arXiv abstracts by tf-idf: 3 tables of 18 bits, cosine from 0.9",
        features="word:1",
        weights="tfidf:lab",
        hash="md5",
        bits=54,
        candidates="bands:3x18",
        similarity="cosine",
        threshold=0.9,
    ),
    # IRRS lab 6 (Azzarito and Hagen, 2025): the same vectors and hash, bit 1 where the sum is
    # >= 0 (section 2), tau = 0.8 (section 4), "the default values of M = 3 and K = 18" (section 5).
    Preset(
        name="irrs",
        about="the same with ties upwards: 3 tables of 18 bits, cosine from 0.8",
        features="word:1",
        weights="tfidf:lab",
        hash="md5",
        bits=54,
        tie=">=0",
        candidates="bands:3x18",
        similarity="cosine",
        threshold=0.8,
    ),
    # A blog on SimHash for Chinese text (xv44586, 2019): jieba's 50 best words (topK=50) by tf-idf,
    # the last 64 bits of a multiplicative string hash, four tables of 16 bits, distance 3.
    Preset(
        name="blog",
        about="Chinese pages by 50 keywords: 4 tables of 16 bits, distance up to 3",
        features="keywords:50",
        weights="tfidf",
        hash="string64",
        bits=64,
        candidates="blocks:3",
        similarity="hamming",
        max_distance=(3,),
    ),
    # Slides on hashing (Vitrià and Ribera, Universitat de Barcelona): sets of letter bigrams,
    # 32 bits of an unnamed hash, sorted under each of the 32 rotations, neighbours compared. They
    # give no threshold: all address pairs that are "surely the same" have a Jaccard index of at
    # least 0.716, and the lower of the two doubtful pairs has 0.644.
    Preset(
        name="slides",
        about="addresses by letter pairs: sorted in 32 rotations, Jaccard from 0.7",
        features="char:2",
        weights="set",
        hash="nd1",
        bits=32,
        candidates="rotate:32",
        similarity="jaccard",
        threshold=0.7,
    ),
    # A homework on 158,000 Wikipedia articles: 42 bits of MD5 of every word, summed; the signs of
    # 64 dot products with vectors spread over a half-sphere; word counts that differ by up to
    # 20 %; results at 5, 10 and 15 bits.
    Preset(
        name="sphere",
        about="Wikipedia by a sphere: lengths within 20 %, distances 5, 10 and 15",
        features="word:1",
        weights="count",
        hash="md5",
        bits=64,
        projection="sphere:42x64",
        candidates="length:0.2",
        similarity="hamming",
        max_distance=(5, 10, 15),
    ),
    # Manku, Jain and Das Sarma, Detecting Near-Duplicates for Web Crawling (WWW 2007): 64 bits and
    # distance 3 (their abstract), with tables of 3 of 6 blocks as in their example of 20 tables.
    # Features are words weighted as in information retrieval; the paper specifies neither these
    # nor the hash.
    Preset(
        name="google2007",
        about="web pages, Manku et al. 2007: 20 permuted tables, distance up to 3",
        features="word:1",
        weights="tfidf",
        hash="nd1",
        bits=64,
        candidates="blocks:3/6",
        similarity="hamming",
        max_distance=(3,),
    ),
)
PRESETS = {one.name: one for one in _ALL}


def preset(name: str) -> Preset:
    """The preset with this name.

    >>> preset("irrs").threshold
    0.8
    """
    if name not in PRESETS:
        raise SettingError(
            f"preset={name!r} is unknown; choose {', '.join(PRESETS)} (`neardup presets` "
            "describes them)"
        )
    return PRESETS[name]

"""`blog`: keywords of Chinese texts, 64 bits, four tables of 16 bits, distance 3."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log2

import numpy as np
from numpy.typing import NDArray

from neardup.fingerprints import Fingerprints, hamming
from neardup.lab.reproduce.documents import KnownIds, KnownPairs, fingerprinted
from neardup.lab.reproduce.exact import blog_values
from neardup.lab.reproduce.generated import generated_corpus
from neardup.lab.reproduce.report import BesideTable, Cell, Reproduction
from neardup.pairs.by_fingerprints import find_pairs, plan_of
from neardup.pairs.by_fingerprints.probe import ProbePlan
from neardup.presets import preset

# Each new document has 43,745 patterns to look up; 200 documents take seconds.
NEWCOMERS = 200
LIMITS = (0, 1, 2, 3, 5, 8, 10, 15)
# Numbers of words, which in Chinese are characters; the original recommends SimHash from 500 on.
LENGTHS = (0, 25, 50, 100, 200, 500)


def reproduce_blog(
    inputs: Sequence[str] = (),
    *,
    text: str | None = None,
    id: str | None = None,
    truth: str | None = None,
    threads: int | None = None,
) -> Reproduction:
    """Fingerprint texts by keywords and search them with each method of the original.

    Without `inputs`, on generated texts whose copies are known.
    """
    began = time.perf_counter()
    known = preset("blog")
    made = None if inputs else generated_corpus("blog")
    known_ids = made.known if made else None if truth is None else KnownIds.read(truth)
    documents = inputs if made is None else made.documents
    found, ids = fingerprinted(documents, known, text=text, id=id, threads=threads)
    (limit,) = known.max_distance
    pairs = None if known_ids is None else known_ids.among(ids)
    searches = _searches(found, known.candidates, limit, threads)
    crowding = Crowding.of(found)
    tables = [searches, crowding.table()]
    if pairs is not None:
        distances = np.asarray(hamming(found[pairs.a], found[pairs.b]))
        tables += [_by_limit(distances), _by_length(found, pairs, distances, limit)]
    differences = _differences(tables, limit, pairs is not None)
    return Reproduction(
        "blog",
        "A blog on SimHash for Chinese pages (xv44586, 2019): jieba's 50 best keywords, 64 bits of "
        "a multiplicative string hash, four tables of 16 bits, distance up to 3",
        f"{made.told if made else f'{len(found):,} documents'} ({found.scheme})",
        len(found),
        time.perf_counter() - began,
        (*tables, blog_values(limit)),
        {
            "distinct": crowding.distinct,
            "depth": crowding.depth,
            "shared": crowding.shared,
            "fair": crowding.fair,
            "fullest": crowding.fullest,
            **({} if pairs is None else {"known_pairs": len(pairs)}),
        },
        (*(made.sentences if made else ()), *differences),
    )


def _searches(found: Fingerprints, tables: str, limit: int, threads: int | None) -> BesideTable:
    """Each search method of the original, for some of the documents."""
    filled = found[~found.empty]
    new = np.zeros(len(filled), np.bool_)
    new[:: -(-len(filled) // NEWCOMERS)] = True
    newcomers, others = filled[new], filled[~new]
    flips = ProbePlan.of_flips(limit, found.bits)
    depth = max(1, floor(log2(max(2, len(filled)))))
    ways = (
        ("compare with all", "slow", "all"),
        (
            f"flip up to {limit} bits: {flips.probes:,} look-ups each",
            "for few documents",
            flips.name,
        ),
        ("4 tables of 16 bits", "fast, complete", tables),
        (f"the top {depth} bits of the sorted set", "narrows", f"prefix:{depth}"),
    )
    rows: list[tuple[Cell, ...]] = []
    for way, published, name in ways:
        plan = plan_of(name, found.bits)
        started = time.perf_counter()
        near = find_pairs(newcomers, others, limit, plan, threads=threads)
        each = (time.perf_counter() - started) / max(1, len(newcomers))
        rows.append((way, published, name, len(near), 1000 * each))
    return BesideTable.of(
        f"{len(newcomers):,} documents looked up among the others, tables built anew",
        {
            "way": "way",
            "published": "published",
            "plan": "plan",
            "pairs": f"found within {limit}",
            "milliseconds": "milliseconds each",
        },
        rows,
    )


@dataclass(frozen=True)
class Crowding:
    """How many distinct fingerprints share the top d bits, where 2^d is about their number."""

    distinct: int
    depth: int
    shared: float
    fullest: int

    @classmethod
    def of(cls, found: Fingerprints) -> Crowding:
        """Count them; each fingerprint counts itself too."""
        words = np.unique(found.array[~found.empty][:, 0])
        depth = max(1, floor(log2(max(2, len(words)))))
        _, counts = np.unique(words >> np.uint64(64 - depth), return_counts=True)
        met = float((counts.astype(np.float64) ** 2).sum() / max(1, len(words)))
        return cls(len(words), depth, met, int(counts.max(initial=0)))

    @property
    def fair(self) -> float:
        """The expected value of `shared` if bits were fair coins."""
        return 1 + (self.distinct - 1) / float(2**self.depth)

    def table(self) -> BesideTable:
        """The claims of the original and the measured values."""
        return BesideTable.of(
            f"The sorted set of {self.distinct:,} different fingerprints",
            {"what": "", "published": "published", "ours": "here", "fair": "fair bits"},
            [
                (f"that share the top {self.depth} bits", "few", self.shared, self.fair),
                (f"in the fullest of {2**self.depth:,} places", "few", self.fullest, None),
            ],
        )


def _by_limit(distances: NDArray[np.int64]) -> BesideTable:
    rows: list[tuple[Cell, ...]] = [
        (limit, "similar" if limit == 3 else None, float((distances <= limit).mean()))
        for limit in LIMITS
    ]
    return BesideTable.of(
        f"The {len(distances):,} known pairs",
        {"limit": "within bits", "published": "published", "found": "share found"},
        rows,
    )


def _by_length(
    found: Fingerprints, pairs: KnownPairs, distances: NDArray[np.int64], limit: int
) -> BesideTable:
    """Known pairs within the limit, by the length of the shorter text."""
    shorter = np.minimum(found.words[pairs.a], found.words[pairs.b])
    rows: list[tuple[Cell, ...]] = []
    for low, high in zip(LENGTHS, (*LENGTHS[1:], None), strict=True):
        inside = shorter >= low if high is None else (shorter >= low) & (shorter < high)
        if inside.any():
            told = f"{low} and more" if high is None else f"{low} to {high - 1}"
            suits = "suits" if low >= 500 else "may be far off"
            share = float((distances[inside] <= limit).mean())
            rows.append((told, suits, int(inside.sum()), share))
    return BesideTable.of(
        f"Known pairs within {limit} bits, by length",
        {
            "words": "words (characters) of the shorter",
            "published": "published",
            "pairs": "known pairs",
            "found": "share found",
        },
        rows,
    )


def _differences(tables: list[BesideTable], limit: int, with_truth: bool) -> list[str]:
    searches = tables[0]
    complete, flipped, by_tables, by_prefix = searches.column("pairs")
    sentences = [
        "Published: the blog shows code and arguments but no table; that column quotes its text.",
        f"Completeness: flipping bits finds {flipped} and the four tables find {by_tables} of the "
        f"{complete} pairs within {limit} bits; the top bits alone find {by_prefix}: one differing "
        "bit among them loses a pair.",
        "Keywords: the blog segments a text with jieba, joins the words with | and segments the "
        "result again; we segment the text once.",
    ]
    if not with_truth:
        sentences.append(
            "Recall: give known pairs (--truth, a Parquet file with their ids as a and b) to see "
            f"what share of them lies within {limit} bits; it was not published."
        )
    else:
        found = dict(zip(tables[2].column("limit"), tables[2].column("found"), strict=True))
        sentences.append(
            f"Recall: the blog takes the limit {limit} from Google and advises testing it; here it "
            f"finds {found[limit]:.1%} of the known pairs, and 10 bits would find {found[10]:.1%}."
        )
    return sentences

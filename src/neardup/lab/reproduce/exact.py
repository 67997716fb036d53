"""The published values that need no data."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from neardup.fingerprints import fingerprint, hamming
from neardup.hashes import hash_family
from neardup.lab.reproduce.published import (
    BLOG_DISTANCE,
    BLOG_HASHES,
    WIKIPEDIA_DOCUMENTS,
    WORKED_BITS,
    WORKED_FINGERPRINT,
    WORKED_SUMS,
    WORKED_WEIGHTS,
)
from neardup.lab.reproduce.report import BesideTable, Cell
from neardup.pairs.by_fingerprints.plan import pairs_of
from neardup.pairs.by_fingerprints.probe import ProbePlan

_TITLE = "Exactly, without data"
_COLUMNS = {"what": "", "published": "published", "ours": "ours"}


def worked_example(tie: str) -> BesideTable:
    """The exercise of both labs: a document of two terms, by hand and by neardup."""
    width = len(WORKED_FINGERPRINT)
    digests = hash_family("md5").digest(list(WORKED_WEIGHTS), width)[:, 0]
    bits = [f"{int(digest):064b}"[:width] for digest in digests]
    signs = np.array([[1 if bit == "1" else -1 for bit in one] for one in bits])
    sums = np.array(list(WORKED_WEIGHTS.values())) @ signs
    found = fingerprint([WORKED_WEIGHTS], features="terms", hash="md5", bits=width, tie=tie)
    rows: list[tuple[Cell, ...]] = [
        (f"bits of {term}", published, ours)
        for (term, published), ours in zip(WORKED_BITS.items(), bits, strict=True)
    ]
    rows.append(("sums", _listed(WORKED_SUMS), _listed(sums.tolist())))
    rows.append(("fingerprint", WORKED_FINGERPRINT, f"{found[0]:0{width}b}"))
    return BesideTable.of(_TITLE, _COLUMNS, rows)


def blog_values(limit: int) -> BesideTable:
    """What the blog computes or says without a text."""
    family = hash_family("string64")
    rows: list[tuple[Cell, ...]] = [
        (f"hash of {word}, by the published code", digits, f"{family.value(word):016x}")
        for word, digits in BLOG_HASHES.items()
    ]
    (a, b), distance = BLOG_DISTANCE
    rows.append((f"bits in which {a} and {b} differ", str(distance), str(hamming(a, b))))
    flips = ProbePlan.of_flips(limit, 64).probes
    rows.append((f"patterns within {limit} of 64 bits", "all k-bit flips", f"{flips:,}"))
    return BesideTable.of(_TITLE, _COLUMNS, rows)


def sphere_values(share: Fraction, windows: int, least: int) -> BesideTable:
    """The comparisons that the homework estimates, for its number of documents."""
    rows: list[tuple[Cell, ...]] = [
        (
            f"comparisons of all {WIKIPEDIA_DOCUMENTS:,}",
            "tens of billions",
            f"{int(pairs_of(WIKIPEDIA_DOCUMENTS)):,}",
        ),
        (f"windows of lengths within {float(share):.0%}, at most", None, f"{windows:,}"),
        ("comparisons in so many windows, at least", "some millions", f"{least:,}"),
    ]
    return BesideTable.of(_TITLE, _COLUMNS, rows)


def _listed(values: Iterable[float]) -> str:
    return " ".join(f"{value:g}" for value in values)

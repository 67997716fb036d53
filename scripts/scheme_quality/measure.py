"""Measure every scheme on one corpus."""

from __future__ import annotations

import platform
import sys
import time
from datetime import datetime, timezone

from benchmarks.result import machine, package_versions
from scripts.scheme_quality.corpora import Corpus, Pairs
from scripts.scheme_quality.distances import Distances
from scripts.scheme_quality.results import Json
from scripts.scheme_quality.schemes import Choice

import neardup as nd
from neardup.fingerprints import Fingerprints, hamming

PACKAGES = ("neardup", "numpy", "pyarrow", "jieba")


def measured(corpus: Corpus) -> Json:
    """The distances of both kinds of pairs under each scheme, and how long it took."""
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "machine": machine(),
        "versions": {"python": platform.python_version(), **package_versions(PACKAGES)},
        **corpus.about(),
        "rows": [_row(corpus, choice) for choice in corpus.choices],
    }


def _row(corpus: Corpus, choice: Choice) -> Json:
    documents = corpus.documents[choice.of]
    begin = time.perf_counter()
    found = nd.fingerprint(documents, **choice.settings)
    seconds = time.perf_counter() - begin
    print(f"{seconds:7.1f} s  {choice.name}", file=sys.stderr)
    return {
        "name": choice.name,
        "scheme": str(found.scheme),
        "seconds": round(seconds, 4),
        "true": _distances(found, corpus.true, choice).counts,
        "random": _distances(found, corpus.random, choice).counts,
    }


def _distances(found: Fingerprints, pairs: Pairs, choice: Choice) -> Distances:
    a, b = (found[rows] for rows in pairs)
    if a.empty.any() or b.empty.any():
        raise SystemExit(f"{choice.name}: documents with words have no fingerprint")
    return Distances.of(hamming(a, b), found.bits)

"""Weighted features → 64-bit fingerprints, one thread: terms that documents bring, and tf-idf."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import corpora, measure
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target

BENCHMARK = "weighted"
OURS = "neardup"
TERMS = "terms/given"
TFIDF = "word:1/tfidf"
LEAST = 20.0  # million features a second


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    chosen = measure.options(BENCHMARK, __doc__, rounds=3).parse_args(arguments)
    if not corpora.arxiv_is_here():
        raise SystemExit(f"{corpora.ARXIV} is missing, which this is measured on")
    measure.one_thread_each()
    documents = pq.read_table(corpora.ARXIV / "features.parquet").combine_chunks()
    texts = corpora.load("English").texts
    rows = [*_term_rows(documents, chosen.rounds), *_text_rows(texts, chosen.rounds)]
    versions = package_versions(["neardup", "numpy", "scipy", "scikit-learn", "simhash"])
    conditions = {"rounds": chosen.rounds, "documents": len(documents)}
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


def _term_rows(documents: pa.Table, rounds: int) -> Iterator[Json]:
    """Terms and weights as they lie in a table, hashed by MD5, to fingerprints."""
    import neardup as nd
    from neardup import kernels
    from neardup.features.given import given_terms, term_columns
    from neardup.hashes import hash_family

    terms = given_terms(*next(term_columns(documents)), "given")
    digests = hash_family("md5").digest(terms.vocabulary, 64)
    numbered = (terms.offsets, terms.places, terms.counts)
    kernel = partial(kernels.weigh, *numbered, digests, bits=64, ties_up=False)
    contestants: list[tuple[str, Callable[[], Any]]] = [
        (OURS, partial(nd.fingerprint, documents, "terms", hash="md5", threads=1)),
        ("neardup, the kernel alone", kernel),
        ("SciPy product with ±1, numbered terms", partial(_product, *numbered, digests)),
        ("simhash, first 2,000 documents", partial(_simhash, documents.slice(0, 2000))),
    ]
    features = len(terms.places)
    sizes = [features, features, features, len(pc.list_flatten(documents["terms"][:2000]))]
    yield from _rows(TERMS, contestants, sizes, rounds)


def _text_rows(texts: pa.Array, rounds: int) -> Iterator[Json]:
    """Texts to fingerprints of their words, weighted by tf-idf."""
    import neardup as nd
    from neardup import kernels

    features = int(kernels.find_features(texts, [("word", 1)])[0][-1])
    idf = nd.idf(texts, "word:1", threads=1)
    contestants: list[tuple[str, Callable[[], Any]]] = [
        (OURS, partial(nd.fingerprint, texts, "word:1", "tfidf", threads=1, idf=idf)),
        ("neardup, counting first", partial(nd.fingerprint, texts, "word:1", "tfidf", threads=1)),
        ("scikit-learn, then SciPy", partial(_vectorized, texts.to_pylist())),
    ]
    yield from _rows(TFIDF, contestants, [features] * 3, rounds)


def _rows(
    task: str, contestants: list[tuple[str, Callable[[], Any]]], sizes: list[int], rounds: int
) -> Iterator[Json]:
    timings = measure.interleaved([run for _, run in contestants], rounds)
    for (name, _), size, timing in zip(contestants, sizes, timings, strict=True):
        yield {
            "task": task,
            "name": name,
            "features": size,
            "cpu_seconds": round(timing.cpu, 3),
            "million_features_per_second": round(size / timing.cpu / 1e6, 2),
        }


def _product(offsets: Any, places: Any, weights: Any, digests: Any) -> Any:
    """What one writes with SciPy: a matrix of weights times a matrix of signs."""
    from scipy.sparse import csr_matrix

    signs = 2.0 * np.unpackbits(digests.astype(">u8").view(np.uint8), axis=1) - 1
    matrix = csr_matrix((weights, places, offsets), shape=(len(offsets) - 1, len(digests)))
    return np.packbits(matrix @ signs > 0, axis=1)


def _vectorized(texts: list[str]) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    from neardup.hashes import hash_family

    vectorizer = TfidfVectorizer(token_pattern=r"\w+")
    matrix = vectorizer.fit_transform(texts)
    digests = hash_family("xxh3").digest(list(vectorizer.get_feature_names_out()), 64)
    return _product(matrix.indptr, matrix.indices, matrix.data, digests)


def _simhash(documents: pa.Table) -> list[int]:
    from simhash import Simhash

    pairs = zip(documents["terms"].to_pylist(), documents["weights"].to_pylist(), strict=True)
    return [Simhash(list(zip(terms, weights, strict=True))).value for terms, weights in pairs]


def section(result: Result) -> str:
    """The part of the page."""
    parts = [
        "## Weighted features, one thread\n",
        provenance(result),
        f"{result.conditions['documents']:,} arXiv abstracts. A feature is a distinct term of a "
        "document with its weight. Rates use CPU time.\n",
    ]
    for task, what in (
        (TERMS, "Terms with tf-idf weights from an Arrow table, hashed with MD5"),
        (TFIDF, "Text to words weighted by tf-idf, with a table counted before"),
    ):
        rows = [
            (row["name"], f"{row['cpu_seconds']:.2f}", f"{row['million_features_per_second']:.1f}")
            for row in result.rows
            if row["task"] == task
        ]
        parts += [f"**{what}** (`{task}/64`)\n", table(("", "CPU s", "M features/s"), rows)]
    return "\n".join(parts)


def targets(result: Result) -> Iterator[Target]:
    """What was set out to reach, judged by the result."""
    for task, name in ((TERMS, OURS), (TERMS, "neardup, the kernel alone"), (TFIDF, OURS)):
        rate = result.row(task=task, name=name)["million_features_per_second"]
        what = f"`{task}/64`" + (", the kernel alone" if name != OURS else "")
        yield Target(what, f"≥ {LEAST:.0f} M features/s", f"{rate:.1f} M/s", rate >= LEAST)


if __name__ == "__main__":
    main()

"""Features that are strings, one thread: MD5 of shingles, sentences and keywords."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import corpora, measure
from benchmarks.corpora import Corpus
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target

BENCHMARK = "strings"
OURS = "neardup"
TWIN = "the same in Python (the twin)"
MEGABYTES, SLOW_MEGABYTES = 8.0, 0.25
LEAST = 10.0
ENGLISH, CHINESE = "arXiv abstracts", "Tang poems"

Contestant = tuple[str, Callable[[Corpus], object], float]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    chosen = measure.options(BENCHMARK, __doc__, rounds=3).parse_args(arguments)
    if not corpora.arxiv_is_here() or not corpora.POEMS.exists():
        raise SystemExit(
            f"{corpora.ARXIV} or {corpora.POEMS} is missing, which this is measured on"
        )
    measure.one_thread_each()
    texts = {ENGLISH: corpora.load("English", MEGABYTES), CHINESE: _poems()}
    rows = [
        row
        for features, hash_name in (
            *(("word:3", "md5"), ("word:1", "md5"), ("char:4", "md5")),
            *(("sentences:5", "nd1"), ("edges", "nd1"), ("keywords:10", "nd1")),
        )
        for name, corpus in texts.items()
        for row in _rows(features, hash_name, name, corpus, chosen.rounds)
    ]
    versions = package_versions(["neardup", "numpy", "simhash", "jieba"])
    conditions = {
        "rounds": chosen.rounds,
        "corpora": {name: corpus.description() for name, corpus in texts.items()},
        "slow_megabytes": SLOW_MEGABYTES,
    }
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


def _poems() -> Corpus:
    poems = pq.read_table(corpora.POEMS, columns=["id", "text"]).combine_chunks()
    ids, texts = (poems[name].chunk(0).cast(pa.large_string()) for name in ("id", "text"))
    return Corpus("Chinese", "tang_poems", ids, texts).first(MEGABYTES)


def _rows(features: str, hash_name: str, name: str, corpus: Corpus, rounds: int) -> Iterator[Json]:
    """Ours on all of a corpus; what takes minutes for that, on its beginning."""
    contestants: list[Contestant] = [
        (OURS, partial(_ours, features, hash_name), MEGABYTES),
        (TWIN, partial(_twin, features, name == CHINESE), SLOW_MEGABYTES),
    ]
    if hash_name == "md5":
        shingles = partial(_shingles, *features.split(":"), chinese=name == CHINESE)
        contestants.append(("simhash", partial(_simhash, shingles), SLOW_MEGABYTES))
    if features.startswith("keywords") and name == CHINESE:
        contestants.append(("jieba, `extract_tags` alone", _jieba, SLOW_MEGABYTES))
    parts = [corpus.first(megabytes) for _, _, megabytes in contestants]
    for (_, run, _), part in zip(contestants, parts, strict=True):
        run(part.first(0.01))  # dictionaries and patterns are loaded before
    runs = [partial(run, part) for (_, run, _), part in zip(contestants, parts, strict=True)]
    for (contestant, _, _), part, timing in zip(
        contestants, parts, measure.interleaved(runs, rounds), strict=True
    ):
        yield {
            "task": f"{features}/{hash_name}",
            "corpus": name,
            "name": contestant,
            "megabytes": round(part.megabytes, 2),
            "cpu_seconds": round(timing.cpu, 4),
            "megabytes_per_second": round(part.megabytes / timing.cpu, 2),
        }


def _ours(features: str, hash_name: str, corpus: Corpus) -> object:
    import neardup as nd

    return nd.fingerprint(corpus.texts, features, hash=hash_name, threads=1)


def _twin(features: str, chinese: bool, corpus: Corpus) -> object:
    """Features without fingerprints; MD5 with its digests, sentences with their hashes."""
    from neardup import kernels
    from neardup.features.chinese import jieba_idf
    from neardup.kernels.columns import text_column
    from neardup.kernels.reference import keywords, sentences, terms

    unit, _, size = features.partition(":")
    texts = corpus.texts.to_pylist()
    if unit in ("sentences", "edges"):
        choose = partial(_chosen, int(size)) if size else sentences.edge_sentences
        chosen = [sentence for text in texts for sentence in choose(text)]
        return kernels.find_sets(text_column(chosen), [("word", 2**31 - 1)])
    if unit == "keywords" and chinese:
        return [keywords.chinese_keywords(text, int(size), *jieba_idf()) for text in texts]
    if unit == "keywords":
        return list(map(keywords.keyword_words, texts))
    found = terms.find_terms([[text] for text in texts], [None], [(unit, int(size))])
    return [hashlib.md5(term.encode()).digest() for term in found.vocabulary]


def _chosen(count: int, text: str) -> list[str]:
    from neardup.kernels.reference.sentences import longest_sentences

    return longest_sentences(text, count)


def _shingles(unit: str, size: str, text: str, *, chinese: bool) -> list[str]:
    """What one writes in Python for a peer that takes features."""
    count, between = int(size), " " if unit == "word" else ""
    pattern = r"\w" if chinese else r"\w+"
    units: Sequence[str] = re.findall(pattern, text.lower()) if unit == "word" else text.lower()
    return [between.join(units[i : i + count]) for i in range(max(1, len(units) - count + 1))]


def _simhash(shingles: Callable[[str], list[str]], corpus: Corpus) -> object:
    from simhash import Simhash

    return [Simhash(shingles(text)).value for text in corpus.texts.to_pylist()]


def _jieba(corpus: Corpus) -> object:
    from neardup.kernels.reference.chinese import jieba_module

    jieba_module("jieba").setLogLevel("CRITICAL")
    extract = jieba_module("jieba.analyse").extract_tags
    return [extract(text, topK=10, withWeight=True) for text in corpus.texts.to_pylist()]


def section(result: Result) -> str:
    """The part of the page."""
    described: dict[str, Any] = result.conditions["corpora"]
    sizes = " and ".join(
        f"{one['documents']:,} {name} ({one['megabytes']:.0f} MB)"
        for name, one in described.items()
    )
    rows = []
    for row in result.rows:
        own = result.row(task=row["task"], corpus=row["corpus"], name=OURS)
        ratio = own["megabytes_per_second"] / row["megabytes_per_second"]
        rate = f"{row['megabytes_per_second']:.1f}"
        times = "" if row["name"] == OURS else f"{ratio:.0f} ×"
        rows.append((f"`{row['task']}`", row["corpus"], row["name"], rate, times))
    return "\n".join(
        (
            "## Features that are strings, one thread\n",
            provenance(result),
            f"{sizes}; twins and peers on the first {result.conditions['slow_megabytes']:g} MB. "
            "neardup computes 64-bit fingerprints, the twins only features. Rates use CPU time.\n",
            table(("features/hash", "texts", "", "MB/s", "neardup is faster"), rows),
        )
    )


def targets(result: Result) -> Iterator[Target]:
    """What was set out to reach, judged by the result."""
    ratios = []
    for row in result.rows:
        if row["name"] == OURS:
            twin = result.row(task=row["task"], corpus=row["corpus"], name=TWIN)
            ratios.append(row["megabytes_per_second"] / twin["megabytes_per_second"])
    least = float(np.min(ratios))
    yield Target(
        "MD5, sentences and keywords natively",
        f"≥ {LEAST:.0f} × Python",
        f"{least:.0f} × and more",
        least >= LEAST,
    )


if __name__ == "__main__":
    main()

"""The collections that stand in for the original ones, if no data are given."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup.lab.reproduce.documents import KnownIds
from neardup.presets import PRESETS
from neardup.samples.articles import articles, chinese, known_pairs

# What the original collection was, and what to run on it or on its like.
_ORIGINALS = {
    "arxiv": "58,102 abstracts of arXiv, as tf-idf vectors of the course; with those in columns "
    "id, terms and weights, run neardup reproduce {preset} VECTORS.parquet. All abstracts are at "
    "https://www.kaggle.com/datasets/Cornell-University/arxiv; on their texts, run neardup sweep "
    "ABSTRACTS.json --text abstract --features word:1 --weights tfidf:lab --hash md5 --similarity "
    "cosine --threshold {threshold} --bands 2,3,4 --band-bits 10,12,18 --exact.",
    "pages": "the blog names no collection. With any Chinese texts, such as the articles at "
    "https://dumps.wikimedia.org/zhwiki, run neardup reproduce {preset} ARTICLES.jsonl.",
    "wikipedia": "158,000 articles of Wikipedia. With the texts of a dump from "
    "https://dumps.wikimedia.org, run neardup reproduce {preset} ARTICLES.jsonl.",
}
_ORIGINAL_OF = {"caim": "arxiv", "irrs": "arxiv", "blog": "pages", "sphere": "wikipedia"}


@dataclass(frozen=True, eq=False)
class GeneratedCorpus:
    """Generated articles with their known copies, and sentences on what they stand for."""

    documents: pa.Table
    known: KnownIds
    told: str
    sentences: tuple[str, ...]


def generated_corpus(preset: str) -> GeneratedCorpus:
    """The generated collection for a system that needs data."""
    kind, rows = ("chinese", chinese()) if preset == "blog" else ("articles", articles())
    documents = pa.table({"id": [row.id for row in rows], "text": [row.text for row in rows]})
    a, b = zip(*known_pairs(rows), strict=True)
    told = f"{len(rows):,} generated articles"
    original = _ORIGINALS[_ORIGINAL_OF[preset]].format(
        preset=preset, threshold=PRESETS[preset].threshold
    )
    return GeneratedCorpus(
        documents,
        KnownIds(f"the sample {kind}", pa.table({"a": a, "b": b})),
        told,
        (
            f"Data: these are {told}, which `neardup sample {kind}` writes. Counts, recall and "
            "times are theirs and show how the system works; the last table has what needs no "
            "data, and is exact.",
            f"Original: {original}",
        ),
    )

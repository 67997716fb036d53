"""The corpora that are measured: English from arXiv where it is at hand, generated ones beside."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import generated
from benchmarks.generated import MEGABYTE

ARXIV = Path(__file__).parents[2] / "shared" / "data" / "arxiv"
GENERATED_MEGABYTES = 64.0
NAMES = ("English", "Russian", "Chinese")


@dataclass(frozen=True)
class Corpus:
    """Documents of one language, their ids, and where they come from."""

    name: str
    source: str
    ids: pa.Array
    texts: pa.LargeStringArray

    @property
    def megabytes(self) -> float:
        """The size of the text in UTF-8, in millions of bytes."""
        return float(pc.sum(pc.binary_length(self.texts)).as_py() or 0) / MEGABYTE

    @property
    def writes_without_spaces(self) -> bool:
        """Whether a word is a character, so that splitting at white space finds no words."""
        return self.name == "Chinese"

    def first(self, megabytes: float) -> Corpus:
        """The first documents, as many as it takes to reach `megabytes`."""
        sizes = pc.cumulative_sum(pc.binary_length(self.texts).cast(pa.int64()))
        count = 1 + pc.sum(pc.less(sizes, pa.scalar(int(megabytes * MEGABYTE)))).as_py()
        return Corpus(self.name, self.source, self.ids[:count], self.texts[:count])

    def description(self) -> dict[str, object]:
        """What a result says of the corpus it was measured on."""
        return {
            "name": self.name,
            "source": self.source,
            "documents": len(self.texts),
            "megabytes": round(self.megabytes, 1),
        }


def load(name: str, megabytes: float | None = None) -> Corpus:
    """One of `NAMES`, whole (generated ones 64 MB), or its first `megabytes`."""
    if name == "English" and arxiv_is_here():
        table = pq.read_table(ARXIV / "docs.parquet", columns=["id", "text"]).combine_chunks()
        ids, texts = (table[column].chunk(0).cast(pa.large_string()) for column in ("id", "text"))
        whole = Corpus(name, "arXiv abstracts", ids, texts)
        return whole if megabytes is None else whole.first(megabytes)
    if name == "English":
        print(f"{ARXIV} is absent: English is generated instead of arXiv", file=sys.stderr)
    size = GENERATED_MEGABYTES if megabytes is None else megabytes
    texts = generated.texts(generated.language(name), size)
    ids = pa.array([f"{name}-{row}" for row in range(len(texts))], pa.large_string())
    return Corpus(name, f"generated {name}", ids, texts)


def arxiv_is_here() -> bool:
    """Whether the arXiv abstracts lie beside the repository."""
    return (ARXIV / "docs.parquet").exists()


def known_pairs(corpus: Corpus) -> pa.Table:
    """The pairs `a`, `b` of ids known to be alike; generated documents are all unrelated."""
    if corpus.source != "arXiv abstracts":
        return pa.table(
            {"a": pa.array([], pa.large_string()), "b": pa.array([], pa.large_string())}
        )
    return pq.read_table(ARXIV / "pairs.parquet", columns=["a", "b"])

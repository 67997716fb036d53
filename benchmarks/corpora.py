"""The corpora that are measured: real ones where they are at hand, generated ones beside."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import generated
from benchmarks.generated import MEGABYTE

DATA = Path(__file__).parents[2] / "shared" / "data"
ARXIV = DATA / "arxiv"
POEMS = DATA / "tang_poems" / "docs.parquet"
GENERATED_MEGABYTES = 64.0
GENERATED = ("English", "Russian", "Chinese")
SOURCE, POETRY = "source code", "Tang poems"
NAMES = (*GENERATED, SOURCE, POETRY)
# So many poems are a document of the size of the generated ones.
POEMS_A_DOCUMENT = 25


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
        return self.name in ("Chinese", POETRY)

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
    """One of `NAMES`, whole (source code and generated ones 64 MB), or its first `megabytes`."""
    if name == SOURCE:
        return _source_code(megabytes or GENERATED_MEGABYTES)
    if name == POETRY:
        whole = _poetry()
        return whole if megabytes is None else whole.first(megabytes)
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


def _source_code(megabytes: float) -> Corpus:
    """Files of the Python installations of this machine."""
    from benchmarks import dedup_real  # which uses this module

    texts, size = [], 0
    for text in dedup_real.source_texts():
        texts.append(text)
        size += len(text.encode())
        if size >= megabytes * MEGABYTE:
            break
    ids = pa.array([f"file-{row}" for row in range(len(texts))], pa.large_string())
    return Corpus(SOURCE, "files of Python installations", ids, pa.array(texts, pa.large_string()))


def _poetry() -> Corpus:
    """Real Chinese: the Complete Tang Poems, some to a document."""
    if not POEMS.exists():
        print(f"{POEMS} is absent: Chinese is generated instead of poems", file=sys.stderr)
        made = load("Chinese")
        return Corpus(POETRY, made.source, made.ids, made.texts)
    poems = pq.read_table(POEMS, columns=["text"])["text"].to_pylist()
    starts = range(0, len(poems), POEMS_A_DOCUMENT)
    texts = ["\n".join(poems[start : start + POEMS_A_DOCUMENT]) for start in starts]
    ids = pa.array([f"poems-{start}" for start in starts], pa.large_string())
    about = f"Complete Tang Poems, {POEMS_A_DOCUMENT} to a document"
    return Corpus(POETRY, about, ids, pa.array(texts, pa.large_string()))


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

"""Small runs that are stored in folders, and their tables by places, read the plain way."""

import random
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq

import neardup as nd

SCRIPTS = [
    "the quick brown fox",
    "東京大學不知道",
    "كتاب جديد عن الطبيعة",
    "наука и жизнь",
    "😀 emoji 🚀",
    'quotes "inside" AND or NOT NEAR(',
]


def texts(families=40, words=40, seed=1):
    """Families of near-duplicates, with chains, exact copies, single texts and empty ones."""
    chance = random.Random(seed)
    vocabulary = [f"w{number}" for number in range(800)]
    found = ["", "one", "one"]
    for family in range(families):
        text = chance.choices(vocabulary, k=words)
        text.insert(chance.randrange(words), SCRIPTS[family % len(SCRIPTS)])
        found.append(" ".join(text))
        for _ in range(chance.choice([0, 0, 1, 2, 4, 6])):
            copied = list(text)
            for _ in range(chance.choice([0, 0, 1, 1, 2, 3, 4])):
                copied[chance.randrange(len(copied))] = chance.choice(vocabulary)
            found.append(" ".join(copied))
            if chance.random() < 0.3:
                text = copied
    chance.shuffle(found)
    return found


def table(some=None, ids=None, seed=2):
    """A table of texts with ids, a title and a kind."""
    chance = random.Random(seed)
    some = texts() if some is None else some
    columns = {
        "text": some,
        "title": [" ".join(text.split()[:3]) for text in some],
        "kind": [chance.choice(["news", "blog", None, "wiki"]) for _ in some],
        "number": [chance.randrange(100) for _ in some],
    }
    if ids is None:
        columns["id"] = [f"d{number}" for number in range(len(some))]
    elif ids != "none":
        columns["id"] = ids
    return pa.table(columns)


def store(folder, held=None, *, format="parquet", **settings):
    """Store a run in a folder; returns the result."""
    result = nd.dedup(table() if held is None else held, **settings)
    result.save(folder, format=format)
    return result


def read(folder):
    """The tables of a run, with places instead of ids: documents, clusters and pairs."""
    documents = pq.read_table(folder / "documents.parquet").to_pylist()
    others = []
    if (folder / "others.parquet").exists():
        others = pq.read_table(folder / "others.parquet").to_pylist()
    place = {(False, str(row["id"])): number for number, row in enumerate(documents)}
    place |= {(True, str(row["id"])): len(documents) + n for n, row in enumerate(others)}
    clusters = {}
    for row in pq.read_table(folder / "clusters.parquet").to_pylist():
        other = bool(row.get("duplicate_of_other"))
        clusters.setdefault(row["cluster"], []).append(
            SimpleNamespace(
                place=place[False, str(row["id"])],
                kept=row["kept"],
                duplicate_of=None if row["kept"] else place[other, str(row["duplicate_of"])],
                similarity=row["similarity"],
            )
        )
    pairs = []
    if (folder / "pairs.parquet").exists():
        for row in pq.read_table(folder / "pairs.parquet").to_pylist():
            b = place[bool(row.get("b_other")), str(row["b"])]
            a = place[False, str(row["a"])]
            pairs.append((min(a, b), max(a, b), row["similarity"], row["distance"]))
    return SimpleNamespace(documents=documents, others=others, clusters=clusters, pairs=pairs)

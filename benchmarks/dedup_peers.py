"""One deduplication by one peer, from a file to files: what a user of that package would write.

Every peer makes MinHash sketches of 128 numbers over runs of three words, puts them into its index
for the threshold, and takes as pairs what the index gives; of a pair, the later document goes.
Documents are read by orjson, the quickest there is. Nothing is imported that a peer does not need.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from benchmarks.peers import Shingles

SKETCH = 128
WORDS = Shingles("word", 3)

Texts = list[str]
Answers = Iterator[list[int]]


def rensa(texts: Texts, threshold: float) -> Answers:
    """RMinHash objects made in one call, and the index asked for all of them in one."""
    return rensa_answers(rensa_sketches(texts, WORDS), threshold)


def rensa_sketches(texts: Texts, shingles: Shingles) -> list[Any]:
    """A sketch for each text."""
    from rensa import RMinHash

    return list(RMinHash.from_token_sets(map(shingles.encoded, texts), num_perm=SKETCH, seed=42))


def rensa_answers(sketches: list[Any], threshold: float) -> Answers:
    """For each sketch the rows of those that share a band with it."""
    from rensa import RMinHashLSH

    index = RMinHashLSH(threshold=threshold, num_perm=SKETCH, num_bands=bands_for(threshold))
    index.insert_many(sketches)
    return iter(index.query_all(sketches))


def bands_for(threshold: float) -> int:
    """Of the numbers of bands that divide a sketch, the one whose S-curve turns nearest to it."""
    powers = [2, 4, 8, 16, 32, 64]
    return min(powers, key=lambda bands: abs((1 / bands) ** (bands / SKETCH) - threshold))


def gaoya(texts: Texts, threshold: float) -> Answers:
    """The analyzer in Rust; bands are its own choice for so many numbers and the threshold."""
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        jaccard_threshold=threshold,
        num_bands=None,
        band_size=None,
        num_hashes=SKETCH,
        analyzer=WORDS.unit,
        lowercase=True,
        ngram_range=(WORDS.size, WORDS.size),
        id_container="smallvec",
    )
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    return iter(index.par_bulk_query(texts))


def datasketch(texts: Texts, threshold: float) -> Answers:
    """Sketches in bulk with a quick hash; bands are its own choice for the threshold."""
    return datasketch_answers(datasketch_sketches(texts, WORDS), threshold)


def datasketch_sketches(texts: Texts, shingles: Shingles) -> list[Any]:
    """A sketch for each text."""
    from datasketch import MinHash
    from xxhash import xxh32_intdigest

    tokens = map(shingles.encoded, texts)
    return list(MinHash.bulk(tokens, num_perm=SKETCH, hashfunc=xxh32_intdigest))


def datasketch_answers(sketches: list[Any], threshold: float) -> Answers:
    """For each sketch the rows of those that share a band with it."""
    from datasketch import MinHashLSH

    index = MinHashLSH(threshold=threshold, num_perm=SKETCH)
    with index.insertion_session() as session:
        for row, sketch in enumerate(sketches):
            session.insert(row, sketch)
    return map(index.query, sketches)


PEERS: dict[str, Callable[[Texts, float], Answers]] = {
    "rensa": rensa,
    "gaoya": gaoya,
    "datasketch": datasketch,
}


def pairs_of(answers: Answers) -> Iterator[tuple[int, int]]:
    """Each pair once: what a document was answered, without itself and what came before it."""
    for row, answer in enumerate(answers):
        for other in answer:
            if other > row:
                yield row, other


def main() -> None:
    """Arguments: peer, the file to read, the folder to write, threshold."""
    peer, source, folder, threshold = sys.argv[1:]
    lines = Path(source).read_bytes().splitlines(keepends=True)
    rows = [orjson.loads(line) for line in lines]
    pairs = list(pairs_of(PEERS[peer]([row["text"] for row in rows], float(threshold))))
    out = Path(folder)
    out.mkdir()
    with (out / "pairs.jsonl").open("wb") as file:
        file.writelines(
            orjson.dumps({"a": rows[a]["id"], "b": rows[b]["id"]}) + b"\n" for a, b in pairs
        )
    removed = {b for _, b in pairs}
    with (out / "kept.jsonl").open("wb") as file:
        file.writelines(line for row, line in enumerate(lines) if row not in removed)


if __name__ == "__main__":
    main()

"""One deduplication by one peer, from a file to files: what a user of that package would write.

Every peer makes MinHash sketches of 128 numbers over runs of three words, and is used in two ways.
Either all sketches go into its index for the threshold, and what the index gives are pairs; of a
pair, the later document goes. Or, where a peer's name says `kept only`, each document in turn is
looked up in the index: one with a match goes, paired with the first match; any other is kept, and
put into the index. The first way lists all pairs; the second has one for each removed document.

Documents are read by orjson, the quickest there is, and pairs are written as they come. Nothing is
imported that a peer does not need.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from benchmarks.peers import Shingles

SKETCH = 128
WORDS = Shingles("word", 3)

KEPT_ONLY = ", kept only"

Texts = list[str]
Answers = Iterator[list[int]]
Pairs = Iterator[tuple[int, int]]


def rensa(texts: Texts, threshold: float) -> Pairs:
    """RMinHash objects made in one call, and the index asked for all of them in one."""
    return pairs_of(rensa_answers(rensa_sketches(texts, WORDS), threshold))


def rensa_kept_only(texts: Texts, threshold: float) -> Pairs:
    """RMinHash objects made in one call, and the index asked for one after the other."""
    index = _rensa_index(threshold)
    return pairs_with_kept(rensa_sketches(texts, WORDS), index.query, index.insert)


def rensa_sketches(texts: Texts, shingles: Shingles) -> list[Any]:
    """A sketch for each text."""
    from rensa import RMinHash

    return list(RMinHash.from_token_sets(map(shingles.encoded, texts), num_perm=SKETCH, seed=42))


def rensa_answers(sketches: list[Any], threshold: float) -> Answers:
    """For each sketch the rows of those that share a band with it."""
    index = _rensa_index(threshold)
    index.insert_many(sketches)
    return iter(index.query_all(sketches))


def _rensa_index(threshold: float) -> Any:
    from rensa import RMinHashLSH

    return RMinHashLSH(threshold=threshold, num_perm=SKETCH, num_bands=bands_for(threshold))


def bands_for(threshold: float) -> int:
    """Of the numbers of bands that divide a sketch, the one whose S-curve turns nearest to it."""
    powers = [2, 4, 8, 16, 32, 64]
    return min(powers, key=lambda bands: abs((1 / bands) ** (bands / SKETCH) - threshold))


def gaoya(texts: Texts, threshold: float) -> Pairs:
    """The analyzer in Rust; bands are its own choice for so many numbers and the threshold."""
    index = _gaoya_index(threshold)
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    return pairs_of(iter(index.par_bulk_query(texts)))


def gaoya_kept_only(texts: Texts, threshold: float) -> Pairs:
    """The same index, asked for one document after the other."""
    index = _gaoya_index(threshold)
    return pairs_with_kept(texts, index.query, index.insert_document)


def _gaoya_index(threshold: float) -> Any:
    from gaoya.minhash import MinHashStringIndex

    return MinHashStringIndex(
        jaccard_threshold=threshold,
        num_bands=None,
        band_size=None,
        num_hashes=SKETCH,
        analyzer=WORDS.unit,
        lowercase=True,
        ngram_range=(WORDS.size, WORDS.size),
        id_container="smallvec",
    )


def datasketch(texts: Texts, threshold: float) -> Pairs:
    """Sketches in bulk with a quick hash; bands are its own choice for the threshold."""
    return pairs_of(datasketch_answers(datasketch_sketches(texts, WORDS), threshold))


def datasketch_kept_only(texts: Texts, threshold: float) -> Pairs:
    """The same sketches, and the index asked for one after the other."""
    index = _datasketch_index(threshold)
    return pairs_with_kept(datasketch_sketches(texts, WORDS), index.query, index.insert)


def datasketch_sketches(texts: Texts, shingles: Shingles) -> list[Any]:
    """A sketch for each text."""
    from datasketch import MinHash
    from xxhash import xxh32_intdigest

    tokens = map(shingles.encoded, texts)
    return list(MinHash.bulk(tokens, num_perm=SKETCH, hashfunc=xxh32_intdigest))


def datasketch_answers(sketches: list[Any], threshold: float) -> Answers:
    """For each sketch the rows of those that share a band with it."""
    index = _datasketch_index(threshold)
    with index.insertion_session() as session:
        for row, sketch in enumerate(sketches):
            session.insert(row, sketch)
    return map(index.query, sketches)


def _datasketch_index(threshold: float) -> Any:
    from datasketch import MinHashLSH

    return MinHashLSH(threshold=threshold, num_perm=SKETCH)


PACKAGES = ("rensa", "gaoya", "datasketch")
PEERS: dict[str, Callable[[Texts, float], Pairs]] = {
    "rensa": rensa,
    "gaoya": gaoya,
    "datasketch": datasketch,
    f"rensa{KEPT_ONLY}": rensa_kept_only,
    f"gaoya{KEPT_ONLY}": gaoya_kept_only,
    f"datasketch{KEPT_ONLY}": datasketch_kept_only,
}


def pairs_of(answers: Answers) -> Pairs:
    """Each pair once: what a document was answered, without itself and what came before it."""
    for row, answer in enumerate(answers):
        for other in answer:
            if other > row:
                yield row, other


def pairs_with_kept(
    documents: Iterable[Any],
    query: Callable[[Any], list[int]],
    insert: Callable[[int, Any], object],
) -> Pairs:
    """A pair for each document with a match among those kept so far: that one, then itself."""
    for row, document in enumerate(documents):
        answer = query(document)
        if answer:
            yield min(answer), row
        else:
            insert(row, document)


def main() -> None:
    """Arguments: peer, the file to read, the folder to write, threshold."""
    peer, source, folder, threshold = sys.argv[1:]
    ids, texts = [], []
    with Path(source).open("rb") as lines:
        for line in lines:
            row = orjson.loads(line)
            ids.append(row["id"])
            texts.append(row["text"])
    out = Path(folder)
    out.mkdir()
    removed = set()
    with (out / "pairs.jsonl").open("wb") as file:
        for a, b in PEERS[peer](texts, float(threshold)):
            file.write(orjson.dumps({"a": ids[a], "b": ids[b]}) + b"\n")
            removed.add(b)
    with Path(source).open("rb") as lines, (out / "kept.jsonl").open("wb") as file:
        file.writelines(line for row, line in enumerate(lines) if row not in removed)


if __name__ == "__main__":
    main()

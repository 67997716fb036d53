"""Text to fingerprints in memory, on one thread, against every peer in the same run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks import corpora, measure, peers
from benchmarks.corpora import Corpus
from benchmarks.peers import Peer, Shingles
from benchmarks.result import Json, Result, package_versions

BENCHMARK = "fingerprint"
WORDS, CHARACTERS = "word:3/set/64", "char:4/set/64"
OURS = (
    WORDS,
    "word:3/count/64",
    CHARACTERS,
    "word:3/set/128",
    "word:3/set/256",
    "word:3/set/512",
)
FROM_LIST = "neardup, from a list of str"
# Rows of neardup with an instruction set that is not the best of the machine.
FORCED = "neardup, {}"
# It adds up counts in eight bits, and fails on a document with a shingle more than 255 times.
UNABLE = {(corpora.SOURCE, "simhash")}


@dataclass(frozen=True)
class Subject:
    """One row to measure: who does which task on how much of which corpus."""

    corpus: str
    task: str
    name: str
    use: str
    documents: int
    megabytes: float
    run: Callable[[], object]

    def row(self, timing: measure.Timing) -> Json:
        """The row of the result."""
        return {
            "corpus": self.corpus,
            "task": self.task,
            "name": self.name,
            "use": self.use,
            "documents": self.documents,
            "megabytes": round(self.megabytes, 2),
            "cpu_seconds": round(timing.cpu, 5),
            "wall_seconds": round(timing.wall, 5),
            "megabytes_per_second": round(self.megabytes / timing.cpu, 2),
        }


def our_subjects(corpus: Corpus) -> Iterator[Subject]:
    """neardup, on the whole corpus."""
    import neardup as nd
    from neardup import kernels

    def subject(task: str, name: str, use: str, texts: object) -> Subject:
        features, weights, bits = task.split("/")
        run = partial(
            nd.fingerprint, texts, features=features, weights=weights, bits=int(bits), threads=1
        )
        size = corpus.megabytes
        return Subject(corpus.name, task, name, use, len(corpus.texts), size, run)

    for task in OURS:
        yield subject(task, "neardup", "`nd.fingerprint(arrow_array)`", corpus.texts)
    yield subject(WORDS, FROM_LIST, "`nd.fingerprint(list)`", corpus.texts.to_pylist())
    for isa in kernels.available_isas()[:-1]:
        for task in (WORDS, CHARACTERS):
            yield _forced(corpus, task, isa)


def _forced(corpus: Corpus, task: str, isa: str) -> Subject:
    """neardup's kernel with an instruction set by name."""
    from neardup import kernels

    features, _, bits = task.split("/")
    unit, size = features.split(":")
    run = partial(
        kernels.fingerprint,
        corpus.texts,
        unit=unit,
        size=int(size),
        distinct=True,
        bits=int(bits),
        ties_up=False,
        isa=isa,
    )
    use = f'`kernels.fingerprint(arrow_array, isa="{isa}")`'
    megabytes, count = corpus.megabytes, len(corpus.texts)
    return Subject(corpus.name, task, FORCED.format(isa), use, count, megabytes, run)


def peer_subject(corpus: Corpus, task: str, peer: Peer) -> Subject:
    """A peer, on the first documents of the corpus."""
    sample = corpus.first(peer.sample_megabytes)
    run = partial(peer.sketcher(shingles_for(corpus, task)), sample.texts.to_pylist())
    size = sample.megabytes
    return Subject(corpus.name, task, peer.name, peer.use, len(sample.texts), size, run)


def shingles_for(corpus: Corpus, task: str) -> Shingles:
    """What a peer cuts a text into; Chinese words are characters, which peers must be told."""
    unit, size = task.split("/")[0].split(":")
    return Shingles("char" if corpus.writes_without_spaces else unit, int(size))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=5)
    parser.add_argument("--size", type=float, help="megabytes of each corpus, the first ones")
    parser.add_argument("--peers-only", action="store_true", help="leave neardup out")
    parser.add_argument(
        "--skip", action="append", default=[], metavar="PACKAGE", help="leave a peer out"
    )
    chosen = parser.parse_args(arguments)
    measure.one_thread_each()

    rivals = [
        (task, peer)
        for task, group in ((WORDS, peers.WORD_PEERS), (CHARACTERS, peers.CHAR_PEERS))
        for peer in group
        if peer.package not in chosen.skip
    ]
    versions = peers.versions(peer for _, peer in rivals)
    if chosen.peers_only:
        print("neardup is left out: --peers-only", file=sys.stderr)
    else:
        versions = {**package_versions(["neardup", "numpy", "pyarrow"]), **versions}

    loaded = [corpora.load(name, chosen.size) for name in corpora.NAMES]
    subjects: list[Subject] = []
    for corpus in loaded:
        if not chosen.peers_only:
            subjects.extend(our_subjects(corpus))
        subjects.extend(
            peer_subject(corpus, task, peer)
            for task, peer in rivals
            if (corpus.name, peer.package) not in UNABLE
        )

    timings = measure.interleaved([subject.run for subject in subjects], chosen.rounds)
    rows = [s.row(timing) for s, timing in zip(subjects, timings, strict=True)]
    conditions = {"rounds": chosen.rounds, "corpora": [corpus.description() for corpus in loaded]}
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


if __name__ == "__main__":
    main()

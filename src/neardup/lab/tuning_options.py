"""The join on the features as a way to find pairs, with what it should cost; options in general."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.features.weighted import WeightedFeatures
from neardup.fingerprints.maker import Maker
from neardup.kernels.similar import join_similar, predict_similar
from neardup.lab.tuning_pairs import Interval
from neardup.lab.tuning_sample import Sample
from neardup.pipeline.dedup.settings import EXACT, DedupSettings

# Nanoseconds of the join on one thread, for a feature and for a look at a posting.
_FEATURE_NANOSECONDS, _POSTING_NANOSECONDS = 40.0, 20.0
# What a process takes to read and write some batches, what it keeps of each document beside
# features, and what the join takes for each byte of features. All of these steer and promise
# nothing; `benchmarks/tune.py` compares them with what was measured.
BASE_BYTES, DOCUMENT_BYTES = 320_000_000, 100
_JOIN_BYTES = 0.5


@dataclass(frozen=True)
class Option:
    """A way to search, and what it should come to in the whole collection."""

    candidates: str
    bits: int
    recall: Interval
    candidate_pairs: float
    seconds: float
    memory_bytes: float


def exact_option(sample: Sample, maker: Maker, settings: DedupSettings) -> Option:
    """The join on the features: its work on the sample and on half of it, scaled up."""
    whole = _work(sample.features, maker, settings)
    half = _work(sample.features.take(sample.half()), maker, settings)
    times = sample.contents / max(1, len(sample))
    each = len(sample.features.hashes) / max(1, len(sample))
    work = sample.contents * each * _FEATURE_NANOSECONDS
    work += scaled(whole[0], half[0], times) * _POSTING_NANOSECONDS
    return Option(
        EXACT,
        settings.scheme.bits,
        Interval(1.0, 1.0, 1.0),
        scaled(whole[1], half[1], times),
        reading_seconds(sample) + work / 1e9 / maker.threads,
        BASE_BYTES + sample.documents * DOCUMENT_BYTES + held_bytes(sample, settings),
    )


def _work(features: WeightedFeatures, maker: Maker, settings: DedupSettings) -> tuple[int, int]:
    """How many postings the join looks at, and how many pairs it compares."""
    documents = (features.offsets, features.hashes, features.weights)
    measure, threshold, threads = settings.similarity, settings.threshold, maker.threads
    postings = predict_similar(*documents, measure=measure, threshold=threshold, threads=threads)
    found = join_similar(*documents, measure=measure, threshold=threshold, threads=threads)
    return postings, found.compared


def scaled(whole: float, half: float, times: float) -> float:
    """What work on a sample and on half of it comes to in a collection so many times as large.

    The work among near-duplicates grows with the number of documents, since the sample keeps
    these together; among others it grows with the square.
    """
    square = min(whole, max(0.0, 2 * (whole - 2 * half)))
    return (whole - square) * times + square * times**2


def reading_seconds(sample: Sample) -> float:
    """How long it takes to read everything and cut it into features."""
    return sample.seconds / sample.looked


def held_bytes(sample: Sample, settings: DedupSettings) -> float:
    """What the features of all documents take, and the join; what is more goes to a file."""
    features = sample.features.nbytes / max(1, len(sample)) * sample.filled
    return min(settings.memory, features * (1 + _JOIN_BYTES))

"""Compares ways to search with given settings: what each would find and cost, from a sample."""

from __future__ import annotations

import numpy as np

from neardup.collection.settings import DedupSettings
from neardup.collection.source import Source
from neardup.errors import InputError, SettingError
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass
from neardup.kernels.set_join import TooManyPairsError
from neardup.lab.tune.features import feature_counts
from neardup.lab.tune.options import (
    FEWEST_PAIRS,
    ExactWork,
    Option,
    RandomPairs,
    band_options,
    exact_option,
    option_of,
    preferred_bands,
    random_pairs,
)
from neardup.lab.tune.pairs import SamplePairs, similar_pairs, widest
from neardup.lab.tune.result import reason_for
from neardup.lab.tune.sample import Look, Sample, draw_sample, frequent_features
from neardup.pairs.by_fingerprints.plan import pairs_of
from neardup.settings import EXACT

BANDS = "bands"
# Bands that would take longer than this, and so many times as long as the join, are not measured.
_WORTH_SECONDS, _WORTH_TIMES = 30.0, 5.0
_ENOUGH_PAIRS = 200
_LARGER, _LARGEST_SAMPLE = 4, 400_000
# Bytes of text per second of the budget: constants, not timings, so that the same input gives the
# same recommendation. Features that are strings (keywords, other hashes) are slower.
_BYTES_A_SECOND = 20_000_000
_BYTES_A_SECOND_BY_STRINGS = 2_000_000
# Documents with this few features are similar by chance; a larger share of pairs is too many.
_FEW_FEATURES, _TOO_MANY = 8, 1e-3


@dataclass(frozen=True, eq=False)
class Planned:
    """The best way to search, the others, and what was seen of the collection."""

    best: Option
    others: tuple[Option, ...]
    reasons: tuple[str, ...]
    problems: tuple[str, ...]
    sampled: int
    similar_in_sample: int
    similar_pairs: float


def planned(
    source: Source,
    look: Look,
    settings: DedupSettings,
    fingerprinter: Fingerprinter,
    *,
    sample: int,
    budget: float,
) -> Planned:
    """Find the similar pairs of a sample, and price every way to find them in the collection."""
    drawn, pairs = _sampled(source, look, fingerprinter, settings, sample, budget)
    at_random = random_pairs(drawn, widest(fingerprinter))
    asked = drawn, pairs, at_random, fingerprinter, settings
    if settings.candidates != BANDS:
        exact = ExactWork.of(drawn, fingerprinter, settings)
        best = exact_option(exact, drawn, fingerprinter, settings)
        most = max(_WORTH_SECONDS, _WORTH_TIMES * best.seconds)
        options = [*band_options(*asked, most), best]
        bands = preferred_bands(exact, settings)
        if bands is not None:
            by_bands = option_of(bands, drawn, pairs, at_random, fingerprinter, settings)
            best = best if by_bands is None else by_bands
    elif options := band_options(*asked):
        best = min(options, key=lambda option: option.seconds)
    else:
        raise SettingError(
            f"no bands of {fingerprinter.scheme} find {settings.recall:g} of the similar pairs; "
            "lower the recall, choose another hash, or use candidates=auto"
        )
    others = [option for option in options if option.candidates != best.candidates]
    others.sort(key=lambda option: (option.candidates != EXACT, option.seconds))
    return Planned(
        best,
        tuple(others[:2]),
        (*_seen(drawn, pairs, at_random, settings), reason_for(best, others)),
        tuple(_problems(drawn, pairs, settings)),
        len(drawn),
        pairs.in_sample,
        pairs.total,
    )


def _sampled(
    source: Source,
    look: Look,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    most: int,
    budget: float,
) -> tuple[Sample, SamplePairs]:
    """A sample with its similar pairs; a larger one if these are few and the budget allows."""
    rate = _BYTES_A_SECOND if fingerprinter.scheme.is_hashed else _BYTES_A_SECOND_BY_STRINGS
    room = budget * rate
    looked = min(1.0, room / max(1, look.text_bytes))
    frequent = frequent_features(look.features(fingerprinter))
    while True:
        drawn = draw_sample(
            source, fingerprinter, frequent, most=most, memory=settings.memory, looked=looked
        )
        if not len(drawn):
            raise InputError(
                f"none of the {look.documents:,} documents has a word, so there is nothing to tune"
            )
        try:
            pairs = similar_pairs(drawn, fingerprinter, settings)
        except TooManyPairsError:
            most = len(drawn) // 2
            continue
        room -= looked * look.text_bytes
        most *= _LARGER
        enough = len(pairs) >= _ENOUGH_PAIRS or drawn.kept == 1 or most > _LARGEST_SAMPLE
        if enough or room < looked * look.text_bytes:
            return drawn, pairs


def _seen(
    drawn: Sample, pairs: SamplePairs, at_random: RandomPairs, settings: DedupSettings
) -> list[str]:
    """Sentences that describe the collection."""
    counts = feature_counts(drawn.features)
    few, half = (int(np.percentile(counts, share)) for share in (10, 50))
    whole = "all of them" if drawn.is_whole else f"{len(drawn):,} of them"
    skew = at_random.agreement(min(16, at_random.bits)) * 2.0 ** min(16, at_random.bits)
    found = "" if drawn.is_whole else f"; {pairs.in_sample:,} of them are in the sample"
    return [
        f"{drawn.documents:,} documents, about {drawn.contents:,.0f} different ones; {whole} were "
        f"examined closely. Half have {half:,} features or more, a tenth have {few:,} or fewer",
        f"about {pairs.total:,.0f} pairs of different documents reach a similarity "
        f"({settings.similarity}) of {settings.threshold:g}{found}",
        f"unrelated documents differ in {at_random.mean_distance:.3f} of their bits, and agree on "
        f"16 bits {skew:,.1f} times as often as fair coins",
    ]


def _problems(drawn: Sample, pairs: SamplePairs, settings: DedupSettings) -> list[str]:
    """What the settings cannot do for this collection."""
    found = []
    if len(pairs) < FEWEST_PAIRS:
        number = f"only {len(pairs)}" if len(pairs) else "no"
        found.append(
            f"{number} similar pairs were found in the sample, so the recall of bands is computed "
            "by a formula, for pairs at the threshold"
        )
    counts = feature_counts(drawn.features)
    share = pairs.total / max(1.0, pairs_of(round(drawn.contents)))
    if share > _TOO_MANY and np.median(counts) <= _FEW_FEATURES:
        found.append(
            f"1 in {1 / share:,.0f} of all pairs reaches {settings.threshold:g}, because half of "
            f"the documents have {int(np.median(counts))} features or fewer: at this threshold "
            "such short texts cannot be told apart; raise it, or join more columns into the text"
        )
    return found

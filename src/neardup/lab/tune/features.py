"""Which features suit a collection: those that one small change leaves above the threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor

import numpy as np

from neardup.collection.settings import DedupSettings
from neardup.collection.source import fingerprinter_of
from neardup.features.spec import FeatureSpec
from neardup.features.weighted import WeightedFeatures
from neardup.fingerprints import Scheme
from neardup.lab.tune.sample import Look

# From the most telling to those that the shortest texts still have enough of.
_TRIED = ("word:3", "word:2", "word:1", "char:3")
_SHORT = 25  # per cent: the documents that are judged are those at the end of the shortest quarter


@dataclass(frozen=True)
class FeatureChoice:
    """The features to take, why, and what cannot be done with them."""

    features: str
    reason: str
    problem: str | None = None


def choose_features(look: Look, settings: DedupSettings) -> FeatureChoice:
    """The longest shingles with which a short document may change by one word and stay similar.

    One changed word of a document changes as many shingles as they are long, so that short
    documents need short shingles. Where not even single words do, runs of three characters let at
    least a changed letter pass.
    """
    tried = [Edit.of(name, look, settings) for name in _TRIED]
    for edit in tried:
        if edit.similarity >= settings.threshold and edit.unit == "word":
            return FeatureChoice(edit.features, edit.reason())
    letters = tried[-1]
    changed_word = next(edit for edit in tried if edit.features == "word:1")
    problem = too_short(changed_word, settings.threshold)
    if letters.similarity >= settings.threshold:
        return FeatureChoice(letters.features, letters.reason(), problem)
    best = max(tried, key=lambda edit: edit.similarity)
    return FeatureChoice(best.features, best.reason(), problem)


def check_features(look: Look, settings: DedupSettings) -> str | None:
    """What cannot be done with features that were chosen before; None if nothing is in the way."""
    shingle = settings.scheme.features.shingle
    if shingle is None:
        return None
    edit = Edit.of(str(settings.scheme.features), look, settings)
    return None if edit.similarity >= settings.threshold else too_short(edit, settings.threshold)


@dataclass(frozen=True)
class Edit:
    """What one changed unit does to a document at the end of the shortest quarter."""

    features: str
    unit: str
    count: int
    similarity: float

    @classmethod
    def of(cls, features: str, look: Look, settings: DedupSettings) -> Edit:
        """Count the features of the documents that were looked at."""
        spec = FeatureSpec.parse(features)
        scheme = replace(Scheme.of(spec), fields=settings.scheme.fields)
        counts = feature_counts(look.features(fingerprinter_of(scheme, settings.threads)))
        count = int(np.percentile(counts, _SHORT)) if len(counts) else 0
        size = spec.kinds[0].size
        left = max(0, count - size)
        others = count if settings.similarity == "cosine" else count + size
        return cls(features, spec.kinds[0].unit, count, left / others if others else 0.0)

    def reason(self) -> str:
        """Why these features, in a sentence."""
        unit = "word" if self.unit == "word" else "letter"
        return (
            f"{self.features}: a quarter of the documents have {self.count:,} such features or "
            f"fewer, and one changed {unit} leaves those at a similarity of {self.similarity:.2f}"
        )


def too_short(edit: Edit, threshold: float) -> str:
    """A sentence about documents that one change takes below the threshold."""
    unit = "word" if edit.unit == "word" else "letter"
    lower = floor(edit.similarity * 100) / 100
    advice = (
        f"a threshold of {lower:.2f} would let it pass" if lower >= 0.2 else "no threshold helps"
    )
    return (
        f"a quarter of the documents are so short ({edit.count:,} features of {edit.features} or "
        f"fewer) that one changed {unit} takes them to {edit.similarity:.2f}, below the threshold "
        f"of {threshold:g}: of these, only exact and nearly exact copies will be found; {advice}"
    )


def feature_counts(features: WeightedFeatures) -> np.ndarray:
    """How many features each document has that has any."""
    counts = np.diff(features.offsets)
    return np.asarray(counts[counts > 0])

"""Whether features suit a collection: one small edit must leave a document above the threshold."""

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

_SHORT = 25  # percentile of the number of features by which a collection is judged


def check_features(look: Look, settings: DedupSettings) -> str | None:
    """What the given features cannot do, as a sentence; None if there is no problem."""
    shingle = settings.scheme.features.shingle
    if shingle is None:
        return None
    edit = Edit.of(str(settings.scheme.features), look, settings)
    return None if edit.similarity >= settings.threshold else too_short(edit, settings.threshold)


@dataclass(frozen=True)
class Edit:
    """The effect of one changed unit on a document at the 25th percentile of length."""

    features: str
    unit: str
    count: int
    similarity: float

    @classmethod
    def of(cls, features: str, look: Look, settings: DedupSettings) -> Edit:
        """Count the features of the examined documents."""
        spec = FeatureSpec.parse(features)
        scheme = replace(Scheme.of(spec), fields=settings.scheme.fields)
        counts = feature_counts(look.features(fingerprinter_of(scheme, settings.threads)))
        count = int(np.percentile(counts, _SHORT)) if len(counts) else 0
        size = spec.kinds[0].size
        left = max(0, count - size)
        others = count if settings.similarity == "cosine" else count + size
        return cls(features, spec.kinds[0].unit, count, left / others if others else 0.0)


def too_short(edit: Edit, threshold: float) -> str:
    """Explain that one change takes short documents below the threshold."""
    unit = "word" if edit.unit == "word" else "letter"
    lower = floor(edit.similarity * 100) / 100
    advice = f"a threshold of {lower:.2f} would find them" if lower >= 0.2 else "no threshold helps"
    return (
        f"a quarter of the documents are so short ({edit.count:,} features of {edit.features} or "
        f"fewer) that one changed {unit} takes them to {edit.similarity:.2f}, below the threshold "
        f"of {threshold:g}: of these, only exact and nearly exact copies will be found; {advice}"
    )


def feature_counts(features: WeightedFeatures) -> np.ndarray:
    """The number of features of each document that is not empty."""
    counts = np.diff(features.offsets)
    return np.asarray(counts[counts > 0])

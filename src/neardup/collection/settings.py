"""The settings of a deduplication, checked and filled in."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.cluster.keep import KeepPolicy
from neardup.errors import InputError, SettingError
from neardup.features.spec import record_fields
from neardup.fingerprints import Scheme
from neardup.fingerprints.scheme import HashChoice
from neardup.kernels import thread_count
from neardup.pairs.by_fingerprints import plan_of
from neardup.pairs.by_fingerprints.names import AUTO
from neardup.pairs.memory import bytes_of
from neardup.presets import preset
from neardup.read.limits import MAX_DOCUMENT

SIMILARITIES = ("jaccard", "weighted-jaccard", "cosine", "hamming")
CLUSTERINGS = ("components", "star")
EXACT = "exact"  # instead of a plan: a join on the features
DEFAULT_THRESHOLD = 0.8
DEFAULT_RECALL = 0.99
DEFAULT_MEMORY = "2GB"


@dataclass(frozen=True)
class DedupSettings:
    """What makes two documents near-duplicates, how they are found, and which one is kept."""

    scheme: Scheme
    text: str | None
    id: str | None
    similarity: str
    threshold: float
    candidates: str
    recall: float
    keep: KeepPolicy
    cluster: str
    memory: int
    threads: int | None
    levels: tuple[float, ...] = ()
    max_document: int = MAX_DOCUMENT

    @classmethod
    def of(cls, *, preset: str | None = None, **chosen: Any) -> DedupSettings:
        """Check every setting; those of a preset hold where none was chosen."""
        if preset is None:
            return cls._checked(**chosen)
        return cls._checked(**{**_of_preset(preset), **chosen})

    @classmethod
    def _checked(
        cls,
        *,
        features: str = "word:3",
        weights: str | None = None,
        bits: int = 64,
        hash: HashChoice = "nd1",
        tie: str = ">0",
        projection: str | None = None,
        text: str | None = None,
        id: str | None = None,
        similarity: str | None = None,
        threshold: float | None = None,
        candidates: str = "auto",
        recall: float = DEFAULT_RECALL,
        keep: str = "first",
        cluster: str = "components",
        memory: str | int = DEFAULT_MEMORY,
        threads: int | None = None,
        levels: Sequence[float] = (),
        max_document: str | int = MAX_DOCUMENT,
    ) -> DedupSettings:
        """Without `similarity` it is the one that fits the weights."""
        scheme = Scheme.of(features, weights, bits, hash, tie, projection, record_fields(text))
        if similarity is None:
            weighted = "cosine" if scheme.weights == "given" else "weighted-jaccard"
            similarity = "jaccard" if scheme.are_sets else weighted
        if similarity not in SIMILARITIES:
            raise SettingError(
                f"similarity={similarity!r} is unknown; choose {', '.join(SIMILARITIES)}"
            )
        if cluster not in CLUSTERINGS:
            raise SettingError(f"cluster={cluster!r} is unknown; choose {' or '.join(CLUSTERINGS)}")
        if similarity == "jaccard" and not scheme.are_sets:
            raise SettingError(
                f"similarity='jaccard' is that of sets, but features of {scheme} have weights; "
                "take weighted-jaccard, or weights=set"
            )
        thread_count(threads)
        return cls(
            scheme,
            text,
            id,
            similarity,
            _threshold(threshold, similarity, scheme.bits),
            candidates,
            _share(recall, "recall"),
            KeepPolicy.parse(keep),
            cluster,
            bytes_of(memory),
            threads,
            tuple(levels),
            bytes_of(max_document, "max_document"),
        )

    @property
    def limit(self) -> str:
        """The threshold in words, as in "3 pairs of jaccard ≥ 0.8"."""
        if self.similarity == "hamming":
            return f"hamming ≤ {self.threshold:.0f}"
        return f"{self.similarity} ≥ {self.threshold:g}"

    def require_plan(self) -> None:
        """Refuse candidates that name no plan for these fingerprints, or one that falls short."""
        if self.candidates == AUTO:
            return
        by_bits = self.similarity == "hamming"
        if self.candidates == EXACT:
            if by_bits:
                raise SettingError(
                    "candidates='exact' joins on features, but similarity='hamming' compares "
                    "fingerprints; take auto, or a plan such as blocks:3"
                )
            return
        plan = plan_of(self.candidates, self.scheme.bits)
        if by_bits:
            plan.require_distance(int(self.threshold))


def _of_preset(name: str) -> dict[str, Any]:
    known = preset(name)
    chosen = {**known.recipe, "candidates": known.candidates, "similarity": known.similarity}
    if known.max_distance:
        levels = known.max_distance if len(known.max_distance) > 1 else ()
        return {**chosen, "threshold": max(known.max_distance), "levels": levels}
    return {**chosen, "threshold": known.threshold}


def _threshold(threshold: Any, similarity: str, bits: int) -> float:
    """A similarity from above 0 to 1; or, for `hamming`, the most bits that may differ."""
    if similarity == "hamming":
        if threshold is None or not 0 <= threshold <= bits or threshold != int(threshold):
            raise SettingError(
                f"threshold={threshold!r}: with similarity=hamming it is the most bits that may "
                f"differ, a whole number from 0 to {bits}"
            )
        return float(threshold)
    return _share(DEFAULT_THRESHOLD if threshold is None else threshold, "threshold")


def _share(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise SettingError(f"{name}={value!r} must be a number above 0, at most 1")
    return float(value)


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MOST_BYTES = 1_000_000
_TEXT = (str,)
_NUMBER = (int, float)
KEYS: dict[str, tuple[type, ...]] = {
    "features": _TEXT,
    "weights": _TEXT,
    "bits": (int,),
    "hash": _TEXT,
    "tie": _TEXT,
    "projection": _TEXT,
    "text": _TEXT,
    "id": _TEXT,
    "similarity": _TEXT,
    "threshold": _NUMBER,
    "candidates": _TEXT,
    "recall": _NUMBER,
    "keep": _TEXT,
    "cluster": _TEXT,
    "memory": (str, int),
    "threads": (int,),
    "max_document": (str, int),
}


def settings_in(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The settings in a file such as `tune` writes; a name that is none is an error."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise InputError(f"{path} has more than 1 MB; a settings file has some lines of TOML")
        found = tomllib.loads(data.decode())
    except OSError as error:
        raise InputError(f"cannot read the settings in {path}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    unknown = [name for name in found if name not in KEYS]
    if unknown:
        raise SettingError(
            f"{path} has {', '.join(map(repr, unknown))}, which dedup does not know; "
            f"its settings are {', '.join(KEYS)}"
        )
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, KEYS[name]):
            wanted = "a text" if KEYS[name] == _TEXT else "a number"
            raise SettingError(f"{path}: {name} = {value!r} must be {wanted}")
    return found

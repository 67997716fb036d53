"""Settings of an index: scheme, how it finds documents, and what it stores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import orjson

from neardup.errors import NeardupError, SchemeMismatchError, SettingError
from neardup.features.idf import IdfTable
from neardup.features.spec import record_fields
from neardup.fingerprints import Scheme
from neardup.fingerprints.fingerprinter import Fingerprinter, required_table
from neardup.hashes import FUNCTION_PREFIX, hash_family
from neardup.kernels.set_index import SetPlan
from neardup.pairs.by_fingerprints import MaskPlan, Plan, plan_of
from neardup.pairs.recall import minhash_bands, minhash_recall
from neardup.settings import AUTO, CONTAINMENTS, DEFAULT_THRESHOLD, RECIPE, seconds_of

DEFAULT_DISTANCE = 3
# Below this threshold, bands would be so many that looking at the rarest features is cheaper.
LEAST_FOR_BANDS = 0.3
# Settings that an index by distance does not have.
_BY_SIMILARITY = ("similarity", "threshold", "complete")
_PLANS = "blocks:K, blocks:K/M, bands:MxK, prefix:D or a list of masks"


@dataclass(frozen=True)
class IndexSettings:
    """How an index makes features, finds documents and stores them.

    An index finds documents by similarity, from `threshold` on, or by the distance of fingerprints,
    with the masks of `plan` and up to `max_distance` unless a query says otherwise. With `complete`
    a search by similarity misses nothing. `ttl` is in seconds. `measure` is set where it is not the
    one that fits the weights.
    """

    scheme: Scheme
    threshold: float | None
    complete: bool
    plan: MaskPlan | None
    max_distance: int | None
    store_text: bool
    store_features: bool
    ttl: float | None = None
    measure: str | None = None

    @classmethod
    def of(cls, chosen: Mapping[str, Any]) -> IndexSettings:
        """Check the given settings and fill in the defaults."""
        recipe = {name: chosen[name] for name in RECIPE if name in chosen}
        scheme = Scheme.of(**recipe, fields=record_fields(chosen.get("text")))
        store_text = bool(chosen.get("store_text", False))
        if store_text and (scheme.features.are_given or scheme.fields is not None):
            raise SettingError(
                f"store_text is for plain texts, but {scheme} does not use plain texts; "
                "features are stored without it"
            )
        ttl = None if chosen.get("ttl") is None else seconds_of(chosen["ttl"], "ttl")
        by_distance = [name for name in ("max_distance", "plan") if name in chosen]
        if not by_distance:
            threshold = _threshold(chosen.get("threshold", DEFAULT_THRESHOLD))
            if chosen.get("store_features") is False:
                raise SettingError(
                    "an index by similarity stores features; give max_distance for an index "
                    "without them"
                )
            measure = _measure(chosen.get("similarity"), scheme)
            complete = bool(chosen.get("complete", False))
            sure = complete or not scheme.are_sets or threshold < LEAST_FOR_BANDS
            sure = sure or measure in CONTAINMENTS
            return cls(scheme, threshold, sure, None, None, store_text, True, ttl, measure)
        for name in _BY_SIMILARITY:
            if chosen.get(name):
                raise SettingError(
                    f"{name} is for an index by similarity, {by_distance[0]} for one by the "
                    "distance of fingerprints; give one of them"
                )
        if ttl is not None:
            raise SettingError(
                f"ttl is for an index by similarity, {by_distance[0]} for one by the distance of "
                "fingerprints, whose documents do not expire; give one of them"
            )
        store_features = bool(chosen.get("store_features", False))
        if store_text and store_features:
            raise SettingError("store_text and store_features do the same; give one of them")
        max_distance = _distance(chosen.get("max_distance"))
        plan = _plan(chosen.get("plan", AUTO), max_distance, scheme.bits)
        plan.require_distance(max_distance)
        distance = plan.guarantee if max_distance is None else max_distance
        return cls(scheme, None, False, plan, distance, store_text, store_features, ttl)

    @cached_property
    def sets(self) -> SetPlan | None:
        """How an index by similarity finds sets; None for one by distance."""
        if self.threshold is None:
            return None
        bands, minima = (0, 0) if self.complete else minhash_bands(self.threshold)
        return SetPlan(
            self.similarity,
            weighted=not self.scheme.are_sets,
            threshold=self.threshold,
            bands=bands,
            minima=minima,
        )

    @property
    def finds(self) -> str:
        """What the index finds, in a few words."""
        if self.threshold is None:
            return f"{self.plan}, up to {self.max_distance} differing bits"
        sure = f"an expected {self.recall:.4f} of the pairs at the threshold"
        return f"{self.similarity} ≥ {self.threshold:g}, {'complete' if self.complete else sure}"

    @property
    def recall(self) -> float:
        """The expected share of the pairs at the threshold that a search by similarity finds."""
        if self.threshold is None or self.complete:
            return 1.0
        return minhash_recall(*minhash_bands(self.threshold), self.threshold)

    @property
    def verifies(self) -> bool:
        """Whether the stored contents are enough to compute true similarities."""
        return self.store_text or self.store_features

    @property
    def similarity(self) -> str:
        """The similarity measure. By inclusion, it is the part of a query that a document has."""
        return _fitting(self.scheme) if self.measure is None else self.measure

    def with_idf(self, table: IdfTable) -> IndexSettings:
        """A copy whose scheme weights features by this table."""
        return replace(self, scheme=self.scheme.with_idf(table.content))

    def require(self, chosen: Mapping[str, Any], place: str) -> None:
        """Raise an error that names the first setting that differs from the index at `place`."""
        wanted = self._scheme_of(chosen)
        if wanted != self.scheme:
            raise SchemeMismatchError(
                f"{place} is an index of scheme {self.scheme}, but {wanted} was given; open it "
                "without these settings, or name another folder"
            )
        for name in ("max_distance", "plan"):
            if name in chosen and self.plan is None:
                raise SettingError(
                    f"{place} is an index by similarity ({self.finds}), but {name} was given; open "
                    f"it without {name}, or name another folder"
                )
        for name in _BY_SIMILARITY:
            if chosen.get(name) and self.plan is not None:
                raise SettingError(
                    f"{place} is an index by distance ({self.finds}), but {name} was given; open "
                    f"it without {name}, or name another folder"
                )
        if "plan" in chosen and self.plan is not None:
            plan = _plan(chosen["plan"], chosen.get("max_distance"), self.scheme.bits)
            if plan.masks != self.plan.masks:
                raise SettingError(
                    f"{place} is an index with plan {self.plan}, but {plan} was given; open "
                    "it without plan, or name another folder"
                )
        given = dict(chosen)
        if given.get("ttl") is not None:
            given["ttl"] = seconds_of(given["ttl"], "ttl")
        for name in (
            *_BY_SIMILARITY,
            "max_distance",
            "store_text",
            "store_features",
            "ttl",
        ):
            if name in given and given[name] != getattr(self, name):
                raise SettingError(
                    f"{place} was created with {name}={getattr(self, name)}, but {given[name]} "
                    f"was given; open it without {name}, or name another folder"
                )

    def fingerprinter(self, hash: Any, idf: Any, threads: int) -> Fingerprinter:
        """The fingerprinter; weights by rarity need a fixed table, because the index grows."""
        if hash is None and self.scheme.hash.startswith(FUNCTION_PREFIX):
            raise SettingError(
                f"fingerprints of {self.scheme} are made with a Python function; pass it as hash"
            )
        family = hash_family(self.scheme.hash if hash is None else hash)
        fingerprinter = Fingerprinter(self.scheme, family, threads)
        if idf is not None:
            return fingerprinter.weighted_by(required_table(idf, self.scheme))
        if self.scheme.needs_idf:
            raise SettingError(
                f"an index of {self.scheme} needs a fixed idf table, because it grows; create one "
                "with neardup idf and give it as idf"
            )
        return fingerprinter

    def to_bytes(self) -> bytes:
        """As JSON, to store in the index."""
        held: dict[str, Any] = {
            "scheme": str(self.scheme),
            "store_text": self.store_text,
            "store_features": self.store_features,
            "ttl": self.ttl,
        }
        if self.plan is None:
            sets = self.sets
            assert sets is not None
            held |= {
                "threshold": self.threshold,
                "complete": self.complete,
                "bands": sets.bands,
                "minima": sets.minima,
            }
            if self.measure is not None:
                held["similarity"] = self.measure
        else:
            held |= {
                "plan": self.plan.name,
                "masks": [hex(mask) for mask in self.plan.masks],
                "max_distance": self.max_distance,
            }
        return orjson.dumps(held)

    @classmethod
    def of_bytes(cls, data: bytes) -> IndexSettings:
        """Read back what `to_bytes` wrote."""
        held = orjson.loads(data)
        if not isinstance(held, dict):
            raise TypeError("they are not an object")
        scheme = Scheme.parse(held["scheme"])
        stores = [held[name] for name in ("store_text", "store_features")]
        ttl = held.get("ttl")
        if not all(isinstance(stored, bool) for stored in stores) or (
            ttl is not None and not isinstance(ttl, float)
        ):
            raise TypeError("one of them is of the wrong type")
        if "threshold" in held:
            found = cls(
                scheme,
                _threshold(held["threshold"]),
                bool(held["complete"]),
                None,
                None,
                stores[0],
                stores[1],
                ttl,
                _measure(held.get("similarity"), scheme),
            )
            sets = found.sets
            if sets is None or (sets.bands, sets.minima) != (held["bands"], held["minima"]):
                raise NeardupError("the bands for this threshold are others in this version")
            return found
        masks = [int(mask, 16) for mask in held["masks"]]
        if held["plan"].startswith("masks:"):
            plan: Plan = MaskPlan.of(masks, scheme.bits)
        else:
            plan = plan_of(held["plan"], scheme.bits)
        if not isinstance(plan, MaskPlan) or list(plan.masks) != masks:
            raise NeardupError(f"the plan {held['plan']} has different masks in this version")
        distance = _distance(held["max_distance"])
        if distance is None:
            raise TypeError("one of them is of the wrong type")
        return cls(scheme, None, False, plan, distance, stores[0], stores[1], ttl)

    def _scheme_of(self, chosen: Mapping[str, Any]) -> Scheme:
        """The scheme of this index with the given settings in place of its own."""
        own = self.scheme
        recipe = own.recipe
        # Only the name of a function is stored, which is enough to compare.
        hash_name = recipe.pop("hash")
        if "hash" in chosen:
            hash_name = hash_family(chosen["hash"]).name
        fields = record_fields(chosen["text"]) if "text" in chosen else own.fields
        recipe |= {name: chosen[name] for name in recipe if name in chosen}
        if "features" in chosen and "weights" not in chosen:
            recipe["weights"] = None
        if "projection" in chosen and "bits" not in chosen:
            recipe.pop("bits")
        return replace(Scheme.of(**recipe, fields=fields), hash=hash_name, idf=own.idf)


def _fitting(scheme: Scheme) -> str:
    """The similarity measure for the weights of a scheme."""
    if scheme.are_sets:
        return "jaccard"
    return "cosine" if scheme.weights == "given" else "weighted-jaccard"


def _measure(similarity: Any, scheme: Scheme) -> str | None:
    """The measure, if it is not the one for the weights of the scheme."""
    if similarity in (None, _fitting(scheme)):
        return None
    if similarity not in CONTAINMENTS:
        raise SettingError(
            f"similarity={similarity!r}: an index of {scheme} finds documents by "
            f"{_fitting(scheme)}, {' or '.join(CONTAINMENTS)}"
        )
    return str(similarity)


def _threshold(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise SettingError(f"threshold={value!r} must be a number above 0, at most 1")
    return float(value)


def _distance(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise SettingError(
            f"max_distance={value!r} must be a whole number of differing bits, 0 or more"
        )
    return value


def _plan(plan: Any, max_distance: int | None, bits: int) -> MaskPlan:
    if isinstance(plan, str) and plan == AUTO:
        reach = DEFAULT_DISTANCE if max_distance is None else max_distance
        plan = f"blocks:{min(reach, bits - 1)}"
    found = plan_of(plan, bits)
    if not isinstance(found, MaskPlan):
        raise SettingError(
            f"plan={found} cannot be used by an index, whose documents change; choose {_PLANS}"
        )
    return found

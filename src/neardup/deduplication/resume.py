"""`--resume`: finished passes of a run are stored beside its output and not repeated.

A stored pass is used only in a run that would make the same one: of the same version, of unchanged
inputs, and with the same settings, as far as the pass depends on them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from neardup import __version__
from neardup.atomic import DamagedError, WorkFolder
from neardup.cluster import Clusters
from neardup.collection.budget import Budget
from neardup.collection.checkpoint import features_path, load_collected, store_collected
from neardup.collection.collected import Collected
from neardup.collection.rarity import Rarity
from neardup.collection.settings import DedupSettings
from neardup.deduplication.inputs import states_of
from neardup.deduplication.listed_pairs import HeldPairs, PairList
from neardup.deduplication.removals import Evidence, Found, Places, Removals
from neardup.features.idf import IdfTable
from neardup.frozen import dataclass
from neardup.pairs.all_pairs import PairBatch, joined
from neardup.pairs.choose import collects

IDF, FEATURES, PAIRS = "idf", "features", "pairs"
_PASSES = (IDF, FEATURES, PAIRS)
# Settings that change the speed of a run, not its result.
_FREE = ("memory", "threads")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Decided:
    """What the search for pairs gave, and the order in which documents were preferred.

    `all_pairs` is None if the search did not find all of them.
    """

    order: Places
    removals: Removals
    clusters: Clusters
    found: Found
    evidence: Evidence
    all_pairs: PairList | None

    def lacks_pairs(self, settings: DedupSettings) -> bool:
        """Whether all pairs are to be listed, and are still to be found."""
        return settings.pairs == "all" and (self.all_pairs is None or settings.floor is not None)


@dataclass(frozen=True, eq=False)
class Taken:
    """The passes taken over from an earlier run, in the order of the run; None for the others.

    `seconds` are those that they took when they ran.
    """

    idf: IdfTable | None = None
    collections: list[Collected] | None = None
    decided: Decided | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    passes: tuple[str, ...] = ()


class Resume:
    """The work folder of a run: takes over the passes that are stored, and stores others.

    `inputs` are the names of the inputs of each collection. `say` is told what is taken over, and
    what is repeated and why. `decisions` is a hash of the decisions to obey.
    """

    def __init__(
        self,
        output: str | os.PathLike[str],
        inputs: Sequence[Sequence[str]],
        settings: DedupSettings,
        say: Callable[[str], None],
        *,
        within: bool,
        decisions: str | None = None,
    ) -> None:
        self._decisions = decisions
        self._settings = settings
        self._say = say
        self._names = inputs
        self._within = within
        self._inputs = self._states()
        self._folder = WorkFolder(output)

    def taken(self, *, features: bool = False) -> Taken:
        """Load what is stored of this very run; anything else that is stored is removed.

        Features are loaded if they are still to be searched, or with `features`.
        """
        settings, why = self._settings, dict[str, str]()
        idf = self._load(IDF, self._idf, why)
        decided = self._load(PAIRS, self._decided, why)
        searches = features or decided is None or decided[0].lacks_pairs(settings)
        collections = self._load(FEATURES, lambda marker: self._collections(marker, searches), why)
        for reason in dict.fromkeys(why.values()):
            repeated = [name for name in _PASSES if why.get(name) == reason]
            self._say(f"{_and(repeated)} {_are(repeated)} repeated: {reason}")
        found = {IDF: idf, FEATURES: collections, PAIRS: decided}
        seconds: dict[str, float] = {}
        for name, one in found.items():
            if one is not None:
                seconds |= one[1]["seconds"]
                documents = one[1].get("documents")
                counted = "" if documents is None else f"{documents:,} documents, "
                stored = _clock(one[1]["stored"])
                self._say(f"resuming: {name} {_are([name])} done ({counted}stored {stored})")
        return Taken(
            None if idf is None else idf[0],
            None if collections is None else collections[0],
            None if decided is None else decided[0],
            seconds,
            tuple(name for name, one in found.items() if one is not None),
        )

    def features_path(self, number: int) -> Path:
        """Where the features of a collection go, by its number."""
        return features_path(self._folder.path, f"{FEATURES}.{number}")

    def store_idf(self, table: IdfTable, seconds: Mapping[str, float]) -> None:
        """Store the document frequencies."""
        values = {
            "features": table.features,
            "documents": int(table.documents),
            "forgotten": int(table.forgotten),
        }
        self._store_arrays(
            IDF, {"hashes": table.hashes, "counts": table.counts}, {"values": values}, seconds
        )

    def store_features(
        self, collections: Sequence[Collected], seconds: Mapping[str, float]
    ) -> None:
        """Store the collections; their features are in `features_path` already."""
        files: dict[str, str | None] = {}
        try:
            for number, one in enumerate(collections):
                files |= store_collected(one, self._folder.path, f"{FEATURES}.{number}")
        except OSError as error:
            raise self._folder.unstored(error) from error
        about = {
            "documents": sum(map(len, collections)),
            "of_collections": [one.seconds for one in collections],
        }
        self._finish(FEATURES, about, files, seconds)

    def store_pairs(self, decided: Decided, seconds: Mapping[str, float]) -> None:
        """Store the result of the search."""
        removals, evidence, found = decided.removals, decided.evidence, decided.found
        pairs = None if decided.all_pairs is None else joined(list(decided.all_pairs.batches()))
        groups = {"removals": removals, "evidence": evidence, "pairs": pairs}
        arrays = {"order": decided.order, "false_by_distance": found.false_by_distance}
        for group, held in groups.items():
            for name, array in ({} if held is None else vars(held)).items():
                if array is not None:
                    arrays[f"{group}.{name}"] = array
        values = {
            "candidates": int(found.candidates),
            "plan": found.plan,
            "reason": found.reason,
            "curve": found.curve,
            "accepted": None if found.accepted is None else int(found.accepted),
        }
        self._store_arrays(PAIRS, arrays, {"values": values}, seconds)

    def remove(self) -> None:
        """Remove the work folder after the run has succeeded."""
        self._folder.remove(*_PASSES)

    def close(self) -> None:
        """Let another run use the work folder."""
        self._folder.close()

    def _states(self) -> list[dict[str, Any]]:
        return [
            {"of": number, **state}
            for number, names in enumerate(self._names)
            for state in states_of(names)
        ]

    def _depends(self, name: str) -> dict[str, Any]:
        """What a pass depends on, besides the inputs."""
        settings = self._settings
        known: dict[str, Any] = {"neardup": __version__}
        if name == PAIRS:
            known |= {k: v for k, v in settings.as_dict().items() if k not in _FREE}
            known |= {"levels": settings.levels, "within": self._within}
            known |= {"decisions": self._decisions}
            if settings.fitted is not None:
                known |= {"model": settings.fitted.to_dict()}
        else:
            known |= settings.scheme.recipe
            known |= {
                k: getattr(settings, k) for k in ("text", "id", "read_as", "suffix", "max_document")
            }
        if name == FEATURES:
            known |= {f"collects {k}": v for k, v in asdict(collects(settings)).items()}
        return dict(json.loads(json.dumps(known)))

    def _difference(self, name: str, marker: Mapping[str, Any]) -> str | None:
        """What the stored pass was made of that is different now, in words."""
        before, now = marker["depends"], self._depends(name)
        for key in dict.fromkeys((*now, *before)):
            if before.get(key) != now.get(key):
                return f"{key} was {_word(before.get(key))} and is {_word(now.get(key))} now"
        old, new = marker["inputs"], self._inputs
        named, names = ([(one["of"], one["name"]) for one in side] for side in (old, new))
        if named != names:
            return "the inputs are others than before"
        changed = (one["name"] for one, other in zip(old, new, strict=True) if one != other)
        return next((f"{name} has changed" for name in changed), None)

    def _load(
        self, name: str, load: Callable[[dict[str, Any]], T], why: dict[str, str]
    ) -> tuple[T, dict[str, Any]] | None:
        """A pass and its marker; `why` is told the reason if a stored one cannot be used."""
        try:
            marker = self._folder.finished(name)
            if marker is not None:
                difference = self._difference(name, marker)
                if difference is None:
                    return load(marker), marker
                why[name] = difference
        except DamagedError as error:
            why[name] = f"{error} ({self._folder.path})"
        self._folder.forget(name)
        return None

    def _idf(self, marker: Mapping[str, Any]) -> IdfTable:
        arrays, values = self._arrays(IDF, marker), marker["values"]
        return IdfTable(
            values["features"],
            values["documents"],
            arrays["hashes"],
            arrays["counts"],
            values["forgotten"],
        )

    def _collections(self, marker: Mapping[str, Any], searches: bool) -> list[Collected]:
        held = Budget(self._settings.memory).features(len(self._names))
        found = [
            load_collected(
                lambda file: self._folder.require_whole(marker, file),
                f"{FEATURES}.{number}",
                seconds,
                features=held if searches else None,
                records=held // 2 if searches and collects(self._settings).records else None,
            )
            for number, seconds in enumerate(marker["of_collections"])
        ]
        if self._settings.fitted is None or not searches:
            return found
        tables = [one.records.table() for one in found if one.records is not None]
        rarity = Rarity.of(batch.columns for table in tables for batch in table.to_batches())
        return [replace(one, rarity=rarity) for one in found]

    def _decided(self, marker: Mapping[str, Any]) -> Decided:
        arrays, values = self._arrays(PAIRS, marker), marker["values"]
        groups: dict[str, dict[str, Any]] = {
            "removals": {},
            "evidence": {"distance": None},
            "pairs": {},
        }
        for name, array in arrays.items():
            group, _, within_group = name.partition(".")
            if within_group:
                groups[group][within_group] = array
        curve, decided = values["curve"], Removals(**groups["removals"])
        return Decided(
            arrays["order"],
            decided,
            decided.clusters(self._settings.keep),
            Found(
                values["candidates"],
                arrays["false_by_distance"],
                values["plan"],
                values["reason"],
                None if curve is None else tuple((x, y) for x, y in curve),
                values["accepted"],
            ),
            Evidence(**groups["evidence"]),
            HeldPairs(PairBatch(**groups["pairs"])) if groups["pairs"] else None,
        )

    def _arrays(self, name: str, marker: Mapping[str, Any]) -> dict[str, Any]:
        path = self._folder.require_whole(marker, f"{name}.npz")
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)

    def _store_arrays(
        self,
        name: str,
        arrays: Mapping[str, Any],
        about: Mapping[str, Any],
        seconds: Mapping[str, float],
    ) -> None:
        try:
            with (self._folder.path / f"{name}.npz").open("wb") as file:
                np.savez(file, **arrays)
        except OSError as error:
            raise self._folder.unstored(error) from error
        self._finish(name, about, {f"{name}.npz": None}, seconds)

    def _finish(
        self,
        name: str,
        about: Mapping[str, Any],
        files: Mapping[str, str | None],
        seconds: Mapping[str, float],
    ) -> None:
        if self._states() != self._inputs:
            self._say(f"{name} {_are([name])} not stored: the input has changed during the run")
            return
        made_of = {"depends": self._depends(name), "inputs": self._inputs}
        self._folder.finish(name, {**about, **made_of, "seconds": dict(seconds)}, files)


def _word(value: Any) -> str:
    return "not given" if value is None else str(value)


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _are(names: Sequence[str]) -> str:
    return "is" if list(names) == [IDF] else "are"


def _clock(stored: float) -> str:
    """The time of today, or the date and the time."""
    when = datetime.fromtimestamp(stored)
    return f"{when:%H:%M}" if when.date() == datetime.now().date() else f"{when:%Y-%m-%d %H:%M}"

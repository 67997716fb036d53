"""A fitted model as a readable JSON file: what it weighs, from where on, and what it learned from.

Tables of rarity (idf) are not stored: they are counted on the collection that the model is applied
to. Numbers have six digits, so that the same labels give the same bytes.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from neardup.atomic import replacing
from neardup.errors import InputError, NeardupError, SettingError
from neardup.features.spec import Fields
from neardup.frozen import dataclass

WORDS = "word:1 tfidf weighted-jaccard"
CHARACTERS = "char:3 jaccard"
# The name of each similarity of the whole text, and a word about it; see docs/guides/model.md.
TEXT_INPUTS = {
    "word:1 jaccard": "shared words",
    WORDS: "shared words, by rarity",
    "word:1 tfidf cosine": "shared words, by rarity",
    "word:1 idf containment": "of the shorter",
    "word:2 jaccard": "shared pairs of words",
    CHARACTERS: "shared characters",
    "char:3 tfidf cosine": "shared characters, by rarity",
    "digits jaccard": "shared words with digits",
    "digits containment": "of the shorter",
    "rarest shared word": "1: in one document",
    "first word": "1: the same",
    "length": "shorter / longer",
}
# Similarities that are missing where a document has no such words.
OPTIONAL = ("digits jaccard", "digits containment")
FIELD = "field "

FORMAT, VERSION = "neardup model", 1
_ABOUT = (
    "probability = 1 / (1 + exp(-log_odds)); log_odds = intercept + the sum over all inputs of "
    "coefficient * similarity, or of if_missing where a side is empty. Pairs that reach the "
    "probability 'threshold' are duplicates. Only pairs that reach one of 'candidates' are scored. "
    "Rarity (idf) is counted on the collection at hand, not stored here."
)
# The copy of its model in the folder of a run.
MODEL_FILE = "model.json"
_MOST_BYTES = 1_000_000
_ADVICE = "make one with `neardup tune --labels LABELS --fit model.json`"
_KEYS = (
    "format",
    "version",
    "about",
    "neardup",
    "text",
    "threshold",
    "intercept",
    "inputs",
    "candidates",
    "trained_on",
)


@dataclass(frozen=True)
class Input:
    """One input and its part in the log-odds; `if_missing` is added where it has no value."""

    name: str
    coefficient: float
    if_missing: float = 0.0


@dataclass(frozen=True)
class CandidateRule:
    """Pairs are candidates from this similarity on; `name` is one of two inputs."""

    name: str
    at_least: float

    def __str__(self) -> str:
        return f"{self.name} ≥ {self.at_least:g}"


@dataclass(frozen=True)
class TrainedOn:
    """What a model has learned from.

    `f1` is cross-validated, between `low` and `high` with 95 % confidence; `unreachable` is the
    number of labelled pairs that are the same, but not candidates.
    """

    documents: int
    same: int
    different: int
    strength: float
    f1: float
    low: float
    high: float
    unreachable: int


@dataclass(frozen=True)
class Model:
    """A logistic regression over a fixed list of similarities; see `scoring.inputs`.

    `text` names the fields as the setting `text` does, or is None for documents of one text.
    """

    text: str | None
    threshold: float
    intercept: float
    inputs: tuple[Input, ...]
    candidates: tuple[CandidateRule, ...]
    trained_on: TrainedOn
    neardup: str

    @property
    def fields(self) -> Fields | None:
        return None if self.text is None else Fields.parse(self.text)

    def to_dict(self) -> dict[str, Any]:
        """The contents of the file."""
        learned = self.trained_on
        return {
            "format": FORMAT,
            "version": VERSION,
            "about": _ABOUT,
            "neardup": self.neardup,
            "text": self.text,
            "threshold": self.threshold,
            "intercept": self.intercept,
            "inputs": [
                {"name": one.name, "coefficient": one.coefficient}
                | ({"if_missing": one.if_missing} if may_be_missing(one.name) else {})
                for one in self.inputs
            ],
            "candidates": [
                {"name": rule.name, "at_least": rule.at_least} for rule in self.candidates
            ],
            "trained_on": {
                "documents": learned.documents,
                "same": learned.same,
                "different": learned.different,
                "strength": learned.strength,
                "f1": {"value": learned.f1, "low": learned.low, "high": learned.high},
                "unreachable": learned.unreachable,
            },
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model; the file appears complete or not at all."""
        with replacing(path) as unfinished:
            unfinished.write_text(self.to_json(), encoding="utf-8", newline="\n")

    def to_json(self) -> str:
        """The file's text: one line for each setting, input and rule."""
        lines = []
        for key, value in self.to_dict().items():
            shown = json.dumps(value, ensure_ascii=False)
            if isinstance(value, list):
                items = (f"    {json.dumps(one, ensure_ascii=False)}" for one in value)
                shown = "[\n" + ",\n".join(items) + "\n  ]"
            lines.append(f"  {json.dumps(key)}: {shown}")
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model; `InputError` if the file is none, or is damaged."""
        if not isinstance(path, str | os.PathLike):
            raise SettingError(f"model={path!r} must be the name of a model file")
        try:
            with Path(path).open("rb") as file:
                data = file.read(_MOST_BYTES + 1)
        except OSError as error:
            raise InputError(f"cannot read the model {path}: {error.strerror}") from None
        except ValueError:  # a null character, or half a character
            raise SettingError(f"model={str(path)!r} is not the name of a file") from None
        if len(data) > _MOST_BYTES:
            raise InputError(f"{path} is larger than 1 MB and no model; {_ADVICE}")
        try:
            found = json.loads(data.decode())
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
            raise InputError(f"{path} is not JSON and no model ({error}); {_ADVICE}") from None
        return cls.of(found, str(path))

    @classmethod
    def of(cls, found: Any, where: str = "the model") -> Model:
        """A model from the contents of its file; `where` begins the messages."""
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise InputError(f"{where} is no {FORMAT}; {_ADVICE}")
        if found.get("version") != VERSION:
            raise InputError(
                f"{where} has version {found.get('version')!r} of {FORMAT}, and this neardup "
                f"reads version {VERSION}; update neardup, or fit the model again"
            )
        try:
            return _Reading(where).model(found)
        except NeardupError as error:
            raise InputError(str(error)) from None


def input_names(fields: Fields | None) -> tuple[str, ...]:
    """All inputs of documents with these fields, in the order of a model file."""
    own = () if fields is None else tuple(FIELD + name for name in fields.names)
    return (*TEXT_INPUTS, *own)


def may_be_missing(name: str) -> bool:
    """Whether an input can be without a value: a side is empty, which is no evidence."""
    return name in OPTIONAL or name.startswith(FIELD)


def rounded(number: float) -> float:
    """Six digits.

    >>> rounded(1 / 3)
    0.333333
    """
    return float(f"{number:.6g}")


class _Reading:
    """Checks every part of a model file."""

    def __init__(self, where: str) -> None:
        self._where = where

    def model(self, found: Mapping[str, Any]) -> Model:
        self._require_keys(found, _KEYS, "it")
        text = found["text"]
        if text is not None and not isinstance(text, str):
            raise self._wrong(f"text is {text!r}, not the names of fields or null")
        try:
            fields = None if text is None else Fields.parse(text)
        except SettingError as error:
            raise self._wrong(str(error)) from None
        if not isinstance(found["neardup"], str):
            raise self._wrong(f"neardup is {found['neardup']!r}, not a version")
        threshold = self._number(found["threshold"], "threshold")
        if not 0 < threshold <= 1:
            raise self._wrong(f"threshold is {threshold:g}, not above 0 and at most 1")
        inputs = [self._input(one) for one in self._list(found["inputs"], "inputs")]
        names = [one.name for one in inputs]
        expected = input_names(fields)
        if tuple(names) != expected:
            off = next((name for name in names if name not in expected), None)
            missing = next((name for name in expected if name not in names), None)
            what = f"unknown input {off!r}" if off else f"no input {missing!r}"
            if off is None and missing is None:
                what = "its inputs are not in the usual order"
            raise self._wrong(what)
        rules = [self._rule(one) for one in self._list(found["candidates"], "candidates")]
        return Model(
            text,
            threshold,
            self._number(found["intercept"], "intercept"),
            tuple(inputs),
            tuple(rules),
            self._trained_on(found["trained_on"]),
            found["neardup"],
        )

    def _input(self, found: Any) -> Input:
        name = found.get("name") if isinstance(found, dict) else None
        if not isinstance(name, str):
            raise self._wrong(f"an input is {found!r}, without a name")
        optional = may_be_missing(name)
        keys = ("name", "coefficient", "if_missing") if optional else ("name", "coefficient")
        self._require_keys(found, keys, f"the input {name!r}")
        missing = self._number(found["if_missing"], f"if_missing of {name}") if optional else 0.0
        return Input(name, self._number(found["coefficient"], f"coefficient of {name}"), missing)

    def _rule(self, found: Any) -> CandidateRule:
        if not isinstance(found, dict) or found.get("name") not in (WORDS, CHARACTERS):
            raise self._wrong(f"a rule for candidates is {found!r}, not {WORDS} or {CHARACTERS}")
        self._require_keys(found, ("name", "at_least"), "the rule for candidates")
        least = self._number(found["at_least"], "at_least")
        if not 0 < least <= 1:
            raise self._wrong(f"at_least is {least:g}, not above 0 and at most 1")
        return CandidateRule(found["name"], least)

    def _trained_on(self, found: Any) -> TrainedOn:
        keys = ("documents", "same", "different", "strength", "f1", "unreachable")
        self._require_keys(found, keys, "trained_on")
        self._require_keys(found["f1"], ("value", "low", "high"), "f1")
        counts = {name: found[name] for name in ("documents", "same", "different", "unreachable")}
        for name, count in counts.items():
            if isinstance(count, bool) or not isinstance(count, int) or count < 0:
                raise self._wrong(f"{name} is {count!r}, not a number of things")
        value, low, high = (self._number(found["f1"][key], "f1") for key in found["f1"])
        return TrainedOn(
            strength=self._number(found["strength"], "strength"),
            f1=value,
            low=low,
            high=high,
            **counts,
        )

    def _require_keys(self, found: Any, keys: Sequence[str], what: str) -> None:
        if not isinstance(found, dict):
            raise self._wrong(f"{what} is {found!r}, not an object")
        for key in keys:
            if key not in found:
                raise self._wrong(f"{what} lacks {key!r}")
        for key in found:
            if key not in keys:
                raise self._wrong(f"{what} has the unknown key {key!r}")

    def _list(self, found: Any, what: str) -> list[Any]:
        if not isinstance(found, list) or not found:
            raise self._wrong(f"{what} is {found!r}, not a list with something in it")
        return found

    def _number(self, found: Any, what: str) -> float:
        is_number = isinstance(found, int | float) and not isinstance(found, bool)
        try:
            if is_number and math.isfinite(found):
                return float(found)
        except OverflowError:
            pass  # a whole number beyond all floats: no number that a model has
        raise self._wrong(f"{what} is {found!r}, not a number")

    def _wrong(self, what: str) -> InputError:
        return InputError(f"{self._where} is a damaged model: {what}; {_ADVICE}")


def with_own_model(settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The settings of a run with the copy of the model that its folder has."""
    if settings.get("model") is None:
        return dict(settings)
    return {**settings, "model": str(folder / MODEL_FILE)}


def field_of(name: str) -> str | None:
    """The field that an input compares, or None if it is of the whole text."""
    return name.removeprefix(FIELD) if name.startswith(FIELD) else None

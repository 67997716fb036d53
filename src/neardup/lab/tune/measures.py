"""The settings that labels choose from: features, weights and similarity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from neardup.collection.settings import FIELDS, DedupSettings
from neardup.features.spec import FieldKind, Fields
from neardup.frozen import dataclass

# From this many words on, half of the documents are long: runs of characters cost far more, and are
# better only where many letters are wrong, as in scans.
LONG_WORDS = 200
_WEIGHTED, _SETS, _COSINE = "weighted-jaccard", "jaccard", "cosine"
# What is equally good by the labels is decided in favour of the settings that were best, or close
# to it, on most of the collections that were measured.
_USUAL = 0.01


@dataclass(frozen=True)
class Measure:
    """One way to compare two documents; `bonus` is added to its F1 when measures are ranked.

    `text` is set where fields are compared each in its own way.
    """

    features: str
    weights: str
    similarity: str
    bonus: float = 0.0
    text: str | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of `dedup` that it consists of."""
        own = {} if self.text is None else {"text": self.text}
        return {
            "features": self.features,
            "weights": self.weights,
            "similarity": self.similarity,
            **own,
        }

    def __str__(self) -> str:
        if self.text is not None:
            return f"the fields {self.text}"
        if self.similarity == FIELDS:  # each field has features of its own
            return "similarity by fields"
        return f"{self.features} {self.weights} {self.similarity}"


_SHORT = (
    Measure("word:1", "tfidf", _WEIGHTED, _USUAL),
    Measure("word:1", "idf", _WEIGHTED, _USUAL),
    Measure("word:1", "tfidf", _COSINE, _USUAL),
    Measure("word:1", "idf", _COSINE),
    Measure("word:1", "set", _SETS, _USUAL / 2),
    Measure("word:2", "set", _SETS),
    Measure("word:2", "tfidf", _WEIGHTED),
    Measure("word:3", "set", _SETS, _USUAL / 2),
    Measure("char:2", "set", _SETS),
    Measure("char:3", "set", _SETS, _USUAL / 2),
    Measure("char:3", "tfidf", _WEIGHTED, _USUAL / 2),
    Measure("char:3", "idf", _WEIGHTED),
    Measure("char:4", "set", _SETS),
    Measure("char:4", "idf", _WEIGHTED, _USUAL / 2),
    Measure("char:4", "tfidf", _COSINE),
    Measure("char:5", "set", _SETS),
)
_LONG = (
    Measure("word:3", "set", _SETS, _USUAL),
    Measure("word:3", "idf", _WEIGHTED),
    Measure("word:2", "set", _SETS, _USUAL / 2),
    Measure("word:2", "idf", _WEIGHTED),
    Measure("word:1", "set", _SETS),
    Measure("word:1", "idf", _WEIGHTED),
    Measure("word:1", "tfidf", _WEIGHTED),
    Measure("word:1", "tfidf", _COSINE),
    Measure("word:5", "set", _SETS),
    Measure("char:4", "set", _SETS, -_USUAL),
)


def measures_for(median_words: int, chosen: Mapping[str, Any]) -> tuple[Measure, ...]:
    """The measures to try; those of `features`, `weights` and `similarity` that were given stay.

    >>> [str(one) for one in measures_for(8, {"features": "char:5"})]
    ['char:5 set jaccard']
    """
    given = {
        name: str(chosen[name])
        for name in ("features", "weights", "similarity")
        if chosen.get(name) is not None
    }
    tried = _LONG if median_words >= LONG_WORDS else _SHORT
    fitting = tuple(
        one for one in tried if all(one.settings[name] == value for name, value in given.items())
    )
    if fitting:
        return fitting
    # Something that is not in the table: as `dedup` would fill it in.
    settings = DedupSettings.of(**{**given, "text": chosen.get("text")})
    return (Measure(str(settings.scheme.features), settings.scheme.weights, settings.similarity),)


def field_measure(fields: Fields) -> Measure:
    """Fields compared one by one, by their runs of three characters; weights stay.

    >>> field_measure(Fields.parse("name*2+city")).text
    'name:char:3*2+city:char:3'
    """
    kind = FieldKind.parse("char:3")
    typed = Fields(tuple(replace(field, kind=field.kind or kind) for field in fields.fields))
    settings = DedupSettings.of(text=str(typed))
    return Measure(
        str(settings.scheme.features), settings.scheme.weights, settings.similarity, text=str(typed)
    )

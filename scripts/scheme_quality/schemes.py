"""The schemes that are measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SPHERE = "sphere:42x64"


@dataclass(frozen=True)
class Choice:
    """Settings of `nd.fingerprint`, and the short name that the page gives them.

    `of` says what is fingerprinted: the `text` of documents, the `terms` they bring, or the
    columns of a `record`.
    """

    name: str
    settings: dict[str, Any]
    of: str = field(default="text")


def _shingles(*features: str, weights: str = "set") -> list[Choice]:
    suffix = "" if weights == "set" else f" {weights}"
    return [Choice(f + suffix, {"features": f, "weights": weights}) for f in features]


TEXT = [
    *_shingles("word:1", "word:2", "word:3", "word:5", "char:3", "char:4", "char:5"),
    *_shingles("word:1+word:2", "word:1+word:3"),
    *_shingles("word:1", "word:3", "char:4", weights="count"),
    *_shingles("word:1", "word:3", weights="tfidf"),
    *_shingles("word:1", weights="tfidf:lab"),
    *_shingles("sentences:5", "edges"),
    Choice("keywords:20", {"features": "keywords:20"}),
    Choice("keywords:50", {"features": "keywords:50"}),
    Choice("keywords:50 string64", {"features": "keywords:50", "hash": "string64"}),
    Choice("word:3 md5", {"features": "word:3", "hash": "md5"}),
    Choice(
        "word:1 count md5 sphere",
        {"features": "word:1", "weights": "count", "hash": "md5", "projection": SPHERE},
    ),
    Choice("word:3 sphere", {"features": "word:3", "projection": SPHERE}),
    Choice("word:3, 128 bits", {"features": "word:3", "bits": 128}),
    Choice("word:3, 256 bits", {"features": "word:3", "bits": 256}),
    Choice("word:1, 256 bits", {"features": "word:1", "bits": 256}),
    Choice("word:1 tfidf, 256 bits", {"features": "word:1", "weights": "tfidf", "bits": 256}),
]
TERMS = [
    Choice(f"terms {hash_} {tie}", {"features": "terms", "hash": hash_, "tie": tie}, "terms")
    for hash_ in ("md5", "nd1")
    for tie in (">0", ">=0")
]

NAMES = ("given_name", "surname")
PLACES = ("street_number", "address_1", "suburb", "postcode", "state")
NUMBERS = ("date_of_birth", "soc_sec_id")
_EQUAL = "+".join((*NAMES, *PLACES, *NUMBERS))
_NAMES_TWICE = "+".join((*(f"{name}*2" for name in NAMES), *PLACES, *NUMBERS))


def _record(name: str, text: str, features: str, **others: Any) -> Choice:
    return Choice(name, {"text": text, "features": features, **others}, "record")


RECORDS = [
    *(Choice(f"{f}, one text", {"features": f}) for f in ("word:1", "word:3", "char:2", "char:3")),
    *(_record(f"{f}, columns", _EQUAL, f) for f in ("word:1", "char:2", "char:3")),
    _record("char:2, columns, names*2", _NAMES_TWICE, "char:2"),
    _record("char:2 tfidf, columns", _EQUAL, "char:2", weights="tfidf"),
    Choice("char:3, one text, 256 bits", {"features": "char:3", "bits": 256}),
    _record("char:2, columns, 256 bits", _EQUAL, "char:2", bits=256),
]

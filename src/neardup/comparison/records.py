"""Compare two records field by field: what each field adds to their similarity."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.collection.rarity import Rarity
from neardup.collection.settings import DedupSettings
from neardup.comparison.record_result import ComparedField, RecordComparison
from neardup.errors import SettingError
from neardup.features.hashed import text_sets
from neardup.features.idf import IdfTable
from neardup.features.spec import Fields, TextColumn
from neardup.fingerprints.distance import hamming
from neardup.fingerprints.fingerprinter import Fingerprinter, fitted
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.hashes import hash_family
from neardup.pairs.by_score import scorer_of
from neardup.pairs.similarity import containment, cosine, inclusion, jaccard, weighted_jaccard
from neardup.read.columns import field_texts
from neardup.scoring.parts import Agreement, Scorer
from neardup.settings import CONTAINMENT, CONTAINMENTS, INCLUSION

Weights = Mapping[int, float]

_LINE = re.compile(r"(?P<name>[^:\s][^:]{0,79}):(?: (?P<value>.*))?")
_LONGEST_RECORD = 100_000  # characters


def compare_records(
    a: Mapping[str, str],
    b: Mapping[str, str],
    settings: DedupSettings,
    idf: IdfTable | str | os.PathLike[str] | None = None,
    fingerprinter: Fingerprinter | None = None,
    rarity: Rarity | None = None,
    *,
    of_b: bool = False,
) -> RecordComparison:
    """Compare the fields that `settings` name; a record maps them to texts.

    A `fingerprinter` brings the key and the weights of its run, `rarity` what a model needs.
    Inclusion is that of a in b, or of b in a (`of_b`).
    """
    fields = settings.scheme.fields or Fields.named(list(a))
    if settings.is_scored:
        return by_score(a, b, scorer_of(settings, 1, rarity))
    if fingerprinter is None:
        family = hash_family(settings.scheme.hash)
        columns = _columns(a, b, fields)
        fingerprinter = fitted(Fingerprinter(settings.scheme, family, 1), [columns], idf)
        is_exact = idf is not None or not settings.scheme.needs_idf
    else:
        is_exact = True
    return _by_features(
        a, b, fields, settings.similarity, fingerprinter, is_exact=is_exact, of_b=of_b
    )


def by_score(a: Mapping[str, str], b: Mapping[str, str], scorer: Scorer) -> RecordComparison:
    """Compare two records by a scorer, whose parts are the rows."""
    score, parts = scorer.explain(a, b)
    is_empty = any(not any(text.strip() for text in record.values()) for record in (a, b))
    return RecordComparison(
        similarity=scorer.name,
        score=None if is_empty else score,
        # What can be read comes first: the fields.
        fields=tuple(map(_compared, sorted(parts, key=lambda part: part.a is None))),
    )


def _compared(part: Agreement) -> ComparedField:
    # The intercept of a model is neither a field nor a similarity.
    is_constant = part.a is None and part.name == "intercept"
    return ComparedField(
        part.name,
        part.how,
        part.a,
        part.b,
        part.similarity,
        None if is_constant else part.weight,
        part.adds,
    )


def record_texts(record: Mapping[str, Any], fields: Fields, name: str) -> dict[str, str]:
    """The fields of a record as texts, written out as `dedup` does; a missing one is empty.

    `name` is that of the record, for errors.
    """
    found = {}
    for field in fields.fields:
        value = record.get(field.name)
        try:
            texts = field_texts(pa.array([value]))
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            texts = None
        if texts is None:
            raise SettingError(
                f"{name}[{field.name!r}] is a {type(value).__name__}, which cannot be compared as "
                "text; give a string or a number"
            )
        found[field.name] = str(texts[0].as_py())
    if not any(field in record for field in fields.names):
        known = ", ".join(map(repr, list(record)[:20])) or "no fields"
        raise SettingError(
            f"{name} has none of the fields {', '.join(fields.names)}; it has {known}"
        )
    return found


def side_by_side_fields(a: Mapping[str, str], b: Mapping[str, str]) -> RecordComparison:
    """The fields of two records that nothing is known of but their values."""
    return RecordComparison(
        similarity="",
        score=None,
        fields=tuple(ComparedField(name, "", a[name], b[name], None, None, None) for name in a),
    )


def records_of_lines(a: str, b: str) -> tuple[dict[str, str], dict[str, str]] | None:
    r"""Two texts as records, if each of their lines is a field and both have the same ones.

    >>> records_of_lines("name: Ann\ncity: Oslo", "name: Anne\ncity:")
    ({'name': 'Ann', 'city': 'Oslo'}, {'name': 'Anne', 'city': ''})
    >>> records_of_lines("name: Ann\nand more", "name: Ann\nand more") is None
    True
    """
    if max(len(a), len(b)) > _LONGEST_RECORD:
        return None
    records = []
    for text in (a, b):
        lines = [_LINE.fullmatch(line) for line in text.split("\n")]
        record = {line["name"]: line["value"] or "" for line in lines if line}
        if not 1 < len(record) == len(lines):
            return None
        records.append(record)
    return (records[0], records[1]) if list(records[0]) == list(records[1]) else None


def fields_of_text(text: str, names: Sequence[str]) -> dict[str, str]:
    r"""The fields of a record that was written as lines `name: text`.

    >>> fields_of_text("title: A\nbody: two\nlines", ["title", "body"])
    {'title': 'A', 'body': 'two\nlines'}
    """
    found, rest = {}, f"\n{text}"
    for place, name in enumerate(names):
        rest = rest.removeprefix(f"\n{name}: ")
        following = names[place + 1 : place + 2]
        end = rest.find(f"\n{following[0]}: ") if following else -1
        found[name], rest = (rest, "") if end < 0 else (rest[:end], rest[end:])
    return found


def _by_features(
    a: Mapping[str, str],
    b: Mapping[str, str],
    fields: Fields,
    similarity: str,
    fingerprinter: Fingerprinter,
    *,
    is_exact: bool,
    of_b: bool,
) -> RecordComparison:
    """The features of all fields are one set; each field adds the part of the score of its own."""
    scheme, columns = fingerprinter.scheme, _columns(a, b, fields)
    found = fingerprinter.features(columns)
    whole = [_weights(found.hashes, found.weights, *found.offsets[row : row + 2]) for row in (0, 1)]
    parts = [_of_field(column, fingerprinter, whole) for column in columns]
    measure = _MEASURES.get(similarity, weighted_jaccard)
    if similarity == INCLUSION and of_b:

        def measure(one: Weights, other: Weights) -> float:
            return inclusion(other, one)

    score, distance = measure(*whole), None
    if similarity == "hamming":
        rows, words = fingerprinter.rows(columns)
        prints = Fingerprints(rows, fingerprinter.scheme, words)
        distance = int(hamming(prints[:1], prints[1:])[0])
        score = 1 - distance / scheme.bits
    is_empty = not all(whole)
    shares = _shares(parts, whole[::-1] if of_b else whole, similarity)
    return RecordComparison(
        similarity=similarity,
        score=None if is_empty else score,
        fields=tuple(
            ComparedField(
                name=field.name,
                how=str(scheme.features) if field.kind is None else field.kind.in_words,
                a=a[field.name],
                b=b[field.name],
                similarity=measure(*part) if any(part) else None,
                weight=field.weight,
                adds=None if is_empty or share is None else share,
            )
            for field, part, share in zip(fields.fields, parts, shares, strict=True)
        ),
        distance=None if is_empty else distance,
        bits=None if distance is None else scheme.bits,
        is_exact=is_exact,
    )


def _columns(a: Mapping[str, str], b: Mapping[str, str], fields: Fields) -> list[TextColumn]:
    return [
        TextColumn(pa.array([a[field.name], b[field.name]], pa.large_string()), field)
        for field in fields.fields
    ]


def _weights(
    hashes: np.ndarray[Any, Any], weights: np.ndarray[Any, Any] | None, begin: int, end: int
) -> Weights:
    values = np.ones(end - begin) if weights is None else weights[begin:end]
    return dict(zip(hashes[begin:end].tolist(), values.tolist(), strict=True))


def _of_field(
    column: TextColumn, fingerprinter: Fingerprinter, whole: Sequence[Weights]
) -> list[Weights]:
    """The features of one field, of both records, with the weights that they have there."""
    own = text_sets([column], fingerprinter.scheme.features, 1, fingerprinter.family.key)
    return [
        {
            feature: whole[row][feature]
            for feature in own.hashes[own.offsets[row] : own.offsets[row + 1]].tolist()
        }
        for row in (0, 1)
    ]


def _shares(
    parts: Sequence[Sequence[Weights]], whole: Sequence[Weights], similarity: str
) -> list[float | None]:
    """What the features of each field add to the similarity; None for hamming, which is no sum."""
    a, b = whole
    if similarity == "hamming":
        return [None] * len(parts)
    if similarity == "cosine":
        lengths = np.sqrt(sum(w * w for w in a.values())) * np.sqrt(sum(w * w for w in b.values()))
        return [
            float(sum(w * other[f] for f, w in own.items() if f in other) / lengths)
            if lengths
            else 0.0
            for own, other in parts
        ]
    larger = sum(max(a.get(feature, 0), b.get(feature, 0)) for feature in a.keys() | b.keys())
    if similarity in CONTAINMENTS:
        larger = sum(a.values())
        if similarity == CONTAINMENT:
            larger = min(larger, sum(b.values()))
    return [
        sum(min(w, other[f]) for f, w in own.items() if f in other) / larger if larger else 0.0
        for own, other in parts
    ]


def _sets(a: Weights, b: Weights) -> float:
    return jaccard(a.keys(), b.keys())


_MEASURES: dict[str, Callable[[Weights, Weights], float]] = {
    "jaccard": _sets,
    "weighted-jaccard": weighted_jaccard,
    "cosine": cosine,
    "containment": containment,
    "inclusion": inclusion,
}

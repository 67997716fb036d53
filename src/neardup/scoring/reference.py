"""The twin of `similarity=fields`: slow and obvious, two records at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from neardup.features.spec import FeatureSpec, Field, Fields
from neardup.kernels.reference import text

_ROUNDING = 1e-9


def field_similarity(a: str, b: str, field: Field, features: FeatureSpec) -> float | None:
    """The similarity of two values of a field; None if one of them is empty."""
    if not text.words(a) or not text.words(b):
        return None
    kind = field.kind
    if kind is None or kind.size:
        kinds = features.kinds if kind is None or kind.spec is None else kind.spec.kinds
        one, other = (
            {
                (unit.unit, shingle)
                for unit in kinds
                for shingle in text.shingles(text.units(value, unit.unit), unit.size)
            }
            for value in (a, b)
        )
        return len(one & other) / len(one | other)
    x, y = (number(value) if kind.how == "number" else day(value) for value in (a, b))
    if kind.how == "exact" or x is None or y is None:
        return float(text.folded(a) == text.folded(b))
    most = (kind.tolerance or 0.0) * (1 + _ROUNDING)
    return float(abs(x - y) <= (most * max(abs(x), abs(y)) if kind.is_share else most))


def record_similarity(
    a: Mapping[str, str], b: Mapping[str, str], fields: Fields, features: FeatureSpec
) -> float:
    """The score of two records, of which at least one is not empty."""
    every = sum(field.weight for field in fields.fields)
    total = filled = 0.0
    differ = False
    for field in fields.fields:
        x, y = a[field.name], b[field.name]
        found = field_similarity(x, y, field, features)
        if found is None:
            differ |= bool(text.words(x)) != bool(text.words(y))
            continue
        total += field.weight * found
        filled += field.weight
        differ |= field_similarity(x, y, _strict(field), features) != 1
    if filled and not differ:
        return 1.0
    return total / max(filled, every / 2)


def number(value: str) -> float | None:
    """The number that a text holds."""
    plain = re.fullmatch(
        r"([+-]?)[$€£¥]?((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?)",
        value.strip(),
    )
    try:
        found = float(plain[1] + plain[2].replace(",", "")) if plain else None
    except ValueError:
        return None
    return None if found is None or abs(found) == float("inf") else found


def day(value: str) -> int | None:
    """The day that a text holds."""
    match = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ].*)?", value.strip())
    match = match or re.fullmatch(r"([0-9]{4})([0-9]{2})([0-9]{2})", value.strip())
    try:
        return date(*map(int, match.groups())).toordinal() if match else None
    except ValueError:
        return None


def _strict(field: Field) -> Field:
    """The same field, without a tolerance."""
    kind = field.kind
    if kind is None or kind.tolerance is None:
        return field
    return Field(field.name, field.weight, type(kind)(kind.how))

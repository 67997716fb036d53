"""The values of fields that are compared as a whole: numbers, dates, and texts as they stand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.features.spec import LARGEST_SIZE, FeatureKind, FeatureSpec, FieldKind, TextColumn

# One feature: all characters of the value, in lower case, white space trimmed and collapsed.
WHOLE = FeatureSpec((FeatureKind("char", LARGEST_SIZE),))
# A sign, a currency, digits with or without commas between thousands, decimals, an exponent.
_NUMBER = r"^[+-]?[$€£¥]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?$"
_NOT_DIGITS = r"[$€£¥,]"
_DATE = r"^(?P<y>[0-9]{4})(?:-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})(?:[T ].*)?)$"
_DIGITS = r"^(?P<y>[0-9]{4})(?P<m>[0-9]{2})(?P<d>[0-9]{2})$"
_MONTH_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


def compared(column: TextColumn, spec: FeatureSpec) -> tuple[pa.Array, FeatureSpec]:
    """The texts of a column as they are compared, and the features that are made of them."""
    kind = None if column.field is None else column.field.kind
    if kind is None:
        return column.texts, spec
    if kind.spec is not None:
        return column.texts, kind.spec
    return written_alike(column.texts, kind), WHOLE


def written_alike(texts: pa.Array, kind: FieldKind) -> pa.Array:
    """The texts, with numbers and dates written in one way; what is neither stays as it is.

    >>> written_alike(pa.array(["1,250.50", "$3", "about 3"]), FieldKind("number")).to_pylist()
    ['1250.5', '3', 'about 3']
    >>> written_alike(pa.array(["19810130", "1981-01-30T10:00"]), FieldKind("date")).to_pylist()
    ['1981-01-30', '1981-01-30']
    """
    if kind.how not in ("number", "date"):
        return texts
    encoded = texts.dictionary_encode()
    distinct = encoded.dictionary
    values = values_of(distinct, kind)
    readable = np.flatnonzero(~np.isnan(values))
    written = distinct.to_pylist()
    for place, value in zip(readable.tolist(), values[readable].tolist(), strict=True):
        written[place] = _written(value, kind)
    return pa.array(written, pa.large_string()).take(encoded.indices)


def values_of(texts: pa.Array, kind: FieldKind) -> NDArray[np.float64]:
    """The numbers, or the days since 1970, that texts hold; NaN where they hold none."""
    import pyarrow.compute as pc  # few runs need it

    trimmed = pc.utf8_trim_whitespace(texts.fill_null(""))
    return _numbers(trimmed) if kind.how == "number" else _days(trimmed)


def _numbers(texts: pa.Array) -> NDArray[np.float64]:
    import pyarrow.compute as pc  # few runs need it

    found = np.full(len(texts), np.nan)
    looks_right = pc.and_(
        pc.match_substring_regex(texts, _NUMBER), pc.match_substring_regex(texts, r"^[^eE]*[0-9]")
    )
    rows = np.flatnonzero(looks_right.to_numpy(zero_copy_only=False))
    plain = pc.replace_substring_regex(texts.take(pa.array(rows)), _NOT_DIGITS, "")
    found[rows] = [float(text) for text in plain.to_pylist()]
    found[~np.isfinite(found)] = np.nan
    return found + 0.0  # one zero, not two


def _days(texts: pa.Array) -> NDArray[np.float64]:
    import pyarrow.compute as pc  # few runs need it

    found = np.full(len(texts), np.nan)
    for pattern in (_DATE, _DIGITS):
        parts = pc.extract_regex(texts, pattern)
        rows = np.flatnonzero(parts.is_valid().to_numpy(zero_copy_only=False))
        matched = parts.take(pa.array(rows))
        year, month, day = (
            matched.field(name).cast(pa.int64()).to_numpy(zero_copy_only=False)
            for name in ("y", "m", "d")
        )
        is_leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
        in_year = (year >= 1) & (month >= 1) & (month <= 12)
        last = _MONTH_DAYS[np.where(in_year, month, 0)] + (is_leap & (month == 2))
        valid = in_year & (day >= 1) & (day <= last)
        months = (12 * (year[valid] - 1970) + month[valid] - 1).astype("datetime64[M]")
        first = months.astype("datetime64[D]").astype(np.int64)
        found[rows[valid]] = first + day[valid] - 1
    return found


def _written(value: float, kind: FieldKind) -> str:
    if kind.how == "date":
        return str(np.datetime64(int(value), "D"))
    return repr(value).removesuffix(".0")

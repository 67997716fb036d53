"""Feature specs such as `word:3`, and the fields of records such as `name:char:3*2 + dob:exact`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from urllib.parse import unquote

import pyarrow as pa

from neardup.errors import SettingError
from neardup.frozen import dataclass
from neardup.read.text_columns import spelt_field

LARGEST_SIZE = 2**31 - 1
_KIND = re.compile(r"(word|char|sentences|keywords):([0-9]{1,10})|(edges|terms)")
# These have weights of their own, which are not comparable with counts.
_ALONE = ("keywords", "terms")


_FIELD = re.compile(
    r"(?P<name>[^*:]+?)\s*(?::(?P<kind>[^*]*?)\s*)?(?:\*\s*(?P<weight>[0-9]+(?:\.[0-9]+)?))?"
)
_FIELD_KIND = re.compile(
    r"(?P<unit>word|char):(?P<size>[0-9]{1,10})|exact"
    r"|(?P<value>number|date)(?::(?P<tolerance>[0-9]+(?:\.[0-9]+)?))?"
)


@dataclass(frozen=True, order=True)
class FeatureKind:
    """One kind of feature: shingles of `size` units, or the top `size` sentences or keywords.

    `edges` and `terms` have no size (0).
    """

    unit: str
    size: int

    @property
    def is_shingle(self) -> bool:
        """Whether features are runs of `size` consecutive words or characters."""
        return self.unit in ("word", "char")

    def __str__(self) -> str:
        return f"{self.unit}:{self.size}" if self.size else self.unit


@dataclass(frozen=True)
class FeatureSpec:
    """The features of a document: one kind, or the union of several.

    >>> str(FeatureSpec.parse("word:3+word:1"))
    'word:1+word:3'
    """

    kinds: tuple[FeatureKind, ...]

    @classmethod
    def parse(cls, spec: str | FeatureSpec) -> FeatureSpec:
        """Parse a spec; the error for a wrong one explains the syntax."""
        if isinstance(spec, FeatureSpec):
            return spec
        matches = [_KIND.fullmatch(part.strip()) for part in str(spec).split("+")]
        kinds = {FeatureKind(m[1] or m[3], int(m[2] or 0)) for m in matches if m}
        if not all(matches) or not all(_is_sound(kind) for kind in kinds):
            raise SettingError(
                f"features={spec!r} is not a feature spec: write word:N or char:N with N from 1, "
                "for example word:3 (shingles of three words) or char:4; sentences:N, edges, "
                "keywords:N or terms; or several with +, as in word:1+word:3"
            )
        for kind in kinds:
            if kind.unit in _ALONE and len(kinds) > 1:
                raise SettingError(
                    f"features={spec!r}: {kind} has weights of its own and stands alone; "
                    "leave out the others"
                )
        return cls(tuple(sorted(kinds)))

    @property
    def shingle(self) -> FeatureKind | None:
        """The kind of shingle, if the spec is a single kind of shingle."""
        return self.kinds[0] if len(self.kinds) == 1 and self.kinds[0].is_shingle else None

    @property
    def are_given(self) -> bool:
        """Whether documents are given as terms, not as text."""
        return self.kinds[0].unit == "terms"

    @property
    def keywords(self) -> int:
        """The number of keywords per text; 0 if features are not keywords."""
        return self.kinds[0].size if self.kinds[0].unit == "keywords" else 0

    def __str__(self) -> str:
        return "+".join(map(str, self.kinds))


def _is_sound(kind: FeatureKind) -> bool:
    return kind.unit in ("edges", "terms") or 1 <= kind.size <= LARGEST_SIZE


@dataclass(frozen=True)
class FieldKind:
    """How a field is compared: by its shingles, or as one value.

    `how` is `word` or `char` (shingles of `size` units), `exact`, `number` or `date`. The values of
    a number agree within `tolerance`, those of a date within so many days; without one they must
    be equal.

    >>> kind = FieldKind.parse("number:0.05")
    >>> str(kind), kind.in_words
    ('number:0.05', 'number within 5 %')
    """

    how: str
    size: int = 0
    tolerance: float | None = None

    @classmethod
    def parse(cls, spec: str) -> FieldKind | None:
        """Read a kind; None if it is none."""
        match = _FIELD_KIND.fullmatch(spec.strip())
        if match is None:
            return None
        if match["unit"]:
            kind = FeatureKind(match["unit"], int(match["size"]))
            return cls(kind.unit, kind.size) if _is_sound(kind) else None
        if match["value"] is None:
            return cls("exact")
        tolerance = float(match["tolerance"] or 0)
        if match["value"] == "date" and not tolerance.is_integer():
            return None
        return cls(match["value"], 0, tolerance or None) if math.isfinite(tolerance) else None

    @property
    def spec(self) -> FeatureSpec | None:
        """The shingles; None if the whole value is compared."""
        return FeatureSpec((FeatureKind(self.how, self.size),)) if self.size else None

    @property
    def is_share(self) -> bool:
        """Whether the tolerance is a share of the larger number, not a difference."""
        return self.how == "number" and self.tolerance is not None and self.tolerance < 1

    @property
    def in_words(self) -> str:
        """How the field is compared, for people."""
        if self.tolerance is None:
            return str(self)
        if self.how == "date":
            return f"date within {self.tolerance:g} day{'' if self.tolerance == 1 else 's'}"
        within = f"{100 * self.tolerance:g} %" if self.is_share else f"{self.tolerance:g}"
        return f"number within {within}"

    def __str__(self) -> str:
        if self.size:
            return f"{self.how}:{self.size}"
        return self.how if self.tolerance is None else f"{self.how}:{self.tolerance:.15g}"


@dataclass(frozen=True)
class Field:
    """A field of a record, whose features count `weight` times.

    Without a kind of its own it has the features that the documents have.
    """

    name: str
    weight: float = 1.0
    kind: FieldKind | None = None

    def __str__(self) -> str:
        # A name may contain any character; usual names are not changed.
        kind = "" if self.kind is None else f":{self.kind}"
        weight = "" if self.weight == 1 else f"*{self.weight:g}"
        return spelt_field(self.name) + kind + weight


@dataclass(frozen=True)
class Fields:
    """The fields of a record, written as `name*2+street+city` or `name:char:3*2 + dob:exact`.

    >>> fields = Fields.parse("name:char:3*2 + street + dob:exact")
    >>> fields.names, str(fields), fields.are_typed
    (('name', 'street', 'dob'), 'name:char:3*2+street+dob:exact', True)
    """

    fields: tuple[Field, ...]

    @classmethod
    def parse(cls, spec: str) -> Fields:
        """Parse names, kinds and weights; write a + in a name as `%2B`, a * as `%2A`, a : as `%3A`.

        A part such as `dob:exact` has a kind: `word:N`, `char:N`, `exact`, `number`, `number:0.05`,
        `date` or `date:2`.
        """
        fields = []
        for part in spec.split("+"):
            match = _FIELD.fullmatch(part.strip())
            weight = float(match["weight"] or 1) if match else 0.0
            if not match or not weight or not math.isfinite(weight):
                raise SettingError(
                    f"text={spec!r} names no columns: join them with + and give weights "
                    "with *, for example 'name*2+street+city'"
                )
            kind = None
            if match["kind"] is not None:
                kind = FieldKind.parse(match["kind"])
                if kind is None:
                    raise SettingError(
                        f"text={spec!r}: {match['kind']!r} is no way to compare a field; write "
                        "word:N, char:N, exact, number, number:0.05, date or date:2, for example "
                        "'name:char:3*2 + dob:exact' (and %3A for a colon in the name of a column)"
                    )
            fields.append(Field(unquote(match["name"]), weight, kind))
        if len({field.name for field in fields}) < len(fields):
            raise SettingError(f"text={spec!r} names a column twice; give it a weight instead")
        return cls(tuple(fields))

    @classmethod
    def named(cls, names: Sequence[str]) -> Fields:
        """Fields of weight 1."""
        return cls(tuple(map(Field, names)))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    @property
    def are_typed(self) -> bool:
        """Whether any field has a kind of its own."""
        return any(field.kind is not None for field in self.fields)

    @property
    def unweighted(self) -> Fields:
        """The same fields, all of weight 1."""
        return Fields(tuple(Field(field.name, 1.0, field.kind) for field in self.fields))

    def __str__(self) -> str:
        return "+".join(map(str, self.fields))


def record_fields(text: str | None) -> Fields | None:
    """The fields that `text` names, or None if it is the name of one column.

    >>> record_fields("title") is None, str(record_fields("title:char:3"))
    (True, 'title:char:3')
    """
    if text is None:
        return None
    kind = FieldKind.parse(text.partition(":")[2])
    return Fields.parse(text) if "+" in text or "*" in text or kind is not None else None


@dataclass(frozen=True, eq=False)
class TextColumn:
    """The texts of one column; `field` is None if the text is the whole document."""

    texts: pa.Array
    field: Field | None = None

"""Feature specs such as `word:3`, and the fields of records such as `name*2+city`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from urllib.parse import quote, unquote

import pyarrow as pa

from neardup.errors import SettingError
from neardup.frozen import dataclass

LARGEST_SIZE = 2**31 - 1
_KIND = re.compile(r"(word|char|sentences|keywords):([0-9]{1,10})|(edges|terms)")
# These have weights of their own, which are not comparable with counts.
_ALONE = ("keywords", "terms")


_FIELD = re.compile(r"(?P<name>[^*]+)(?:\*(?P<weight>[0-9]+(?:\.[0-9]+)?))?")


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
class Field:
    """A field of a record, whose features count `weight` times."""

    name: str
    weight: float = 1.0

    def __str__(self) -> str:
        # A name may contain any character; usual names are not changed.
        name = quote(self.name, safe=" ")
        return name if self.weight == 1 else f"{name}*{self.weight:g}"


@dataclass(frozen=True)
class Fields:
    """The fields of a record, written as `name*2+street+city`.

    >>> fields = Fields.parse("name*2+street+city")
    >>> fields.names, str(fields)
    (('name', 'street', 'city'), 'name*2+street+city')
    """

    fields: tuple[Field, ...]

    @classmethod
    def parse(cls, spec: str) -> Fields:
        """Parse names and weights; write a + in a name as `%2B`, a * as `%2A`."""
        fields = []
        for part in spec.split("+"):
            match = _FIELD.fullmatch(part.strip())
            weight = float(match["weight"] or 1) if match else 0.0
            if not match or not weight or not math.isfinite(weight):
                raise SettingError(
                    f"text={spec!r} names no columns: join them with + and give weights "
                    "with *, for example 'name*2+street+city'"
                )
            fields.append(Field(unquote(match["name"]), weight))
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

    def __str__(self) -> str:
        return "+".join(map(str, self.fields))


def record_fields(text: str | None) -> Fields | None:
    """The fields that `text` names, or None if it is the name of one column."""
    return Fields.parse(text) if text is not None and ("+" in text or "*" in text) else None


@dataclass(frozen=True, eq=False)
class TextColumn:
    """The texts of one column; `field` is None if the text is the whole document."""

    texts: pa.Array
    field: Field | None = None

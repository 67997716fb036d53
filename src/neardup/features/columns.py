"""Records: which columns of a table make a document, and how much each of them weighs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

import pyarrow as pa

from neardup.errors import SettingError

_FIELD = re.compile(r"(?P<name>[^*]+)(?:\*(?P<weight>[0-9]+(?:\.[0-9]+)?))?")


@dataclass(frozen=True)
class Field:
    """A column of a record; its features are its own, and weigh `weight` times as much."""

    name: str
    weight: float = 1.0

    def __str__(self) -> str:
        # Names may hold anything; those of the usual kind are spelt as they are.
        name = quote(self.name, safe=" ")
        return name if self.weight == 1 else f"{name}*{self.weight:g}"


@dataclass(frozen=True)
class Fields:
    """`name*2+street+city`: the columns of a record.

    >>> fields = Fields.parse("name*2+street+city")
    >>> fields.names, str(fields)
    (('name', 'street', 'city'), 'name*2+street+city')
    """

    fields: tuple[Field, ...]

    @classmethod
    def parse(cls, spec: str) -> Fields:
        """Read columns with weights; `%2B` stands for a + in a name, `%2A` for a *."""
        fields = []
        for part in spec.split("+"):
            match = _FIELD.fullmatch(part.strip())
            weight = float(match["weight"] or 1) if match else 0.0
            if not match or not weight or not math.isfinite(weight):
                raise SettingError(
                    f"text={spec!r} names no columns: write them with + and, where one counts "
                    "more, its weight, for example 'name*2+street+city'"
                )
            fields.append(Field(unquote(match["name"]), weight))
        if len({field.name for field in fields}) < len(fields):
            raise SettingError(f"text={spec!r} names a column twice; give it a weight instead")
        return cls(tuple(fields))

    @classmethod
    def named(cls, names: Sequence[str]) -> Fields:
        """Columns that all weigh the same."""
        return cls(tuple(map(Field, names)))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order they were named."""
        return tuple(field.name for field in self.fields)

    def __str__(self) -> str:
        return "+".join(map(str, self.fields))


def record_fields(text: str | None) -> Fields | None:
    """The fields that `text` names, or None where it is the name of one column of text."""
    return Fields.parse(text) if text is not None and ("+" in text or "*" in text) else None


@dataclass(frozen=True, eq=False)
class TextColumn:
    """The texts of one column; `field` is None where the text is the whole document."""

    texts: pa.Array
    field: Field | None = None

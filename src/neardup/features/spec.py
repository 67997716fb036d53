"""Feature specs: the short strings that say what a document is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from neardup.errors import SettingError

_SPEC = re.compile(r"(word|char):([0-9]+)")
_TERMS = "terms"
_LARGEST_SIZE = 2**31 - 1


@dataclass(frozen=True)
class FeatureSpec:
    """Shingles of `size` consecutive units (`word:3`, `char:4`), or the documents' own `terms`.

    >>> FeatureSpec.parse("word:3")
    FeatureSpec(unit='word', size=3)
    """

    unit: str
    size: int

    @classmethod
    def parse(cls, spec: str | FeatureSpec) -> FeatureSpec:
        """Read a spec, or explain what a spec looks like."""
        if isinstance(spec, FeatureSpec):
            return spec
        if spec == _TERMS:
            return cls(_TERMS, 1)
        match = _SPEC.fullmatch(str(spec).strip())
        size = int(match[2]) if match else 0
        if not match or not 1 <= size <= _LARGEST_SIZE:
            raise SettingError(
                f"features={spec!r} is no feature spec: write word:N or char:N with N from 1, "
                "for example word:3 (shingles of three words) or char:4; or terms"
            )
        return cls(match[1], size)

    @property
    def are_given(self) -> bool:
        """Whether documents come as terms of their own, not as text."""
        return self.unit == _TERMS

    def __str__(self) -> str:
        if self.are_given:
            return _TERMS
        return f"{self.unit}:{self.size}"

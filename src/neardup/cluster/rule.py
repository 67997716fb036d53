"""Cluster rules: which similar documents make one cluster."""

from __future__ import annotations

import re

from neardup.errors import SettingError
from neardup.frozen import dataclass

_DENSE = "dense"
_PLAIN = ("star", "components")
_SHARE = 0.25
_NUMBER = re.compile(r"\d+(\.\d*)?([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class ClusterRule:
    """`star`, `components`, or `dense:SHARE`; `dense` alone means `dense:0.25`.

    >>> str(ClusterRule.parse("dense"))
    'dense:0.25'
    """

    kind: str = "star"
    share: float | None = None  # of the cross pairs of two dense clusters, to join them

    @classmethod
    def parse(cls, rule: str | ClusterRule) -> ClusterRule:
        """Read a rule; `SettingError` lists the choices if it is unknown."""
        if isinstance(rule, ClusterRule):
            return rule
        kind, colon, share = str(rule).partition(":")
        if kind in _PLAIN and not colon:
            return cls(kind)
        if kind == _DENSE and not colon:
            return cls(kind, _SHARE)
        if kind == _DENSE and _NUMBER.fullmatch(share) and 0 < float(share) <= 1:
            return cls(kind, float(share))
        raise SettingError(
            f"cluster={rule!r} is unknown; choose {', '.join(_PLAIN)}, {_DENSE} or "
            f"{_DENSE}:SHARE, where SHARE is a number above 0, at most 1"
        )

    def __str__(self) -> str:
        return self.kind if self.share is None else f"{self.kind}:{self.share!r}".removesuffix(".0")

"""Counted files: how many were read as what, and why others were left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from neardup.read.file_kinds import TEXT, suffix_of
from neardup.read.source import Source

_MOST_KINDS = 20
OTHERS = "others"
_ARTICLE = re.compile(r"^(is|of) (an? )?")


def files_read(sources: Iterable[Source], passed_over: int) -> dict[str, Any]:
    """The files that are read, by format and by suffix, as the summary of a run has them."""
    formats: Counter[str] = Counter()
    suffixes: Counter[str] = Counter()
    parts: set[str] = set()
    for source in sources:
        if source.fault or source.name in parts:
            continue
        if source.part is not None:
            parts.add(source.name)
        formats[TEXT if source.format == "document" else source.format] += 1
        suffixes[suffix_of(source.name)] += 1
    return {
        "formats": dict(formats.most_common()),
        "suffixes": most_common(suffixes),
        "passed_over": passed_over,
    }


def most_common(counts: Mapping[str, int]) -> dict[str, int]:
    """The most frequent kinds, and all others together."""
    ranked = Counter(counts).most_common()
    found = dict(ranked[:_MOST_KINDS])
    others = sum(number for _, number in ranked[_MOST_KINDS:])
    return {**found, OTHERS: others} if others else found


def short_reason(reason: str) -> str:
    """The kind of a reason for which a file was left out.

    >>> short_reason("is a PNG image, which neardup does not read; convert it to text")
    'PNG image'
    """
    return _ARTICLE.sub("", re.split(r"[,;:(]", reason, maxsplit=1)[0].strip())

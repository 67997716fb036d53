"""Passages: the sentences that stand for a text, each of them one feature."""

from __future__ import annotations

from collections.abc import Sequence

from neardup.features.sentences import edge_sentences, longest_sentences
from neardup.features.spec import FeatureKind


def passages(texts: Sequence[str], kind: FeatureKind) -> list[list[str]]:
    """The longest sentences of each text (`sentences:5`), or those at the `edges` of paragraphs."""
    if kind.unit == "edges":
        return list(map(edge_sentences, texts))
    return longest_sentences(texts, kind.size)

"""Passages: the sentences that stand for a text, each of them one feature."""

from __future__ import annotations

from collections.abc import Sequence

from neardup.features.sentences import edge_sentences, longest_sentences
from neardup.features.spec import FeatureKind
from neardup.kernels import HashKey


def passages(
    texts: Sequence[str], kind: FeatureKind, key: HashKey | None = None
) -> list[list[str]]:
    """The longest sentences of each text (`sentences:5`), or those at the `edges` of paragraphs.

    With a `key`, sentences of the same words are told by the keyed hash.
    """
    if kind.unit == "edges":
        return list(map(edge_sentences, texts))
    return longest_sentences(texts, kind.size, key)

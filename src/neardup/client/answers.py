"""Answers of a server, read into the objects that a local index returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.client.errors import ServiceError, error_of_document
from neardup.comparison.diff import Edit
from neardup.comparison.result import ComparedDocument, Comparison
from neardup.fingerprints import Fingerprints, Scheme
from neardup.frozen import dataclass
from neardup.index.match import Answers, Match, MatchList, Verdict
from neardup.index.settings import IndexSettings
from neardup.index.store import Part
from neardup.index.told import IndexStats, Seen, StoredDocument
from neardup.pairs.by_fingerprints import MaskPlan, plan_of
from neardup.settings import CONTAINMENTS

Found = Mapping[str, Any]


@dataclass(frozen=True)
class IndexInfo:
    """An index of a server: its name, its number of documents, what it finds, and its settings."""

    name: str
    documents: int
    finds: str
    settings: IndexSettings

    @classmethod
    def of(cls, found: Found) -> IndexInfo:
        """Read what the server tells of an index."""
        settings = found["settings"]
        scheme = Scheme.parse(found["scheme"])
        similarity = settings.get("similarity")  # servers before containment have none
        return cls(
            found["name"],
            found["documents"],
            found["finds"],
            IndexSettings(
                scheme,
                settings["threshold"],
                settings["complete"],
                _plan(settings["plan"], scheme.bits),
                settings["max_distance"],
                settings["store_text"],
                settings["store_features"],
                settings["ttl"],
                similarity if similarity in CONTAINMENTS else None,
            ),
        )


def rows_of(found: Found, sent: int, before: int) -> list[Found]:
    """One answer for each document that was sent; the first error among them is raised.

    `before` is the number of documents that other requests have sent.
    """
    rows: list[Found] = found["results"]
    for place, row in enumerate(rows, before):
        if "error" in row:
            id = row.get("id")
            name = f"document {place}" if id is None else f"the document {id!r:.80}"
            raise error_of_document(name, row["error"])
    if len(rows) != sent:
        raise ServiceError(
            f"the server answered {len(rows):,} of {sent:,} documents; repeat the call",
            code="broken",
        )
    return rows


def matches_of(found: Found) -> MatchList:
    """The matches of one query."""
    return MatchList(map(_match, found["matches"]))


def verdict_of(found: Found) -> Verdict:
    """The answer to a check."""
    match = None if found["match"] is None else _match(found["match"])
    return Verdict(found["is_new"], match, matches_of(found), found["added"])


def answers_of(lists: Sequence[Sequence[Match]], by_similarity: bool) -> Answers:
    """The answers to many queries."""
    matches = [match for some in lists for match in some]
    counts = np.fromiter(map(len, lists), np.int64, len(lists))
    similarities = [match.similarity for match in matches]
    known = by_similarity or (matches and None not in similarities)
    return Answers(
        np.concatenate((np.zeros(1, np.int64), np.cumsum(counts))),
        [match.id for match in matches],
        np.array([match.distance for match in matches], np.uint16),
        np.array(similarities, np.float64) if known else None,
        [match.metadata for match in matches],
        by_similarity=by_similarity,
    )


def stored_document_of(found: Found) -> StoredDocument:
    """A document as the index stores it."""
    print_, seen = found["fingerprint"], found["seen"]
    return StoredDocument(
        found["id"],
        None if print_ is None else int(print_, 16),
        found["words"],
        found["metadata"],
        found["text"],
        Seen(seen["times"], seen["first"], seen["last"]),
        found["expires"],
    )


def stats_of(found: Found) -> IndexStats:
    """Size, age and growth of an index."""
    parts = [Part(**part) for part in found["segments"]]
    return IndexStats(**{**found, "segments": parts})


def comparison_of(found: Found) -> Comparison:
    """Two documents compared; the inverse of `Comparison.to_dict`."""
    scheme = Scheme.parse(found["scheme"])
    a, b = (
        ComparedDocument(
            side["words"],
            side["features"],
            # Here the digits are whole bytes, filled up with zeros at the end.
            int(side["fingerprint"], 16) >> (-scheme.bits % 8),
            side["fingerprint"],
            tuple(side["examples"]),
        )
        for side in (found["a"], found["b"])
    )
    return Comparison(
        scheme,
        a,
        b,
        found["shared"],
        found["only_a"],
        found["only_b"],
        found["jaccard"],
        found["cosine"],
        tuple(Edit(**edit) for edit in found["diff"]),
        found["diff_complete"],
        found.get("inclusion_a"),  # servers before containment have none
        found.get("inclusion_b"),
    )


def fingerprints_of(found: Found) -> Fingerprints:
    """Fingerprints with their scheme; an empty document has none."""
    scheme = Scheme.parse(found["scheme"])
    size = 8 * scheme.row_words
    rows = b"".join(
        (int(print_ or "0", 16) << (8 * size - scheme.bits)).to_bytes(size, "big")
        for print_ in found["fingerprints"]
    )
    return Fingerprints(
        np.frombuffer(rows, ">u8").astype(np.uint64).reshape(-1, scheme.row_words),
        scheme,
        np.array(found["words"], np.uint32),
    )


def joined_fingerprints(parts: Sequence[Fingerprints]) -> Fingerprints:
    """The fingerprints of several requests of the same settings."""

    def joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate(arrays)

    words = joined([part.words for part in parts])
    return Fingerprints(joined([part.array for part in parts]), parts[0].scheme, words)


def _match(found: Found) -> Match:
    return Match(found["id"], found["distance"], found["similarity"], found["metadata"])


def _plan(name: str | None, bits: int) -> MaskPlan | None:
    if name is None:
        return None
    plan = plan_of(name, bits)
    assert isinstance(plan, MaskPlan)
    return plan

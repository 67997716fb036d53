"""Why a document was kept or removed, and why a pair is doubtful, in sentences.

The terminal and the pages say the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.frozen import dataclass
from neardup.runs.queue import CHAINED, LOOSE, MISSED
from neardup.runs.views import ChainStep, DocumentRow
from neardup.settings import CONTAINMENT, INCLUSION
from neardup.visible import shown_similarity

if TYPE_CHECKING:
    from neardup.runs.run import Run

BY_SIMILARITY, BY_COPY, BY_CHAIN, BY_DECISION, KEPT, ALONE, OTHER = (
    "similarity",
    "copy",
    "chain",
    "decision",
    "kept",
    "alone",
    "other",
)


@dataclass(frozen=True)
class Why:
    """The verdict on a document: `kind` is one of the words above, `sentence` says it in full.

    `chain` leads from a removed document to the one it duplicates, if they are no pair.
    """

    kind: str
    sentence: str
    chain: tuple[ChainStep, ...] = ()


def why(run: Run, document: DocumentRow) -> Why:
    """Why a document was kept or removed."""
    if run.to_label is not None:
        return Why(ALONE, "A document of pairs to label.")
    if document.is_other:
        return Why(OTHER, "It is of the other collection, which is kept.")
    if document.kept:
        return _why_kept(run, document)
    assert document.duplicate_of is not None
    assert document.similarity is not None
    target = run.document(document.duplicate_of)
    name = f"{target.id}{' of the other collection' if target.is_other else ''}"
    if document.decided_by:
        return Why(
            BY_DECISION,
            f"Removed as a duplicate of {name}, because {document.decided_by} decided so; their "
            f"similarity is {shown_similarity(document.similarity)}.",
        )
    if _are_copies(run, document, target):
        return Why(BY_COPY, f"Removed as an exact copy of {name}: both have the same features.")
    if document.similarity < run.threshold:
        chain = tuple(run.chain(document.place))
        return Why(
            BY_CHAIN,
            f"Removed for {name}, to which a chain of {len(chain)} pairs connects it; their own "
            f"similarity, {shown_similarity(document.similarity)}, does not reach the threshold, "
            f"{run.limit}.",
            chain,
        )
    chain = tuple(run.chain(document.place))
    shown = shown_similarity(document.similarity)
    found = f"Removed as a near-duplicate of {name}: their similarity is {shown}"
    if run.summary["settings"]["similarity"] == CONTAINMENT:
        found = (
            f"Removed as a near-duplicate of {name}: {shown} of the smaller of the two is in the "
            "other"
        )
    if run.summary["settings"]["similarity"] == INCLUSION:
        found = f"Removed because {shown} of it is in {name}"
    return Why(BY_SIMILARITY, f"{found}, and the threshold is {run.limit}.", chain)


def _why_kept(run: Run, document: DocumentRow) -> Why:
    if document.cluster is None:
        return Why(ALONE, "Kept: it has no near-duplicate in this run.")
    size = run.cluster(document.cluster).size
    return Why(KEPT, f"Kept, of a cluster of {size:,} documents.")


def _are_copies(run: Run, document: DocumentRow, target: DocumentRow) -> bool:
    if target.is_other:
        return document.similarity == 1 and not run.is_containment
    own = document.place if document.copy_of is None else document.copy_of
    other = target.place if target.copy_of is None else target.copy_of
    return own == other


def reason_to_ask(why: str) -> str:
    """Why a pair is in a file of pairs to label."""
    return f"Why this pair: {why}." if why else "A pair to label."


def doubt_of(reason: int, limit: str, density: float, size: int) -> str:
    """Why a pair is in the review queue."""
    if reason == MISSED:
        return f"A near miss, below {limit}: they are in no common cluster."
    if reason == CHAINED:
        return f"Only a chain of pairs connects them: they are below {limit}."
    if reason == LOOSE:
        return (
            f"The weakest removal of a loose cluster: {density:.0%} of the pairs of its "
            f"{size:,} documents reach {limit}."
        )
    return f"The weakest removal of its cluster, at {limit}."

"""Warnings about results that may not be what was meant, and about settings that do not fit.

The shares and sizes below were chosen on collections of persons, products, citations, poems, web
pages, licences and manuals: runs whose removals were right nine times out of ten stay below them,
runs that were wrong every second time do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass

if TYPE_CHECKING:
    from neardup.collection.settings import DedupSettings
    from neardup.deduplication.result import Result

# With fewer different documents, shares and medians say nothing.
_FEW = 20
_MOST_REMOVED, _MOST_DOUBTFUL = 0.75, 0.2
_LARGE, _LARGE_SHARE = 100, 0.01
_LARGE_CHAIN, _LARGE_CHAIN_SHARE = 25, 0.001
_UNPROVEN_SHARE = 0.1
_MOST_NAMED = 3
_MOST_CONFLICTS = 5
# Documents of fewer words are short, from the second number on they are long.
_SHORT, _LONG = 30, 200
# Shingles that documents on the same subject share, and up to which Jaccard similarity they do.
_COMMON = {"word": 1, "char": 3}
_SAME_SUBJECT = 0.5
# Of short documents, this share of near copies shows that the setting finds them after all; long
# ones with fewer come to no harm.
_FOUND, _HARMED = 0.05, 0.01
_LONGER = 1.25
_LETTERS = 6  # of a word and the space after it
_FOR_SHORT = "--features word:1 --weights tfidf --threshold 0.3"
_FOR_LONG = "--features word:3 --weights set --threshold 0.8"
_LABELS = "`neardup evaluate OUT --truth LABELS` measures it, `neardup tune INPUT --labels LABELS`"
_REMEDY = (
    "look at the weakest removals (`neardup explore OUT`, or report.html), then raise --threshold"
)


@dataclass(frozen=True, eq=False)
class Facts:
    """What warnings depend on that holds for the whole collection.

    `near` are the similarities of removed documents to the kept ones, without exact copies and
    without those that people decided on: both are meant. `different` is the number of documents
    that are neither empty nor removed as exact copies, `median_words` is of those that are not
    empty. `within` says whether documents were compared with each other.
    """

    settings: DedupSettings
    near: NDArray[np.float64]
    different: int
    median_words: int
    within: bool

    @classmethod
    def of(cls, result: Result) -> Facts:
        """The facts of a result."""
        near = ~(result.clustering.kept | result.copied | result.decided)
        words = result.collected.words[result.collected.filled]
        return cls(
            result.settings,
            np.asarray(result.clustering.similarity[near]),
            len(words) - result.exact_copies,
            int(np.median(words)) if len(words) else 0,
            result.both.within,
        )


def cautions(result: Result) -> list[str]:
    """A sentence or two for each reason to look at the result before using it."""
    facts = Facts.of(result)
    return [
        *many_are_removed(facts),
        *_longer_are_removed(result),
        *_loose_clusters(result, facts),
        *misfits(facts),
        *_about_decisions(result),
    ]


def _longer_are_removed(result: Result) -> Iterator[str]:
    """By containment, longer documents went for shorter ones that they contain."""
    if result.settings.similarity != "containment":
        return
    sides = (result.both.left, result.both.right)
    words = np.concatenate([side.words for side in sides if side is not None]).astype(np.int64)
    clustering = result.clustering
    gone = ~clustering.kept
    own, others = words[clustering.place[gone]], words[clustering.kept_for[gone]]
    longer = int((own > _LONGER * others).sum())
    if longer:
        count = "1 removed document is" if longer == 1 else f"{longer:,} removed documents are"
        yield (
            f"{count} longer by a quarter or more than the one kept instead: what else stood there "
            "is lost. Use --keep longest, or --similarity inclusion, which removes a document only "
            "if the kept one has enough of it."
        )


def _about_decisions(result: Result) -> Iterator[str]:
    """Decisions that could not be obeyed; the first of each kind are named."""
    if result.obeyed is None:
        return
    conflicts, stale = result.obeyed.all_conflicts, result.obeyed.stale
    for sentence in conflicts[:_MOST_CONFLICTS]:
        yield f"Conflict of decisions: {sentence}."
    if len(conflicts) > _MOST_CONFLICTS:
        more = len(conflicts) - _MOST_CONFLICTS
        yield f"{more:,} more conflicts of decisions are in summary.json."
    if stale:
        count = "1 decision names" if len(stale) == 1 else f"{len(stale):,} decisions name"
        yield (
            f"{count} documents that are not in the input, or have another content now. "
            f"The first: {stale[0]}."
        )


def _remedy(facts: Facts) -> str:
    """What to do about removals that may be wrong; short documents have no long features."""
    longer = "" if facts.median_words < _SHORT else " or use longer features such as word:5"
    return _REMEDY + longer


def many_are_removed(facts: Facts) -> Iterator[str]:
    """Most documents are removed, or many with a similarity close to the threshold.

    A threshold that fits lies in a gap: few similarities are close to it. Where many are, it cuts
    through documents that are alike by chance.
    """
    least, different, near = facts.settings.least, facts.different, facts.near
    limit = least + (1 - least) / 4
    doubtful = int((near < limit).sum())
    most, many = len(near) > _MOST_REMOVED * different, doubtful > _MOST_DOUBTFUL * different
    if different < _FEW or not (most or many):
        return
    below = " or below it" if (near < least).any() else ""
    yield (
        f"{len(near):,} of {different:,} different documents are removed as near copies "
        f"({len(near) / different:.0%}), {doubtful:,} of them with a similarity of less than "
        f"{limit:.3g}, close to the threshold of {least:.3g}{below}. Unless you expect that, "
        f"{_remedy(facts)}; "
        f"{_LABELS} chooses better settings."
    )


def _loose_clusters(result: Result, facts: Facts) -> Iterator[str]:
    """Large clusters whose members hardly reach the threshold, or do not; the largest first."""
    clustering = result.clustering
    sizes = clustering.sizes
    starts = np.searchsorted(clustering.cluster, np.arange(len(clustering) + 1))
    large = max(_LARGE, _LARGE_SHARE * len(result.collected))
    if clustering.via is not None:
        large = max(_LARGE_CHAIN, _LARGE_CHAIN_SHARE * len(result.collected))
    by_size = np.argsort(-sizes, kind="stable")
    found = 0
    for number in by_size[sizes[by_size] >= large].tolist():
        why = _looseness(result, facts, slice(int(starts[number]), int(starts[number + 1])))
        if why:
            found += 1
            if found <= _MOST_NAMED:
                around = result.id_at(int(clustering.around[starts[number]]))
                yield f"The cluster around {around} has {sizes[number]:,} documents, and {why}."
    if found > _MOST_NAMED:
        more = found - _MOST_NAMED
        yield f"{more:,} more {'cluster is' if more == 1 else 'clusters are'} as large and loose."


def _looseness(result: Result, facts: Facts, rows: slice) -> str | None:
    """Why a cluster is loose, and what to do; None if it is not."""
    clustering, least = result.clustering, result.settings.least
    by_similarity = (clustering.place[rows] != clustering.around[rows]) & ~result.decided[rows]
    similarity = clustering.similarity[rows][by_similarity]
    similarity = similarity[~np.isnan(similarity)]
    if clustering.via is not None:
        return _looseness_of_chains(result, facts, similarity, rows.stop - rows.start)
    near = similarity[similarity < 1]
    if not len(near) or np.median(near) >= least + (1 - least) / 4:
        return None
    return (
        f"half of those that are not identical to it have a similarity of {np.median(near):.3f} or "
        f"less, near the threshold of {least:.3g}. They may share a template rather than their "
        f"content: {_remedy(facts)}"
    )


def _looseness_of_chains(
    result: Result, facts: Facts, similarity: NDArray[np.float64], size: int
) -> str | None:
    """Why a connected component or a dense cluster is loose: chains of pairs hold it together."""
    least = result.settings.least
    below = int((similarity < least).sum())
    median = float(np.median(similarity)) if len(similarity) else 1.0
    large = size >= max(_LARGE, _LARGE_SHARE * len(result.collected))
    if median >= least and not (large and below > _UNPROVEN_SHARE * size):
        return None
    share = result.settings.share
    others = "--cluster star or --cluster dense"
    if share is not None:
        others = f"--cluster star or a larger share than --cluster dense:{share:g}"
    return (
        f"{below:,} of them are below the threshold of {least:.3g}: only chains of pairs connect "
        f"them to it (median similarity {median:.3f}). Use {others}, or {_remedy(facts)}"
    )


def misfits(facts: Facts) -> Iterator[str]:
    """Features and a threshold that do not suit the length of the documents."""
    settings, different = facts.settings, facts.different
    kinds = settings.scheme.features.kinds
    searched = facts.within and not settings.is_scored and settings.similarity != "hamming"
    if different < _FEW or not searched or not all(kind.is_shingle for kind in kinds):
        return
    median, found = facts.median_words, len(facts.near) / different
    edited, least = _after_one_edit(settings, median), settings.least
    length = f"Median document {median:,} {'word' if median == 1 else 'words'}"
    if median < _SHORT and edited < least and found < _FOUND:
        tried = "" if median < 3 else f", or `{_FOR_SHORT}`"
        yield (
            f"{length}: {settings.scheme.features} at {least:.3g} will find little, "
            f"because one changed word leaves a similarity of {edited:.2f}. Try "
            f"`neardup tune INPUT`{tried}, and look at the weakest removals."
        )
    common = all(kind.size <= _COMMON[kind.unit] for kind in kinds)
    of_one = settings.similarity == "cosine" or settings.is_containment
    jaccard = least / (2 - least) if of_one else least  # of documents of one size
    if median >= _LONG and common and jaccard <= _SAME_SUBJECT and found > _HARMED:
        yield (
            f"{length}: documents on the same subject share many {settings.scheme.features} "
            f"features, and a threshold of {least:.3g} removes them as near copies. Try "
            f"`neardup tune INPUT`, or `{_FOR_LONG}`."
        )


def _after_one_edit(settings: DedupSettings, words: int) -> float:
    """The similarity of a document of so many words to the same one with another word in it."""
    every = changed = 0
    for kind in settings.scheme.features.kinds:
        units = words if kind.unit == "word" else words * _LETTERS
        edited = 1 if kind.unit == "word" else _LETTERS
        shingles = max(1, units - kind.size + 1)
        every += shingles
        changed += min(shingles, edited + kind.size - 1)
    if settings.similarity == "cosine" or settings.is_containment:
        return (every - changed) / every
    return (every - changed) / (every + changed)

"""Hold a run against labels: rates of pairs and clusters, the curve, the worst mistakes."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from neardup.atomic import replacing
from neardup.deduplication.result import Result
from neardup.errors import SettingError
from neardup.evaluation.curve import Curve, curve_of
from neardup.evaluation.found import FoundByRun, SomeSimilarities
from neardup.evaluation.judge import Judge, ListedJudge
from neardup.evaluation.mistakes import Missed, Mistake, false_pairs, missed_pairs
from neardup.evaluation.rates import RESAMPLES, Measured, partners_of_pairs
from neardup.evaluation.scores import Rates, adjusted_rand, bcubed, pair_counts
from neardup.evaluation.truth import Truth, truth_of_column, truth_of_pairs
from neardup.frozen import dataclass
from neardup.labels import read_labels
from neardup.settings import suggests_settings


@dataclass(frozen=True)
class ClusterScores:
    """Scores of whole clusters: B-cubed rates and the adjusted Rand index.

    They are over `documents` documents; `note` says what that assumes.
    """

    bcubed: Rates
    adjusted_rand: float
    documents: int
    note: str

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            "bcubed": vars(self.bcubed),
            "adjusted_rand": self.adjusted_rand,
            "documents": self.documents,
            "note": self.note,
        }


@dataclass(frozen=True, repr=False)
class Evaluation:
    """How good a run is, as far as labels tell.

    `about` says what the labels allow. `pairs` are the rates of the pairs of documents that are in
    one cluster; `listed` those of the pairs whose similarity reaches the threshold, `closed` those
    of `pairs` if a = b and b = c mean a = c; both are None where they are not known, or the same.
    `clusters` has the scores of whole clusters. `notes` says what was left out or assumed.
    """

    about: str
    pairs: Measured
    listed: Measured | None
    closed: Measured | None
    clusters: ClusterScores | None
    curve: Curve
    worst_false: tuple[Mistake, ...]
    worst_missed: tuple[Mistake, ...]
    missed: Missed
    notes: tuple[str, ...]
    limit: str  # the threshold of the run, in words
    least: float  # the threshold of the run, as a similarity
    title: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON; what is not known is None."""
        found = {
            "labels": self.about,
            "threshold": self.limit,
            "pairs": self.pairs.to_dict(),
            "listed": None if self.listed is None else self.listed.to_dict(),
            "closed": None if self.closed is None else self.closed.to_dict(),
            "clusters": None if self.clusters is None else self.clusters.to_dict(),
            "curve": self.curve.to_dict(),
            "worst_false": [one.to_dict() for one in self.worst_false],
            "worst_missed": [one.to_dict() for one in self.worst_missed],
            "missed": self.missed.to_dict(),
            "notes": list(self.notes),
        }
        return {name: _plain(value) for name, value in found.items()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a page (`.html`) or everything as JSON (`.json`)."""
        require_page(path)
        if Path(path).suffix.lower() == ".json":
            text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"
        else:
            from neardup.evaluation.page import evaluation_page

            text = evaluation_page(self)
        with replacing(path) as new:
            new.write_text(text, encoding="utf-8", newline="\n")

    def _repr_html_(self) -> str:
        from neardup.evaluation.page import evaluation_html

        return evaluation_html(self)

    def __str__(self) -> str:
        from neardup.evaluation.text import evaluation_text

        return evaluation_text(self)

    def __repr__(self) -> str:
        rates = self.pairs.rates
        bound = "at least " if self.pairs.at_least else ""
        return (
            f"<Evaluation: precision {bound}{_shown(rates.precision)}, "
            f"recall {_shown(rates.recall)}, F1 {bound}{_shown(rates.f1)}>"
        )


@suggests_settings
def evaluate(
    result: Result | str | os.PathLike[str],
    truth: Any = None,
    *,
    column: str | None = None,
    complete: bool = False,
) -> Evaluation:
    """Measure how good a result is, by labelled pairs or by a column of true clusters.

    Args:
        result: Result of `nd.dedup`, or the folder of a run.
        truth: Labelled pairs: a file or table with the columns `a` and `b` (ids), and `same` (true
            or false) unless all pairs are the same; or `decisions.jsonl`.
        column: Column of the input with the name of the true cluster, instead of `truth`.
        complete: Count every pair without a label as different, and a document without a value in
            `column` as a cluster of one.

    >>> import neardup as nd
    >>> rows = [
    ...     {"id": 1, "text": "one two three four five", "kind": "a"},
    ...     {"id": 2, "text": "One, two, three, four, five!", "kind": "a"},
    ...     {"id": 3, "text": "something else", "kind": "a"},
    ... ]
    >>> nd.evaluate(nd.dedup(rows), column="kind")
    <Evaluation: precision 1.000, recall 0.333, F1 0.500>
    """
    if (truth is None) == (column is None):
        raise SettingError("evaluate needs labels: either truth, a file of pairs, or column")
    title = ""
    if not isinstance(result, Result):
        if not isinstance(result, str | os.PathLike):
            raise SettingError(
                "evaluate needs the result of dedup, or the folder of a run, not "
                f"{type(result).__name__}"
            )
        title = os.fspath(result)
        result = Result.load(result)
    found = FoundByRun(result)
    if column is not None:
        known = truth_of_column(found, column, complete=complete)
    elif _names_column(truth):
        known = truth_of_column(found, os.fspath(truth), complete=complete, or_file=True)
    else:
        known = truth_of_pairs(found, read_labels(truth), complete=complete)
    return _evaluated(found, known, title)


def _names_column(truth: Any) -> bool:
    """Whether a name may be that of a column, because there is no such file."""
    if not isinstance(truth, str | os.PathLike):
        return False
    name = os.fspath(truth)
    return isinstance(name, str) and os.path.basename(name) == name and not os.path.exists(name)


def require_page(path: str | os.PathLike[str]) -> None:
    """Refuse a path that is neither a page nor JSON."""
    if Path(path).suffix.lower() not in (".html", ".htm", ".json"):
        raise SettingError(f"{path} must end in .html for a page, or in .json")


def _evaluated(found: FoundByRun, truth: Truth, title: str) -> Evaluation:
    judge = Judge(found, truth)
    similarities = None
    if not truth.from_column:
        similarities = found.similarities(truth.a, truth.b)
    partners = judge.partners(found.clusters)
    pairs = partners.measured("pairs in one cluster", judge.clusters(), at_least=judge.at_least)
    worst_missed, missed = missed_pairs(judge, similarities)
    return Evaluation(
        about=_about(found, truth, judge),
        pairs=pairs,
        listed=_listed(judge, similarities),
        closed=_closed(judge),
        clusters=_cluster_scores(judge),
        curve=curve_of(judge, similarities),
        worst_false=false_pairs(judge, similarities),
        worst_missed=worst_missed,
        missed=missed,
        notes=_notes(judge, pairs),
        limit=found.result.settings.limit,
        least=found.result.settings.least,
        title=title,
    )


def _listed(judge: Judge, similarities: SomeSimilarities | None) -> Measured | None:
    """The rates of the pairs that reach the threshold themselves."""
    found, truth = judge.found, judge.truth
    least, what = found.result.settings.least, f"pairs of {found.result.settings.limit}"
    if judge.only_labelled:
        if similarities is None or not similarities.are_all:
            return None
        reached = similarities.values >= least
        pairs = partners_of_pairs(found.count, truth.a, truth.b, truth.same, reached)
        return pairs.measured(what, judge.clusters())
    if not found.lists_all:
        return None
    listed = ListedJudge(judge).partners(least)
    return listed.measured(what, judge.clusters(), at_least=judge.at_least)


def _closed(judge: Judge) -> Measured | None:
    truth = judge.truth
    if truth.from_column or not judge.found.is_alone or truth.closed_same == truth.listed_same:
        return None
    return judge.closed_partners(judge.found.clusters).measured(
        "the same, labels closed", truth.clusters, at_least=judge.at_least
    )


def _cluster_scores(judge: Judge) -> ClusterScores | None:
    found, truth = judge.found, judge.truth
    if not found.is_alone:
        return None
    known = np.flatnonzero(truth.labelled)
    true, clusters = truth.clusters[known], found.clusters[known]
    note = f"over all {len(known):,} documents"
    if len(known) < found.count:
        note = f"over the {len(known):,} labelled documents"
    if not truth.is_complete:
        note += "; pairs of these that no label names count as different"
    return ClusterScores(bcubed(true, clusters), adjusted_rand(true, clusters), len(known), note)


def _about(found: FoundByRun, truth: Truth, judge: Judge) -> str:
    """What the labels allow, and what is assumed, in a sentence or two."""
    if truth.from_column:
        labelled = int(truth.labelled.sum())
        documents = f"all {labelled:,}" if labelled == found.count else f"{labelled:,}"
        return (
            f"Labels: {truth.name} names the true cluster of {documents} documents, so every pair "
            "of these is known to be the same or different."
        )
    same, different = truth.listed_same, len(truth.same) - truth.listed_same
    counted = f"Labels: {_number(same, 'pair')} labelled same"
    if truth.is_complete:
        more = f" and {different:,} different" if different else ""
        return f"{counted}{more} in {truth.name}; by --complete, every other pair is different."
    if judge.only_labelled:
        return (
            f"{counted} and {different:,} different in {truth.name}. Only labelled pairs count: "
            "the rates are those among labelled pairs, and hold for the whole run only as far as "
            "these were drawn at random."
        )
    return (
        f"{counted} in {truth.name}, none different. Recall is known; precision only as a lower "
        "bound, because a pair without a label may be right. If every other pair is different, "
        "give --complete."
    )


def _notes(judge: Judge, pairs: Measured) -> tuple[str, ...]:
    found, truth = judge.found, judge.truth
    notes = list(truth.notes)
    if truth.missing:
        notes.append(
            f"{_number(truth.missing, 'labelled pair')} left out: they name documents that the run "
            f"does not have, such as {truth.example!r}."
        )
    if not truth.from_column and found.is_alone and truth.closed_same > truth.listed_same:
        added = truth.closed_same - truth.listed_same
        notes.append(
            f"The pairs labelled same are not closed: if a = b and b = c mean a = c, they imply "
            f"{added:,} more. “{_CLOSED}” counts these as well."
        )
    against = truth.contradictions
    if len(against):
        row = int(against[0])
        a, b = (found.result.id_at(int(side[row])) for side in (truth.a, truth.b))
        notes.append(
            f"{_number(len(against), 'pair')} labelled different are connected by pairs labelled "
            f"same, such as {a!r} and {b!r}: the labels contradict each other."
        )
    if judge.at_least and found.is_alone:
        inside = found.clusters[truth.labelled]
        both = pair_counts(inside, inside).found
        notes.append(
            f"Of {_number(both, 'found pair')} whose two documents have a label, "
            f"{pairs.counts.right:,} are labelled same."
        )
    if judge.only_labelled:
        every = int(found.partners().sum()) // 2
        notes.append(
            f"The run has {_number(every, 'pair')} in one cluster; {pairs.counts.found:,} of them "
            "are labelled."
        )
    if found.result.settings.similarity == "model":
        notes.append("The run uses a model: if these labels fitted it, the rates are too high.")
    notes.append(
        f"95 % intervals: bootstrap over true clusters, {RESAMPLES:,} resamples; Wilson's interval "
        "over clusters where a rate is 0 or 1."
    )
    return tuple(notes)


_CLOSED = "the same, labels closed"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _shown(rate: float) -> str:
    return "unknown" if math.isnan(rate) else f"{rate:.3f}"


def _plain(value: Any) -> Any:
    """NaN, which JSON does not have, as None."""
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value

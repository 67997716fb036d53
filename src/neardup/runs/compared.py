"""Two documents of a run, compared as the run compares them: field by field, or by a model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from neardup.collection.model import with_own_model
from neardup.collection.settings import DedupSettings
from neardup.comparison.records import (
    by_score,
    compare_records,
    records_of_lines,
    side_by_side_fields,
)
from neardup.settings import RECIPE

if TYPE_CHECKING:
    from neardup.collection.model import Model
    from neardup.comparison.record_result import RecordComparison
    from neardup.features.idf import IdfTable
    from neardup.runs.run import Run
    from neardup.scoring.by_model import ModelScorer

_MEASURE = ("text", "similarity", "model", "threshold", *RECIPE)


def compared_parts(run: Run, a: int, b: int) -> RecordComparison | None:
    """What the similarity of two documents is made of; None if it is not of parts.

    Of pairs to label, which have no settings, records are shown side by side.
    """
    if run.is_scored:
        return compared_records(run, a, b, of_b=True)
    if run.to_label is None:
        return None
    texts = run.texts([a, b])
    records = records_of_lines(texts[a], texts[b])
    return None if records is None else side_by_side_fields(*records)


def compared_records(
    run: Run,
    a: int,
    b: int,
    *,
    idf: IdfTable | str | os.PathLike[str] | None = None,
    of_b: bool = False,
    **chosen: Any,
) -> RecordComparison:
    """Compare two documents by the settings of the run, where `chosen` has no others.

    Inclusion is that of a in b, or of b in a (`of_b`), as for a kept document and a removed one.
    The run must be one that `is_scored`: texts are compared by a model alone.
    """
    settings = record_settings(run, **chosen)
    left, right = _records(run, a, b)
    if settings.fitted is not None:
        return by_score(left, right, _scorer(run, settings.fitted))
    if idf is None:
        idf = run.idf_table(settings.scheme)
    return compare_records(left, right, settings, idf, of_b=of_b)


def _records(run: Run, a: int, b: int) -> tuple[dict[str, str], dict[str, str]]:
    if run.fields:
        records = run.records([a, b])
        return records[a], records[b]
    texts = run.texts([a, b])
    return {"text": texts[a]}, {"text": texts[b]}


def _scorer(run: Run, model: Model) -> ModelScorer:
    """The model of the run, with the rarity of words in it."""
    from neardup.scoring.by_model import ModelScorer

    return ModelScorer(model, run.rarity)


def record_settings(run: Run, **chosen: Any) -> DedupSettings:
    """The settings by which the run compares records, where `chosen` has no others."""
    stored = with_own_model(run.summary["settings"], run.path)
    settings = {name: stored[name] for name in _MEASURE if name in stored} | chosen
    if settings["similarity"] != "hamming":
        # Features are the same by any hash; so no key is needed.
        settings |= {"hash": "nd1", "projection": None, "bits": 64}
    return DedupSettings.of(**settings)

"""`caim` and `irrs`: tables of bits over arXiv abstracts, and the recall that neither measured."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neardup.errors import InputError
from neardup.lab.reproduce.exact import worked_example
from neardup.lab.reproduce.generated import generated_corpus
from neardup.lab.reproduce.published import ARXIV_DOCUMENTS, PublishedLab
from neardup.lab.reproduce.report import BesideTable, Cell, Reproduction
from neardup.lab.sweep.result import Sweep, SweepRow
from neardup.lab.sweep.run import sweep
from neardup.presets import preset

# A collection whose size is within this share of the original is assumed to be the same corpus.
_SAME_CORPUS = 0.1
_COLUMNS = {
    "bands": "M",
    "band_bits": "K",
    "published_candidates": "candidates\npublished",
    "scaled_candidates": "\nscaled",
    "candidates": "\nours",
    "published_true": "true\npublished",
    "true": "\nours",
    "published_precision": "precision\npublished",
    "precision": "\nours",
    "recall": "recall\nours",
    "published_seconds": "seconds\npublished",
    "seconds": "\nours",
}


def reproduce_bands(
    lab: PublishedLab,
    inputs: Sequence[str] = (),
    *,
    text: str | None = None,
    id: str | None = None,
    threads: int | None = None,
) -> Reproduction:
    """Run the settings of a lab on documents with terms and weights, with the exact truth.

    Without `inputs`, on generated articles, weighted as the lab weighs its abstracts.
    """
    began = time.perf_counter()
    known = preset(lab.preset)
    made = None if inputs else generated_corpus(lab.preset)
    documents: Any = list(map(Path, inputs))
    features, weights = "terms", None
    if made is not None:
        documents, features, weights = made.documents, known.features, known.weights
    swept = sweep(
        documents,
        plans=[row.plan for row in lab.rows],
        threshold=known.threshold,
        similarity=known.similarity,
        features=features,
        weights=weights,
        hash=known.hash,
        tie=known.tie,
        text=text,
        id=id,
        exact=True,
        threads=threads,
    )
    if not swept.documents:
        raise InputError("the input has no documents; give documents with terms and weights")
    table = _table(lab, swept)
    return Reproduction(
        lab.preset,
        lab.system,
        f"{made.told if made else f'{swept.documents:,} documents with terms and weights'} "
        f"({swept.scheme})",
        swept.documents,
        time.perf_counter() - began,
        (table, worked_example(known.tie)),
        {} if swept.true_pairs is None else {"true_pairs": swept.true_pairs[0]},
        (*(made.sentences if made else ()), *_differences(lab, swept, table)),
    )


def _table(lab: PublishedLab, swept: Sweep) -> BesideTable:
    size = swept.documents / ARXIV_DOCUMENTS
    ours: dict[str, SweepRow] = {row.plan: row for row in swept.rows}
    rows: list[tuple[Cell, ...]] = []
    for theirs in lab.rows:
        row = ours[theirs.plan]
        scaled = round(theirs.false * size**2 + theirs.true * size)
        rows.append(
            (
                *(theirs.bands, theirs.band_bits, theirs.candidates, scaled, row.candidates),
                *(
                    theirs.true,
                    row.true,
                    theirs.true / theirs.candidates,
                    row.precision,
                    row.recall,
                ),
                *(theirs.seconds, row.seconds["alone"]),
            )
        )
    return BesideTable.of(f"M tables of K bits, true from {swept.thresholds[0]:g}", _COLUMNS, rows)


def _differences(lab: PublishedLab, swept: Sweep, table: BesideTable) -> list[str]:
    n, size = swept.documents, swept.documents / ARXIV_DOCUMENTS
    candidates = _ratios(table.column("candidates"), table.column("scaled_candidates"))
    sentences = [
        f"Size: the publication used {ARXIV_DOCUMENTS:,} documents, this run uses {n:,}. Random "
        "candidates grow with the square of the number of documents "
        f"(× {size**2:.3f}), true pairs roughly with the number itself (× {size:.3f}). Ours "
        "divided by the published candidates, scaled in this way: "
        f"{candidates.removesuffix(' times')}."
    ]
    if abs(size - 1) > _SAME_CORPUS:
        sentences.append("Corpus: this is another collection, so only the shape can agree.")
    else:
        true = _ratios(table.column("true"), table.column("published_true"))
        sentences.append(
            "Edition: this is another edition of the corpus, with newly computed vectors. Its true "
            f"pairs are {true} the published ones; they depend on which abstracts occur twice in "
            "it."
        )
    if swept.true_pairs is None or not swept.true_pairs[0]:
        sentences.append("Recall: no pair reaches the threshold here, so there is none.")
    else:
        low, high = _extremes(table.column("recall"))
        sentences.append(
            f"Recall: not published. Of the {swept.true_pairs[0]:,} true pairs, the published "
            f"settings find {low:.1%} to {high:.1%}."
        )
    sentences.append(f"Seconds: {lab.about_seconds}, for each row on its own, on this machine.")
    return sentences


def _ratios(ours: Sequence[Any], theirs: Sequence[Any]) -> str:
    ratios = [one / other for one, other in zip(ours, theirs, strict=True) if other]
    if not ratios:
        return "nowhere, as there should be none"
    low, high = _extremes(ratios)
    return f"{low:.3f} to {high:.3f} times"


def _extremes(values: Sequence[Any]) -> tuple[float, float]:
    return min(values), max(values)

"""Comparisons in a notebook: of texts with numbers and diff, of records by their fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from neardup.comparison.record_result import shown_adds, shown_evidence, shown_weight
from neardup.notebook import block, heading, note, shown, table
from neardup.visible import shown_similarity

if TYPE_CHECKING:
    from neardup.comparison.diff import Edit
    from neardup.comparison.record_result import RecordComparison
    from neardup.comparison.result import Comparison

_MOST_EDITS = 60
_LONGEST_SAME, _LONGEST_CHANGE = 160, 600


def comparison_html(comparison: Comparison) -> str:
    """The HTML of a comparison."""
    sides = (("A", comparison.a, comparison.only_a), ("B", comparison.b, comparison.only_b))
    bits, distance = comparison.scheme.bits, comparison.distance
    return block(
        note(str(comparison.scheme)),
        heading(comparison.reason) if comparison.reason else "",
        table(
            [
                "",
                "words",
                "features",
                "shared",
                "only here",
                "fingerprint",
                "only here, for example",
            ],
            [
                [
                    name,
                    side.words,
                    side.features,
                    comparison.shared,
                    alone,
                    side.hex,
                    _some(side.examples),
                ]
                for name, side, alone in sides
            ],
        ),
        ""
        if distance is None
        else table(
            [
                "Hamming distance",
                f"{comparison.weighted}Jaccard",
                f"{comparison.weighted}cosine",
                f"{comparison.weighted}containment",
                "cosine estimated from the bits",
            ],
            [
                [
                    f"{distance} of {bits} bits",
                    comparison.jaccard,
                    comparison.cosine,
                    comparison.containment,
                    comparison.estimated_cosine,
                ]
            ],
        ),
        f'<div class="diff">{"".join(_pieces(comparison.diff))}</div>',
        ""
        if comparison.diff_complete
        else note("The texts are too long and too different for a full diff."),
    )


def records_html(comparison: RecordComparison) -> str:
    """The HTML of a comparison of records."""
    score = comparison.reason or shown_similarity(comparison.score)
    return block(
        heading(f"{comparison.similarity}: {score}"),
        table(
            ["field", "A", "B", "compared by", "similarity", "weight", "adds"],
            [
                [
                    field.name,
                    field.a,
                    field.b,
                    field.how,
                    shown_evidence(field),
                    shown_weight(field),
                    shown_adds(field.adds),
                ]
                for field in comparison.fields
            ],
        ),
        ""
        if comparison.is_exact
        else note("The weights were counted from these two records; a run counts its whole input."),
    )


def _some(examples: tuple[str, ...]) -> str:
    return " · ".join(examples)


def _pieces(edits: tuple[Edit, ...]) -> Iterator[str]:
    for edit in edits[:_MOST_EDITS]:
        if edit.op == "equal":
            yield _text(edit.a, _LONGEST_SAME)
            continue
        if edit.a:
            yield f"<del>{_text(edit.a, _LONGEST_CHANGE)}</del>"
        if edit.b:
            yield f"<ins>{_text(edit.b, _LONGEST_CHANGE)}</ins>"
    if len(edits) > _MOST_EDITS:
        yield f' <span class="note">… {len(edits) - _MOST_EDITS:,} more pieces</span>'


def _text(text: str, longest: int) -> str:
    """The text as HTML, without its middle if it is long; line breaks are kept."""
    if len(text) > longest:
        text = f"{text[: longest // 2]} … {text[-longest // 2 :]}"
    return "\n".join(map(shown, text.split("\n")))

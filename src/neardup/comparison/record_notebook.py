"""A comparison of records in a notebook: the table of fields and the score as a sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.comparison.record_result import shown_adds, shown_evidence, shown_weight
from neardup.notebook import block, heading, note, table
from neardup.visible import shown_similarity

if TYPE_CHECKING:
    from neardup.comparison.record_result import RecordComparison


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

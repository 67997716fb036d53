"""The comparison of two records: a score as a sum, field by field."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from neardup.comparison.diff import Edit
from neardup.comparison.long_texts import find_text_edits
from neardup.frozen import dataclass
from neardup.visible import shown_similarity, visible

MODEL = "model"


@dataclass(frozen=True)
class ComparedField:
    """A field of both records, or a similarity of the whole texts, and what it adds to the score.

    `a` and `b` are None if the whole texts are compared. `similarity` is None if the field is no
    evidence; `note` says why. `adds` is None if the score is no sum.
    """

    name: str
    how: str
    a: str | None
    b: str | None
    similarity: float | None
    weight: float | None
    adds: float | None

    @property
    def note(self) -> str:
        """Why the field is no evidence; "" if it is, or if it is no field."""
        if self.similarity is not None or not self.has_values:
            return ""
        sides = (("A", self.a), ("B", self.b))
        empty = [side for side, text in sides if not (text or "").strip()]
        if not empty:
            return "nothing to compare"
        return f"empty in {'both' if len(empty) == 2 else empty[0]}"

    @property
    def has_values(self) -> bool:
        """Whether it is a field; what is not compares the whole texts."""
        return self.a is not None and self.b is not None

    @property
    def differs(self) -> bool:
        return self.a != self.b

    @property
    def diff(self) -> tuple[Edit, ...]:
        """The word diff of the two values, computed when it is asked for."""
        return find_text_edits(self.a or "", self.b or "")[0]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        diff = [asdict(edit) for edit in self.diff] if self.has_values else None
        return {**asdict(self), "note": self.note or None, "diff": diff}


@dataclass(frozen=True, repr=False)
class RecordComparison:
    """Two records, compared field by field.

    `similarity` is the measure: `fields`, `model`, `jaccard`, `weighted-jaccard`, `cosine`,
    `containment`, `inclusion` or `hamming`. `score` is the similarity itself, or the probability of
    a model; None if a record is empty. Except for `hamming`, it is the sum of what the `fields`
    add; of a model, that sum is the `log_odds`. `distance` is that of the fingerprints, if the
    measure has some.
    """

    similarity: str
    score: float | None
    fields: tuple[ComparedField, ...]
    distance: int | None = None
    bits: int | None = None
    is_exact: bool = True
    """False if weights by rarity were counted from the two records alone."""

    @property
    def is_sum(self) -> bool:
        """Whether the score is made of what the fields add."""
        return self.score is not None and all(field.adds is not None for field in self.fields)

    @property
    def is_compared(self) -> bool:
        """Whether the fields have similarities; else they are only shown side by side."""
        return any(field.how for field in self.fields)

    @property
    def has_fields(self) -> bool:
        """Whether these are records; a model can compare texts, too."""
        return any(field.has_values for field in self.fields)

    @property
    def total(self) -> float | None:
        """The sum of what the fields add."""
        if not self.is_sum:
            return None
        return math.fsum(field.adds or 0.0 for field in self.fields)

    @property
    def log_odds(self) -> float | None:
        """The sum of a model, whose probability is the score; None without a model."""
        return self.total if self.similarity == MODEL else None

    @property
    def reason(self) -> str | None:
        """Why there is no score; None if there is one."""
        return None if self.score is not None else "an empty record can never match"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        found: dict[str, Any] = {
            "similarity": self.similarity,
            "score": self.score,
            "fields": [field.to_dict() for field in self.fields],
            "reason": self.reason,
        }
        if self.similarity == MODEL:
            found["log_odds"] = self.log_odds
        if self.bits is not None:
            found |= {"distance": self.distance, "bits": self.bits}
        if not self.is_exact:
            found["weights_of"] = "the two records"
        return found

    def _repr_html_(self) -> str:
        from neardup.comparison.notebook import records_html

        return records_html(self)

    def __repr__(self) -> str:
        return f"<RecordComparison {self._verdict()}>"

    def __str__(self) -> str:
        lines = [self._verdict()]
        for field in self.fields:
            known = shown_evidence(field)
            known += f", {field.note}" if field.note else f" by {field.how}" if field.how else ""
            adds = "" if field.adds is None else f", adds {shown_adds(field.adds)}"
            lines.append(f"{visible(field.name)}: {known}{adds}")
        return "\n".join(lines)

    def _verdict(self) -> str:
        if self.score is None:
            return f"{self.similarity}: {self.reason}"
        return f"{self.similarity} {shown_similarity(self.score)}"


def shown_adds(value: float | None) -> str:
    """What a field adds, with its sign if it takes away.

    >>> shown_adds(0.25), shown_adds(-1.5), shown_adds(None)
    ('0.2500', '−1.5000', '–')
    """
    if value is None:
        return "–"
    shown = f"{abs(value):.4f}"
    return f"−{shown}" if value < 0 and float(shown) else shown


def shown_evidence(field: ComparedField) -> str:
    """The similarity of a field, or that there is none."""
    return "no evidence" if field.note else shown_similarity(field.similarity)


def shown_weight(field: ComparedField) -> str:
    """The weight of a field; a dash if it has none."""
    return "–" if field.weight is None else f"{field.weight:.4g}".replace("-", "−")


def shown_total(comparison: RecordComparison) -> str:
    """The sum; cut off like a similarity if it is one."""
    if comparison.similarity == MODEL:
        return shown_adds(comparison.total)
    return shown_similarity(comparison.score)


def verdict(comparison: RecordComparison, limit: str = "") -> Iterator[str]:
    """What the fields come to, in sentences; `limit` is the threshold in words."""
    if not comparison.is_compared:
        return
    if comparison.score is None:
        yield f"No similarity: {comparison.reason}."
        return
    against = f"; the threshold is {limit}" if limit else ""
    score = shown_similarity(comparison.score)
    if comparison.similarity == MODEL:
        log_odds = shown_adds(comparison.log_odds)
        yield f"The sum is the log-odds, {log_odds}: a probability of {score}{against}."
    elif comparison.distance is not None:
        bits = f"{comparison.distance} of {comparison.bits} bits"
        yield f"The fingerprints differ in {bits}{against}."
    else:
        yield f"The sum is the similarity ({comparison.similarity}): {score}{against}."
    if comparison.is_sum:
        yield from _what_fields_add(comparison)
    if not comparison.is_exact:
        yield "The weights were counted from these two records; a run counts its whole input."


def _what_fields_add(comparison: RecordComparison) -> Iterator[str]:
    """How the numbers of a row come to what it adds."""
    if comparison.similarity == MODEL:
        yield "A row adds its weight times its similarity; without a similarity, a fixed amount."
    elif comparison.similarity == "fields":
        half = math.fsum(field.weight or 0.0 for field in comparison.fields) / 2
        filled = math.fsum(
            field.weight or 0.0 for field in comparison.fields if field.similarity is not None
        )
        whole = f"{filled:.4g}, the weight of the fields that both fill"
        if filled < half:
            whole = f"{half:.4g}, half of all weights, because both fill few fields"
        yield f"A field adds its weight times its similarity, divided by {whole}."
    else:
        yield "A field adds what it shares as a part of the whole: long fields add more."

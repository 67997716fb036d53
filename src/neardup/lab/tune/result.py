"""The result of `tune`: recommended settings, their expected cost, and the reasons."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from typing import Any

from neardup import __version__
from neardup.atomic import replacing
from neardup.collection.model import Model
from neardup.lab.tune.by_labels import LabelReport
from neardup.lab.tune.options import Option
from neardup.labels import PairsToLabel
from neardup.pairs.by_fingerprints.planner import duration
from neardup.settings import EXACT


@dataclass(frozen=True, repr=False)
class Tuning:
    """Recommended settings for `dedup`, with their expected recall and cost.

    `settings` are arguments of `dedup`; `save` writes them as a file for `dedup --config`.
    `choice` is the search that they name, `alternatives` the two next best; both are missing where
    fields or a model are compared, which have one search. `reasons` are sentences on what was
    observed and decided, `problems` on what these settings cannot do. `labels` says what labelled
    pairs say about the settings; `model` is the fitted one. Without labels, `guessed` says whether
    the threshold is a guess, and `shown` are a few pairs around it: two texts and their similarity.
    """

    settings: dict[str, Any]
    choice: Option | None
    alternatives: tuple[Option, ...]
    reasons: tuple[str, ...]
    problems: tuple[str, ...]
    documents: int
    sampled: int
    similar_in_sample: int
    similar_pairs: float
    labels: LabelReport | None = None
    model: Model | None = None
    proposed: PairsToLabel | None = None
    shown: tuple[tuple[str, str, float], ...] = ()
    guessed: bool = False

    @property
    def explanation(self) -> str:
        """The reasons and the problems, a line each."""
        return "\n".join([*self.reasons, *(f"but {problem}" for problem in self.problems)])

    def to_toml(self) -> str:
        """The settings file, with the predictions as comments."""
        lines = [f"# Settings for neardup dedup --config, by neardup tune {__version__}."]
        lines += [f"# {line}" for line in self.explanation.splitlines()]
        lines += [f"{name} = {_toml(value)}" for name, value in self.settings.items()]
        return "\n".join(lines) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the settings file; it appears complete or not at all."""
        with replacing(path) as temporary:
            temporary.write_text(self.to_toml(), encoding="utf-8", newline="\n")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON; the model is in its own file."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("choice", "labels"):
            plain[name] = None if plain[name] is None else asdict(plain[name])
        plain["alternatives"] = [asdict(option) for option in self.alternatives]
        del plain["model"], plain["proposed"]
        return plain

    def __str__(self) -> str:
        return self.explanation

    def __repr__(self) -> str:
        by = "by labels" if self.labels is not None else "without labels"
        compared = self.settings.get("features") or self.settings.get("model") or "fields"
        return f"<Tuning for {self.documents:,} documents, {by}: {compared}>"

    def _repr_html_(self) -> str:
        from neardup.notebook import block, code, heading, items, table

        options = () if self.choice is None else (self.choice, *self.alternatives)
        return block(
            heading(f"Settings for {self.documents:,} documents"),
            code("\n".join(f"{name} = {_toml(value)}" for name, value in self.settings.items())),
            table(
                ["candidates", "bits", "finds of the pairs", "candidate pairs", "time", "memory"],
                [
                    [
                        option.candidates,
                        option.bits,
                        option.recall.value,
                        round(option.candidate_pairs),
                        duration(option.seconds),
                        f"{option.memory_bytes / 1e9:,.2f} GB",
                    ]
                    for option in options
                ],
            ),
            items(self.reasons),
            heading("Problems") if self.problems else "",
            items(self.problems),
        )


def reason_for(choice: Option, others: list[Option]) -> str:
    """Explain in a sentence why this option was chosen over the others."""
    about = f"{duration(choice.seconds)} and {choice.memory_bytes / 1e9:,.1f} GB"
    if choice.candidates == EXACT:
        other = next((one for one in others if one.candidates != EXACT), None)
        beside = f"; {other.candidates} would take {duration(other.seconds)}" if other else ""
        return (
            "take exact, a join on the features: it finds every pair at or above the threshold, in "
            f"{about}{beside}"
        )
    exact = next((one for one in others if one.candidates == EXACT), None)
    beside = f"; a join on the features would take {duration(exact.seconds)}" if exact else ""
    return (
        f"take {choice.candidates} with {choice.bits} bits: it should find "
        f"{choice.recall.value:.3f} of the pairs at or above the threshold "
        f"({choice.recall.low:.3f} to {choice.recall.high:.3f}), in {about}{beside}"
    )


def _toml(value: Any) -> str:
    """A value in TOML; strings are written as in JSON."""
    return json.dumps(value, ensure_ascii=False)

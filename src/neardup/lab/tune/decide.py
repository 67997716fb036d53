"""Decides what `tune` recommends to compare, and how: by labels, by shape, or as it was given."""

from __future__ import annotations

import os
from typing import Any

from neardup.collection.model import Model
from neardup.collection.settings import FIELDS, DedupSettings
from neardup.collection.source import Source, fitted_to
from neardup.errors import InputError, SettingError
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass
from neardup.lab.tune.by_labels import (
    LEAST,
    LabelReport,
    choose_by_labels,
    require_both_kinds,
    stands_for,
)
from neardup.lab.tune.features import check_features
from neardup.lab.tune.measures import Measure, field_measure, measures_for
from neardup.lab.tune.pool import Pool, pool_of
from neardup.lab.tune.propose import proposed_pairs
from neardup.lab.tune.sample import Look
from neardup.lab.tune.shape import Shape, case_of, shape_of, suits_dense
from neardup.lab.tune.threshold import gap_of, guessed
from neardup.labels import Labels, PairsToLabel, PlacedLabels


@dataclass(frozen=True, eq=False)
class Decided:
    """What to compare and how: settings, the measure that they are, and why."""

    features: str | None
    chosen: dict[str, Any]
    measure: Measure
    reasons: tuple[str, ...]
    problems: tuple[str, ...] = ()
    report: LabelReport | None = None
    model: Model | None = None
    guessed: bool = False


class Asked:
    """A collection and what its user has chosen already."""

    def __init__(
        self,
        source: Source,
        look: Look,
        settings: DedupSettings,
        features: str | None,
        chosen: dict[str, Any],
        sample: int,
    ) -> None:
        self._source, self._look, self._settings = source, look, settings
        self._features, self._chosen, self._sample = features, chosen, sample
        self._pool: Pool | None = None
        if settings.scheme.features.are_given or settings.scheme.features.keywords:
            self.shape = Shape(look.documents, 0, 0, 0)
        else:
            self.shape = shape_of(look, settings)
            if not self.shape.median_words:
                raise InputError(
                    f"none of the {look.documents:,} documents has a word, so there is nothing to "
                    "tune"
                )

    @property
    def pool(self) -> Pool:
        if self._pool is None:
            self._pool = pool_of(self._source, self._settings, self._look, self._sample)
        return self._pool

    @property
    def examined(self) -> int:
        """The number of documents that were examined closely."""
        return 0 if self._pool is None else len(self._pool)

    def fitted(self, settings: DedupSettings) -> Fingerprinter:
        """The fingerprinter of the chosen settings; what was counted is not counted again."""
        if self._pool is not None:
            return self._pool.fitted(settings.scheme)
        return fitted_to(self._source, settings.scheme, settings.threads)

    @property
    def _by_fields(self) -> bool:
        return self._settings.similarity == FIELDS

    @property
    def _is_free(self) -> bool:
        """Whether nothing was asked for that would say how to compare."""
        asked = (self._features, self._chosen.get("weights"), self._chosen.get("similarity"))
        return all(one is None for one in asked)

    def by_shape(self) -> Decided:
        """The settings that were best on such collections, as far as none are given."""
        if self._by_fields or self._features is not None:
            return self._as_given()
        case = case_of(self.shape)
        chosen = dict(self._chosen)
        if chosen.get("weights") is None:
            compares_sets = chosen.get("similarity") == "jaccard"
            chosen["weights"] = "set" if compares_sets else case.measure.weights
        if chosen["weights"] == case.measure.weights:
            chosen["similarity"] = chosen.get("similarity") or case.measure.similarity
        settings = DedupSettings.of(features=case.measure.features, **chosen)
        measure = Measure(case.measure.features, settings.scheme.weights, settings.similarity)
        kind = f"{self.shape}: {case.kind}, for which {measure} was best where it was tried"
        if chosen.get("threshold") is not None:
            chosen["cluster"] = self._clusters(measure, chosen)
            return Decided(measure.features, chosen, measure, (kind,))
        measures = case.measures if measure == case.measure else (measure,)
        guess = guessed(self.pool, measures, case.lowest, case.highest)
        chosen.update(weights=guess.measure.weights, similarity=guess.measure.similarity)
        chosen["threshold"] = guess.threshold
        chosen["cluster"] = self._clusters(guess.measure, chosen)
        reasons = [kind]
        if guess.measure != measure:
            reasons.append(
                f"near-duplicates share few features of {measure}, as noisy copies do: "
                f"{guess.measure} tells them from unrelated documents at a higher similarity"
            )
        reasons.append(
            _in_gap(guess.threshold)
            if guess.in_gap
            else f"from {guess.threshold:g} on, pairs no longer grow many times more frequent "
            "with each step down"
        )
        return Decided(
            guess.measure.features,
            chosen,
            guess.measure,
            tuple(reasons),
            (_is_a_guess(guess.threshold),),
            guessed=True,
        )

    def _clusters(self, measure: Measure, chosen: dict[str, Any]) -> str | None:
        """Dense clusters for documents that come in groups; else as given, or the default."""
        if chosen.get("cluster") is not None or self.shape.is_long:
            return chosen.get("cluster")
        threshold = chosen["threshold"]
        return "dense" if suits_dense(self.pool.pairs(measure, threshold), threshold) else None

    def _as_given(self) -> Decided:
        """The given features or fields, with a threshold in the gap, if there is one.

        A word about texts that are too short for the features is added.
        """
        settings, chosen = self._settings, dict(self._chosen)
        measure = Measure(
            str(settings.scheme.features), settings.scheme.weights, settings.similarity
        )
        reasons, problems = [], []
        guesses = chosen.get("threshold") is None
        if guesses and self.shape.median_words and settings.similarity != "hamming":
            gap = gap_of(self.pool, measure)
            if gap is not None:
                chosen["threshold"] = gap
                reasons.append(_in_gap(gap))
                problems.append(_is_a_guess(gap))
            elif self._by_fields:
                problems.append(
                    f"the threshold of {settings.threshold:g} is the default, not measured: labels "
                    "would tell which one separates your records"
                )
        if not self._by_fields:
            fitting = DedupSettings.of(features=self._features, **chosen)
            problems += [one for one in [check_features(self._look, fitting)] if one is not None]
        return Decided(
            self._features, chosen, measure, tuple(reasons), tuple(problems), guessed=guesses
        )

    def by_labels(self, labels: Labels, fit: str | os.PathLike[str] | None) -> Decided:
        """The settings that separate the labelled pairs best."""
        self._pool = pool_of(self._source, self._settings, self._look, self._sample, labels)
        placed = labels.at(self.pool.ids)
        if not len(placed):
            raise InputError(
                f"{labels.source} names no two documents of the input (the first unknown id is "
                f"{placed.example!r}); check that --id is the column that its ids are from"
            )
        require_both_kinds(placed.same)
        measures = measures_for(
            self.shape.median_words, {**self._chosen, "features": self._features}
        )
        if self._by_fields:
            scheme = self._settings.scheme
            measures = (Measure(str(scheme.features), scheme.weights, FIELDS),)
        elif self._settings.scheme.fields is not None and self._is_free:
            measures = (*measures, field_measure(self._settings.scheme.fields))
        choice = choose_by_labels(
            self.pool,
            placed,
            measures,
            threshold=self._chosen.get("threshold"),
            cluster=self._chosen.get("cluster"),
        )
        chosen = {**self._chosen, **choice.settings}
        features = chosen.pop("features")
        reasons = [str(self.shape), *_told(choice.report, choice.measure, choice.settings)]
        problems = [*labels.notes]
        if placed.unknown:
            problems.append(
                f"{placed.unknown:,} labels name documents that are not in the input, such as "
                f"{placed.example!r}"
            )
        model = None
        if fit is not None:
            model, sentence = self._fitted_model(placed, choice.measure)
            model.save(fit)
            reasons.append(sentence)
            # The model brings these, and the columns if they are fields.
            brought = ["weights", "similarity", "threshold"]
            if self._settings.scheme.fields is not None:
                brought.append("text")
            chosen = {name: value for name, value in chosen.items() if name not in brought}
            chosen["model"] = os.fspath(fit)
            features = None
        return Decided(
            features,
            chosen,
            choice.measure,
            tuple(reasons),
            tuple(problems),
            choice.report,
            model,
        )

    def _fitted_model(self, placed: PlacedLabels, measure: Measure) -> tuple[Model, str]:
        """A model, and how it compares with the best settings."""
        from neardup.scoring.fit_scorer import fit_scorer

        similarity = self.pool.similarities(measure, placed.a, placed.b)
        fitted = fit_scorer(
            self.pool.records,
            placed.a,
            placed.b,
            placed.same,
            stands_for(self.pool.pairs(measure, LEAST), similarity),
            fields=self._settings.scheme.fields,
            threads=self.pool.threads,
            memory=self._settings.memory // 2,
        )
        learned = fitted.model.trained_on
        return fitted.model, (
            f"the fitted model reaches an F1 of {learned.f1:.2f} ({learned.low:.2f} to "
            f"{learned.high:.2f}) on labelled pairs that it had not seen, each counted for the "
            "pairs of the collection that are as similar"
        )

    def proposed(self, measure: Measure, number: int, labels: Labels | None) -> PairsToLabel:
        """The pairs to label, without those that are labelled."""
        if not self.shape.median_words:
            raise SettingError("pairs to label need texts, not terms or keywords")
        known = None if labels is None else labels.at(self.pool.ids)
        return proposed_pairs(self.pool, measure, self.shape.median_words, number, known)

    def shown(self, decided: Decided) -> tuple[tuple[str, str, float], ...]:
        """A few pairs around a guessed threshold, for people to look at."""
        if not decided.guessed or not self.shape.median_words:
            return ()
        return self.pool.around(decided.measure, decided.chosen.get("threshold"))


def _in_gap(threshold: float) -> str:
    return f"at {threshold:g} pairs are rare: most are far less similar, or more"


def _is_a_guess(threshold: float) -> str:
    return (
        f"the threshold of {threshold:g} is a guess: without labels nobody can say which of these "
        "documents you call duplicates"
    )


def _told(report: LabelReport, measure: Measure, settings: dict[str, Any]) -> list[str]:
    """What the labels say, in sentences."""
    whole = report.in_collection
    found = [
        f"of {report.labels:,} labelled pairs ({report.same:,} the same), {measure} at "
        f"{settings['threshold']:g} separates the same from the different ones best",
        "on labelled pairs that the choice had not seen, F1 is "
        f"{report.f1:.2f} ({report.low:.2f} to {report.high:.2f}): of those that are the same "
        f"{report.recall:.0%} are found, and of those found {report.precision:.0%} are the same",
        f"in the whole collection, F1 should be about {whole.f1:.2f} ({whole.low:.2f} to "
        f"{whole.high:.2f}), if pairs without a label are like the labelled ones of the same "
        f"similarity (from {whole.least:g} on); labels spread over all similarities have fewer "
        "dissimilar pairs than the collection has",
    ]
    if report.runner_ups:
        others = "; ".join(
            f"{one.settings['features']} {one.settings['weights']} {one.settings['similarity']} "
            f"at {one.settings['threshold']:g}: {one.f1:.2f}"
            for one in report.runner_ups
        )
        found.append(f"runner-ups, with their F1 on all labels: {others}")
    found.append(report.advice)
    return found

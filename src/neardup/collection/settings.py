"""The settings of a deduplication, checked and filled in."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from neardup.cluster.keep import KeepPolicy
from neardup.cluster.rule import ClusterRule
from neardup.collection.model import Model
from neardup.errors import InputError, SettingError
from neardup.features.spec import record_fields
from neardup.fingerprints import Scheme
from neardup.frozen import dataclass
from neardup.kernels import thread_count
from neardup.read.choice import Choice
from neardup.settings import (
    CONTAINMENTS,
    DEFAULT_THRESHOLD,
    INCLUSION,
    RECIPE,
    SETTINGS,
    PairListing,
    Similarity,
    bytes_of,
    require_known,
)

SIMILARITIES = get_args(Similarity)
FIELDS, MODEL = "fields", "model"
# Similarities that a scorer computes of the columns of documents, not of their features.
SCORED = (FIELDS, MODEL)
_MOST_FIELDS = 60
# Below, nearly every pair of records would have to be compared.
LEAST_BY_FIELDS = 0.1
LISTINGS = get_args(PairListing)
_MOST_FILE_BYTES = 1_000_000
_KINDS: dict[tuple[type, ...], str] = {
    (str,): "a string",
    (int,): "a whole number",
    (int, float): "a number",
    (str, int): "a string such as '2GB' or a whole number of bytes",
}


@dataclass(frozen=True)
class DedupSettings:
    """What makes two documents near-duplicates, how they are found, and which one is kept.

    `pairs` says which pairs are listed: one for each removed document (`evidence`), all from
    `floor` on (without one, from the threshold on), or none. `fitted` is the model in the file
    `model`.
    """

    scheme: Scheme
    text: str | None
    id: str | None
    similarity: str
    threshold: float
    candidates: str
    recall: float
    keep: KeepPolicy
    cluster: str
    pairs: str
    floor: float | None
    memory: int
    threads: int | None
    max_document: int
    read_as: str | None
    suffix: str | None
    levels: tuple[float, ...] = ()  # stricter thresholds to report as well
    model: str | None = None
    fitted: Model | None = None

    @classmethod
    def of(cls, *, preset: str | None = None, **chosen: Any) -> DedupSettings:
        """Check every setting, by the names of `SETTINGS`; None stands for one not chosen.

        Chosen settings override the preset, which overrides the defaults.
        """
        require_known(chosen, SETTINGS)
        values = {name: setting.default for name, setting in SETTINGS.items()}
        levels: Sequence[float] = ()
        if preset is not None:
            of_preset, levels = _of_preset(preset)
            values |= of_preset
        values |= {name: value for name, value in chosen.items() if value is not None}
        return cls._checked(levels, **values)

    @classmethod
    def _checked(
        cls,
        levels: Sequence[float],
        *,
        text: str | None,
        id: str | None,
        similarity: str | None,
        model: str | os.PathLike[str] | None,
        threshold: float | None,
        candidates: str,
        recall: float,
        keep: str | KeepPolicy,
        cluster: str,
        pairs: str | None,
        floor: float | None,
        memory: str | int,
        max_document: str | int,
        read_as: str | None,
        suffix: str | None,
        threads: int | None,
        **recipe: Any,
    ) -> DedupSettings:
        """Without `similarity`, the measure that fits the weights is used."""
        fitted = None
        if model is not None:
            fitted = Model.load(model)
            text = _text_of_model(text, fitted)
            similarity, threshold = _of_model(similarity, threshold, fitted)
        elif similarity == MODEL:
            raise SettingError(
                "similarity='model' needs a fitted model; name its file with model, or make one "
                "with `neardup tune --labels LABELS --fit model.json`"
            )
        scheme = Scheme.of(**recipe, fields=record_fields(text))
        typed = scheme.fields is not None and scheme.fields.are_typed
        if similarity is None and typed and scheme.weights == "set":
            similarity = FIELDS
        if similarity is None:
            weighted = "cosine" if scheme.weights == "given" else "weighted-jaccard"
            similarity = "jaccard" if scheme.are_sets else weighted
        if similarity not in SIMILARITIES:
            raise SettingError(
                f"similarity={similarity!r} is unknown; choose {', '.join(SIMILARITIES)}"
            )
        if similarity == FIELDS:
            _require_fields(scheme)
        if similarity == "jaccard" and not scheme.are_sets:
            raise SettingError(
                f"similarity='jaccard' compares sets, but the features of {scheme} have weights; "
                "use weighted-jaccard, or weights=set"
            )
        rule = ClusterRule.parse(cluster)
        if similarity == INCLUSION and str(rule) != "star":
            raise SettingError(
                f"similarity='inclusion' says what a removed document has in the kept one, and "
                f"cluster={cluster!r} removes documents by chains of pairs; use cluster='star', or "
                "similarity='containment'"
            )
        policy = KeepPolicy.parse(keep)
        if similarity == INCLUSION and policy.most == 0:
            raise SettingError(
                f"similarity='inclusion' removes a document for a kept one that has enough of it, "
                f"and keep='{policy}' keeps none; use keep='first', or similarity='containment'"
            )
        thread_count(threads)
        limit = _threshold(threshold, similarity, scheme.bits)
        several = tuple(level for level in levels if similarity == "hamming" and level <= limit)
        if floor is not None:
            _require_floor(floor, similarity, limit, pairs)
        if similarity == FIELDS and (limit if floor is None else float(floor)) < LEAST_BY_FIELDS:
            raise SettingError(
                f"similarity='fields' finds pairs from {LEAST_BY_FIELDS:g} on; raise the "
                f"{'threshold' if floor is None else 'floor'}"
            )
        if pairs is None:
            pairs = "all" if several or floor is not None else "evidence"
        if pairs not in LISTINGS:
            raise SettingError(f"pairs={pairs!r} is unknown; choose {', '.join(LISTINGS)}")
        Choice.of(read_as, suffix)
        return cls(
            scheme=scheme,
            text=text,
            id=id,
            similarity=similarity,
            threshold=limit,
            candidates=candidates,
            recall=_share(recall, "recall"),
            keep=policy,
            cluster=str(rule),
            pairs=pairs,
            floor=None if floor is None else float(floor),
            memory=bytes_of(memory),
            threads=threads,
            max_document=bytes_of(max_document, "max_document"),
            read_as=read_as,
            suffix=suffix,
            levels=several if pairs == "all" else (),
            model=None if model is None else os.fspath(model),
            fitted=fitted,
        )

    def as_dict(self) -> dict[str, Any]:
        """The settings that the result depends on, as plain values; the recipe comes first."""
        rest = [name for name in SETTINGS if name not in RECIPE and name != "threads"]
        values = {name: getattr(self, name) for name in rest}
        return {**self.scheme.recipe, **values, "keep": str(self.keep)}

    @property
    def share(self) -> float | None:
        """The share of cross pairs that joins two dense clusters; None for other clusters."""
        return ClusterRule.parse(self.cluster).share

    @property
    def least(self) -> float:
        """The similarity that near-duplicates reach; for `hamming`, the share of equal bits."""
        if self.similarity == "hamming":
            return 1 - self.threshold / self.scheme.bits
        return self.threshold

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are compared: the fields of records, or the text."""
        fields = self.scheme.fields
        return (self.text or "text",) if fields is None else fields.names

    @property
    def is_scored(self) -> bool:
        """Whether a scorer compares the columns of documents."""
        return self.similarity in SCORED

    @property
    def is_containment(self) -> bool:
        """Whether a short document can be similar to a far longer one."""
        return self.similarity in CONTAINMENTS

    @property
    def limit(self) -> str:
        """The threshold in words, as in "3 pairs of jaccard ≥ 0.8"."""
        if self.similarity == "hamming":
            return f"hamming ≤ {self.threshold:.0f}"
        return f"{self.similarity} ≥ {self.threshold:g}"


def _of_preset(name: str) -> tuple[dict[str, Any], tuple[int, ...]]:
    """The settings of a preset and, where it names several distances, all of them."""
    from neardup.presets import preset

    known = preset(name)
    chosen = {**known.recipe, "candidates": known.candidates, "similarity": known.similarity}
    if known.max_distance:
        levels = known.max_distance if len(known.max_distance) > 1 else ()
        return {**chosen, "threshold": max(known.max_distance)}, levels
    return {**chosen, "threshold": known.threshold}, ()


def _threshold(threshold: Any, similarity: str, bits: int) -> float:
    """A similarity above 0, up to 1; for `hamming`, the maximum number of differing bits."""
    if similarity == "hamming":
        if threshold is None or not 0 <= threshold <= bits or threshold != int(threshold):
            raise SettingError(
                f"threshold={threshold!r}: with similarity=hamming it is the maximum number of "
                f"differing bits, a whole number from 0 to {bits}"
            )
        return float(threshold)
    return _share(DEFAULT_THRESHOLD if threshold is None else threshold, "threshold")


def _of_model(
    similarity: str | None, threshold: float | None, model: Model
) -> tuple[str, float | None]:
    """The similarity and the threshold of a model, where they are not given."""
    if similarity not in (None, MODEL):
        raise SettingError(
            f"similarity={similarity!r}, but a model was given, whose similarity is 'model'; leave "
            "one of them out"
        )
    return MODEL, model.threshold if threshold is None else threshold


def _text_of_model(text: str | None, model: Model) -> str | None:
    """The columns that a model compares; `text` may name another column only if it has none."""
    if model.text is None:
        if record_fields(text) is not None:
            raise SettingError(
                f"text={text!r} names fields, but the model was fitted to documents of one text; "
                "name one column, or fit another model"
            )
        return text
    if text is not None and str(record_fields(text) or text) != model.text:
        raise SettingError(
            f"text={text!r}, but the model compares {model.text!r}; leave text out, or fit another "
            "model"
        )
    return model.text


def _require_fields(scheme: Scheme) -> None:
    """Refuse what cannot be compared field by field."""
    example = "text='name:char:3*2 + dob:exact'"
    if scheme.fields is None:
        raise SettingError(
            f"similarity='fields' compares the fields of records; name them, for example {example}"
        )
    if scheme.weights != "set":
        raise SettingError(
            f"similarity='fields' compares sets of features, but weights={scheme.weights!r}; leave "
            "the weights out, or use similarity='weighted-jaccard'"
        )
    if len(scheme.fields.fields) > _MOST_FIELDS:
        raise SettingError(
            f"text names {len(scheme.fields.fields)} fields; similarity='fields' compares up to "
            f"{_MOST_FIELDS}"
        )


def _require_floor(floor: Any, similarity: str, threshold: float, pairs: str | None) -> None:
    if similarity == "hamming":
        raise SettingError(
            f"floor={floor!r} is a similarity, and similarity=hamming has none; give a larger "
            "threshold"
        )
    if not _share(floor, "floor") < threshold:
        raise SettingError(f"floor={floor!r} must be below the threshold, {threshold:g}")
    if pairs not in (None, "all"):
        raise SettingError(
            f"floor={floor!r} lists all pairs from there on, but pairs={pairs!r}; leave one out"
        )


def _share(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise SettingError(f"{name}={value!r} must be a number above 0, at most 1")
    return float(value)


def settings_in(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The settings in a file such as `tune` writes; an unknown name is an error."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        with Path(path).open("rb") as file:
            data = file.read(_MOST_FILE_BYTES + 1)
        if len(data) > _MOST_FILE_BYTES:
            raise InputError(f"{path} is larger than 1 MB; a settings file is a few lines of TOML")
        found = tomllib.loads(data.decode())
    except OSError as error:
        raise InputError(f"cannot read the settings in {path}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    require_known(found, SETTINGS, where=f"{path}: ")
    for name, value in found.items():
        kinds = SETTINGS[name].types
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise SettingError(f"{path}: {name} = {value!r} must be {_KINDS[kinds]}")
    return found

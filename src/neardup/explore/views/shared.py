"""What two documents share by the scheme of their run: similarities, distance and features."""

from __future__ import annotations

from collections.abc import Iterator

from neardup.comparison.compare import Comparison, compare
from neardup.errors import NeardupError
from neardup.explore.rendering import short
from neardup.explore.views.room import cut
from neardup.fingerprints.scheme import Scheme
from neardup.frozen import dataclass
from neardup.runs import Run
from neardup.visible import shown_similarity

# Aligning two documents of this size that have little in common takes 0.3 s.
_LONGEST = 60_000  # characters
_SCHEME = ("features", "weights", "bits", "hash", "tie", "projection")
_LARGEST_EXAMPLES = 600  # bytes
_TOO_LONG = (
    f"Features are compared here up to {_LONGEST:,} characters; in a terminal, "
    "neardup compare OUT A B compares all of them."
)


@dataclass(frozen=True)
class SharedView:
    """Facts with their names; `note` says what they are, or why there are none."""

    facts: tuple[tuple[str, str], ...]
    note: str


def shared_view(run: Run, a: str, b: str) -> SharedView:
    """Compare two texts by the scheme of the run; not if the similarity is a sum of parts."""
    if run.is_scored:
        return SharedView((), "")
    settings = run.summary["settings"]
    if max(len(a), len(b)) > _LONGEST:
        return SharedView((), _TOO_LONG)
    if str(settings["features"]).startswith("terms"):
        return SharedView((), "The documents are lists of terms, which have no other features.")
    chosen = {name: settings[name] for name in _SCHEME if settings.get(name) is not None}
    try:
        table = run.idf_table(Scheme.of(**chosen))
        found = compare(a, b, **chosen, idf=table)
    except NeardupError as error:  # a key, or a table of frequencies, that is not stored
        return SharedView((), f"Features cannot be compared here: {error}")
    note = f"By {found.scheme}."
    if found.scheme.needs_idf and table is None:
        note += " The weights are those of these two documents."
    return SharedView(tuple(_facts(found)), note)


def _facts(found: Comparison) -> Iterator[tuple[str, str]]:
    if found.reason:
        yield "similarity", found.reason
        return
    yield f"{found.weighted}Jaccard", shown_similarity(found.jaccard)
    yield f"{found.weighted}cosine", shown_similarity(found.cosine)
    yield f"{found.weighted}containment", shown_similarity(found.containment)
    yield "of A in B", shown_similarity(found.inclusion_a)
    yield "of B in A", shown_similarity(found.inclusion_b)
    yield "distance of the fingerprints", f"{found.distance} of {found.scheme.bits} bits"
    yield "shared features", f"{found.shared:,}"
    for letter, side, alone in (("A", found.a, found.only_a), ("B", found.b, found.only_b)):
        shown = " · ".join(short(example, 60) for example in side.examples)
        more = f" · {alone - len(side.examples):,} more" if alone > len(side.examples) else ""
        examples = f": {cut(shown, _LARGEST_EXAMPLES)}{more}" if shown else ""
        yield f"features only in {letter}", f"{alone:,} of {side.features:,}{examples}"

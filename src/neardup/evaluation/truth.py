"""What labels say about the documents of a run, and what they leave open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow._compute import SetLookupOptions, call_function

from neardup.cluster import components, pairs_in
from neardup.deduplication.rows import all_rows, one_column
from neardup.errors import InputError, SettingError
from neardup.evaluation.found import ALONE, FoundByRun
from neardup.frozen import dataclass
from neardup.kernels.columns import chosen, converted
from neardup.labels import Labels

Places = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Truth:
    """Labels by places, a < b; a place of -1 is a document of the other collection, not named.

    `clusters` are the true clusters, -1 for a document that is alone: those of a column, or the
    connected components of the pairs labelled same. `labelled` are the documents about which
    something is known. If `is_complete`, every other pair of these is different. `missing` labels
    name a document that the run does not have, such as `example`.
    """

    name: str
    from_column: bool
    is_complete: bool
    a: Places
    b: Places
    same: Flags
    clusters: Places
    labelled: Flags
    missing: int = 0
    example: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def has_different(self) -> bool:
        """Whether it is known of some pairs that they are different."""
        return self.is_complete or not bool(self.same.all())

    @property
    def listed_same(self) -> int:
        """The number of pairs labelled same."""
        return int(self.same.sum())

    @property
    def closed_same(self) -> int:
        """The number of pairs that are the same if a = b and b = c mean a = c."""
        return pairs_in(np.bincount(self.clusters[self.clusters >= 0]))

    @property
    def contradictions(self) -> Places:
        """The rows of pairs labelled different that other labels connect."""
        if self.from_column:
            return np.zeros(0, np.int64)
        inside = (self.a >= 0) & (self.b >= 0) & ~self.same
        one, other = self.clusters[self.a], self.clusters[self.b]
        return np.flatnonzero(inside & (one == other) & (one >= 0))


def truth_of_column(
    found: FoundByRun, column: str, *, complete: bool, or_file: bool = False
) -> Truth:
    """The clusters that a column of the input names; null is not labelled, or alone.

    With `or_file`, the name may have been meant as that of a file, which does not exist.
    """
    result, n = found.result, found.documents
    if not found.is_alone:
        raise SettingError(
            f"the column {column!r} says nothing about the other collection that this run compares "
            "with; give a file of labelled pairs instead"
        )
    values = one_column(result.source, column, n)
    if pa.types.is_null(values.type):
        _require_column(found, column, or_file)
    labels = _numbers(values, column)
    labelled = labels >= 0
    if not labelled.any():
        raise InputError(f"the column {column!r} is empty in all {n:,} documents; name another one")
    unlabelled = n - int(labelled.sum())
    notes: tuple[str, ...] = ()
    if or_file:
        notes = (f"There is no file {column}: the column of that name has the labels.",)
    if unlabelled:
        empty = f"{unlabelled:,} of {n:,} documents have no value in {column!r}"
        if complete:
            notes += (f"{empty}: by --complete, each of them is the only one of its kind.",)
            labelled = np.ones(n, np.bool_)
        else:
            notes += (f"{empty}: they are left out (--complete counts each as a cluster of one).",)
    nothing = np.zeros(0, np.int64)
    return Truth(
        f"the column {column!r}",
        True,
        True,
        nothing,
        nothing,
        np.zeros(0, np.bool_),
        labels,
        labelled,
        notes=notes,
    )


def _require_column(found: FoundByRun, column: str, or_file: bool) -> None:
    """Refuse a column that no row has."""
    names: dict[str, None] = {}
    for rows in all_rows(found.result.source, found.documents):
        names.update(dict.fromkeys(rows.schema.names))
    if column not in names:
        missing = f"there is no file {column}, and " if or_file else ""
        raise InputError(
            f"{missing}the input of this run has no column {column!r}; its columns are "
            f"{', '.join(map(repr, names)) or 'none'}"
        )


def _numbers(values: pa.ChunkedArray, column: str) -> Places:
    """A number for each distinct value; -1 for null, NaN and an empty text."""
    if pa.types.is_nested(values.type):
        raise InputError(
            f"the column {column!r} is of {values.type} and cannot name clusters; name a column of "
            "texts or numbers"
        )
    if pa.types.is_null(values.type) or not len(values):
        return np.full(len(values), ALONE, np.int64)
    encoded = values.unify_dictionaries().combine_chunks()
    if not pa.types.is_dictionary(encoded.type):
        encoded = call_function("dictionary_encode", [encoded])
    words = encoded.dictionary.to_pylist()
    known = [word is not None and word == word and word != "" for word in words]
    number = encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False).astype(np.int64)
    of_value = np.append(np.where(known, np.arange(len(known)), ALONE), ALONE)
    return np.asarray(of_value[number])


def truth_of_pairs(found: FoundByRun, labels: Labels, *, complete: bool) -> Truth:
    """Labelled pairs by the places of their documents."""
    a, b, is_known = _placed(found, labels)
    lost = np.flatnonzero(~is_known)
    example = _lost_id(found, labels, int(lost[0])) if len(lost) else None
    if not is_known.any():
        raise InputError(
            f"{labels.source} names no two documents of this run; an id that it lacks is "
            f"{example!r}, and one that it has is {found.result.id_at(0) if found.count else ''!r}"
        )
    a, b, same = a[is_known], b[is_known], labels.same[is_known]
    notes = list(labels.notes)
    if found.is_alone:
        a, b = np.minimum(a, b), np.maximum(a, b)
    outside = int(((a < 0) | (b < 0)).sum())
    if outside:
        notes.append(
            f"{outside:,} labelled pairs name a document that is not in the input; they count as "
            "not found, because the other collection is known only as far as the run names it."
        )
    joined = (a >= 0) & (b >= 0) & same
    nodes = components(found.count, a[joined], b[joined])
    sizes = np.bincount(nodes, minlength=found.count)
    clusters = np.where(sizes[nodes] > 1, nodes, ALONE) if found.count else nodes
    labelled = np.zeros(found.count, np.bool_)
    labelled[a[a >= 0]] = labelled[b[b >= 0]] = True
    if complete:
        labelled[:] = True
    return Truth(
        labels.source,
        False,
        complete,
        a,
        b,
        same,
        np.asarray(clusters),
        labelled,
        len(lost),
        example,
        tuple(notes),
    )


def _placed(found: FoundByRun, labels: Labels) -> tuple[Places, Places, Flags]:
    """The places of labelled documents, and whether the run can say anything about the pair."""
    own = converted(found.both.left.ids, pa.large_string())
    a, b = _looked_up(labels.a, own), _looked_up(labels.b, own)
    if found.both.right is None:
        return a, b, (a >= 0) & (b >= 0)
    n = found.documents
    other = converted(found.both.right.ids, pa.large_string())
    others = [_looked_up(ids, other) for ids in (labels.a, labels.b)]
    others = [np.where(places < 0, ALONE, places + n) for places in others]
    # One of the two is of the input; it is `a`, unless only `b` is there. If the input is compared
    # with itself, too, an id that both collections have means the document of the input.
    is_within = (a >= 0) & (b >= 0) & found.both.within
    turned = ~is_within & (a < 0) & (b >= 0)
    one = np.where(turned, b, a)
    two = np.where(is_within, b, np.where(turned, others[0], others[1]))
    low, high = np.where(is_within, np.minimum(one, two), one), two
    high = np.where(is_within, np.maximum(one, two), high)
    return low, high, low >= 0


def _lost_id(found: FoundByRun, labels: Labels, row: int) -> str:
    own = converted(found.both.left.ids, pa.large_string())
    for ids in (labels.a, labels.b):
        some = chosen(ids, np.arange(len(ids)) == row)
        if _looked_up(some, own)[0] < 0:
            return str(some[0].as_py())
    return str(labels.a[row].as_py())


def _looked_up(ids: Any, known: pa.Array) -> Places:
    options = SetLookupOptions(value_set=known, skip_nulls=True)
    found = call_function("index_in", [ids], options)
    return np.asarray(found.fill_null(ALONE).to_numpy(zero_copy_only=False)).astype(np.int64)

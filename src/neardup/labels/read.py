"""Reading labels: tables of pairs, decisions, and files of pairs with decisions beside them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow._compute import call_function

from neardup.decisions import FILE_NAME, DecisionFile, content_of
from neardup.decisions.tables import decisions_of_rows
from neardup.errors import InputError
from neardup.kernels.columns import chosen, column_of, converted, taken
from neardup.labels.decided import DecidedPairs, decided_pairs
from neardup.labels.model import Labels
from neardup.labels.rows import TABLE, A, B, PairRows, is_path, pair_rows
from neardup.read.limits import quoted

SAME = "same"
_YES = ("true", "1", "yes", "same")
_NO = ("false", "0", "no", "different")
# The columns that tell a table of decisions, as `neardup decisions export` writes it.
_EXPORTED = ("says", "a_content", "b_content", "by", "at")
TEXTS = {A: "a_text", B: "b_text"}


def read_labels(given: Any, *, need_different: bool = False) -> Labels:
    """Read labelled pairs from a file, the folder of a run, or a table.

    A table has the columns `a` and `b` (ids) and may have `same`: true or false, 1 or 0, yes or no,
    same or different; a row without a value is not labelled. Without that column, all pairs are
    the same. Also takes `decisions.jsonl`, the folder of a run that has one, a table of
    `neardup decisions export`, and a file of pairs with its decisions beside it, which win.
    With `need_different`, labels that are all `same` are an error.

    >>> labels = read_labels(pa.table({"a": [1, 2], "b": [5, 7], "same": ["yes", "no"]}))
    >>> labels.a.to_pylist(), labels.same.tolist()
    (['1', '2'], [True, False])
    """
    if is_path(given) and (found := _decision_file(given)) is not None:
        labels = _of_decisions(decided_pairs(found.history()), str(found.path))
    else:
        labels = _of_table(given)
    if not len(labels):
        raise InputError(f"{labels.source} has no labelled pair{_how_to_label(given)}")
    if need_different and not labels.has_different:
        raise InputError(
            f"{labels.source} has only pairs that are the same; label pairs that are different, "
            f"too, with 'false' in the column {SAME!r}"
        )
    return labels


def decisions_beside(path: str | os.PathLike[str]) -> Path:
    """The file of the decisions on the pairs of a file."""
    return Path(f"{os.fspath(path)}.{FILE_NAME}")


def _how_to_label(given: Any) -> str:
    if not is_path(given) or os.path.isdir(given) or os.fspath(given).endswith(FILE_NAME):
        return ""
    return f"; fill in its column {SAME!r}, or answer with neardup review {os.fspath(given)}"


def _decision_file(path: str | os.PathLike[str]) -> DecisionFile | None:
    """The decisions that a path names; None if it names a table."""
    if os.path.isdir(path):
        found = Path(path) / FILE_NAME
        if not found.is_file():
            raise InputError(f"{path} is a folder without {FILE_NAME}, and has no labels")
        return DecisionFile(found)
    name = os.fspath(path)
    if os.path.isfile(name) and (name.endswith(FILE_NAME) or _begins_with_decision(name)):
        return DecisionFile(name)
    return None


def _begins_with_decision(name: str) -> bool:
    """Whether the first line of a file is that of a file of decisions."""
    if not name.lower().endswith((".jsonl", ".ndjson")):
        return False
    try:
        with open(name, "rb") as file:
            item = json.loads(file.readline(1 << 20))
    except (OSError, ValueError, RecursionError):
        return False  # what is wrong with it, its reader says
    return isinstance(item, dict) and {"says", "documents", "key"} <= item.keys()


def _of_decisions(found: DecidedPairs, source: str) -> Labels:
    ids = pa.array(found.ids, pa.large_string())
    a, b = taken(ids, column_of(found.a)), taken(ids, column_of(found.b))
    return Labels(a, b, found.same, source, found.notes)


def _of_table(given: Any) -> Labels:
    path = decisions_beside(given) if is_path(given) else None
    file = DecisionFile(path) if path is not None and path.is_file() else None
    source = os.fspath(given) if is_path(given) else TABLE
    rows = pair_rows(given)
    first = list(islice(rows, 1))
    rows = chain(first, rows)
    if first and all(name in first[0].columns for name in _EXPORTED):
        history = decisions_of_rows(_as_objects(rows), source)
        return _of_decisions(decided_pairs(history), source)
    gathered = _Gathered(with_contents=file is not None)
    for some in rows:
        gathered.add(some)
    labels = gathered.labels(source)
    if file is None:
        return labels
    return _united(labels, decided_pairs(file.history(), gathered.contents.get))


def _as_objects(rows: Iterable[PairRows]) -> Iterator[dict[str, str | None]]:
    """The rows of a table of decisions; an empty value is none, except for an id."""
    for some in rows:
        names = list(some.columns)
        for values in zip(*(some.columns[name].to_pylist() for name in names), strict=True):
            row = dict(zip(names, values, strict=True))
            yield {
                name: value if value or row.get(f"{name}_kind") == "text" else None
                for name, value in row.items()
            }


class _Gathered:
    """The labelled rows of a table, and the hashes of texts, if they are needed."""

    def __init__(self, *, with_contents: bool) -> None:
        self._with_contents = with_contents
        self._parts: list[tuple[pa.Array, pa.Array, NDArray[np.bool_]]] = []
        self._rows: list[NDArray[np.int64]] = []
        self.contents: dict[str, str] = {}

    def add(self, rows: PairRows) -> None:
        if self._with_contents:
            for side, name in TEXTS.items():
                if name in rows.columns:
                    texts = map(content_of, rows.columns[name].to_pylist())
                    self.contents.update(zip(rows.columns[side].to_pylist(), texts, strict=True))
        is_labelled, same = answers(rows)
        a, b = (
            converted(chosen(rows.columns[name], is_labelled), pa.large_string()) for name in (A, B)
        )
        at = np.flatnonzero(is_labelled)
        for name, ids in ((A, a), (B, b)):
            empty = np.flatnonzero(_equal(ids, ""))
            if len(empty):
                raise InputError(f"{rows.where(at[empty[0]])}: {name!r} is empty; give an id")
        itself = np.flatnonzero(_equal(a, b))
        if len(itself):
            id = a[int(itself[0])].as_py()
            raise InputError(
                f"{rows.where(at[itself[0]])}: a pair of {quoted(id)} with itself; delete it"
            )
        self._parts.append((a, b, same[is_labelled]))
        self._rows.append(rows.numbers[at])

    def labels(self, source: str) -> Labels:
        """All labels, each pair once; two answers to one pair are an error."""
        nothing = pa.nulls(0, pa.large_string())
        a, b = (pa.concat_arrays([nothing, *(part[i] for part in self._parts)]) for i in (0, 1))
        same = np.concatenate([np.zeros(0, np.bool_), *(part[2] for part in self._parts)])
        numbers = np.concatenate([np.zeros(0, np.int64), *self._rows])
        keys = pair_keys(a, b)
        order = np.argsort(keys, kind="stable")
        repeats = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
        clashes = repeats[same[order[repeats]] != same[order[repeats + 1]]]
        if len(clashes):
            second = int(order[clashes + 1].min())
            first = int(np.flatnonzero(keys == keys[second])[0])
            raise InputError(
                f"{source} labels the pair {quoted(a[second].as_py())}, "
                f"{quoted(b[second].as_py())} {_word(same[first])} in row "
                f"{int(numbers[first]) + 1:,} and {_word(same[second])} in row "
                f"{int(numbers[second]) + 1:,}; delete one of them"
            )
        is_new = np.ones(len(keys), np.bool_)
        is_new[order[repeats + 1]] = False
        return Labels(a, b, same, source).only(is_new)


def answers(rows: PairRows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows are labelled, and which of them are the same."""
    if SAME not in rows.columns:
        every = np.ones(len(rows), np.bool_)
        return every, every
    encoded = rows.columns[SAME].dictionary_encode()
    words = [word.strip().lower() for word in encoded.dictionary.to_pylist()]
    number = encoded.indices.to_numpy()
    known = np.array([word in (*_YES, *_NO, "") for word in words], np.bool_)[number]
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        value = rows.columns[SAME][row].as_py()
        raise InputError(
            f"{rows.where(row)}: {SAME}={quoted(value)} is no answer; write true or false, 1 or 0, "
            "yes or no, same or different, or nothing"
        )
    labelled = np.array([word != "" for word in words], np.bool_)[number]
    return labelled, np.array([word in _YES for word in words], np.bool_)[number]


def pair_keys(a: pa.Array, b: pa.Array) -> NDArray[np.int64]:
    """A number for each pair of ids, whichever comes first."""
    indices = pa.concat_arrays([a, b]).dictionary_encode().indices
    numbers: NDArray[np.int64] = indices.to_numpy().astype(np.int64)
    one, other = numbers[: len(a)], numbers[len(a) :]
    width = int(numbers.max(initial=0)) + 1
    return np.minimum(one, other) * width + np.maximum(one, other)


def _united(labels: Labels, decided: DecidedPairs) -> Labels:
    """The labels of a file and the decisions on its pairs, which win."""
    told = _of_decisions(decided, labels.source)
    contested_a, contested_b = (
        pa.array([pair[side] for pair in decided.contested], pa.large_string()) for side in (0, 1)
    )
    every_a = pa.concat_arrays([told.a, contested_a, labels.a])
    every_b = pa.concat_arrays([told.b, contested_b, labels.b])
    keys = pair_keys(every_a, every_b)
    of_file = len(told) + len(contested_a)
    kept = np.ones(len(keys), np.bool_)
    kept[len(told) : of_file] = False
    kept[of_file:] = ~np.isin(keys[of_file:], keys[:of_file])
    same = np.concatenate((told.same, np.zeros(len(contested_a), np.bool_), labels.same))
    return Labels(every_a, every_b, same, labels.source, decided.notes).only(kept)


def _equal(one: pa.Array, other: Any) -> NDArray[np.bool_]:
    return np.asarray(call_function("equal", [one, other]).to_numpy(zero_copy_only=False))


def _word(same: Any) -> str:
    return "same" if same else "different"

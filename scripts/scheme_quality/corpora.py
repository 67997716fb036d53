"""The corpora: documents, pairs known to be true, and random pairs that are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scripts.scheme_quality.schemes import NAMES, NUMBERS, PLACES, RECORDS, TERMS, TEXT, Choice

import neardup as nd

MOST_TRUE_PAIRS = 20_000
RANDOM_PAIRS = 100_000
SEED = 7
LEAST_COSINE = 0.9
MUCH_LONGER = 1.3
RELEASE_NOTES = "docs/releases/"

Rows = NDArray[np.int64]
Pairs = tuple[Rows, Rows]


@dataclass(frozen=True)
class Corpus:
    """Documents by what is fingerprinted of them, the schemes to try, and both kinds of pairs."""

    documents: dict[str, Any]
    choices: Sequence[Choice]
    true: Pairs
    random: Pairs
    known_pairs: int
    identical_pairs: int
    unequal_pairs: int

    def about(self) -> dict[str, int]:
        """What the page says of the corpus."""
        return {
            "documents": len(self.documents["text"]),
            "known_pairs": self.known_pairs,
            "identical_pairs": self.identical_pairs,
            "true_pairs": len(self.true[0]),
            "unequal_pairs": self.unequal_pairs,
            "random_pairs": len(self.random[0]),
        }


def arxiv(folder: Path) -> Corpus:
    """Abstracts; true is a cosine of 0.9 on the given terms, and from 0.7 on nothing is random."""
    documents = pq.read_table(folder / "docs.parquet")
    terms = pq.read_table(folder / "features.parquet")
    if not terms["id"].equals(documents["id"]):
        raise SystemExit(f"{folder}: features.parquet has other documents than docs.parquet")
    pairs = pq.read_table(folder / "pairs.parquet")
    true = pairs.filter(pc.greater_equal(pairs["cosine"], LEAST_COSINE))
    return _corpus(documents, true, known=pairs, choices=[*TEXT, *TERMS], terms=terms)


def tang_poems(folder: Path) -> Corpus:
    """Poems; random pairs are drawn where the labels are complete, `in_gold`."""
    documents = pq.read_table(folder / "docs.parquet")
    pairs = pq.read_table(folder / "pairs.parquet")
    return _corpus(documents, pairs, known=pairs, choices=TEXT, drawn=documents["in_gold"])


def django_docs(folder: Path) -> Corpus:
    """Pages of a documentation; true is the same path in another release.

    Release notes are not drawn as random pairs: those of one day's releases are nearly the same
    text (1.9.11 and 1.8.16: a Jaccard of 0.94), whatever their paths.
    """
    documents = pq.read_table(folder / "docs.parquet")
    pairs = pq.read_table(folder / "pairs.parquet")
    drawn = pc.invert(pc.match_substring(documents["path"], RELEASE_NOTES))
    return _corpus(documents, pairs, known=pairs, choices=TEXT, drawn=drawn)


def febrl(path: Path) -> Corpus:
    """Made-up persons from a CSV file of FEBRL; true is the same number in `rec_id`."""
    table = pa.csv.read_csv(
        path, convert_options=pa.csv.ConvertOptions(column_types=_all_strings(path))
    )
    stripped = [pc.utf8_trim_whitespace(column) for column in table.columns]
    records = pa.table(dict(zip(map(str.strip, table.column_names), stripped, strict=True)))
    persons: dict[str, list[str]] = {}
    for name in records["rec_id"].to_pylist():
        persons.setdefault(name.split("-")[1], []).append(name)
    alike = [(a, b) for same in persons.values() for i, a in enumerate(same) for b in same[:i]]
    pairs = pa.table({"a": [a for a, _ in alike], "b": [b for _, b in alike]})
    columns = (records[name] for name in (*NAMES, *PLACES, *NUMBERS))
    texts = pc.binary_join_element_wise(*columns, " ")
    documents = records.rename_columns({"rec_id": "id"}).append_column("text", texts)
    return _corpus(documents, pairs, known=pairs, choices=RECORDS, record=records)


def _all_strings(path: Path) -> dict[str, pa.DataType]:
    names = path.read_text(encoding="utf-8").splitlines()[0].split(",")
    return dict.fromkeys(names, pa.string())


def _corpus(
    documents: pa.Table,
    true: pa.Table,
    *,
    known: pa.Table,
    choices: Sequence[Choice],
    drawn: pa.ChunkedArray | None = None,
    **others: pa.Table,
) -> Corpus:
    """Draw both kinds of pairs, among documents that are not empty; identical texts tell nothing.

    `known` are the pairs that may not be drawn as random ones.
    """
    text = documents["text"].combine_chunks()
    full = nd.fingerprint(text, features="word:1").words > 0
    drawable = full if drawn is None else full & drawn.to_numpy()
    state = np.random.RandomState(SEED)  # whose numbers are the same in every version of NumPy
    a, b = (_rows(documents["id"], true[side]) for side in ("a", "b"))
    same = pc.equal(text.take(pa.array(a)), text.take(pa.array(b))).to_numpy(zero_copy_only=False)
    chosen = np.flatnonzero(~same & full[a] & full[b])
    if len(chosen) > MOST_TRUE_PAIRS:
        chosen = np.sort(state.permutation(chosen)[:MOST_TRUE_PAIRS])
    related = [_rows(documents["id"], known[side]) for side in ("a", "b")]
    apart = _keys(related[0], related[1], len(text))
    return Corpus(
        {"text": text, **others},
        choices,
        (a[chosen], b[chosen]),
        random_pairs(np.flatnonzero(drawable), apart, len(text), state),
        len(true),
        int(same.sum()),
        int(_are_unequal(text, a[chosen], b[chosen]).sum()),
    )


def _are_unequal(text: pa.Array, a: Rows, b: Rows) -> NDArray[np.bool_]:
    """Whether one text is much longer than the other."""
    lengths = np.asarray(pc.utf8_length(text).to_numpy(), np.int64)
    shorter, longer = np.sort([lengths[a], lengths[b]], axis=0)
    return np.asarray(longer > MUCH_LONGER * shorter)


def random_pairs(
    rows: Rows, apart: Rows, documents: int, state: np.random.RandomState, count: int = RANDOM_PAIRS
) -> Pairs:
    """Draw pairs of two different documents out of `rows`, none of them with a key in `apart`."""
    first, second = rows[(state.random_sample((2, 2 * count)) * len(rows)).astype(np.int64)]
    fine = (first != second) & ~np.isin(_keys(first, second, documents), apart)
    if fine.sum() < count:
        raise SystemExit(f"only {fine.sum()} of {2 * count} random pairs are not known to be true")
    return first[fine][:count], second[fine][:count]


def _keys(a: Rows, b: Rows, documents: int) -> Rows:
    return np.minimum(a, b) * documents + np.maximum(a, b)


def _rows(ids: pa.ChunkedArray, wanted: pa.ChunkedArray) -> Rows:
    found = pc.index_in(wanted, value_set=ids.combine_chunks())
    if found.null_count:
        raise SystemExit(f"{found.null_count} ids of the pairs are no ids of the documents")
    return np.asarray(found.to_numpy(), np.int64)

"""A collection in files, so that an interrupted run need not read it again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.collection.collected import Collected
from neardup.collection.feature_store import FeatureStore, StoredParts
from neardup.collection.records import Records
from neardup.collection.rejected import RejectedRows
from neardup.kernels.hamming_join import RowGroups
from neardup.read import Rejected

_IDS, _ARRAYS, _REJECTED, _FEATURES = "ids.arrow", "arrays.npz", "rejected.jsonl", "features"
_RECORDS = "records.arrow"
_PART = "part_"  # prefix of the arrays of `StoredParts`
# Gives the path of a file after it was checked.
Checked = Callable[[str], Path]


def features_path(folder: Path, stem: str) -> Path:
    """The file for the features of a collection whose files begin with `stem`."""
    return folder / f"{stem}.{_FEATURES}"


def store_collected(collected: Collected, folder: Path, stem: str) -> dict[str, str | None]:
    """Write everything except the features, which are in their file already.

    Returns the names of all files, with their checksums where they are known.
    """
    ids = pa.RecordBatch.from_arrays([collected.ids], ["id"])
    # Through a Python file, because Arrow does not accept names that are not UTF-8.
    with (folder / f"{stem}.{_IDS}").open("wb") as file, pa.ipc.new_file(file, ids.schema) as out:
        out.write_batch(ids)
    arrays: dict[str, Any] = {
        "words": collected.words,
        "filled": collected.filled,
        "firsts": collected.copies.firsts,
        "group_of": collected.copies.group_of,
        **{f"rows{number}": rows for number, rows in enumerate(collected.rows)},
    }
    files: dict[str, str | None] = {f"{stem}.{name}": None for name in (_IDS, _ARRAYS, _REJECTED)}
    if collected.features is not None:
        parts = collected.features.stored_parts()
        arrays |= {_PART + each.name: getattr(parts, each.name) for each in fields(parts)}
        files[f"{stem}.{_FEATURES}"] = collected.features.checksum
    if collected.records is not None:
        collected.records.store(folder / f"{stem}.{_RECORDS}")
        files[f"{stem}.{_RECORDS}"] = None
    with (folder / f"{stem}.{_ARRAYS}").open("wb") as file:
        np.savez(file, **arrays)
    with (folder / f"{stem}.{_REJECTED}").open("w", encoding="utf-8", newline="") as lines:
        lines.writelines(collected.rejected.lines())
    return files


def load_collected(
    checked: Checked,
    stem: str,
    seconds: dict[str, float],
    *,
    features: int | None,
    records: int | None = None,
) -> Collected:
    """The collection as it was stored.

    `features` is the number of bytes of features to hold in memory, None if they are not needed:
    then their file is not read, and the store has their counts only. `records` is that number for
    the columns of documents, None if there are none or they are not needed.
    """
    with checked(f"{stem}.{_IDS}").open("rb") as file, pa.ipc.open_file(file) as batches:
        ids = batches.get_batch(0).column(0)
    with np.load(checked(f"{stem}.{_ARRAYS}"), allow_pickle=False) as stored:
        arrays = dict(stored)
    rejected = RejectedRows()
    with checked(f"{stem}.{_REJECTED}").open(encoding="utf-8", newline="") as lines:
        rejected.add(Rejected(**json.loads(line)) for line in lines)
    store = None
    if _PART + "offsets" in arrays:
        parts = StoredParts(*(arrays[_PART + each.name] for each in fields(StoredParts)))
        if features is None:
            store = FeatureStore.released(parts)
        else:
            store = FeatureStore.stored(checked(f"{stem}.{_FEATURES}"), parts, features)
    return Collected(
        ids,
        arrays["words"],
        arrays["filled"],
        RowGroups(arrays["firsts"], arrays["group_of"]),
        tuple(arrays[name] for name in sorted(arrays) if name.startswith("rows")),
        store,
        rejected,
        seconds,
        None if records is None else Records.stored(checked(f"{stem}.{_RECORDS}"), records),
    )

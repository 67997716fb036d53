"""The documents that decisions name, found in a collection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.source import Source
from neardup.decisions import Named, content_of
from neardup.deduplication.rows import TextPicker
from neardup.errors import InputError

Places = NDArray[np.int64]


class NamedDocuments:
    """Finds the documents that decisions name: by id and content, else by the content alone."""

    def __init__(self, ids: pa.Array, source: Source) -> None:
        self._ids, self._source = ids, source

    def places_of(self, named: Sequence[Named]) -> dict[Named, int]:
        """The place of each document that is there; those that are gone are left out."""
        if not named:
            return {}
        with_id = self._with_ids([one.id for one in named])
        found: dict[Named, int] = {}
        contents = dict(self._contents(with_id))
        at_id: dict[int | str, list[int]] = {}
        for place, id in zip(with_id.tolist(), self._ids_at(with_id), strict=True):
            at_id.setdefault(id, []).append(place)
        for one in named:
            for place in at_id.get(one.id, ()):
                if contents[place] == one.content:
                    found[one] = place
                    break
        missing = [one for one in named if one not in found]
        if missing:
            self._find_moved(missing, found)
        return {one: found[one] for one in named if one in found}

    def _find_moved(self, missing: Sequence[Named], found: dict[Named, int]) -> None:
        """Documents that have another id now; each gets a place of its own while there are some."""
        wanted = {one.content for one in missing}
        at_content: dict[str, list[int]] = {}
        for place, content in self._contents(np.arange(len(self._ids))):
            if content in wanted:
                at_content.setdefault(content, []).append(place)
        used = set(found.values())
        for one in missing:
            places = at_content.get(one.content)
            if places:
                found[one] = next((place for place in places if place not in used), places[0])
                used.add(found[one])

    def _with_ids(self, ids: Sequence[int | str]) -> Places:
        """The places of documents with one of these ids, which must be of the same type, too."""
        import pyarrow.compute as pc

        kind = self._ids.type
        if pa.types.is_integer(kind):
            least, most = (
                (0, 2**64 - 1) if pa.types.is_unsigned_integer(kind) else (-(2**63), 2**63)
            )
            wanted: list[Any] = [id for id in ids if isinstance(id, int) and least <= id < most]
            values = pa.array(wanted, pa.uint64() if least == 0 else pa.int64())
            held = self._ids.cast(values.type)
        else:
            values = pa.array([id for id in ids if isinstance(id, str)], pa.large_string())
            held = self._ids.cast(pa.large_string())
        return np.flatnonzero(np.asarray(pc.is_in(held, values)))

    def _ids_at(self, places: Places) -> list[int | str]:
        return list(self._ids.take(pa.array(places)).to_pylist())

    def _contents(self, places: Places) -> Iterator[tuple[int, str]]:
        """The hashes of the texts at these places, which ascend; no text is held for long."""
        first = 0
        for batch in self._source.batches():
            if not len(places):
                return
            count = len(batch.ids)
            here = places[: np.searchsorted(places, first + count)]
            if len(here):
                picker = TextPicker(here)
                picker.see(first, count, batch.columns)
                for place, text in picker.texts.items():
                    yield place, content_of(text)
            places = places[len(here) :]
            first += count
        if len(places):
            raise InputError(
                f"the input changed while it was read: it had {len(self._ids):,} documents at "
                f"first, and now {first:,}; run again when nobody writes to it"
            )

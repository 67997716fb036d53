"""Intake: documents as they are given → entries, as much as is committed together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa

from neardup.errors import InputError
from neardup.fingerprints import Fingerprints
from neardup.fingerprints.maker import Maker
from neardup.index import shapes
from neardup.index.contents import contents_of
from neardup.index.entries import Entries, by_kind
from neardup.index.ids import Id, checked_id, id_array
from neardup.index.settings import IndexSettings
from neardup.index.shapes import Documents, metadata_json

# A commit of many documents: so many, or about so many bytes.
_DOCUMENTS_AT_ONCE = 1 << 16
_BYTES_AT_ONCE = 1 << 26
Item = TypeVar("Item")


class Intake:
    """Makes entries of documents, by the settings of an index."""

    def __init__(self, settings: IndexSettings, maker: Maker) -> None:
        self._settings = settings
        self._maker = maker

    def one(self, id: Id, document: Any, metadata: Any) -> Documents:
        """A document that is added by itself."""
        about = metadata_json(metadata)
        return Documents(
            id_array([checked_id(id)]),
            shapes.one(document, self._maker.scheme),
            pa.array([about], pa.large_binary()) if about else None,
        )

    def entries(self, given: Documents) -> Entries:
        """Documents with their fingerprints and what is stored of them."""
        if isinstance(given.held, Fingerprints):
            if self._settings.verifies:
                raise InputError(
                    "this index stores texts or features, so it cannot take fingerprints alone; "
                    "give the documents"
                )
            return Entries(
                given.ids, given.held.words, given.held.array, given.metadata, made=given.made
            )
        rows, words = self._maker.rows(given.held)
        contents = contents_of(given.held, self._settings, self._maker)
        return Entries(given.ids, words, rows, given.metadata, contents, given.made)

    def portions(
        self, given: Any, metadata: Sequence[str], at_once: bool
    ) -> Iterator[list[Entries]]:
        """As much as is committed together: entries of each kind of id."""
        waiting: list[Entries] = []
        count = size = 0
        for batch in shapes.batches(given, self._maker.scheme, metadata):
            entries = self.entries(batch)
            if not len(entries):
                continue
            if waiting and waiting[-1].made != entries.made:
                if at_once:
                    raise InputError(
                        "documents with ids and documents without cannot be added at once; add "
                        "the ones first, and then the others"
                    )
                yield by_kind(waiting)
                waiting, count, size = [], 0, 0
            waiting.append(entries)
            count, size = count + len(entries), size + entries.nbytes
            if not at_once and (count >= _DOCUMENTS_AT_ONCE or size >= _BYTES_AT_ONCE):
                yield by_kind(waiting)
                waiting, count, size = [], 0, 0
        if waiting:
            yield by_kind(waiting)


def with_last(items: Iterator[Item]) -> Iterator[tuple[Item, bool]]:
    """Each item, and whether it is the last."""
    waiting: list[Item] = []
    for item in items:
        if waiting:
            yield waiting.pop(), False
        waiting.append(item)
    if waiting:
        yield waiting.pop(), True

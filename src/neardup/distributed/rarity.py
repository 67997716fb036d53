"""How rare features are in all documents, for weights by rarity: counted by shards of hashes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from uuid import uuid4

import numpy as np

from neardup.collection.source import fingerprinter_of
from neardup.distributed.splits import Layout, by_target
from neardup.engines.exchange import Engine, Message, Tasks, in_order, packed, unpacked
from neardup.errors import NeardupError
from neardup.features.idf import MOST_FEATURES
from neardup.fingerprints.fingerprinter import Fingerprinter


def with_rarity(layout: Layout, engine: Engine) -> Layout:
    """The layout with a table of rarity in the work folder, if weights need one."""
    if not layout.settings.scheme.needs_idf:
        return layout
    sent = engine.run(
        "idf",
        [
            Tasks(partial(_tell, layout), len(layout.splits)),
            Tasks(partial(_count, layout), layout.shards),
        ],
    )
    found = [unpacked(message.blob) for message in sent]
    kept = sum(one["kept"] for one in found)
    if kept > MOST_FEATURES:
        raise NeardupError(
            f"{kept:,} features are in two documents or more, and a table of rarity has room for "
            f"{MOST_FEATURES:,}; use weights=set or weights=count, or shorter features"
        )
    documents = sum(one["documents"] for one in found)
    return replace(layout, documents=documents, idf=layout.shards, token=uuid4().hex)


def _tell(layout: Layout, number: int, _: Iterator[Message]) -> Iterator[Message]:
    """Send the features of a split, and how many of its documents have each, to the shards."""
    fingerprinter: Fingerprinter = fingerprinter_of(layout.settings.scheme, 1)
    counter = fingerprinter.counter()
    for batch in layout.opened(number).batches():
        if len(batch.ids):
            fingerprinter.count(batch.columns, counter)
    hashes, counts = counter.items()
    bits = layout.shards.bit_length() - 1
    shard = hashes >> np.uint64(64 - bits) if bits else np.zeros(len(hashes), np.uint64)
    for target, rows in by_target(shard):
        yield Message(target, number, packed(hashes=hashes[rows], counts=counts[rows], documents=0))
    yield Message(
        0, number, packed(hashes=hashes[:0], counts=counts[:0], documents=counter.documents)
    )


def _count(layout: Layout, shard: int, messages: Iterator[Message]) -> Iterator[Message]:
    """Add up, and write down the features of two documents or more."""
    found = [unpacked(message.blob) for message in in_order(messages)]
    hashes = np.concatenate([np.zeros(0, np.uint64), *(one["hashes"] for one in found)])
    counts = np.concatenate([np.zeros(0, np.uint32), *(one["counts"] for one in found)])
    distinct, which = np.unique(hashes, return_inverse=True)
    total = np.bincount(which, counts, len(distinct)).astype(np.uint32)
    kept = total > 1
    layout.work.write(f"idf/{shard}", packed(hashes=distinct[kept], counts=total[kept]))
    documents = sum(one["documents"] for one in found)
    yield Message(0, shard, packed(kept=int(kept.sum()), documents=documents))

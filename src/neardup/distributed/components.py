"""Components of the linked documents, and the bins in which they are decided on.

Similar documents are in the same component, so each can be decided on by itself, by the very
functions of the local engine. A bin takes some components, and is the work of one task.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from neardup.distributed.rounds import join_links
from neardup.distributed.splits import Layout, Places, by_target, index_of, place_of, split_of
from neardup.engines.exchange import Engine, Message, Tasks, in_order, packed, unpacked
from neardup.frozen import dataclass
from neardup.kernels.set_join import components

# Nodes that one task brings together: 20 bytes each, and some times that while it works.
MOST_NODES = 1 << 25
# A core has about twice as many splits as bins.
_SPLITS_A_BIN = 2
_OWN, _COPIES = 0, 1


@dataclass(frozen=True)
class BinSizes:
    """How components are divided: about two bins for each core, of up to `most` features.

    A component of more than `giant` features is divided among blocks of `most`. More than
    `most_nodes` linked documents are brought together in rounds.
    """

    cores: int
    most: int
    giant: int
    most_nodes: int = MOST_NODES


@dataclass(frozen=True)
class Boxes:
    """How many bins have whole components, and how many blocks have parts of giant ones."""

    bins: int
    blocks: int


def fill_bins(layout: Layout, engine: Engine, nodes: int, sizes: BinSizes) -> Boxes:
    """Write the bin or block of each document that has one; how many there are.

    `nodes` is the number of linked documents, counted in each shard.
    """
    count = len(layout.splits)
    parts = 1
    if nodes > sizes.most_nodes:
        join_links(layout, engine)
        parts = layout.shards
    sent = engine.run(
        "bins",
        [
            Tasks(partial(_components, layout, sizes, parts), parts),
            Tasks(partial(_tell_copies, layout), count),
            Tasks(partial(_settle, layout), count),
        ],
    )
    found = [unpacked(message.blob) for message in sent]
    return Boxes(max(one["bins"] for one in found), max(one["blocks"] for one in found))


def _components(
    layout: Layout, sizes: BinSizes, parts: int, part: int, _: Iterator[Message]
) -> Iterator[Message]:
    """Divide the components of a part among bins of about the same number of features."""
    place, label, features = _links(layout, part, parts)
    nodes, first, number = np.unique(place, return_index=True, return_inverse=True)
    labels = components(len(nodes), number, np.searchsorted(nodes, label))
    weight = np.bincount(labels, features[first], len(nodes)).astype(np.int64)
    wanted = np.ones(len(nodes), np.bool_)
    if not layout.within:  # a component of one collection alone has no pair that counts
        other = split_of(nodes) >= layout.left
        of_old, of_new = np.zeros(len(nodes), np.bool_), np.zeros(len(nodes), np.bool_)
        of_old[labels[other]] = True
        of_new[labels[~other]] = True
        wanted = of_old & of_new
    weight[~wanted] = 0
    # A giant component is divided among blocks, in the order of the input, where stars allow it.
    giant = weight > sizes.giant
    if not can_divide(layout):
        giant[:] = False
    bins_wanted = max(1, 2 * sizes.cores // parts)
    target = max(1, min(sizes.most, -(-int(weight[~giant].sum()) // bins_wanted)))
    whole = np.where(giant, 0, weight)
    bins = ((np.cumsum(whole) - whole) // target)[labels]
    rows = np.flatnonzero(wanted[labels])
    is_giant = giant[labels[rows]]
    passed = np.cumsum(np.where(is_giant, features[first[rows]], 0).astype(np.int64))
    chosen = np.where(is_giant, (passed - 1) // sizes.most, bins[rows])
    # Numbers that a long component has jumped over are left out; parts take turns with numbers.
    for of_kind in (is_giant, ~is_giant):
        chosen[of_kind] = np.unique(chosen[of_kind], return_inverse=True)[1]
    chosen = (chosen * parts + part).astype(np.uint32)
    for split, some in by_target(split_of(nodes[rows])):
        blob = packed(index=index_of(nodes[rows[some]]), bin=chosen[some], giant=is_giant[some])
        yield Message(split, part, blob)


def can_divide(layout: Layout) -> bool:
    """Whether giant components can be decided on in parts: by stars, if not all pairs are asked."""
    settings = layout.settings
    return settings.cluster == "star" and settings.pairs != "all" and layout.old is None


def _links(layout: Layout, part: int, parts: int) -> tuple[Places, Places, NDArray[np.uint32]]:
    names = [f"links/{shard}" for shard in range(layout.shards)]
    if parts > 1:
        names = [f"components/{part}"]
    found = [unpacked(layout.work.read(name)) for name in names]
    place, label, features = (
        np.concatenate([one[name] for one in found]) for name in ("place", "label", "features")
    )
    return place, label, features


def _tell_copies(layout: Layout, number: int, messages: Iterator[Message]) -> Iterator[Message]:
    """Send copies to the bin of the first of their kind, which has one of its own if need be."""
    found = [unpacked(message.blob) for message in messages]
    index = np.concatenate([np.zeros(0, np.uint32), *(one["index"] for one in found)])
    bins = np.concatenate([np.zeros(0, np.uint32), *(one["bin"] for one in found)])
    giant = np.concatenate([np.zeros(0, np.bool_), *(one["giant"] for one in found)])
    copies = unpacked(layout.work.read(f"copies/{number}"))
    first, members = copies["first"], copies["first_of"]
    has_features = np.ones(len(index), np.bool_)
    if number >= layout.left:  # of the other collection, only the first of a kind takes part
        first, members = first[:0], members[:0]
    elif layout.within:
        # They need no features. All of some splits go to one bin.
        alone = np.setdiff1d(first, index)
        index = np.concatenate((index, alone))
        bins = np.concatenate((bins, np.full(len(alone), number // _SPLITS_A_BIN, np.uint32)))
        giant = np.concatenate((giant, np.zeros(len(alone), np.bool_)))
        has_features = np.concatenate((has_features, np.zeros(len(alone), np.bool_)))
    order = np.argsort(index)
    own = {
        "index": index[order],
        "bin": bins[order],
        "giant": giant[order],
        "of": place_of(number, index[order]),
        "features": has_features[order],
    }
    yield Message(number, _OWN, packed(**own))
    at = np.searchsorted(own["index"], first)
    known = np.zeros(len(first), np.bool_)
    inside = at < len(index)
    known[inside] = own["index"][at[inside]] == first[inside]
    rows = np.flatnonzero(known)
    for split, some in by_target(split_of(members[rows])):
        these = rows[some]
        blob = packed(
            index=index_of(members[these]),
            bin=own["bin"][at[these]],
            giant=own["giant"][at[these]],
            of=place_of(number, first[these]),
            features=np.zeros(len(these), np.bool_),
        )
        yield Message(split, number * 2 + _COPIES, blob)


def _settle(layout: Layout, number: int, messages: Iterator[Message]) -> Iterator[Message]:
    """Write down the bins of the documents of a split."""
    found = [unpacked(message.blob) for message in in_order(messages)]
    stored = {name: np.concatenate([one[name] for one in found]) for name in found[0]}
    order = np.argsort(stored["index"], kind="stable")
    layout.work.write(
        f"bins/{number}", packed(**{name: one[order] for name, one in stored.items()})
    )
    giant = stored["giant"]
    counts = {
        name: max(stored["bin"][which].tolist(), default=-1) + 1
        for name, which in (("bins", ~giant), ("blocks", giant))
    }
    yield Message(0, number, packed(**counts))

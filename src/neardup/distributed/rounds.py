"""Connected components of more links than one task holds, in rounds.

Links are kept by one of their documents, so that a task sees all links of its documents. In a round
each document first links its later neighbours to the first document that it is linked to (large
star), then itself and its earlier neighbours (small star). What is connected stays connected. At
the end every document has one link: to the first document of its component. A few rounds suffice:
their number grows with the logarithm of the longest path.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from neardup.distributed.splits import Layout, Places, by_target, spread
from neardup.engines.exchange import Engine, Message, Tasks, packed, unpacked
from neardup.errors import NeardupError

_MOST_ROUNDS = 100


def join_links(layout: Layout, engine: Engine) -> None:
    """Write the components of all links, each to the part of its first document."""
    parts = layout.shards
    # Each half of a round sends every link to the document that looks at it next.
    engine.run(
        "links",
        [
            Tasks(partial(_spread_links, layout), layout.shards),
            Tasks(partial(_store_links, layout), parts),
        ],
    )
    for number in range(_MOST_ROUNDS):
        sent = engine.run(
            f"round {number + 1}",
            [
                Tasks(partial(_tell_neighbours, layout, number), parts),
                Tasks(partial(_large_star, layout), parts),
                Tasks(partial(_small_star, layout, number), parts),
            ],
        )
        if not any(unpacked(message.blob)["changed"] for message in sent):
            engine.run(
                "components",
                [
                    Tasks(partial(_tell_firsts, layout, number + 1), parts),
                    Tasks(partial(_store_components, layout), parts),
                ],
            )
            return
    raise NeardupError(f"components were not found in {_MOST_ROUNDS} rounds")


def _spread_links(layout: Layout, shard: int, _: Iterator[Message]) -> Iterator[Message]:
    found = unpacked(layout.work.read(f"links/{shard}"))
    place, label, features = found["place"], found["label"], found["features"]
    for part, rows in by_target(spread(place, layout.shards)):
        blob = packed(place=place[rows], label=label[rows], features=features[rows])
        yield Message(part, shard, blob)


def _store_links(layout: Layout, part: int, messages: Iterator[Message]) -> Iterator[Message]:
    place, label, features = _together(messages, "place", "label", "features")
    nodes, first = np.unique(place, return_index=True)
    layout.work.write(f"nodes/{part}", packed(place=nodes, features=features[first]))
    linked = place != label
    _write_edges(layout, 0, part, place[linked], label[linked])
    return iter(())


def _write_edges(layout: Layout, number: int, part: int, a: Places, b: Places) -> None:
    """Write links as (later, earlier), each once and in order."""
    edges = _distinct(a, b)
    layout.work.write(f"edges/{number}-{part}", packed(a=edges[0], b=edges[1]))


def _distinct(a: Places, b: Places) -> tuple[Places, Places]:
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    new = np.ones(len(a), np.bool_)
    new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    return a[new], b[new]


def _tell_neighbours(
    layout: Layout, number: int, part: int, _: Iterator[Message]
) -> Iterator[Message]:
    """Tell both documents of each link of the other."""
    found = unpacked(layout.work.read(f"edges/{number}-{part}"))
    a = np.concatenate((found["a"], found["b"]))
    b = np.concatenate((found["b"], found["a"]))
    yield from _sent(layout, part, a, b)


def _sent(layout: Layout, tag: int, to: Places, other: Places) -> Iterator[Message]:
    for part, rows in by_target(spread(to, layout.shards)):
        yield Message(part, tag, packed(a=to[rows], b=other[rows]))


def _large_star(layout: Layout, part: int, messages: Iterator[Message]) -> Iterator[Message]:
    """Link the later neighbours of each document to its first one."""
    a, b = _together(messages, "a", "b")
    a, b = _distinct(a, b)
    first = np.minimum(_firsts(a, b), a)
    later = b > a
    yield from _sent(layout, part, b[later], first[later])


def _small_star(
    layout: Layout, number: int, part: int, messages: Iterator[Message]
) -> Iterator[Message]:
    """Link each document and its earlier neighbours to the first of them."""
    a, b = _together(messages, "a", "b")
    a, b = _distinct(a, b)
    first = _firsts(a, b)
    later = np.concatenate((a, b))
    earlier = np.concatenate((first, first))
    keep = later != earlier
    _write_edges(layout, number + 1, part, later[keep], earlier[keep])
    # Settled: links of each document lead to one first, and nobody has another link.
    before = unpacked(layout.work.read(f"edges/{number}-{part}"))
    after = _distinct(later[keep], earlier[keep])
    same = np.array_equal(before["a"], after[0]) and np.array_equal(before["b"], after[1])
    yield Message(0, part, packed(changed=not same))


def _firsts(a: Places, b: Places) -> Places:
    """The first neighbour of the document of each row; rows are sorted by document."""
    if not len(a):
        return b
    starts = np.flatnonzero(np.concatenate(([True], a[1:] != a[:-1])))
    smallest = np.minimum.reduceat(b, starts)
    return np.repeat(smallest, np.diff(np.append(starts, len(a))))


def _tell_firsts(layout: Layout, number: int, part: int, _: Iterator[Message]) -> Iterator[Message]:
    """Send each document with its features to the part of the first of its component."""
    nodes = unpacked(layout.work.read(f"nodes/{part}"))
    edges = unpacked(layout.work.read(f"edges/{number}-{part}"))
    place, label = nodes["place"], nodes["place"].copy()
    label[np.searchsorted(place, edges["a"])] = edges["b"]
    for target, rows in by_target(spread(label, layout.shards)):
        blob = packed(place=place[rows], label=label[rows], features=nodes["features"][rows])
        yield Message(target, part, blob)


def _store_components(layout: Layout, part: int, messages: Iterator[Message]) -> Iterator[Message]:
    place, label, features = _together(messages, "place", "label", "features")
    order = np.argsort(place)
    blob = packed(place=place[order], label=label[order], features=features[order])
    layout.work.write(f"components/{part}", blob)
    return iter(())


def _together(messages: Iterator[Message], *names: str) -> list[NDArray[np.int64]]:
    found = [unpacked(message.blob) for message in messages]
    return [
        np.concatenate([np.zeros(0, np.int64), *(one[name] for one in found)]) for name in names
    ]

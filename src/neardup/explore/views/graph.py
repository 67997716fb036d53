"""The graph of a cluster: the kept document in the middle, the others around it.

The distance from the middle is what a document lacks in similarity, so that the doubtful ones are
outside; around the middle they follow each other by similarity. The same cluster always gives the
same drawing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from neardup.frozen import dataclass
from neardup.runs import DocumentRow, Link
from neardup.visible import shown_similarity

MOST_NODES = 60
MOST_EDGES = 400
SIDE = 320
_MIDDLE = SIDE / 2
_NEAREST, _FURTHEST = 34, 140
_NAMED = 10  # nodes; names of more would overlap
_LONGEST_NAME = 14


@dataclass(frozen=True)
class Node:
    """A document at a position; `kind` is `kept`, `chosen`, `other` or empty."""

    place: int
    x: float
    y: float
    kind: str
    title: str
    label: str
    address: str


@dataclass(frozen=True)
class Ring:
    """The circle of all documents with one similarity to the one in the middle."""

    radius: float
    label: str
    is_threshold: bool


@dataclass(frozen=True)
class GraphView:
    """Nodes, the path of the edges, those below the threshold apart, and rings to read it by."""

    nodes: tuple[Node, ...]
    edges: str
    weak_edges: str
    rings: tuple[Ring, ...]
    note: str


def graph_view(
    around: DocumentRow,
    members: Sequence[DocumentRow],
    links: Sequence[Link],
    *,
    threshold: float,
    chosen: int,
    names: Mapping[int, str],
    addresses: Mapping[int, str],
    all_members: int,
) -> GraphView:
    """Lay out a cluster; `members` are without the one in the middle, `all_members` counts them."""
    direct = {
        one.b if one.a == around.place else one.a: one.similarity
        for one in links
        if around.place in (one.a, one.b)
    }
    similarities = {
        row.place: row.similarity
        if row.duplicate_of == around.place and row.similarity is not None
        else direct.get(row.place)
        for row in members
    }
    known = [value for value in similarities.values() if value is not None]
    lowest = min([*known, threshold, 0.99])

    def radius(value: float | None) -> float:
        share = 1.0 if value is None else (1 - max(lowest, value)) / (1 - lowest)
        return _NEAREST + share * (_FURTHEST - _NEAREST)

    order = sorted(members, key=lambda row: (-(similarities[row.place] or -1.0), row.place))
    positions = {around.place: (_MIDDLE, _MIDDLE)}
    for place, row in enumerate(order):
        angle = 2 * math.pi * place / len(order) - math.pi / 2
        far = radius(similarities[row.place])
        positions[row.place] = (
            round(_MIDDLE + far * math.cos(angle), 1),
            round(_MIDDLE + far * math.sin(angle), 1),
        )
    rows = {row.place: row for row in (around, *order)}
    nodes = [
        Node(
            place,
            *positions[place],
            kind=_kind(rows[place], around.place, chosen),
            title=_title(names[place], place == around.place, similarities.get(place)),
            label=names[place][:_LONGEST_NAME] if len(rows) <= _NAMED else "",
            address=addresses[place],
        )
        for place in [*(row.place for row in order), around.place]
    ]
    strongest = sorted(links, key=lambda one: (-one.similarity, one.a, one.b))[:MOST_EDGES]
    return GraphView(
        nodes=tuple(nodes),
        edges=_path(positions, [one for one in strongest if one.similarity >= threshold]),
        weak_edges=_path(positions, [one for one in strongest if one.similarity < threshold]),
        rings=tuple(_rings(radius, lowest, threshold)),
        note=_note(len(order), all_members, len(links)),
    )


def _kind(row: DocumentRow, middle: int, chosen: int) -> str:
    if row.place == chosen and chosen != middle:
        return "chosen"
    if row.is_other:
        return "other"
    return "kept" if row.kept else ""


def _title(name: str, is_middle: bool, similarity: float | None) -> str:
    if is_middle:
        return f"{name}: in the middle"
    known = "not compared with the middle" if similarity is None else shown_similarity(similarity)
    return f"{name}: {known}"


def _path(positions: Mapping[int, tuple[float, float]], links: Sequence[Link]) -> str:
    lines = (
        "M{:g} {:g}L{:g} {:g}".format(*positions[one.a], *positions[one.b])
        for one in links
        if one.a in positions and one.b in positions
    )
    return "".join(lines)


def _rings(radius: Callable[[float], float], lowest: float, threshold: float) -> list[Ring]:
    rings = [Ring(radius(1.0), "1", is_threshold=threshold >= 1)]
    if threshold < 1:
        rings.append(Ring(round(radius(threshold), 1), f"{threshold:g}", is_threshold=True))
    if lowest < threshold - 0.02:
        rings.append(Ring(_FURTHEST, f"{math.floor(lowest * 100) / 100:g}", is_threshold=False))
    return rings


def _note(shown: int, members: int, links: int) -> str:
    parts = []
    if shown < members:
        parts.append(f"{shown:,} of {members:,} documents, the most similar ones")
    if links > MOST_EDGES:
        parts.append(f"the {MOST_EDGES:,} strongest of {links:,} pairs")
    return f"Shown are {', and '.join(parts)}." if parts else ""

"""Labels from decisions: what reviewers say now about pairs, by ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from neardup.decisions import Decision
from neardup.decisions.rules import Said, in_force, weighed
from neardup.frozen import dataclass

ContentOf = Callable[[str], str | None]


@dataclass(frozen=True, eq=False)
class DecidedPairs:
    """Pairs that reviewers decided on: `a` and `b` are numbers of `ids`.

    Of `contested` pairs reviewers say different things, so that they have no label.
    """

    ids: tuple[str, ...]
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    same: NDArray[np.bool_]
    contested: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def decided_pairs(history: Iterable[Decision], content_of: ContentOf | None = None) -> DecidedPairs:
    """The pairs that are the same or different by decisions, as their rules say.

    A decision about the content that a document had earlier does not count. Which content it has
    now, `content_of` says; without it, it is that of the latest decision which names the document.
    """
    held = in_force(history)
    within = [one for one in held if not any(named.other for named in one.documents)]
    current = _current(within, content_of)
    found = weighed(
        [
            Said(one, tuple(dict.fromkeys(str(named.id) for named in one.documents)))
            for one in current
        ]
    )
    numbers: dict[str, int] = {}
    for said in found.same:
        for key in said.keys:
            numbers.setdefault(key, len(numbers))
    for pair in found.different:
        for key in sorted(pair):
            numbers.setdefault(key, len(numbers))
    width = len(numbers) + 1
    differing = _pairs(sorted(map(numbers.__getitem__, pair)) for pair in found.different)
    overridden: dict[str, list[list[int]]] = {}
    for key, pair in found.overridden:
        overridden.setdefault(key, []).append(sorted(map(numbers.__getitem__, pair)))
    alike = [
        _every_two(
            np.array([numbers[key] for key in said.keys], np.int64),
            _pairs(overridden.get(said.decision.key, ())),
            width,
        )
        for said in found.same
    ]
    same = np.unique(np.concatenate([np.zeros(0, np.int64), *alike]))
    different = differing[:, 0] * width + differing[:, 1]
    every = np.concatenate((same, different))
    contested = tuple(keys for keys, said in found.contested if said[0].says != "keep")
    notes = _notes(len(held) - len(within), len(within) - len(current), len(contested))
    a, b = np.divmod(every, width)
    labels = np.arange(len(every)) < len(same)
    pairs = tuple((keys[0], keys[1]) for keys in contested)
    return DecidedPairs(tuple(numbers), a, b, labels, pairs, notes)


def _current(decisions: list[Decision], content_of: ContentOf | None) -> list[Decision]:
    latest: dict[str, str] = {}
    for one in decisions:
        for named in one.documents:
            latest[str(named.id)] = named.content
    if content_of is not None:
        latest |= {id: content for id in latest if (content := content_of(id)) is not None}
    return [
        one
        for one in decisions
        if all(latest[str(named.id)] == named.content for named in one.documents)
    ]


def _pairs(pairs: Iterable[Iterable[int]]) -> NDArray[np.int64]:
    return np.array([tuple(pair) for pair in pairs], np.int64).reshape(-1, 2)


def _every_two(
    members: NDArray[np.int64], without: NDArray[np.int64], width: int
) -> NDArray[np.int64]:
    """Every two of the members, low * width + high, except some."""
    one, other = np.triu_indices(len(members), 1)
    one, other = members[one], members[other]
    keys = np.minimum(one, other) * width + np.maximum(one, other)
    return np.setdiff1d(keys, without[:, 0] * width + without[:, 1])


def _notes(others: int, stale: int, contested: int) -> tuple[str, ...]:
    found = []
    if others:
        found.append(
            f"{_counted(others, 'decision')} left out: about documents of another collection "
            "(--against)"
        )
    if stale:
        found.append(
            f"{_counted(stale, 'decision')} left out: about an earlier content of a document"
        )
    if contested:
        found.append(f"{_counted(contested, 'pair')} left out: reviewers disagree")
    return tuple(found)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

"""Who says what of which documents, once undone, repeated and contradictory decisions are weighed.

The rules are the same for documents as decisions name them and for their places in a collection:
a *key* is either.

- A decision that is undone does not count; an undo can be undone.
- Of the decisions of one reviewer about the same documents the latest counts, where `same`,
  `different` and `skip` answer one question, and `keep` another.
- Of two documents, the latest `same` or `different` of a reviewer counts, if lists of several
  documents overlap.
- A `keep` that prefers another document to the one kept before replaces the earlier one.
- Where reviewers disagree, neither counts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations
from typing import Generic, TypeVar

from neardup.decisions.model import Decision
from neardup.frozen import dataclass

Key = TypeVar("Key", bound=Hashable)
Pair = frozenset[Key]


@dataclass(frozen=True)
class Said(Generic[Key]):
    """A decision and the keys of its documents, each once, in the order of the decision."""

    decision: Decision
    keys: tuple[Key, ...]


@dataclass(frozen=True, eq=False)
class Weighed(Generic[Key]):
    """What counts: lists that are the same except for some pairs, pairs that differ, pinned ones.

    `same` is in the order of time. `contested` are the pairs, and lists of `keep`, on which
    reviewers disagree.
    """

    same: tuple[Said[Key], ...]
    overridden: frozenset[tuple[str, Pair[Key]]]  # key of a decision, a pair it does not hold for
    different: dict[Pair[Key], tuple[Decision, ...]]
    pinned: dict[Key, tuple[Decision, ...]]
    contested: tuple[tuple[tuple[Key, ...], tuple[Decision, ...]], ...]


def in_force(history: Iterable[Decision]) -> tuple[Decision, ...]:
    """The decisions that are not undone, in the order of time, without the undos."""
    every = list(history)
    undone: set[str] = set()
    for one in reversed(every):
        if one.says == "undo" and one.key not in undone:
            undone.add(one.undoes)
    held = [one for one in every if one.says != "undo" and one.key not in undone]
    return tuple(sorted(held, key=lambda one: one.at))


def latest(said: Sequence[Said[Key]]) -> tuple[Said[Key], ...]:
    """Without those that their reviewer has replaced by another about the same documents."""
    found: dict[Hashable, Said[Key]] = {}
    for one in said:
        question = one.decision.says == "keep"
        about = (one.decision.by, question, frozenset(one.keys))
        found.pop(about, None)  # a later one takes its place in the order of time
        found[about] = one
    return tuple(found.values())


def weighed(said: Sequence[Said[Key]]) -> Weighed[Key]:
    """Weigh decisions in force, in the order of time."""
    said = latest(said)
    of_key: dict[Key, list[int]] = {}
    for number, one in enumerate(said):
        if one.decision.says == "same" and len(one.keys) > 1:
            for key in one.keys:
                of_key.setdefault(key, []).append(number)
    differing: dict[Pair[Key], tuple[tuple[Key, Key], list[int]]] = {}
    for number, one in enumerate(said):
        if one.decision.says == "different":
            for two in combinations(one.keys, 2):
                differing.setdefault(frozenset(two), (two, []))[1].append(number)
    different: dict[Pair[Key], tuple[Decision, ...]] = {}
    overridden: set[tuple[str, Pair[Key]]] = set()
    contested: list[tuple[tuple[Key, ...], tuple[Decision, ...]]] = []
    for pair, ((a, b), numbers) in differing.items():
        alike = set(of_key.get(a, ())).intersection(of_key.get(b, ()))
        opinion: dict[str, int] = {}  # of each reviewer the latest
        for number in sorted((*numbers, *alike)):
            opinion[said[number].decision.by] = number
        counted = [said[number].decision for number in sorted(opinion.values())]
        agree = len({one.says for one in counted}) == 1
        if not agree:
            contested.append(((a, b), tuple(counted)))
        elif counted[0].says == "different":
            different[pair] = tuple(counted)
        if not agree or counted[0].says == "different":
            overridden.update((said[number].decision.key, pair) for number in alike)
    same = tuple(one for one in said if one.decision.says == "same" and len(one.keys) > 1)
    pinned, rivals = _pinned([one for one in said if one.decision.says == "keep" and one.keys])
    return Weighed(same, frozenset(overridden), different, pinned, (*contested, *rivals))


def _pinned(
    keeps: Sequence[Said[Key]],
) -> tuple[dict[Key, tuple[Decision, ...]], list[tuple[tuple[Key, ...], tuple[Decision, ...]]]]:
    """The documents to keep, and the decisions that contradict those of another reviewer."""
    firsts: dict[Key, list[int]] = {}
    for number, one in enumerate(keeps):
        firsts.setdefault(one.keys[0], []).append(number)
    replaced: set[int] = set()
    rivals: list[tuple[int, int]] = []
    for number, one in enumerate(keeps):
        for key in one.keys[1:]:
            for other in firsts.get(key, ()):
                if keeps[other].decision.by != one.decision.by:
                    rivals.append((min(number, other), max(number, other)))
                elif other < number:
                    replaced.add(other)
    standing = [pair for pair in dict.fromkeys(rivals) if not replaced.intersection(pair)]
    out = replaced.union(*standing) if standing else replaced
    pinned: dict[Key, tuple[Decision, ...]] = {}
    for number, one in enumerate(keeps):
        if number not in out:
            pinned[one.keys[0]] = (*pinned.get(one.keys[0], ()), one.decision)
    contested: list[tuple[tuple[Key, ...], tuple[Decision, ...]]] = []
    for a, b in standing:
        keys = tuple(dict.fromkeys((keeps[a].keys[0], keeps[b].keys[0])))
        contested.append((keys, (keeps[a].decision, keeps[b].decision)))
    return pinned, contested


def join_same(found: Weighed[Key], join: Callable[[Key, Key, Decision], bool]) -> None:
    """Go through the links of `same`, in the order of time, and join what may be joined.

    A list of documents links every two of them, in the order of the list. `join` joins two
    documents unless that would violate something, and returns whether they are together now.
    """
    for said in found.same:
        count = len(said.keys)
        apart = [b for b in range(1, count) if not _joined(found, said, 0, b, join)]
        if not apart:
            continue
        # Those with the first are one group already: only pairs with the others can be new.
        others = set(apart)
        for a in range(1, count):
            for b in range(a + 1, count) if a in others else apart:
                if b > a:
                    _joined(found, said, a, b, join)


def _joined(
    found: Weighed[Key],
    said: Said[Key],
    a: int,
    b: int,
    join: Callable[[Key, Key, Decision], bool],
) -> bool:
    one, other = said.keys[a], said.keys[b]
    if (said.decision.key, frozenset((one, other))) in found.overridden:
        return False
    return join(one, other, said.decision)

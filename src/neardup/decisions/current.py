"""What holds now, of all that was decided."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import combinations

from neardup.decisions.model import Decision, Named
from neardup.decisions.rules import Said, Weighed, in_force, latest, weighed
from neardup.frozen import dataclass
from neardup.visible import visible

# A document by its id alone, whatever its content was; the second value is `Named.other`.
IdKey = tuple[bool, int | str]


@dataclass(frozen=True)
class Disagreement:
    """Documents of which reviewers say different things; none of these decisions is obeyed."""

    documents: tuple[Named, ...]
    decisions: tuple[Decision, ...]

    def __str__(self) -> str:
        names = " and ".join(map(str, self.documents))
        opinions = ", ".join(opinion_of(one) for one in self.decisions)
        return f"{names}: reviewers disagree ({opinions})"


def opinion_of(decision: Decision) -> str:
    """Who says what, for a sentence."""
    what = f"keep {decision.documents[0]}" if decision.says == "keep" else decision.says
    return f"{visible(decision.by) or 'nobody'} says {what}"


@dataclass(frozen=True, eq=False)
class Current:
    """What holds now: `decisions` in the order of time, neither undone nor replaced.

    A decision is replaced by a later one of the same reviewer about the same documents.
    """

    decisions: tuple[Decision, ...]

    @classmethod
    def of(cls, history: Iterable[Decision]) -> Current:
        """What holds after all of the history."""
        said = latest([Said(one, one.documents) for one in in_force(history)])
        return cls(tuple(one.decision for one in said))

    def of_pair(self, a: Named | int | str, b: Named | int | str) -> tuple[Decision, ...]:
        """The decisions that name both documents, the latest last.

        An id alone is of the collection itself. A `same` or `different` that its reviewer has
        replaced for these two documents is left out.
        """
        one, other = _key_of(a), _key_of(b)
        found = [
            self.decisions[number]
            for number in sorted(set(self._by_id.get(one, ())) & set(self._by_id.get(other, ())))
        ]
        newest = {d.by: d.key for d in found if d.says in ("same", "different")}
        return tuple(
            d for d in found if d.says not in ("same", "different") or newest[d.by] == d.key
        )

    def of_document(self, id: int | str, other: bool = False) -> tuple[Decision, ...]:
        """The decisions that name the document, the latest last."""
        return tuple(self.decisions[number] for number in self._by_id.get((other, id), ()))

    @cached_property
    def same(self) -> tuple[tuple[Named, Named], ...]:
        """The pairs that are the same; of a list of documents every two."""
        found = {
            frozenset(pair): pair
            for one in self._weighed.same
            for pair in combinations(one.keys, 2)
            if (one.decision.key, frozenset(pair)) not in self._weighed.overridden
        }
        return tuple(found.values())

    @cached_property
    def different(self) -> tuple[tuple[Named, Named], ...]:
        """The pairs that differ."""
        order = {named: place for place, named in enumerate(self._documents)}
        return tuple((a, b) if order[a] < order[b] else (b, a) for a, b in self._weighed.different)

    @property
    def pinned(self) -> tuple[Named, ...]:
        """The documents to keep."""
        return tuple(self._weighed.pinned)

    @cached_property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """What reviewers disagree on."""
        return tuple(Disagreement(*one) for one in self._weighed.contested)

    def __len__(self) -> int:
        return len(self.decisions)

    @cached_property
    def _weighed(self) -> Weighed[Named]:
        return weighed([Said(one, one.documents) for one in self.decisions])

    @cached_property
    def _documents(self) -> tuple[Named, ...]:
        return tuple(dict.fromkeys(named for one in self.decisions for named in one.documents))

    @cached_property
    def _by_id(self) -> dict[IdKey, list[int]]:
        found: dict[IdKey, list[int]] = {}
        for number, one in enumerate(self.decisions):
            for key in dict.fromkeys(map(_key_of, one.documents)):
                found.setdefault(key, []).append(number)
        return found


def _key_of(document: Named | int | str) -> IdKey:
    if isinstance(document, Named):
        return document.other, document.id
    return False, document

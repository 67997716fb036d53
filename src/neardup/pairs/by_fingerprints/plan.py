"""A plan: one way to find candidates, with what it promises and what it costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from neardup.errors import SettingError
from neardup.kernels.hamming_join import RowPairs
from neardup.pairs.by_fingerprints.rows import Rows
from neardup.pairs.costs import Costs


class Plan(ABC):
    """A way to find candidates among fingerprints of `bits` bits, known by its name.

    Similarities are cosines. Numbers of candidates are for random fingerprints; real ones have
    more, because some of them are near-duplicates.
    """

    name: str
    bits: int
    # Whether a pair is a candidate because of others too, so that the collection must be whole.
    needs_all: ClassVar[bool] = False
    # Whether a distance beyond the guarantee is refused, because the name promises one.
    is_exact: ClassVar[bool] = False
    needs_words: ClassVar[bool] = False

    @property
    @abstractmethod
    def tables(self) -> int:
        """How often the fingerprints are sorted or gone through."""

    @property
    @abstractmethod
    def guarantee(self) -> int | None:
        """The distance up to which every pair is found; None where no distance is promised."""

    @property
    @abstractmethod
    def promise(self) -> str:
        """What is found for certain and what is not, in a sentence."""

    @abstractmethod
    def recall(self, similarity: float, n: int | None = None) -> float | None:
        """The share of pairs of that cosine that become candidates; None where unknown."""

    @abstractmethod
    def expected_candidates(self, n: int) -> float | None:
        """Candidate pairs among n random fingerprints; None where it depends on the documents."""

    @abstractmethod
    def memory(self, n: int) -> int:
        """Bytes needed for n fingerprints, beside those themselves and the pairs."""

    @abstractmethod
    def seconds(self, n: int, costs: Costs, pairs: float | None = None) -> float | None:
        """How long n random fingerprints should take on one thread; None where unknown.

        Between two collections n counts both, and `pairs` is the product of their sizes.
        """

    @abstractmethod
    def join(
        self,
        left: Rows,
        right: Rows | None,
        *,
        max_distance: int | None,
        threads: int,
        most_pairs: int | None = None,
    ) -> RowPairs:
        """The candidates among the rows of one collection, or between two, with distances.

        More than `most_pairs` raise `TooManyPairsError` before they take more memory.
        """

    def require_distance(self, max_distance: int | None) -> None:
        """Refuse a distance that a plan with a promise in its name cannot keep."""
        reach = self.guarantee
        if not self.is_exact or max_distance is None or reach is None:
            return
        if max_distance > reach:
            raise SettingError(
                f"candidates={self.name!r} finds every pair up to distance {reach}, but "
                f"max_distance={max_distance} was asked; take candidates='auto'"
            )

    def describe(self, n: int | None = None) -> str:
        """The plan in a few words; with `n`, what it costs for that many fingerprints."""
        noun = "table" if self.tables == 1 else "tables"
        text = f"{self.name} on {self.bits} bits, {self.tables:,} {noun}: {self.promise}"
        expected = None if n is None else self.expected_candidates(n)
        if n is None or expected is None:
            return text
        return (
            f"{text}; {n:,} random fingerprints give about {expected:,.0f} candidates "
            f"and need {self.memory(n) / 1e6:,.1f} MB"
        )

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Plan {self.describe()}>"


def pairs_of(n: int) -> float:
    """The number of pairs of n things."""
    return n * (n - 1) / 2

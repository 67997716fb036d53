"""How the memory of a run is divided, and the errors when it is not enough."""

from __future__ import annotations

from neardup.errors import NeardupError
from neardup.frozen import dataclass

# A run needs some memory, however low the limit is. docs/how-it-works/reliability.md
# counts these amounts in the constant that comes on top of `--memory`.
LEAST_WORK = 48 << 20
LEAST_PAIRS = 1 << 18
LEAST_BOOKKEEPING = 96 << 20
# Bytes of an accepted pair: during the search (growing lists, then arrays), and during clustering,
# when the features have been released.
_FOUND_PAIR, _CLUSTERED_PAIR = 48, 80


@dataclass(frozen=True)
class Budget:
    """Half for features in memory, three eighths for work, the rest for the pairs found.

    Pairs also get what features and work leave unused.
    """

    memory: int

    def features(self, sides: int) -> int:
        """Bytes for the features of each of `sides` collections; the rest goes to a file."""
        return self.memory // (2 * sides)

    @property
    def work(self) -> int:
        """Bytes for a join, or for the candidates of a pass and the features that verify them."""
        return max(LEAST_WORK, self.memory * 3 // 8)

    def pairs(self, used: int) -> int:
        """How many pairs may be accepted while features and work use `used` bytes."""
        room = self.memory - min(used, self.memory * 7 // 8)
        return max(LEAST_PAIRS, min(room // _FOUND_PAIR, self.memory // _CLUSTERED_PAIR))

    def require_bookkeeping(self, documents: int, used: int) -> None:
        """Refuse more documents than half of the memory has room for, features not counted."""
        if used > max(LEAST_BOOKKEEPING, self.memory // 2):
            raise NeardupError(
                f"{documents:,} documents take {used / 1e6:,.0f} MB for their ids, lengths and "
                f"keys alone, more than half of {_written(self.memory)} of memory; give more "
                "(--memory), or split the input and use --against"
            )

    def too_many_pairs(self, most: int, limit: str) -> NeardupError:
        """The error for more than `most` pairs; `limit` is the threshold in words."""
        return NeardupError(
            f"more than {most:,} pairs are of {limit}, and {_written(self.memory)} of memory has "
            "room for no more; use --cluster star without a plan, which lists no pairs, raise the "
            f"threshold, or give more memory (--memory, {_CLUSTERED_PAIR} bytes a pair)"
        )


def _written(memory: int) -> str:
    return f"{memory / 1e9:g} GB" if memory >= 10**9 else f"{memory / 1e6:g} MB"

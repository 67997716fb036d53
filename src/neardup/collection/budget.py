"""How the memory of a run is shared out, and what it does not suffice for."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.errors import NeardupError

# A run needs some room to work in, however little it is given. docs/how-it-works/reliability.md
# counts these amounts in the constant that comes on top of `--memory`.
LEAST_WORK = 48 << 20
LEAST_PAIRS = 1 << 18
LEAST_BOOKKEEPING = 96 << 20
# What an accepted pair takes: while others are found (lists that double, then arrays), and while
# clusters are made of all of them, when the features are gone.
_FOUND_PAIR, _CLUSTERED_PAIR = 48, 80


@dataclass(frozen=True)
class Budget:
    """Half for features at hand, three eighths to work in, the rest for pairs that are found.

    Pairs also have the room that features and work leave free.
    """

    memory: int

    def features(self, sides: int) -> int:
        """What the features of each of so many collections may take; the rest goes to a file."""
        return self.memory // (2 * sides)

    @property
    def work(self) -> int:
        """For a join, or for the candidates of a pass and the features that verify them."""
        return max(LEAST_WORK, self.memory * 3 // 8)

    def pairs(self, used: int) -> int:
        """How many pairs may be accepted while `used` bytes are taken by features and work."""
        room = self.memory - min(used, self.memory * 7 // 8)
        return max(LEAST_PAIRS, min(room // _FOUND_PAIR, self.memory // _CLUSTERED_PAIR))

    def require_bookkeeping(self, documents: int, used: int) -> None:
        """Refuse more documents than can be told apart in half of the memory."""
        if used > max(LEAST_BOOKKEEPING, self.memory // 2):
            raise NeardupError(
                f"{documents:,} documents take {used / 1e6:,.0f} MB for their ids, lengths and "
                f"keys alone, more than half of {_written(self.memory)} of memory; give more "
                "(--memory), or split the input and use --against"
            )

    def too_many_pairs(self, most: int, limit: str) -> NeardupError:
        """What to say where more than `most` pairs are found; `limit` names the threshold."""
        return NeardupError(
            f"more than {most:,} pairs are of {limit}, and {_written(self.memory)} of memory has "
            "room for no more; raise the threshold, or give more memory (--memory, "
            f"{_CLUSTERED_PAIR} bytes a pair)"
        )


def _written(memory: int) -> str:
    return f"{memory / 1e9:g} GB" if memory >= 10**9 else f"{memory / 1e6:g} MB"

"""The load of a hash table: how evenly hash families spread keys over its slots."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from neardup.errors import SettingError
from neardup.explore.lab.asked import Asked
from neardup.frozen import dataclass
from neardup.hashes import KEYED_PREFIX, HashFamily, hash_family
from neardup.hashes.balance import BitBalance
from neardup.hashes.family import common_words
from neardup.hashes.measurement import Load

MOST_KEYS = 10_000
MOST_SLOTS = 10_000
_STRIDE = 16
# The names of the keys, and how a shell makes `n` of them; it has no list of words.
KEYS = {
    "words": "common English words",
    "numbers": "the numbers 1, 2, 3, …",
    "multiples": f"every {_STRIDE}th number",
}


@dataclass(frozen=True, eq=False)
class ShownFamily:
    """A hash family over the keys: the load of the table, and the balance of its bits."""

    family: HashFamily
    load: Load
    balance: BitBalance

    @property
    def verdict(self) -> str:
        """How even the load is, by the chi-square in standard deviations."""
        z = self.load.z_score
        if z > 4:
            return "uneven"
        return "more even than chance" if z < -4 else "as even as chance"


@dataclass(frozen=True)
class ShownHashes:
    """One family or two, over the same keys and the same number of slots."""

    families: tuple[ShownFamily, ...]
    keys: int
    slots: int
    command: str

    @property
    def summary(self) -> str:
        """The outcome in a sentence."""
        found = "; ".join(
            f"{one.family.name}: longest chain {one.load.longest_chain:,}, "
            f"chi-square {one.load.chi_square:,.1f}, {one.verdict}"
            for one in self.families
        )
        return f"{self.keys:,} keys in {self.slots:,} slots. {found}."

    def values(self) -> dict[str, object]:
        """The numbers, for programs."""
        return {
            "keys": self.keys,
            "slots": self.slots,
            "families": [
                {
                    "name": one.family.name,
                    "load": one.load.to_dict(),
                    "balance": one.balance.to_dict(),
                    "flaw": one.balance.flaw,
                }
                for one in self.families
            ],
        }


def look(asked: Asked) -> ShownHashes | None:
    """The load under one or two families; None if a field is wrong."""
    kind = asked.choice("keys", tuple(KEYS))
    limit = len(common_words()) if kind == "words" else MOST_KEYS
    count = asked.whole("count", 1000, 1, limit)
    slots = asked.whole("slots", 257, 2, MOST_SLOTS)
    keys = _keys(kind, count)
    families = []
    for field, default in (("family", "nd1"), ("second", "remainder:257")):
        name = asked.word(field, default)
        if not name and field == "second":
            continue
        with asked.beside(field):
            family = _family(name)
            load = Load.of([family.value(key) for key in keys], slots)
            families.append(ShownFamily(family, load, family.balance(keys)))
    if asked.errors:
        return None
    return ShownHashes(tuple(families), count, slots, _command(families, kind, count, slots))


def families_for(slots: int) -> tuple[str, ...]:
    """Names to choose from; families for hash tables are sized for the slots."""
    return ("nd1", "md5", "xxh3", "string64", "dek", f"string:{slots}:1024", f"remainder:{slots}")


def _family(name: str) -> HashFamily:
    if name.startswith(KEYED_PREFIX):
        raise SettingError("a family with a secret key is not tried on pages; use `neardup hashes`")
    return hash_family(name)


def _keys(kind: str, count: int) -> Sequence[str]:
    if kind == "words":
        return common_words()[:count]
    step = 1 if kind == "numbers" else _STRIDE
    return [str(step * number) for number in range(1, count + 1)]


def _command(families: list[ShownFamily], kind: str, count: int, slots: int) -> str:
    names = [one.family.name for one in families]
    tried = shlex.join(["neardup", "hashes", *names, "--slots", str(slots)])
    if kind == "words":
        return tried if count == len(common_words()) else f"{tried} --words words.txt"
    step = 1 if kind == "numbers" else _STRIDE
    return f"seq {step} {step} {step * count} | {tried} --words -"

"""Rounds of a campaign, each reproducible by its seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

# The counts of one round, for example {"killed": 1}.
Trial = Callable[[random.Random], dict[str, int]]


def repeat(name: str, trial: Trial, rounds: int, seed: int) -> dict[str, int]:
    """Run rounds with the seeds `seed`, `seed + 1`, …, and add up their counts."""
    counted: Counter[str] = Counter(rounds=0)
    for number in range(seed, seed + rounds):
        try:
            found = trial(random.Random(f"{name} {number}"))
        except AssertionError as error:
            again = f"python -m tests.torture --campaign {name} --rounds 1 --seed {number}"
            raise AssertionError(f"{error}\nTo repeat it: {again}") from error
        counted.update(found)
        counted["rounds"] += 1
    return dict(counted)

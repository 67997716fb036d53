"""Rounds of a campaign, each with a seed of its own that repeats it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

# What one round counted, for example {"killed": 1}.
Trial = Callable[[random.Random], dict[str, int]]


def repeat(name: str, trial: Trial, rounds: int, seed: int) -> dict[str, int]:
    """Run the rounds of the seeds `seed`, `seed + 1`, …, and add up what they counted."""
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

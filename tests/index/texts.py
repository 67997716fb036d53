"""Texts without near-duplicates, and near-duplicates of them."""

import random


def text(number, words=20):
    chance = random.Random(number)
    return " ".join(f"w{chance.randrange(100_000)}" for _ in range(words))


def pairs(first, last):
    return [(number, text(number)) for number in range(first, last)]

"""Texts without near-duplicates, and near-duplicates of them."""

import random


def text(number, words=20):
    chance = random.Random(number)
    return " ".join(f"w{chance.randrange(100_000)}" for _ in range(words))


def pairs(first, last):
    return [(number, text(number)) for number in range(first, last)]


def edited(number, words=20):
    """A text of which the last word is another."""
    return text(number, words).rsplit(" ", 1)[0] + " edited"

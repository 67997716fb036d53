"""Made collections with known duplicates: names, titles, and long texts."""

import re
from itertools import combinations

import numpy as np
import pyarrow as pa

from neardup.collection.settings import DedupSettings
from neardup.deduplication.sources import source_of
from neardup.lab.tune.pool import PoolPairs, pool_of
from neardup.lab.tune.sample import look_at

_SYLLABLES = re.findall("..", "babedadofigahujakalelimamonanoperarosasetativawizo")


def words(random, count, least=2, most=3):
    """Made-up words, all different."""
    found = {}
    while len(found) < count:
        size = random.integers(least, most + 1)
        found["".join(random.choice(_SYLLABLES, size))] = None
    return list(found)


def _table(documents):
    texts, kinds = zip(*documents, strict=True)
    ids = [f"d{number}" for number in range(len(texts))]
    return pa.table({"id": ids, "text": list(texts), "kind": list(kinds)})


def _mixed(random, documents):
    return _table([documents[place] for place in random.permutation(len(documents))])


def _typo(random, text):
    at = int(random.integers(1, len(text) - 1))
    kind = random.integers(3)
    if kind == 0:
        return text[:at] + text[at + 1 :]
    letter = random.choice(list("abdefgiklmnoprstuvwz"))
    return text[:at] + letter + text[at + (kind == 1) :]


def people(count=300, seed=1):
    """Names and addresses; half of the people again, with a typo or three."""
    random = np.random.default_rng(seed)
    first, last, streets, towns = (words(random, size, 2, 4) for size in (60, 200, 150, 30))
    documents = []
    for number in range(count):
        names = f"{random.choice(first)} {random.choice(last)}"
        street = f"{random.choice(streets)} {random.integers(1, 99)}"
        text = f"{names} {street} {random.choice(towns)} {random.integers(10**7, 10**8)}"
        documents.append((text, number))
        if random.random() < 0.5:
            other = text
            for _ in range(random.integers(1, 4)):
                other = _typo(random, other)
            documents.append((other, number))
    return _mixed(random, documents)


def titles(count=300, seed=1):
    """Titles of common words and a few rare ones; a third again, with some words changed."""
    random = np.random.default_rng(seed)
    common, rare = words(random, 40), words(random, 2000, 3, 4)
    documents = []
    for number in range(count):
        title = [*random.choice(common, 5), *random.choice(rare, 3)]
        documents.append((" ".join(title), number))
        if random.random() < 1 / 3:
            other = list(title)
            other[random.integers(5)] = random.choice(common)
            if random.random() < 0.5:
                other.pop(int(random.integers(5)))
            other.append(random.choice(common))
            documents.append((" ".join(other), number))
    return _mixed(random, documents)


def articles(count=150, seed=1):
    """Texts of 250 words; a third again, with up to a fifth of the words edited."""
    random = np.random.default_rng(seed)
    vocabulary = words(random, 3000, 2, 4)
    documents = []
    for number in range(count):
        text = random.choice(vocabulary, 250)
        documents.append((" ".join(text), number))
        if random.random() < 1 / 3:
            other, begin = text.copy(), random.integers(0, 200)
            other[begin : begin + random.integers(2, 50)] = random.choice(vocabulary)
            documents.append((" ".join(other), number))
    return _mixed(random, documents)


def scans(rate, count=300, seed=1):
    """Texts of 300 words, frequent and rare ones; a third again; letters are wrong at a rate."""
    random = np.random.default_rng(seed)
    vocabulary = np.array(words(random, 4000, 2, 4))
    letters = np.array(list("abdefgiklmnoprstuvwz "))
    documents = []
    for number in range(count):
        places = (len(vocabulary) * random.random(300) ** 3).astype(int)
        for _ in range(1 + (random.random() < 1 / 3)):
            text = np.array(list(" ".join(vocabulary[places])))
            wrong = random.random(len(text)) < rate
            text[wrong] = random.choice(letters, wrong.sum())
            documents.append(("".join(text), number))
    return _mixed(random, documents)


def true_pairs(table):
    """The pairs of places that are the same."""
    places = {}
    for place, kind in enumerate(table["kind"].to_pylist()):
        places.setdefault(kind, []).append(place)
    return {pair for some in places.values() for pair in combinations(some, 2)}


def labelled(table, proposed):
    """Proposed pairs, with the answers of somebody who knows."""
    kinds = dict(zip(table["id"].to_pylist(), table["kind"].to_pylist(), strict=True))
    a, b = proposed.a.to_pylist(), proposed.b.to_pylist()
    same = [kinds[one] == kinds[other] for one, other in zip(a, b, strict=True)]
    return pa.table({"a": a, "b": b, "same": same})


def pool(documents, *, sample=20_000, labels=None, **settings):
    """The pool that `tune` would make."""
    checked = DedupSettings.of(**settings)
    source = source_of(documents, checked)
    look = look_at(source, checked.memory, checked.threads)
    return pool_of(source, checked, look, sample, labels)


def pool_pairs(a, b, similarity, count, least=0.1):
    """Pairs among documents that are all different."""
    return PoolPairs(
        np.array(a, np.int64),
        np.array(b, np.int64),
        np.array(similarity, float),
        np.arange(count),
        least,
        np.ones(len(similarity)),
    )

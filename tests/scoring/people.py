"""Made-up people with typing errors, and labelled pairs of them."""

import numpy as np
import pyarrow as pa

from neardup.collection.records import Records

_FIRST = "anna bert carla dora emil frida georg hanna ivan jutta karl lena max nora otto paula"
_LAST = "adler becker conrad dietrich engel fischer gross huber imhof jung keller lang maier"
_STREETS = "ahorn birken dorf eichen feld garten hafen insel kirch linden markt nord"
NAMES = ("name", "street", "born")


def people(count=120, seed=1):
    """Columns of records; every third record repeats the one before with mistakes."""
    random = np.random.default_rng(seed)
    rows, person = [], []
    for number in range(count):
        if number % 3 == 2:
            rows.append(_with_mistakes(rows[-1], random))
            person.append(person[-1])
            continue
        name = f"{random.choice(_FIRST.split())} {random.choice(_LAST.split())}"
        street = f"{random.choice(_STREETS.split())}weg {random.integers(1, 90)}"
        rows.append([name, street, f"19{random.integers(10, 99)}{random.integers(1000, 9999)}"])
        person.append(number)
    columns = {name: [row[place] for row in rows] for place, name in enumerate(NAMES)}
    return columns, np.array(person)


def _with_mistakes(row, random):
    changed = list(row)
    field = int(random.integers(3))
    text = changed[field]
    at = int(random.integers(len(text)))
    changed[field] = text[:at] + text[at + 1 :]
    if random.random() < 0.3:
        changed[(field + 1) % 3] = ""
    return changed


def records_of(columns):
    records = Records(tuple(columns), 1 << 20)
    records.add([pa.array(texts) for texts in columns.values()])
    return records


def labelled(person, seed=1, different=120):
    """All pairs of the same person, and some others."""
    random = np.random.default_rng(seed)
    a, b = np.triu_indices(len(person), 1)
    same = person[a] == person[b]
    rows = np.concatenate(
        (np.flatnonzero(same), random.choice(np.flatnonzero(~same), different, replace=False))
    )
    return a[rows], b[rows], same[rows]

"""Two lists of people that overlap, with typing errors, and labelled pairs of them.

A clinic and a library wrote down whom they know, each in its own way. Some people share a name, an
address or a day of birth and are different.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, replace
from itertools import combinations, islice, zip_longest

from neardup.samples.chance import Chance

PEOPLE = 420
LISTS = ("clinic", "library")
LABELS = 200

GIVEN = (
    *("Anna", "Aylin", "Beatrice", "Bruno", "Carlos", "Chiara", "Daniel", "Edith", "Elif", "Emil"),
    *("Fatima", "Felix", "Giorgio", "Greta", "Hana", "Hugo", "Ines", "Ivan", "Jana", "José"),
    *("Karim", "Katharina", "Lena", "Léo", "Magda", "Marek", "Margaret", "Martin", "Mei", "Nadia"),
    *("Nikolai", "Nora", "Olga", "Omar", "Paula", "Peter", "Renata", "Robert", "Rosa", "Samuel"),
    *("Sofia", "Stefan", "Susanne", "Tariq", "Teresa", "Thomas", "Vera", "Victor", "Wei", "Yusuf"),
)
SURNAMES = (
    *("Abel", "Almeida", "Andersen", "Baker", "Bauer", "Becker", "Bianchi", "Brandt", "Castro"),
    *("Chen", "Costa", "Demir", "Dubois", "Eriksen", "Ferrari", "Fischer", "Fletcher", "García"),
    *("Haddad", "Hansen", "Hoffmann", "Horváth", "Ibrahim", "Ivanova", "Jansen", "Kaya", "Keller"),
    *("Kowalski", "Krüger", "Lambert", "Lindqvist", "Lopez", "Marino", "Mayer", "Moreau", "Müller"),
    *("Nagy", "Novák", "Okafor", "Oliveira", "Park", "Petrov", "Quinn", "Richter", "Romano"),
    *("Sánchez", "Schneider", "Silva", "Smith", "Sørensen", "Tanaka", "Teixeira", "Vargas"),
    *("Virtanen", "Wagner", "Walker", "Weber", "Winter", "Yilmaz", "Zimmermann"),
)
STREETS = (
    *("Station Road", "Mill Lane", "Church Street", "Elm Street", "Castle Square", "Bridge Street"),
    *("Garden Lane", "Harbour Way", "High Street", "King Street", "Lime Avenue", "Market Place"),
    *("Meadow Road", "North Gate", "Orchard Lane", "Park Avenue", "Quarry Hill", "River Walk"),
    *("School Street", "South Parade", "Tanner Row", "Vine Street", "Water Lane", "Windmill Hill"),
)
TOWNS = (
    *(("Alderby", "10115"), ("Brackwell", "20095"), ("Corrin", "30159"), ("Dunmere", "40210")),
    *(("Eastholm", "50667"), ("Fairwick", "60311"), ("Greenford", "70173"), ("Hollin", "80331")),
)
SHORT_NAMES = {
    "Margaret": "Maggie",
    "Katharina": "Kathi",
    "Robert": "Bob",
    "Thomas": "Tom",
    "Beatrice": "Bea",
    "Samuel": "Sam",
    "Daniel": "Dan",
    "Teresa": "Tess",
    "Victor": "Vic",
    "Susanne": "Susi",
}
ABBREVIATED = {"Road": "Rd", "Street": "St", "Lane": "Ln", "Avenue": "Ave", "Square": "Sq"}
PLAIN_LETTERS = str.maketrans(
    {"é": "e", "í": "i", "á": "a", "ø": "o", "ü": "ue", "ö": "oe", "ñ": "n"}
)


@dataclass(frozen=True)
class Person:
    """A person as one of the lists has them, or as they are."""

    id: str
    given_name: str
    surname: str
    street: str
    town: str
    postcode: str
    born: str
    phone: str


@dataclass(frozen=True)
class Entry:
    """A row of a list, and the number of the person whom it is about."""

    row: Person
    number: int


@dataclass(frozen=True)
class Label:
    """Whether two rows are the same person."""

    a: str
    b: str
    same: bool


def people() -> list[Person]:
    """The rows of both lists, those of the clinic first; their ids begin with `c` or `l`."""
    return [entry.row for entry in _entries()]


def labels() -> list[Label]:
    """Labelled pairs of `people` that agree in a field or more, spread evenly over similarities."""
    chance = Chance("labels of people")
    entries = _entries()
    tenths: list[list[Label]] = [[] for _ in range(11)]
    for a, b in chance.shuffled(sorted(_alike(entries))):
        words, others = (set(" ".join(astuple(entries[x].row)[1:]).split()) for x in (a, b))
        alike = len(words & others) / len(words | others)
        tenths[int(10 * alike)].append(_label(entries[a], entries[b]))
    in_turn = (one for row in zip_longest(*tenths) for one in row if one is not None)
    return list(islice(in_turn, LABELS))


def truth() -> list[Label]:
    """Every pair of `people` that is the same person."""
    entries = _entries()
    return [
        _label(one, other) for one, other in combinations(entries, 2) if one.number == other.number
    ]


def _label(one: Entry, other: Entry) -> Label:
    return Label(one.row.id, other.row.id, one.number == other.number)


def _entries() -> list[Entry]:
    chance = Chance("people")
    lists: dict[str, list[Entry]] = {name: [] for name in LISTS}
    for number, person in enumerate(_population(chance)):
        for name in _where(chance):
            lists[name].append(Entry(_written_down(person, name, chance), number))
    return [
        Entry(replace(entry.row, id=f"{name[0]}{place:03}"), entry.number)
        for name in LISTS
        for place, entry in enumerate(chance.shuffled(lists[name]), 1)
    ]


def _population(chance: Chance) -> Iterator[Person]:
    """People as they are; about every fifth lives with the one before."""
    before: Person | None = None
    for _ in range(PEOPLE):
        town, postcode = chance.pick(TOWNS)
        street = f"{1 + chance.below(120)} {chance.pick(STREETS)}"
        born = dt.date(1935, 1, 1) + dt.timedelta(days=chance.below(27_000))
        phone = f"0555 {100 + chance.below(900)} {1000 + chance.below(9000)}"
        one = Person(
            *("", chance.pick(GIVEN), chance.pick(SURNAMES), street, town, postcode),
            *(born.isoformat(), phone),
        )
        if before is not None and chance.happens(0.2):
            same = {"surname": before.surname, "street": before.street, "town": before.town}
            one = replace(one, **same, postcode=before.postcode)
            if chance.happens(0.4):
                one = replace(one, phone=before.phone)
            if chance.happens(0.15):  # twins
                one = replace(one, born=before.born)
        yield one
        before = one


def _where(chance: Chance) -> tuple[str, ...]:
    """The lists that a person is on; some are twice on one."""
    if chance.happens(0.35):
        return LISTS if chance.happens(0.9) else (LISTS[1], *LISTS)
    return (chance.pick(LISTS),) * (2 if chance.happens(0.05) else 1)


def _written_down(one: Person, name: str, chance: Chance) -> Person:
    """A person as somebody wrote them down, with up to two deviations."""
    row = one
    if name == "library":  # it writes dates in its own way
        row = replace(row, born=row.born.replace("-", ""))
    for _ in range(chance.below(3)):
        row = chance.pick(_DEVIATIONS)(row, chance)
    return row


def _typo(field: str) -> Callable[[Person, Chance], Person]:
    def change(row: Person, chance: Chance) -> Person:
        text = getattr(row, field)
        if len(text) < 3:
            return row
        at = 1 + chance.below(len(text) - 2)
        ways = (
            text[:at] + text[at + 1] + text[at] + text[at + 2 :],
            text[:at] + text[at + 1 :],
            text[:at] + text[at] + text[at:],
        )
        return replace(row, **{field: chance.pick(ways)})

    return change


def _short_name(row: Person, chance: Chance) -> Person:
    initial = f"{row.given_name[:1]}."
    return replace(row, given_name=SHORT_NAMES.get(row.given_name, initial))


def _plain_letters(row: Person, chance: Chance) -> Person:
    changed = {
        name: getattr(row, name).translate(PLAIN_LETTERS) for name in ("given_name", "surname")
    }
    return replace(row, **changed)


def _abbreviated(row: Person, chance: Chance) -> Person:
    *start, last = row.street.split(" ") or [""]
    return replace(row, street=" ".join([*start, ABBREVIATED.get(last, last)]))


def _swapped_names(row: Person, chance: Chance) -> Person:
    return replace(row, given_name=row.surname, surname=row.given_name)


def _without(field: str) -> Callable[[Person, Chance], Person]:
    return lambda row, chance: replace(row, **{field: ""})


def _moved(row: Person, chance: Chance) -> Person:
    return replace(row, street=f"{1 + chance.below(120)} {chance.pick(STREETS)}")


_DEVIATIONS = (
    *(_typo("given_name"), _typo("surname"), _typo("street"), _typo("street"), _typo("phone")),
    *(_short_name, _plain_letters, _abbreviated, _abbreviated, _swapped_names, _moved),
    *(_without("phone"), _without("born"), _without("street"), _typo("born")),
)


def _alike(entries: list[Entry]) -> set[tuple[int, int]]:
    """Pairs of the same person, and pairs that agree in a field that tells people apart."""
    groups = defaultdict(list)
    for place, entry in enumerate(entries):
        groups["number", str(entry.number)].append(place)
        for field in ("surname", "street", "born", "phone"):
            if value := getattr(entry.row, field):
                groups[field, value].append(place)
    return {pair for group in groups.values() for pair in combinations(group, 2)}

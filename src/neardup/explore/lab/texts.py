"""Two texts: the features they share, the bits of their fingerprints, their similarity."""

from __future__ import annotations

import shlex

import pyarrow as pa

from neardup.comparison.compare import compare
from neardup.comparison.result import Comparison
from neardup.errors import SettingError
from neardup.explore.lab.asked import Asked
from neardup.features.spec import FeatureSpec, TextColumn
from neardup.fingerprints.fingerprinter import Fingerprinter, fitted
from neardup.fingerprints.scheme import Scheme
from neardup.frozen import dataclass
from neardup.hashes import KEYED_PREFIX, hash_family

MOST_CHARACTERS = 20_000
# Two texts in an address take up to 9 characters for each of theirs, and servers refuse
# addresses above 64 KB.
MOST_IN_ADDRESS = 3_000
MOST_BITS = 1024
FAMILIES = ("nd1", "md5", "xxh3", "string64", "dek")
FEATURES = ("word:1", "word:2", "word:3", "word:5", "char:3", "char:5", "word:1+word:3", "edges")
WEIGHTS = ("", "set", "count", "tfidf", "idf", "tfidf:lab")
_MOST_KINDS = 3
_LARGEST_FEATURE = 10
_LISTED = 12
_LONGEST_LISTED = 60
_GROUP = 8
_LONGEST_ARGUMENT = 300


@dataclass(frozen=True)
class Example:
    """Two texts to begin with."""

    name: str
    a: str
    b: str
    features: str = "word:3"


EXAMPLES = {
    "ferry": Example(
        "A word added",
        "The ferry to the northern islands will not run on Saturday because of strong winds. "
        "Passengers with tickets for that day can travel on Sunday at no extra cost, or ask for "
        "their money back at the harbour office until the end of the month.",
        "The ferry to the northern islands will not run on Saturday because of strong winds. "
        "Passengers with tickets for that day can travel on Sunday or Monday at no extra cost, "
        "or ask for their money back at the harbour office until the end of the month.",
    ),
    "park": Example(
        "Chinese",
        "东湖公园的南门从下周一起关闭两个星期，工人要修理门口的石桥。"
        "游客可以从北门和西门进入，停车场照常开放，门票价格不变。",
        "东湖公园的南门从下周二起关闭两个星期，工人要修理门口的石桥。"
        "游客可以从北门和西门进入，停车场照常开放，门票价格不变。",
        "char:3",
    ),
    "order": Example(
        "Other order",
        "The bakery opens at seven, the library at eight, the harbour office at nine.",
        "The harbour office opens at nine, the bakery at seven, the library at eight.",
        "word:2",
    ),
    "unrelated": Example(
        "Unrelated",
        "From the first of March the town library opens at eight in the morning on weekdays.",
        "The footbridge over the mill stream has been repaired after the spring flood.",
        "word:1",
    ),
}
_FIRST = "ferry"


@dataclass(frozen=True)
class Listed:
    """Features of one kind: how many, and the first of them."""

    count: int
    first: tuple[str, ...]


@dataclass(frozen=True)
class BitGroup:
    """Neighbouring bits of both fingerprints, as digits; `place` is that of the first."""

    place: int
    a: str
    b: str

    @property
    def bits(self) -> tuple[tuple[str, str, bool], ...]:
        """Each bit of A and B, and whether they differ."""
        return tuple((a, b, a != b) for a, b in zip(self.a, self.b, strict=True))


@dataclass(frozen=True)
class ShownTexts:
    """The comparison of the two texts, and what a page shows of it."""

    comparison: Comparison
    shared: Listed
    only_a: Listed
    only_b: Listed
    groups: tuple[BitGroup, ...]
    command: str

    @property
    def summary(self) -> str:
        """The outcome in a sentence."""
        found = self.comparison
        if found.reason:
            return f"{found.reason}."
        return (
            f"{found.distance} of {found.scheme.bits} bits differ; "
            f"{found.weighted}Jaccard {found.jaccard:.4f}, "
            f"{found.weighted}cosine {found.cosine:.4f}."
        )

    def values(self) -> dict[str, object]:
        """The numbers, for programs; as `neardup compare --json` gives them, without the diff."""
        found = self.comparison.to_dict()
        del found["diff"], found["diff_complete"]
        return found


def look(asked: Asked) -> ShownTexts | None:
    """Compare the two texts; None if a field is wrong."""
    example = EXAMPLES[_example(asked)]
    a = asked.text("a", example.a, MOST_CHARACTERS)
    b = asked.text("b", example.b, MOST_CHARACTERS)
    features = asked.word("features", example.features)
    weights = asked.choice("weights", WEIGHTS) or None
    bits = asked.whole("bits", 64, 1, MOST_BITS)
    name = asked.word("hash", FAMILIES[0])
    with asked.beside("hash"):
        _require_no_key(name)
        family = hash_family(name)
    with asked.beside("features"):
        _require_small(FeatureSpec.parse(features))
    if asked.errors:
        return None
    with asked.beside("bits"):
        family.require_bits(bits)
    with asked.beside("weights"):
        scheme = Scheme.of(features, weights, 1, family)
    if asked.errors:
        return None
    with asked.beside("features"):
        comparison = compare(a, b, features=features, weights=weights, bits=bits, hash=family)
        first, second = _terms(Fingerprinter(scheme, family, 1), a, b)
        kind = scheme.features.shingle
        by_characters = kind is not None and kind.unit == "char"
        return ShownTexts(
            comparison,
            _listed([term for term in first if term in second], by_characters),
            _listed([term for term in first if term not in second], by_characters),
            _listed([term for term in second if term not in first], by_characters),
            _groups(comparison),
            _command(a, b, comparison.scheme, weights),
        )
    return None


def _example(asked: Asked) -> str:
    name = asked.word("example", _FIRST)
    if name not in EXAMPLES:
        asked.refuse("a", f"There is no example {name!r}; choose {', '.join(EXAMPLES)}.")
    return name if name in EXAMPLES else _FIRST


def _require_no_key(name: str) -> None:
    if name.startswith(KEYED_PREFIX):
        raise SettingError(
            "fingerprints with a secret key are not made on pages; use the command line"
        )


def _require_small(spec: FeatureSpec) -> None:
    largest = max(kind.size for kind in spec.kinds)
    if len(spec.kinds) > _MOST_KINDS or largest > _LARGEST_FEATURE:
        raise SettingError(
            f"features={str(spec)!r} is too large for a page: take up to {_MOST_KINDS} kinds, "
            f"with numbers up to {_LARGEST_FEATURE}; the command line takes more"
        )


def _terms(fingerprinter: Fingerprinter, a: str, b: str) -> list[dict[str, float]]:
    """The features of both texts as they can be read, in the order of the text."""
    texts = [TextColumn(pa.array([a, b], pa.large_string()))]
    return fitted(fingerprinter, [texts], None).weighted_terms(texts)


def _listed(terms: list[str], by_characters: bool) -> Listed:
    """The first few; spaces of characters are visible, because they count."""
    first = (term.replace(" ", "␣") if by_characters else term for term in terms[:_LISTED])
    return Listed(len(terms), tuple(map(_cut, first)))


def _cut(term: str) -> str:
    return term if len(term) <= _LONGEST_LISTED else term[: _LONGEST_LISTED - 1] + "…"


def _groups(comparison: Comparison) -> tuple[BitGroup, ...]:
    if comparison.reason:
        return ()
    bits = comparison.scheme.bits
    a, b = (f"{side.fingerprint:0{bits}b}" for side in (comparison.a, comparison.b))
    return tuple(
        BitGroup(place, a[place : place + _GROUP], b[place : place + _GROUP])
        for place in range(0, bits, _GROUP)
    )


def _command(a: str, b: str, scheme: Scheme, weights: str | None) -> str:
    """The same comparison in a terminal; texts that are long or have lines are files."""
    short = all(len(text) <= _LONGEST_ARGUMENT and text.isprintable() for text in (a, b))
    words = [f"--text={a}", f"--text={b}"] if short else ["a.txt", "b.txt"]
    words += ["--features", str(scheme.features)]
    if weights is not None:
        words += ["--weights", weights]
    words += ["--bits", str(scheme.bits)]
    if scheme.hash != FAMILIES[0]:
        words += ["--hash", scheme.hash]
    return shlex.join(["neardup", "compare", *words])

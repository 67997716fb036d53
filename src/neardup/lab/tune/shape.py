"""What a collection looks like, and the settings that were best on collections that look like it.

Without labels nobody can say which documents someone calls duplicates: `tune` recommends from a
table of measured cases, and guesses the threshold from the pairs (`threshold.py`).
"""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from neardup.collection.settings import DedupSettings
from neardup.collection.source import fingerprinter_of
from neardup.features.columns import GivenTerms
from neardup.frozen import dataclass
from neardup.lab.tune.measures import Measure
from neardup.lab.tune.pool import PoolPairs
from neardup.lab.tune.sample import Look

# Up to this many words, half of the documents are short, or of middle length.
SHORT_WORDS, MIDDLE_WORDS = 50, 250
# In scripts without spaces each character is a word, and says less than a word.
_LETTERS = 2.5
# Documents have groups of copies, not just one each, if those that are similar to any are similar
# to this many on average, and this share of the pairs that two pairs imply are there.
_IN_GROUPS, _CLOSED = 2.0, 0.8
# With more similar ones than this, they are families of one template, which grow loose.
_IN_FAMILIES = 20.0
_MOST_ASKED, _SEED = 20_000, 5


@dataclass(frozen=True)
class Shape:
    """How long documents are: the median and the tenth percentile of their words.

    `letters` is the mean number of characters for each word.
    """

    documents: int
    median_words: int
    few_words: int
    fields: int
    letters: float = 6.0

    @property
    def is_short(self) -> bool:
        """Whether there are few words, each of several letters."""
        return self.median_words <= SHORT_WORDS and self.letters >= _LETTERS

    @property
    def is_long(self) -> bool:
        return self.median_words > MIDDLE_WORDS

    def __str__(self) -> str:
        what = "documents" if not self.fields else f"records of {self.fields} fields"
        return (
            f"{what} of {self.median_words:,} words (half have fewer; a tenth have "
            f"{self.few_words:,} or fewer)"
        )


@dataclass(frozen=True)
class Case:
    """What was best on collections of a kind.

    A gap between unrelated pairs and near-duplicates is looked for with each measure, up to the
    highest threshold. If there is none, the threshold of the first is between the two limits.
    """

    kind: str
    measures: tuple[Measure, ...]
    lowest: float
    highest: float

    @property
    def measure(self) -> Measure:
        """The first one."""
        return self.measures[0]


_WORDS, _PAIRS_OF_WORDS, _PARTS_OF_WORDS = (
    Measure(features, "set", "jaccard") for features in ("word:1", "word:2", "char:4")
)
SHORT = Case(
    "short texts, titles and records",
    (Measure("word:1", "tfidf", "weighted-jaccard"),),
    0.25,
    0.6,
)
MIDDLE = Case(
    "texts of middle length, or in a script without spaces",
    (_PAIRS_OF_WORDS, _WORDS, _PARTS_OF_WORDS),
    0.3,
    0.6,
)
LONG = Case(
    "longer texts",
    (Measure("word:3", "set", "jaccard"), _PAIRS_OF_WORDS, _WORDS, _PARTS_OF_WORDS),
    0.5,
    0.8,
)


def shape_of(look: Look, settings: DedupSettings) -> Shape:
    """The lengths of the documents that were looked at."""
    fields = settings.scheme.fields
    scheme = DedupSettings.of(features="word:1", text=settings.text).scheme
    words = look.features(fingerprinter_of(scheme, settings.threads)).words
    letters = _characters(look) / max(1, int(words.sum(dtype=np.int64)))
    words = words[words > 0]
    median, few = (int(np.percentile(words, share)) for share in (50, 10)) if len(words) else (0, 0)
    return Shape(look.documents, median, few, 0 if fields is None else len(fields.fields), letters)


def _characters(look: Look) -> int:
    """The number of characters of the documents that were looked at."""
    return sum(
        pc.sum(pc.utf8_length(column.texts)).as_py() or 0
        for columns in look.columns
        if not isinstance(columns, GivenTerms)
        for column in columns
    )


def case_of(shape: Shape) -> Case:
    """The measured case that a collection belongs to."""
    if shape.is_long:
        return LONG
    return SHORT if shape.is_short else MIDDLE


def suits_dense(pairs: PoolPairs, threshold: float) -> bool:
    """Whether similar documents form groups that hold together, so that dense clusters find more.

    Where most documents have one partner, or very many, or where friends of friends are strangers,
    stars are safer.
    """
    some = pairs.similarity >= threshold
    a, b = pairs.a[some], pairs.b[some]
    count = len(pairs.kinds)
    ends = np.concatenate((a, b))
    order = np.argsort(ends, kind="stable")
    neighbours = np.concatenate((b, a))[order]
    degree = np.bincount(ends, minlength=count)
    starts = np.concatenate(([0], np.cumsum(degree)))
    middle = np.flatnonzero(degree > 1)
    partners = len(ends) / max(1, int(np.count_nonzero(degree)))
    if not len(middle) or not _IN_GROUPS <= partners <= _IN_FAMILIES:
        return False
    random = np.random.default_rng(_SEED)
    chance = degree[middle] * (degree[middle] - 1.0)
    asked = random.choice(middle, _MOST_ASKED, p=chance / chance.sum())
    one = random.integers(0, degree[asked])
    other = (one + random.integers(1, degree[asked])) % degree[asked]
    first, second = neighbours[starts[asked] + one], neighbours[starts[asked] + other]
    keys = np.minimum(first, second) * count + np.maximum(first, second)
    closed = np.isin(keys, np.minimum(a, b) * count + np.maximum(a, b))
    return bool(closed.mean() >= _CLOSED)

"""What a stored run tells, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from neardup.errors import SettingError
from neardup.frozen import dataclass

Sort = Literal["size", "weakest", "density", "source", "number"]
SORTS: tuple[Sort, ...] = ("size", "weakest", "density", "source", "number")
MOST_PER_PAGE = 1000


@dataclass(frozen=True)
class DocumentRow:
    """One document, by its place: of the input, or of the other collection after that.

    `duplicate_of` and `via` are places, too; `via` is the next document in the chain of a component
    or dense cluster. `copy_of` is set only for an exact copy of an earlier document. `decided_by`
    says who decided on a removal, if it was not the similarity.
    """

    place: int
    id: int | str
    kept: bool
    is_other: bool
    cluster: int | None
    duplicate_of: int | None
    similarity: float | None
    via: int | None
    words: int
    source: str | None
    copy_of: int | None
    decided_by: str | None = None


@dataclass(frozen=True)
class ClusterRow:
    """One cluster, with what lists show about it.

    `size` counts the document of the other collection that it is around, if it is one. `copies` is
    the number of removed exact copies, `weakest` the lowest similarity of a removed member,
    `density` the share of the possible pairs that reach the threshold (None unless all pairs are
    listed), `chains` the number of members below the threshold, `sources` that of their sources.
    """

    number: int
    size: int
    around: DocumentRow
    copies: int
    weakest: float | None
    density: float | None
    chains: int
    sources: int
    title: str
    decided: Literal["none", "some", "all"]


@dataclass(frozen=True)
class ClusterQuery:
    """Which clusters, in which order, and which page of them, from 1.

    `search` has words that all must occur in one member, "phrases", `column:word`, or an id or the
    beginning of one. The similarities are those of some removal. `chains` asks for clusters with
    members below the threshold, `undecided` for those that are not completely decided.
    """

    search: str = ""
    sort: Sort = "size"
    descending: bool = True
    size_least: int | None = None
    size_most: int | None = None
    similarity_least: float | None = None
    similarity_most: float | None = None
    chains: bool = False
    source: str | None = None
    undecided: bool = False
    page: int = 1
    per_page: int = 25

    def __post_init__(self) -> None:
        if self.sort not in SORTS:
            raise SettingError(f"sort={self.sort!r} is unknown; choose {', '.join(SORTS)}")
        if self.page < 1 or not 1 <= self.per_page <= MOST_PER_PAGE:
            raise SettingError(
                f"page={self.page} and per_page={self.per_page}: pages begin at 1, and have 1 to "
                f"{MOST_PER_PAGE} rows"
            )


@dataclass(frozen=True)
class ClusterPage:
    """Some clusters, the number of all that the query finds, and that of the pages."""

    rows: tuple[ClusterRow, ...]
    total: int
    page: int
    pages: int


@dataclass(frozen=True)
class Link:
    """A listed pair; `distance` counts differing bits."""

    a: int
    b: int
    similarity: float
    distance: int


@dataclass(frozen=True)
class ChainStep:
    """The next document in a chain, and the similarity to it; None if that is not listed."""

    place: int
    similarity: float | None


@dataclass(frozen=True)
class Histogram:
    """Counts by bins. Bin i has the values from `begins[i]` to `ends[i]`.

    Bins of numbers include both ends; of similarities the end only in the last bin, which ends
    at 1. `series` has a count for each bin, by name; `apart` has counts that are in no bin.
    """

    begins: tuple[float, ...]
    ends: tuple[float, ...]
    series: Mapping[str, tuple[int, ...]]
    apart: Mapping[str, int]


@dataclass(frozen=True)
class Matrix:
    """Which value of a column repeats which: `counts[removed value][kept value]`.

    The values are the most frequent ones, by name. If there are more, the last name stands for the
    `rest` of them. `against` counts the documents removed for one of the other collection.
    """

    column: str
    names: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    rest: int
    against: tuple[int, ...] | None


@dataclass(frozen=True)
class ThresholdRow:
    """What another threshold would give.

    `split` counts the clusters of the run whose members would no longer be together, `joined` the
    clusters that would be made of several clusters of the run; None if that is not known.
    """

    threshold: float
    kept: int
    removed: int
    clusters: int | None
    split: int | None
    joined: int | None


@dataclass(frozen=True)
class ThresholdTable:
    """The results at other thresholds: similarities, or numbers of bits if `by_distance`.

    If it is not `exact`, `removed` counts the removals of the run that would remain; the note says
    so, and how to learn more.
    """

    rows: tuple[ThresholdRow, ...]
    exact: bool
    note: str
    by_distance: bool


@dataclass(frozen=True)
class QueueItem:
    """A doubtful pair, by places: `a` is the kept one of a removal.

    `cluster` is that of the removal; None for a near miss. `reason` is a sentence. `similarity` is
    None only for a pair to label of which none is known.
    """

    a: int
    b: int
    similarity: float | None
    cluster: int | None
    reason: str


@dataclass(frozen=True)
class SourceCount:
    """An input file or folder: its documents, and how many of them were removed."""

    name: str
    documents: int
    removed: int

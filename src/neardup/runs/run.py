"""A stored run: what it removed and why, page by page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.rarity import Rarity
from neardup.collection.source import Progress
from neardup.decisions import FILE_NAME, Decision, DecisionFile, Named, content_of
from neardup.errors import InputError
from neardup.features.idf import IdfTable
from neardup.fingerprints.scheme import Scheme
from neardup.labels.read import decisions_beside
from neardup.runs.decided import DecidedNow
from neardup.runs.folder import RunFolder
from neardup.runs.histograms import SOURCE
from neardup.runs.index_file import IndexFile, opened_index
from neardup.runs.links import Ends, unpacked
from neardup.runs.listing import ClusterListing
from neardup.runs.matrices import column_matrix
from neardup.runs.pairs_file import PairsFile, opened_pairs
from neardup.runs.rarity import counted_idf
from neardup.runs.texts import StoredTexts
from neardup.runs.views import (
    ChainStep,
    ClusterPage,
    ClusterQuery,
    ClusterRow,
    DocumentRow,
    Histogram,
    Link,
    Matrix,
    QueueItem,
    SourceCount,
    ThresholdRow,
    ThresholdTable,
)
from neardup.runs.why import doubt_of, reason_to_ask
from neardup.settings import CONTAINMENTS

Stored = TypeVar("Stored")

_COLUMNS = (
    "place, id, kept, cluster, duplicate_of, similarity, via, words, source, copy_of, decided_by"
)
_AT_ONCE = 500  # SQLite takes 999 values in a statement, or more
_STATES = ("none", "some", "all")
_LONGEST_CHAIN = 10_000
# An id that is not found is shortened so often to find similar ones, and so many are looked at.
_SHORTENED, _LOOKED_AT, _LONGEST_ID = 8, 50, 200


def open_run(
    path: str | os.PathLike[str], *, progress: Progress | None = None, read_only: bool = False
) -> Run:
    """Open the folder that `dedup` wrote; its index is built once, and told to `progress`.

    Also opens a file of pairs to label: as a run that removed nothing, whose queue has all of its
    pairs, and whose decisions are stored beside it.

    With `read_only`, nothing is written to the folder, and an index that is missing there goes to
    the user's cache folder.

    `InputError` says what is wrong with a folder that is not a run, or is damaged.
    """
    if os.path.isfile(path):
        made, held = opened_pairs(Path(path))
        folder, index = opened_index(made, progress, read_only=False)
        return Run(folder, index, PairsFile.of(Path(path), folder, held))
    return Run(*opened_index(RunFolder(path), progress, read_only=read_only))


class Run:
    """A run in a folder; any number of threads may ask at the same time.

    Documents are known by their place: the row of the input, from 0. The documents of the other
    collection (`--against`) that the run names have the places after that.
    """

    def __init__(
        self, folder: RunFolder, index: IndexFile, to_label: PairsFile | None = None
    ) -> None:
        self._folder, self._index = folder, index
        self.to_label = to_label  # the file of pairs that this is made of, instead of a run
        self.path: Path = folder.path if to_label is None else to_label.path
        self.summary: dict[str, Any] = folder.summary
        self.threshold: float = folder.threshold  # a similarity
        self.floor: float | None = folder.floor
        self.has_all_pairs: bool = folder.has_all_pairs
        self.by_distance: bool = folder.by_distance
        self.documents: int = index.about["documents"]
        self.others: int = index.about["others"]
        self.decisions = DecisionFile(
            folder.path / FILE_NAME if to_label is None else decisions_beside(to_label.path)
        )
        self._texts = StoredTexts(folder, index.rows)
        self.columns: tuple[str, ...] = self._texts.columns
        self.fields: tuple[str, ...] = self._texts.fields
        self.sources = tuple(SourceCount(*row) for row in index.about["sources"])
        self._listing = ClusterListing(index)
        self._matrices: dict[str, Matrix] = {}
        self._idf_tables: dict[str, IdfTable | None] = {}
        self._decided = DecidedNow(self.decisions, self._place_named)

    @property
    def clusters_count(self) -> int:
        """The number of clusters."""
        return len(self._listing)

    def close(self) -> None:
        """Close the files; the run cannot be asked any more."""
        self._index.close()
        self._texts.close()

    # Documents

    def document(self, place: int) -> DocumentRow:
        """The document at a place; `InputError` if there is none."""
        found = self.documents_at([place])
        if place not in found:
            raise InputError(f"{self.path} has no document at the place {place}")
        return found[place]

    def documents_at(self, places: Iterable[int]) -> dict[int, DocumentRow]:
        """Several documents, by their places."""
        wanted = list(dict.fromkeys(map(int, places)))
        found: dict[int, DocumentRow] = {}
        for begin in range(0, len(wanted), _AT_ONCE):
            some = wanted[begin : begin + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows = self._index.rows_of(
                f"SELECT {_COLUMNS} FROM documents WHERE place IN ({marks})", tuple(some)
            )
            found |= {row[0]: self._document(row) for row in rows}
        return {place: found[place] for place in wanted if place in found}

    def _document(self, row: tuple[Any, ...]) -> DocumentRow:
        (place, id, kept, cluster, duplicate_of, similarity, via, words, source, copy_of, by) = row
        return DocumentRow(
            place,
            id,
            bool(kept),
            place >= self.documents,
            cluster,
            duplicate_of,
            similarity,
            via,
            words,
            None if source is None else self.sources[source].name,
            copy_of,
            by,
        )

    def find(self, id_text: str, other: bool = False) -> int | None:
        """The place of a document by its id, written as text."""
        id: int | str = id_text
        if self._index.about["ids_are_numbers"][other]:
            try:
                id = int(id_text)
            except ValueError:
                return None
            if str(id) != id_text or abs(id) >= 1 << 63:
                return None
        return self._place_of(id, other)

    def _place_of(self, id: int | str, other: bool) -> int | None:
        rows = self._index.rows_of("SELECT place FROM documents WHERE id = ?", (id,))
        places = [row[0] for row in rows if (row[0] >= self.documents) == other]
        return places[0] if places else None

    def suggestions(self, id_text: str, count: int = 3) -> list[str]:
        """Ids that resemble one that was not found: with the same beginning, or nearly so."""
        begun = self._ids_begun(id_text, count)
        shorter = [
            id
            for end in range(len(id_text) - 1, max(0, len(id_text) - _SHORTENED), -1)
            for id in self._ids_begun(id_text[:end], _LOOKED_AT)
        ]
        close = get_close_matches(id_text[:_LONGEST_ID], shorter, count)
        return list(dict.fromkeys([*begun, *close]))[:count]

    def _ids_begun(self, beginning: str, count: int) -> list[str]:
        places = self._listing.with_id(beginning, count).tolist()
        return [str(one.id) for one in self.documents_at(places[:count]).values()]

    def find_documents(self, search: str, count: int = 25) -> list[DocumentRow]:
        """Documents in a cluster or a listed pair that a search finds, in input order."""
        places = self._listing.places(search)[:count].tolist()
        return list(self.documents_at(places).values())

    def named(self, place: int) -> Named:
        """A document as decisions name it."""
        document = self.document(place)
        return Named(document.id, self._content(place), document.is_other)

    def _content(self, place: int) -> str:
        rows = self._index.rows_of("SELECT content FROM contents WHERE place = ?", (place,))
        return str(rows[0][0]) if rows else content_of(self.text(place))

    def _place_named(self, document: Named) -> int | None:
        place = self._place_of(document.id, document.other)
        if place is None or self._content(place) != document.content:
            return None
        return place

    def text(self, place: int) -> str:
        """The text that was compared: the fields of a record as lines, terms with commas."""
        return self.texts([place])[place]

    def texts(self, places: Iterable[int]) -> dict[int, str]:
        """The texts of several documents, by their places."""
        return self._stored(places, self._texts.texts_of)

    def records(self, places: Iterable[int]) -> dict[int, dict[str, str]]:
        """The fields of several records as they were compared, by their places."""
        return self._stored(places, self._texts.records_of)

    def _stored(
        self, places: Iterable[int], of_rows: Callable[[str, Iterable[int]], dict[int, Stored]]
    ) -> dict[int, Stored]:
        where = self._rows_at(places)
        found: dict[int, Stored] = {}
        for kind in dict.fromkeys(kind for kind, _ in where.values()):
            held = of_rows(kind, [row for one, row in where.values() if one == kind])
            found |= {place: held[row] for place, (one, row) in where.items() if one == kind}
        return {place: found[place] for place in where}

    @property
    def is_scored(self) -> bool:
        """Whether the similarity of two documents is a sum of parts: of fields, or of a model."""
        return bool(self.fields) or self.summary["settings"]["similarity"] == "model"

    @property
    def is_containment(self) -> bool:
        """Whether the similarity is a part of one document; then 1 does not mean the same."""
        return self.summary["settings"].get("similarity") in CONTAINMENTS

    def text_columns(self) -> Iterator[list[pa.Array]]:
        """The compared columns of all documents of the input as texts, in no order."""
        for kind in ("kept", "removed"):
            yield from self._texts.column_batches(kind)

    @property
    def words(self) -> int:
        """The number of words of all documents of the input."""
        return int(self._index.rows_of("SELECT coalesce(sum(words), 0) FROM documents", ())[0][0])

    def idf_table(self, scheme: Scheme) -> IdfTable | None:
        """The weights by rarity of the run, if its scheme has some and they can be counted."""
        if not scheme.needs_idf:
            return None
        if scheme.counted not in self._idf_tables:
            self._idf_tables[scheme.counted] = counted_idf(self, scheme)
        return self._idf_tables[scheme.counted]

    @cached_property
    def rarity(self) -> Rarity:
        """How rare words are in the documents of the input, for the scores of a model."""
        return Rarity.of(self.text_columns())

    def row(self, place: int) -> dict[str, Any]:
        """All columns of a document; of one of the other collection only `text`, if known."""
        ((kind, number),) = self._rows_at([place]).values()
        found = self._texts.rows_of(kind, number)
        return {"text": found["text"]} if kind == "others" else found

    def _rows_at(self, places: Iterable[int]) -> dict[int, tuple[str, int]]:
        """In which file documents are, and in which row."""
        wanted = list(dict.fromkeys(map(int, places)))
        found: dict[int, tuple[str, int]] = {}
        for begin in range(0, len(wanted), _AT_ONCE):
            some = wanted[begin : begin + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            for place, kept, row in self._index.rows_of(
                f"SELECT place, kept, row FROM documents WHERE place IN ({marks})", tuple(some)
            ):
                kind = "others" if place >= self.documents else "kept" if kept else "removed"
                found[place] = kind, row
        for place in wanted:
            if place not in found:
                raise InputError(f"{self.path} has no document at the place {place}")
        return {place: found[place] for place in wanted}

    # Clusters

    def clusters(self, query: ClusterQuery) -> ClusterPage:
        """A page of clusters; the last one, if the query asks for a later page."""
        numbers = self._listing.found(query, self._decided())
        pages = max(1, -(-len(numbers) // query.per_page))
        page = min(query.page, pages)
        begin = (page - 1) * query.per_page
        shown = numbers[begin : begin + query.per_page].tolist()
        return ClusterPage(tuple(self._cluster_rows(shown)), len(numbers), page, pages)

    def cluster(self, number: int) -> ClusterRow:
        """One cluster; `InputError` if there is none of this number."""
        if not 0 <= number < self.clusters_count:
            raise InputError(
                f"{self.path} has no cluster {number}; it has {self.clusters_count:,}, "
                "numbered from 0"
            )
        return self._cluster_rows([number])[0]

    def _cluster_rows(self, numbers: list[int]) -> list[ClusterRow]:
        array = self._index.array
        marks = ", ".join("?" * len(numbers))
        titles = {
            number: (around, title)
            for number, around, title in self._index.rows_of(
                f"SELECT number, around, title FROM clusters WHERE number IN ({marks})",
                tuple(numbers),
            )
        }
        documents = self.documents_at([around for around, _ in titles.values()])
        states = self._decided().clusters(array("cluster"), array("size"))
        return [
            ClusterRow(
                number,
                int(array("size")[number]),
                documents[titles[number][0]],
                int(array("copies")[number]),
                _known(array("weakest")[number]),
                _known(array("density")[number]),
                int(array("chains")[number]),
                int(array("sources")[number]),
                titles[number][1],
                _STATES[states[number]],  # type: ignore[arg-type]
            )
            for number in numbers
        ]

    def members(
        self, number: int, page: int = 1, per_page: int = 25, *, copies: bool | None = None
    ) -> list[DocumentRow]:
        """A page of the members: the kept ones, then the others by similarity, descending.

        A document of the other collection that the cluster is around is the first. `copies` is
        True for the removed exact copies alone, False for all the others.
        """
        rows = self._index.rows_of(
            f"SELECT {_COLUMNS} FROM documents WHERE cluster = ? {self._filter(copies)}"
            "ORDER BY kept DESC, similarity DESC, place LIMIT ? OFFSET ?",
            (number, per_page, (page - 1) * per_page),
        )
        return [self._document(row) for row in rows]

    def weakest_member(self, number: int) -> DocumentRow | None:
        """The removed document that is least similar; None if there are only exact copies."""
        rows = self._index.rows_of(
            f"SELECT {_COLUMNS} FROM documents "
            f"WHERE cluster = ? AND similarity IS NOT NULL {self._filter(False)}"
            "ORDER BY kept, similarity, place DESC LIMIT 1",
            (number,),
        )
        return self._document(rows[0]) if rows else None

    def _filter(self, copies: bool | None) -> str:
        """A condition on members; a copy has the features of an earlier one, or of its target."""
        if copies is None:
            return ""
        of_other = "0" if self.is_containment else f"duplicate_of >= {self.documents}"
        is_copy = (
            "kept = 0 AND (copy_of IS NOT NULL OR similarity = 1 AND "
            f"({of_other} OR EXISTS (SELECT 1 FROM documents AS target "
            "WHERE target.place = documents.duplicate_of AND target.copy_of = documents.place)))"
        )
        return f"AND {'' if copies else 'NOT '}({is_copy}) "

    def chain(self, place: int) -> list[ChainStep]:
        """The chain of pairs from a removed document to the one it duplicates, which ends it.

        Empty unless the run made components or dense clusters, and the two are no pair.
        """
        document = self.document(place)
        steps: list[ChainStep] = []
        here = document
        while here.via is not None and len(steps) < _LONGEST_CHAIN:
            following = self.document(here.via)
            steps.append(ChainStep(following.place, self._link(here, following)))
            if following.place == document.duplicate_of:
                break
            here = following
        return steps if len(steps) > 1 else []

    def _link(self, one: DocumentRow, other: DocumentRow) -> float | None:
        """The similarity of two neighbours in a chain; copies have the pairs of the first."""
        firsts = [row.place if row.copy_of is None else row.copy_of for row in (one, other)]
        if firsts[0] == firsts[1]:
            return 1.0
        for a, b in ((one.place, other.place), (firsts[0], firsts[1])):
            ends = self._ends(a)
            found = np.flatnonzero(ends.other == b)
            if len(found):
                return float(ends.similarity[found[0]])
        return None

    # Pairs

    def links(self, places: Sequence[int]) -> list[Link]:
        """The listed pairs among some documents, each once, a < b."""
        wanted = np.unique(np.asarray(places, np.int64))
        found = []
        for place, ends in self._all_ends(wanted.tolist()).items():
            inside = np.isin(ends.other, wanted) & (ends.other > place)
            columns = (ends.other, ends.similarity, ends.distance)
            rows = zip(*(column[inside].tolist() for column in columns), strict=True)
            found += [Link(place, *row) for row in rows]
        # Two documents that were removed for each other are listed twice.
        return sorted(set(found), key=lambda link: (link.a, link.b))

    def neighbours(self, place: int, limit: int = 20) -> list[Link]:
        """The listed pairs of a document, the most similar first; `a` is the document.

        Of exact copies, the first has the pairs of all, besides those of the copies with it.
        """
        ends = [self._ends(place)]
        first = self.document(place).copy_of
        if first is not None and self.has_all_pairs:
            ends.append(self._ends(first))
        every = Ends(
            np.concatenate([one.other for one in ends]),
            np.concatenate([one.similarity for one in ends]),
            np.concatenate([one.distance for one in ends]),
        ).best_first()
        columns = (every.other, every.similarity, every.distance)
        found: dict[int, Link] = {}
        for other, similarity, distance in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            if other != place:
                found.setdefault(other, Link(place, other, similarity, distance))
            if len(found) == limit:
                break
        return list(found.values())

    def _ends(self, place: int) -> Ends:
        return self._all_ends([place]).get(place, unpacked(b""))

    def _all_ends(self, places: list[int]) -> dict[int, Ends]:
        found: dict[int, Ends] = {}
        for begin in range(0, len(places), _AT_ONCE):
            some = places[begin : begin + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows = self._index.rows_of(
                f"SELECT place, ends FROM links WHERE place IN ({marks})", tuple(some)
            )
            found |= {place: unpacked(data) for place, data in rows}
        return found

    # Plots

    def similarity_histogram(self) -> Histogram:
        """`removed` and `near_misses` by similarity, in bins of 0.01; `copies` apart."""
        return self._histogram("similarity")

    def size_histogram(self) -> Histogram:
        """`clusters` by size."""
        return self._histogram("size")

    def distance_histogram(self) -> Histogram:
        """Listed `pairs` by the distance of their fingerprints."""
        return self._histogram("distance")

    def length_histogram(self) -> Histogram:
        """`kept` and `removed` documents by their number of words."""
        return self._histogram("length")

    def _histogram(self, name: str) -> Histogram:
        held = self._index.about["histograms"][name]
        return Histogram(
            tuple(held["begins"]),
            tuple(held["ends"]),
            {series: tuple(counts) for series, counts in held["series"].items()},
            held["apart"],
        )

    def matrix(self, column: str | None = None) -> Matrix:
        """Which source repeats which, or which value of a column."""
        if column is None:
            held = self._index.about["matrix"]
            return Matrix(
                SOURCE,
                tuple(held["names"]),
                tuple(map(tuple, held["counts"])),
                held["rest"],
                None if held["against"] is None else tuple(held["against"]),
            )
        if column not in self._matrices:
            if column not in self.columns:
                raise InputError(
                    f"{self.path} has no column {column!r}; its columns are "
                    f"{', '.join(map(repr, self.columns))}"
                )
            self._matrices[column] = column_matrix(self._index, self._texts, column)
        return self._matrices[column]

    def threshold_table(self) -> ThresholdTable:
        """What other thresholds would give."""
        held = self._index.about["thresholds"]
        rows = tuple(ThresholdRow(**row) for row in held["rows"])
        return ThresholdTable(rows, held["exact"], held["note"], held["by_distance"])

    # Review

    def queue(self, start: int = 0, count: int = 1, by: str = "") -> list[QueueItem]:
        """Doubtful pairs, the most doubtful first, without those that are decided.

        Pairs that `by` has skipped are left out, too.
        """
        array = self._index.array
        a, b = array("queue_a"), array("queue_b")
        rows = np.flatnonzero(self._open_items(by))[start : start + count]
        found = []
        for row in rows.tolist():
            cluster = int(array("queue_cluster")[row])
            similarity = _known(array("queue_similarity")[row])
            density = float(array("density")[cluster]) if cluster >= 0 else float("nan")
            size = int(array("size")[cluster]) if cluster >= 0 else 0
            if self.to_label is not None:
                reason = reason_to_ask(self.to_label.why[row])
            else:
                reason = doubt_of(int(array("queue_reason")[row]), self.limit, density, size)
            number = cluster if cluster >= 0 else None
            found.append(QueueItem(int(a[row]), int(b[row]), similarity, number, reason))
        return found

    def queue_progress(self, by: str = "") -> tuple[int, int]:
        """How many doubtful pairs are decided (or skipped by `by`), and how many there are."""
        is_open = self._open_items(by)
        return len(is_open) - int(is_open.sum()), len(is_open)

    def _open_items(self, by: str) -> NDArray[np.bool_]:
        a, b = self._index.array("queue_a"), self._index.array("queue_b")
        found = self._decided().open_items(a, b, by)
        return found if self.to_label is None else found & ~self.to_label.is_answered

    def decisions_of(self, a: int, b: int) -> list[Decision]:
        """The decisions that hold about two documents, the latest last."""
        return self._decided().of_pair(a, b)

    @property
    def limit(self) -> str:
        """The threshold in words, such as "jaccard ≥ 0.8"."""
        settings = self.summary["settings"]
        if self.by_distance:
            return f"hamming ≤ {settings['threshold']:.0f}"
        return f"{settings['similarity']} ≥ {settings['threshold']:g}"

    def __repr__(self) -> str:
        return f"<Run {str(self.path)!r}: {self.documents:,} documents>"


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)

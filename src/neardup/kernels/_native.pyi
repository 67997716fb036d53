from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

class TooManyPairsError(Exception):
    """A join found more pairs than its limit; it returns none."""

def available_isas() -> list[str]: ...
def is_utf8(data: NDArray[np.uint8], offsets: NDArray[np.int64], *, isa: str) -> bool: ...
def fingerprint(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    *,
    words: bool,
    size: int,
    distinct: bool,
    bits: int,
    ties_up: bool,
    key: NDArray[np.uint64],
    threads: int,
    isa: str,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]: ...
def weigh(
    offsets: NDArray[np.int64],
    terms: NDArray[np.int32],
    weights: NDArray[np.float64],
    digests: NDArray[np.uint64],
    *,
    bits: int,
    ties_up: bool,
    with_sums: bool,
    threads: int,
    isa: str,
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]: ...
def weigh_features(
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    weights: NDArray[np.float64] | None,
    *,
    bits: int,
    ties_up: bool,
    key: NDArray[np.uint64],
    with_sums: bool,
    threads: int,
    isa: str,
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]: ...
def features(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    *,
    shingles: list[tuple[bool, int]],
    with_counts: bool,
    key: NDArray[np.uint64],
    threads: int,
    isa: str,
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]: ...
def content_keys(
    offsets: NDArray[np.int64], hashes: NDArray[np.uint64], weights: NDArray[np.float64] | None
) -> NDArray[np.uint64]: ...
def order_features(
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    weights: NDArray[np.float64],
    *,
    threads: int,
    isa: str,
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64]]: ...
def take_values(
    offsets: NDArray[np.int64], values: NDArray[np.uint64], places: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]: ...

TermArrays = tuple[
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.float64],
    NDArray[np.uint8],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.uint8],
    NDArray[np.uint32],
]
TermSource = tuple[
    NDArray[np.uint8],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.uint32],
    bool,
    int,
    int,
]

def text_terms(
    sources: list[TermSource], prefixes: list[bytes], documents: int, *, isa: str
) -> TermArrays: ...
def md5(
    data: NDArray[np.uint8],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
    *,
    limbs: int,
    threads: int,
    isa: str,
) -> NDArray[np.uint64]: ...
def hash_terms(
    data: NDArray[np.uint8],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
    units: NDArray[np.uint8],
    *,
    limbs: int,
    key: NDArray[np.uint64],
    threads: int,
) -> NDArray[np.uint64]: ...
def sentences(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, edges: bool, threads: int
) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]: ...
def longest_sentences(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int64],
    words: NDArray[np.uint32],
    hashes: NDArray[np.uint64],
    *,
    count: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...

class Segmenter:
    def cut(self, text: str) -> list[str]: ...

def segmenter(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    *,
    unknown_word: float,
    characters: NDArray[np.uint32],
    emissions: NDArray[np.float64],
    starts: list[float],
    moves: list[float],
) -> Segmenter: ...
def han_counts(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], bool]: ...
def keyword_candidates(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    chinese: NDArray[np.uint8],
    segmenter: Segmenter | None,
    *,
    isa: str,
) -> TermArrays: ...
def best_terms(
    data: NDArray[np.uint8],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
    offsets: NDArray[np.int64],
    places: NDArray[np.int32],
    weights: NDArray[np.float64],
    in_order: NDArray[np.uint8],
    *,
    count: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...

class FeatureCounts:
    """The number of documents with each feature; above `limit` features the rarest are dropped."""

    def __init__(self, limit: int) -> None: ...
    def __len__(self) -> int: ...
    @property
    def floor(self) -> int: ...
    def add(self, hashes: NDArray[np.uint64]) -> None: ...
    def set(self, hashes: NDArray[np.uint64], counts: NDArray[np.uint32]) -> None: ...
    def look_up(self, hashes: NDArray[np.uint64]) -> NDArray[np.uint32]: ...
    def items(self, least: int) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]: ...

class IdSet:
    def __len__(self) -> int: ...
    def add(
        self,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        places: NDArray[np.int64],
    ) -> tuple[int, int] | None: ...

JsonKind = Literal["null", "boolean", "whole", "fraction", "string", "other"]

class JsonLines:
    """Collects columns from JSON lines; `add` refuses a block with anything unusual."""

    def __init__(self, wanted: list[tuple[str, str]], *, every: bool, isa: str) -> None: ...
    def __len__(self) -> int: ...
    def add(self, block: NDArray[np.uint8]) -> int: ...
    def take(self) -> list[tuple[str, JsonKind, NDArray[np.uint8], NDArray[np.int64]]]: ...

PairArrays = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint16]]

def group_rows(
    rows: NDArray[np.uint64], *, threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None: ...
def join_within(
    left: NDArray[np.uint64],
    right: NDArray[np.uint64] | None,
    *,
    bits: int,
    distance: int,
    blocks: NDArray[np.int64] | None,
    costs: tuple[float, float, float],
    most_pairs: int,
    threads: int,
    isa: str,
) -> PairArrays: ...
def join_masks(
    left: NDArray[np.uint64],
    right: NDArray[np.uint64] | None,
    *,
    masks: NDArray[np.uint64],
    max_distance: int | None,
    keep: bool,
    costs: tuple[float, float, float],
    most_pairs: int,
    threads: int,
    isa: str,
) -> tuple[PairArrays, int]: ...
def join_all(
    left: NDArray[np.uint64],
    right: NDArray[np.uint64] | None,
    *,
    max_distance: int | None,
    most_pairs: int,
    threads: int,
    isa: str,
) -> PairArrays: ...
def join_windows(
    rows: NDArray[np.uint64],
    stops: NDArray[np.int64],
    *,
    max_distance: int | None,
    most_pairs: int,
    threads: int,
    isa: str,
) -> PairArrays: ...
def expand_pairs(
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    distance: NDArray[np.uint16],
    group_of: NDArray[np.int64],
    groups: int,
    right_group_of: NDArray[np.int64] | None,
    right_groups: int,
) -> PairArrays: ...

class HammingStars:
    """Kept rows; `visit` finds the nearest one of each row, and keeps a row that has none."""

    def __init__(
        self, masks: NDArray[np.uint64], *, bits: int, distance: int, isa: str
    ) -> None: ...
    def keep(self, rows: NDArray[np.uint64], document: int, *, threads: int) -> None: ...
    def visit(
        self, rows: NDArray[np.uint64], documents: NDArray[np.int64], *, keeps: bool, threads: int
    ) -> tuple[NDArray[np.int64], NDArray[np.uint16]]: ...

DocumentArrays = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64] | None]

def similarities(
    left: DocumentArrays,
    right: DocumentArrays | None,
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    *,
    measure: str,
    threads: int,
) -> NDArray[np.float64]: ...
def join_similar(
    left: DocumentArrays,
    right: DocumentArrays | None,
    *,
    measure: str,
    threshold: float,
    most_postings: int,
    most_pairs: int,
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int, int, bool]: ...
def predict_similar(
    left: DocumentArrays,
    right: DocumentArrays | None,
    *,
    measure: str,
    threshold: float,
    threads: int,
) -> int: ...

class SharedFilter:
    """The features that more than one document may have."""

    def __init__(self, features: int, two: bool) -> None: ...
    def see(
        self, documents: DocumentArrays, wanted: NDArray[np.bool_], *, right: bool, threads: int
    ) -> None: ...
    def keep_possible(
        self,
        documents: DocumentArrays,
        wanted: NDArray[np.bool_],
        *,
        measure: str,
        threshold: float,
        threads: int,
    ) -> None: ...

class DocumentCounts:
    """Roughly how many documents have each feature."""

    def __init__(self, features: int, most_bytes: int) -> None: ...
    def see(
        self, documents: DocumentArrays, wanted: NDArray[np.bool_], *, threads: int
    ) -> None: ...
    def finish(self, *, threads: int) -> None: ...

class StoredFeatures:
    """The features of whole collections, in memory or in files."""

    def __init__(self, weighted: bool) -> None: ...
    def __len__(self) -> int: ...
    def add(self, documents: DocumentArrays) -> None: ...
    def add_from_file(
        self, file: int, offsets: NDArray[np.int64], *, hashes_at: int, weights_at: int
    ) -> None: ...

class StarJoin:
    """The most similar kept document of each document, or all pairs."""

    def __init__(
        self,
        stored: StoredFeatures,
        counts: DocumentCounts,
        *,
        measure: str,
        threshold: float,
        features: int,
        memory: int,
    ) -> None: ...
    def decide(
        self,
        places: NDArray[np.int64],
        copy_of: NDArray[np.int64],
        decision: NDArray[np.uint8],
        kept_for: NDArray[np.int64],
        similarity: NDArray[np.float64],
        *,
        threads: int,
    ) -> int: ...
    def look_up(
        self,
        places: NDArray[np.int64],
        copy_of: NDArray[np.int64],
        decision: NDArray[np.uint8],
        kept_for: NDArray[np.int64],
        similarity: NDArray[np.float64],
        *,
        threads: int,
    ) -> None: ...
    def pairs(
        self, places: NDArray[np.int64], *, search: bool, insert: bool, most: int, threads: int
    ) -> tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
    def clear(self) -> None: ...
    @property
    def full(self) -> bool: ...
    @property
    def compared(self) -> int: ...

def stars_of_pairs(
    places: NDArray[np.int64],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    pair_similarity: NDArray[np.float64],
    copy_of: NDArray[np.int64],
    decision: NDArray[np.uint8],
    kept_for: NDArray[np.int64],
    similarity: NDArray[np.float64],
) -> None: ...
def answer_frequencies(
    tasks: list[tuple[NDArray[np.uint32], NDArray[np.uint8]]],
) -> list[NDArray[np.uint8]]: ...
def link_alike(
    values: NDArray[np.uint64],
    sizes: NDArray[np.float64],
    documents: NDArray[np.int64],
    ratio: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]: ...
def to_buckets(
    hashes: NDArray[np.uint64], width: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]: ...
def from_buckets(hashes: NDArray[np.uint64], answers: NDArray[np.uint8]) -> NDArray[np.uint8]: ...
def first_features(
    documents: tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64] | None],
    frequency: NDArray[np.uint8],
    *,
    share: float,
    squared: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def shared_runs(
    first: NDArray[np.uint64], second: NDArray[np.uint64], *, least: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def word_hashes(text: NDArray[np.uint8], *, isa: str) -> NDArray[np.uint64]: ...
def cut_passages(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, unit: str, threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def word_keys(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, threads: int, isa: str
) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]: ...
def begin_windows(
    documents: NDArray[np.int64],
    words: NDArray[np.uint32],
    keys: NDArray[np.uint64],
    *,
    size: int,
) -> NDArray[np.uint8]: ...

class Sightings:
    def __init__(self, bits: int) -> None: ...
    def see(self, hashes: NDArray[np.uint64]) -> None: ...
    def count(
        self, offsets: NDArray[np.int64], hashes: NDArray[np.uint64]
    ) -> NDArray[np.uint32]: ...

def components(count: int, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]: ...
def dense_clusters(
    documents: NDArray[np.int64],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    share: float,
    *,
    first_other: int,
    certain: int,
    apart_a: NDArray[np.int64],
    apart_b: NDArray[np.int64],
) -> NDArray[np.int64]: ...

MatchArrays = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint16]]

class MemoryTables:
    def __init__(self, masks: NDArray[np.uint64], bits: int, isa: str) -> None: ...
    def __len__(self) -> int: ...
    @property
    def distinct(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def largest_buckets(self, count: int) -> list[int]: ...
    def add(self, numbers: NDArray[np.uint64], rows: NDArray[np.uint64]) -> NDArray[np.uint32]: ...
    def rows_at(self, places: NDArray[np.uint32]) -> NDArray[np.uint64]: ...
    def remove(self, numbers: NDArray[np.uint64], rows: NDArray[np.uint64]) -> None: ...
    def query(
        self, rows: NDArray[np.uint64], max_distance: int, limit: int | None, threads: int
    ) -> MatchArrays: ...
    def query_one(
        self, row: bytes, max_distance: int, limit: int | None
    ) -> list[tuple[int, int]]: ...

def pack_segment(
    numbers: NDArray[np.uint64], rows: NDArray[np.uint64], masks: NDArray[np.uint64], bits: int
) -> bytes: ...
def merge_segments(buffers: list[NDArray[np.uint8]], dead: NDArray[np.uint64]) -> bytes: ...
def query_segment(
    buffer: NDArray[np.uint8],
    rows: NDArray[np.uint64],
    max_distance: int,
    limit: int | None,
    threads: int,
    dead: NDArray[np.uint64],
    isa: str,
) -> MatchArrays: ...
def segment_rows(buffer: NDArray[np.uint8]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]: ...
def check_segment(buffer: NDArray[np.uint8]) -> None: ...
def release_memory() -> None: ...
def keep_freed_memory() -> None: ...
def check_pages(file: int, all: bool) -> None: ...

class SetPlan:
    def __init__(
        self, measure: str, *, weighted: bool, threshold: float, bands: int, minima: int
    ) -> None: ...
    @property
    def threshold(self) -> float: ...
    @property
    def weighted(self) -> bool: ...
    @property
    def bands(self) -> int: ...
    @property
    def minima(self) -> int: ...

class SetDocuments:
    def __init__(
        self,
        plan: SetPlan,
        offsets: NDArray[np.int64],
        hashes: NDArray[np.uint64],
        weights: NDArray[np.float64] | None,
        *,
        threads: int,
    ) -> None: ...
    def __len__(self) -> int: ...
    def stored(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]: ...
    def stored_one(self, place: int) -> bytes: ...

_FeatureBlock = tuple[NDArray[np.uint8], int, int, int, int, int, int]

class SetTail:
    def __init__(self, plan: SetPlan) -> None: ...
    def __len__(self) -> int: ...
    def add(
        self, documents: SetDocuments, place: int, number: int, expires: int, revision: int
    ) -> None: ...
    def add_block(self, block: _FeatureBlock, revision: int) -> None: ...
    def remove(self, number: int, revision: int) -> None: ...
    def undo(self, revision: int) -> None: ...

class SetSegment:
    def __init__(self, data: NDArray[np.uint8], blocks: list[_FeatureBlock]) -> None: ...
    def check(self) -> None: ...
    @property
    def documents(self) -> int: ...
    @property
    def sets(self) -> int: ...
    @property
    def prefix_postings(self) -> int: ...

class SetView:
    def __init__(
        self,
        segments: list[SetSegment],
        dead: list[NDArray[np.uint64]],
        tail: SetTail | None,
        revision: int,
    ) -> None: ...
    def search(
        self,
        documents: SetDocuments,
        *,
        threshold: float,
        limit: int | None,
        now: int,
        skip: NDArray[np.uint64] | None,
        threads: int,
        isa: str,
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64]]: ...
    def search_one(
        self,
        documents: SetDocuments,
        place: int,
        threshold: float,
        limit: int | None,
        now: int,
        skip: int,
    ) -> list[tuple[int, float]]: ...

def text_document(
    plan: SetPlan,
    text: str,
    *,
    shingles: list[tuple[bool, int]],
    key: NDArray[np.uint64],
    bits: int,
    ties_up: bool,
    isa: str,
) -> tuple[SetDocuments, int, bytes]: ...
def pack_sets(
    plan: SetPlan, blocks: list[_FeatureBlock], numbers: NDArray[np.uint64] | None, *, threads: int
) -> bytes: ...
def read_features(data: NDArray[np.uint8]) -> tuple[NDArray[np.uint64], list[float] | None]: ...

class BenchmarkIndex:
    def __init__(self, *, min_words: int, short_words: int, max_items: int) -> None: ...
    def add(
        self,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        item_of: NDArray[np.uint32],
        *,
        items: int,
        isa: str,
    ) -> NDArray[np.uint8]: ...
    def begin_next(self) -> None: ...
    def finish(self) -> None: ...
    def __len__(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def common_count(self) -> int: ...
    def words_of(self) -> NDArray[np.int64]: ...
    def item_begins(self) -> NDArray[np.int64]: ...
    def counted(self) -> NDArray[np.uint8]: ...
    def same_as(self) -> NDArray[np.int64]: ...
    def common(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
    def scan(
        self,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        *,
        least_share: float,
        isa: str,
    ) -> dict[str, Any]: ...

def word_places(
    text: NDArray[np.uint8], numbers: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...

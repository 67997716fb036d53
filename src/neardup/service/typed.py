"""The types of requests and answers; the OpenAPI description is made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

MOST_MATCHES = 1000
Id = str | int
Threshold = Annotated[float, Meta(gt=0, le=1, description="Minimum similarity.")]
Distance = Annotated[int, Meta(ge=0, le=4096, description="Maximum number of differing bits.")]
Ttl = Annotated[str, Meta(description="Time until a document expires, for example 30d or 12h.")]
Text = Annotated[str, Meta(description="A text.")]


class Request(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of what a request may say: an unknown name is an error."""


class NoParameters(Request, frozen=True):
    """For endpoints without parameters."""


class CheckParameters(Request, frozen=True):
    """How to check: the arguments of `nd.Index.check`."""

    add: Annotated[
        Literal["new", "always", "never"], Meta(description="Which documents to add.")
    ] = "new"
    keep_per_group: Annotated[
        int, Meta(ge=1, le=MOST_MATCHES, description="How many documents of a kind are new.")
    ] = 1
    ttl: Ttl | None = None
    threshold: Threshold | None = None
    max_distance: Distance | None = None
    limit: Annotated[
        int, Meta(ge=1, le=MOST_MATCHES, description="Maximum number of matches to return.")
    ] = 10
    create: Annotated[
        bool, Meta(description="Create the index with the default settings if there is none.")
    ] = False


class QueryParameters(Request, frozen=True):
    """How to query: the arguments of `nd.Index.query`."""

    threshold: Threshold | None = None
    max_distance: Distance | None = None
    limit: Annotated[
        int, Meta(ge=1, le=MOST_MATCHES, description="Maximum number of matches to return.")
    ] = 10


class AddParameters(Request, frozen=True):
    """How to add documents."""

    ttl: Ttl | None = None
    create: Annotated[
        bool, Meta(description="Create the index with the default settings if there is none.")
    ] = False


class IdParameters(Request, frozen=True):
    """Which id is meant, if an index has both the string and the number."""

    id_type: (
        Annotated[
            Literal["string", "integer"],
            Meta(
                description="Type of the id. Default: the string if there is one, else the number."
            ),
        ]
        | None
    ) = None


class SchemeSettings(Request, frozen=True):
    """How features and fingerprints are made: the settings of `nd.fingerprint`."""

    features: str | None = None
    weights: str | None = None
    bits: Annotated[int, Meta(ge=1, le=4096)] | None = None
    hash: str | None = None
    tie: str | None = None
    projection: str | None = None


class IndexRequest(SchemeSettings, frozen=True):
    """The settings of a new index: those of `nd.Index`. `idf` is a path under the data folder."""

    text: str | None = None
    idf: str | None = None
    similarity: str | None = None
    threshold: Threshold | None = None
    complete: bool | None = None
    ttl: str | float | None = None
    max_distance: Distance | None = None
    plan: str | None = None
    store_text: bool | None = None
    store_features: bool | None = None


class Document(Struct, frozen=True, kw_only=True):
    """A document: a text; terms with optional weights; or the fields of a record, at this level."""

    id: Id | None = None
    text: Text | UnsetType = UNSET
    terms: list[Any] | UnsetType = UNSET
    weights: list[float] | UnsetType = UNSET
    metadata: Any = None


class Documents(Struct, frozen=True, kw_only=True):
    """Many documents; they are checked in order, in one transaction."""

    documents: list[Document]


class Ids(Request, frozen=True):
    """Ids of documents."""

    ids: Annotated[list[Id], Meta(max_length=100_000)]


class ComparedDocument(Request, frozen=True):
    """A document to compare: a text, or the id of a stored one (of an index with `store_text`)."""

    text: str | None = None
    id: Id | None = None


class CompareRequest(Request, frozen=True):
    """Two documents to compare under the scheme of an index."""

    a: ComparedDocument
    b: ComparedDocument


class CompareTexts(Request, frozen=True):
    """Two texts to compare."""

    a: str
    b: str
    settings: SchemeSettings = SchemeSettings()


class FingerprintRequest(Request, frozen=True):
    """Texts to fingerprint."""

    texts: list[str]
    settings: SchemeSettings = SchemeSettings()


class BackupRequest(Request, frozen=True):
    """The name of a new folder under `backups`."""

    name: str


class JobRequest(Request, frozen=True):
    """A run over files under the data folder; `inputs` and `against` are relative to it."""

    kind: Literal["dedup", "tune", "sweep"]
    inputs: list[str]
    against: list[str] = []
    settings: dict[str, Any] = {}


class Answer(Struct, frozen=True, kw_only=True):
    """The base of all answers."""


class Match(Answer, frozen=True):
    """A stored document near the asked one; `similarity` is its true similarity."""

    id: Id
    distance: int
    similarity: float | None
    metadata: Any


class RowError(Answer, frozen=True):
    """What is wrong with one document of many."""

    code: str
    detail: str


class Verdict(Answer, frozen=True):
    """The answer to a check; a document with an error has only that."""

    id: Id | None
    is_new: bool | UnsetType = UNSET
    added: bool | UnsetType = UNSET
    match: Match | UnsetType | None = UNSET
    matches: list[Match] | UnsetType = UNSET
    error: RowError | UnsetType = UNSET


class Verdicts(Answer, frozen=True):
    results: list[Verdict]


class Matches(Answer, frozen=True):
    """The answer to a query; a document with an error has only that."""

    id: Id | None
    matches: list[Match] | UnsetType = UNSET
    error: RowError | UnsetType = UNSET


class ManyMatches(Answer, frozen=True):
    results: list[Matches]


class Stored(Answer, frozen=True):
    """A document that is in the index now, or what is wrong with it."""

    id: Id | None
    stored: bool | UnsetType = UNSET
    error: RowError | UnsetType = UNSET


class ManyStored(Answer, frozen=True):
    results: list[Stored]
    stored: int


class IndexSettings(Answer, frozen=True):
    """The settings of an index, all of them."""

    features: str
    weights: str
    bits: int
    hash: str
    tie: str
    projection: str | None
    text: str | None
    similarity: str | None
    threshold: float | None
    complete: bool
    ttl: float | None
    max_distance: int | None
    plan: str | None
    store_text: bool
    store_features: bool


class IndexInfo(Answer, frozen=True):
    """An index: `finds` says in words what a query finds."""

    name: str
    documents: int
    scheme: str
    finds: str
    settings: IndexSettings


class IndexList(Answer, frozen=True):
    indexes: list[IndexInfo]


class IndexDeleted(Answer, frozen=True):
    name: str
    deleted: bool


class Seen(Answer, frozen=True):
    times: int
    first: float | None
    last: float | None


class StoredDocument(Answer, frozen=True):
    """A document as it is stored; times are in seconds since 1970."""

    id: Id
    fingerprint: str | None
    words: int
    metadata: Any
    text: str | None
    seen: Seen
    expires: float | None


class DocumentDeleted(Answer, frozen=True):
    id: Id
    deleted: bool


class Deleted(Answer, frozen=True):
    deleted: int


class Comparison(Answer, frozen=True):
    """What two texts share and how they differ: that of `nd.compare`."""

    scheme: str
    settings: dict[str, Any]
    a: dict[str, Any]
    b: dict[str, Any]
    shared: int
    only_a: int
    only_b: int
    distance: int | None
    differing_bits: list[int] | None
    jaccard: float | None
    cosine: float | None
    containment: float | None
    inclusion_a: float | None
    inclusion_b: float | None
    estimated_cosine: float | None
    reason: str | None
    diff: list[dict[str, Any]]
    diff_complete: bool


class Fingerprints(Answer, frozen=True):
    """A fingerprint for each text, in hexadecimal; null for a text without a word."""

    scheme: str
    fingerprints: list[str | None]
    words: list[int]


class SegmentInfo(Answer, frozen=True):
    documents: int
    removed: int
    bytes: int


class Stats(Answer, frozen=True):
    """Size, age and growth of an index."""

    scheme: str
    finds: str
    documents: int
    bytes: dict[str, int]
    segments: list[SegmentInfo]
    oldest: float | None
    newest: float | None
    added: dict[str, int]
    expired: int
    largest_buckets: list[int]


class Compacted(Answer, frozen=True):
    documents: int


class Expired(Answer, frozen=True):
    removed: int
    documents: int


class BackedUp(Answer, frozen=True):
    name: str
    documents: int


class JobProgress(Answer, frozen=True):
    stage: str
    done: int
    total: int | None
    documents: int


class JobFile(Answer, frozen=True):
    name: str
    bytes: int


class Job(Answer, frozen=True):
    """A run; times are in seconds since 1970."""

    id: str
    kind: str
    state: Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
    inputs: list[str]
    against: list[str]
    settings: dict[str, Any]
    created: float
    started: float | None
    ended: float | None
    progress: JobProgress | None
    error: str | None
    summary: dict[str, Any] | None
    files: list[JobFile]


class JobList(Answer, frozen=True):
    jobs: list[Job]


class Health(Answer, frozen=True):
    status: str


class ProblemDetails(Answer, frozen=True):
    """What went wrong, and what to do."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str

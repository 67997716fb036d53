"""Requests that must be refused, each with its status, its code, and a part of its sentence."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any, NamedTuple

import pyarrow as pa
from tests.service.packing import zstd

JSON = "application/json"
NDJSON = "application/x-ndjson"
ARROW = "application/vnd.apache.arrow.stream"

# The limits of the service that gets them.
MAX_BODY, MAX_TEXT, MAX_DOCUMENTS, MAX_FEATURES = 1_000_000, 100_000, 50, 1_000

CHECK = "/v1/indexes/plain/check"
QUERY = "/v1/indexes/plain/query"
ADD = "/v1/indexes/plain/documents"
GOOD = b'{"id": 1, "text": "one two three four"}'


class Bad(NamedTuple):
    """A request, and what it is answered with."""

    name: str
    status: int
    code: str
    said: str
    method: str
    path: str
    body: bytes | tuple[bytes, ...] | None = None
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _post(
    name: str, status: int, code: str, said: str, path: str, body: Any, **headers: str
) -> Bad:
    """A POST of JSON; bytes are sent as they are, and tuples of bytes in pieces."""
    data = body if isinstance(body, bytes | tuple) else _json(body)
    given = {"Content-Type": JSON, **{key.replace("_", "-"): v for key, v in headers.items()}}
    return Bad(name, status, code, said, "POST", path, data, given)


def _put(name: str, said: str, settings: Any, code: str = "invalid_setting") -> Bad:
    return Bad(
        f"settings: {name}",
        422,
        code,
        said,
        "PUT",
        "/v1/indexes/never",
        _json(settings),
        {"Content-Type": JSON},
    )


def arrow(table: pa.Table, **options: Any) -> bytes:
    """A table as an Arrow stream."""
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return out.getvalue()


def _deep(depth: int) -> bytes:
    return b'{"id": 1, "text": "a b c", "metadata": ' + b"[" * depth + b"]" * depth + b"}"


_BOMB = b'{"text": "' + b"a" * (20 * MAX_BODY) + b'"}'
_LONG = "x" * (MAX_TEXT + 1)
_TABLE = pa.table({"id": [1, 2], "text": ["one two three", "four five six"]})

_NOT_JSON = [
    _post("not JSON", 400, "invalid_json", "not valid JSON", CHECK, b"hello"),
    _post("nothing", 400, "invalid_json", "not valid JSON", CHECK, b""),
    _post("half of an object", 400, "invalid_json", "not valid JSON", CHECK, b'{"id": 1, "te'),
    _post("two objects", 400, "invalid_json", "not valid JSON", CHECK, GOOD + GOOD),
    _post("NaN", 400, "invalid_json", "not valid JSON", CHECK, b'{"text": "a", "metadata": NaN}'),
    _post("invalid UTF-8", 400, "invalid_json", "UTF-8", CHECK, b'{"text": "\xff\xfe"}'),
    _post("a lone surrogate", 400, "invalid_json", "surrogate", CHECK, rb'{"text": "\ud800"}'),
    _post("a surrogate in an id", 400, "invalid_json", "surrogate", ADD, rb'{"id": "\udc00"}'),
    _post("JSON 2,000 deep", 400, "invalid_json", "", CHECK, _deep(2_000)),
    _post("JSON 500 deep", 400, "invalid_json", "flatten it", CHECK, _deep(500)),
    _post("a million brackets", 400, "invalid_json", "", CHECK, b"[" * 900_000),
    _post("not JSON in fingerprint", 400, "invalid_json", "JSON", "/v1/fingerprint", b"{"),
    _post("no object in compare", 400, "invalid_json", "JSON object", "/v1/compare", []),
]
_WRONG_DOCUMENTS = [
    _post("an array", 422, "invalid_document", '{"documents": [...]}', CHECK, ["a b c"]),
    _post("a string", 422, "invalid_document", '{"documents": [...]}', QUERY, "a b c"),
    _post("a number", 422, "invalid_document", '{"documents": [...]}', ADD, 17),
    _post("null", 422, "invalid_document", '{"documents": [...]}', ADD, None),
    _post("no text", 422, "invalid_document", "it has no key 'text'", CHECK, {"id": 1}),
    _post("text null", 422, "invalid_document", "not a text", CHECK, {"text": None}),
    _post("text a number", 422, "invalid_document", "not a text", CHECK, {"text": 5}),
    _post("text a list", 422, "invalid_document", "not a text", QUERY, {"text": ["a"]}),
    _post("documents no list", 422, "invalid_document", "", CHECK, {"documents": {"text": "a"}}),
    _post(
        "id a list", 422, "invalid_document", "ids are int or str", CHECK, {"id": [], "text": ""}
    ),
    _post("id a float", 422, "invalid_document", "int or str", CHECK, {"id": 1.5, "text": "a"}),
    _post("id true", 422, "invalid_document", "int or str", CHECK, {"id": True, "text": "a"}),
    _post("id 2^63", 422, "invalid_document", "64 bits", CHECK, {"id": 2**63, "text": "a"}),
    _post("id -2^63-1", 422, "invalid_document", "", ADD, {"id": -(2**63) - 1, "text": "a"}),
    _post("no id in add", 422, "invalid_document", "needs an id", ADD, {"text": "a b c"}),
    _post("id null in add", 422, "invalid_document", "give it one", ADD, {"id": None, "text": "a"}),
    _post("delete: no list", 422, "invalid_document", "ids", f"{ADD}/delete", {"ids": 5}),
    _post("delete: no ids", 422, "invalid_document", "ids", f"{ADD}/delete", {}),
    _post("delete: a float", 422, "invalid_document", "ids", f"{ADD}/delete", {"ids": [1.5]}),
    _post("delete: 2^63", 422, "invalid_document", "64 bits", f"{ADD}/delete", {"ids": [2**63]}),
    _post(
        "terms: a text",
        422,
        "invalid_document",
        "'terms'",
        "/v1/indexes/terms/check",
        {"text": "a"},
    ),
    _post(
        "terms: too few weights",
        422,
        "invalid_document",
        "2 terms, but 1 weights",
        "/v1/indexes/terms/check",
        {"id": 1, "terms": ["a", "b"], "weights": [1.0]},
    ),
    _post(
        "record: no field", 422, "invalid_document", "name", "/v1/indexes/records/check", {"id": 1}
    ),
]
_PARAMETERS = [
    _post("unknown", 400, "unknown_parameter", "the parameters are: add", f"{CHECK}?ad=new", GOOD),
    _post("unknown in query", 400, "unknown_parameter", "'ttl'", f"{QUERY}?ttl=1d", GOOD),
    Bad("unknown in get", 400, "unknown_parameter", "none", "GET", "/v1/indexes/plain?full=1"),
    _post("twice", 422, "invalid_parameter", "give it once", f"{CHECK}?limit=5&limit=6", GOOD),
    _post("101 of them", 422, "invalid_parameter", "100", CHECK + "?" + "add=new&" * 101, GOOD),
    _post("add", 422, "invalid_parameter", "always", f"{CHECK}?add=maybe", GOOD),
    _post("add empty", 422, "invalid_parameter", "add", f"{CHECK}?add=", GOOD),
    _post(
        "threshold words", 422, "invalid_parameter", "threshold", f"{CHECK}?threshold=high", GOOD
    ),
    _post("threshold 0", 422, "invalid_parameter", "threshold", f"{CHECK}?threshold=0", GOOD),
    _post("threshold 2", 422, "invalid_parameter", "threshold", f"{QUERY}?threshold=2", GOOD),
    _post("threshold nan", 422, "invalid_parameter", "threshold", f"{QUERY}?threshold=nan", GOOD),
    _post("below the index's", 422, "invalid_parameter", "0.8", f"{QUERY}?threshold=0.5", GOOD),
    _post("below in check", 422, "invalid_parameter", "0.8", f"{CHECK}?threshold=0.5", GOOD),
    _post("distance here", 422, "invalid_parameter", "similarity", f"{QUERY}?max_distance=3", GOOD),
    _post(
        "distance -1", 422, "invalid_parameter", "max_distance", f"{QUERY}?max_distance=-1", GOOD
    ),
    _post(
        "threshold by distance",
        422,
        "invalid_parameter",
        "threshold",
        "/v1/indexes/near/query?threshold=0.9",
        GOOD,
    ),
    _post(
        "further than the plan",
        422,
        "invalid_parameter",
        "max_distance",
        "/v1/indexes/near/query?max_distance=60",
        GOOD,
    ),
    _post(
        "ttl by distance", 422, "invalid_parameter", "ttl", "/v1/indexes/near/check?ttl=1d", GOOD
    ),
    _post("limit 0", 422, "invalid_parameter", "limit", f"{QUERY}?limit=0", GOOD),
    _post("limit 1001", 422, "invalid_parameter", "limit", f"{QUERY}?limit=1001", GOOD),
    _post("limit 1.5", 422, "invalid_parameter", "limit", f"{QUERY}?limit=1.5", GOOD),
    _post("ttl words", 422, "invalid_parameter", "30d", f"{CHECK}?ttl=soon", GOOD),
    _post("ttl 0", 422, "invalid_parameter", "30d", f"{ADD}?ttl=0s", GOOD),
    _post("ttl -1d", 422, "invalid_parameter", "30d", f"{ADD}?ttl=-1d", GOOD),
    _post("keep 0", 422, "invalid_parameter", "keep_per_group", f"{CHECK}?keep_per_group=0", GOOD),
    _post("keep x", 422, "invalid_parameter", "keep_per_group", f"{CHECK}?keep_per_group=x", GOOD),
    _post("create", 422, "invalid_parameter", "create", f"{CHECK}?create=perhaps", GOOD),
]
_NAMES = [
    Bad(
        f"name {name!r:.30}",
        422,
        "invalid_parameter",
        "name of an index",
        "PUT",
        f"/v1/indexes/{name}",
    )
    for name in (
        *("..", ".", "%2e%2e", "%2E", "a%00b", "%00", ".hidden", "-a", "_a", "a.", "a%20b", "a%0A"),
        *("x" * 101, "%C3%A4", "%F0%9F%98%80", "%FF", "a%5Cb", "a:b", "%7E"),
    )
] + [
    Bad(
        "name of a link",
        422,
        "invalid_parameter",
        "leaves the data folder",
        "GET",
        "/v1/indexes/link",
    ),
    Bad("name with a slash", 404, "not_found", "/docs", "PUT", "/v1/indexes/a%2Fb"),
    Bad("name ../..", 404, "not_found", "/docs", "GET", "/v1/indexes/..%2F..%2Fetc"),
]
_MISSING = [
    Bad("no index", 404, "index_not_found", "PUT /v1/indexes/none", "GET", "/v1/indexes/none"),
    Bad("no index to delete", 404, "index_not_found", "none", "DELETE", "/v1/indexes/none"),
    _post("check nowhere", 404, "index_not_found", "create=true", "/v1/indexes/none/check", GOOD),
    _post("query nowhere", 404, "index_not_found", "none", "/v1/indexes/none/query", GOOD),
    _post("add nowhere", 404, "index_not_found", "none", "/v1/indexes/none/documents", GOOD),
    Bad("compact nowhere", 404, "index_not_found", "none", "POST", "/v1/indexes/none/compact"),
    Bad("stats nowhere", 404, "index_not_found", "none", "GET", "/v1/indexes/none/stats"),
    Bad("no document", 404, "document_not_found", "'nobody'", "GET", f"{ADD}/nobody"),
    Bad("no document to delete", 404, "document_not_found", "17", "DELETE", f"{ADD}/17"),
    Bad("document nowhere", 404, "index_not_found", "none", "GET", "/v1/indexes/none/documents/1"),
    Bad("no job", 404, "job_not_found", "GET /v1/jobs", "GET", "/v1/jobs/nothing"),
    Bad(
        "no job to delete", 404, "job_not_found", "GET /v1/jobs", "DELETE", "/v1/jobs/..%2F.."[:-5]
    ),
    Bad("no file", 404, "file_not_found", "lists them", "GET", "/v1/jobs/x/files/report.html"),
    Bad("file outside", 404, "file_not_found", "", "GET", "/v1/jobs/x/files/..%2F..%2F..%2Fetc"),
    Bad("no path", 404, "not_found", "/docs", "GET", "/v2/indexes"),
    Bad("a slash too many", 404, "not_found", "/docs", "GET", "/v1/indexes/"),
    Bad("a line feed too many", 404, "not_found", "/docs", "GET", "/healthz%0A"),
]
_METHODS = [
    Bad("delete all", 405, "method_not_allowed", "only GET", "DELETE", "/v1/indexes"),
    Bad("get a check", 405, "method_not_allowed", "only POST", "GET", CHECK),
    Bad("patch", 405, "method_not_allowed", "DELETE, GET, PUT", "PATCH", "/v1/indexes/plain"),
    Bad("options", 405, "method_not_allowed", "only GET", "OPTIONS", "/healthz"),
    Bad("get of delete", 405, "method_not_allowed", "GET, POST", "PUT", "/v1/jobs"),
]
_TYPES = [
    Bad("no type", 415, "unsupported_media_type", "send application/json", "POST", CHECK, GOOD),
    _post(
        "text/plain",
        415,
        "unsupported_media_type",
        JSON,
        CHECK,
        b"a b c",
        Content_Type="text/plain",
    ),
    _post(
        "a form",
        415,
        "unsupported_media_type",
        "x-www-form-urlencoded",
        ADD,
        b"id=1&text=a",
        Content_Type="application/x-www-form-urlencoded",
    ),
    _post(
        "lines to compare",
        415,
        "unsupported_media_type",
        JSON,
        "/v1/compare",
        b"",
        Content_Type=NDJSON,
    ),
    Bad(
        "no type for settings",
        415,
        "unsupported_media_type",
        JSON,
        "PUT",
        "/v1/indexes/never",
        b"{}",
    ),
    _post(
        "brotli", 415, "unsupported_media_type", "gzip, zstd", CHECK, GOOD, Content_Encoding="br"
    ),
    _post(
        "twice packed",
        415,
        "unsupported_media_type",
        "zstd",
        CHECK,
        GOOD,
        Content_Encoding="gzip, gzip",
    ),
]
_PACKED = [
    _post(
        "no gzip", 400, "invalid_encoding", "not valid gzip", CHECK, GOOD, Content_Encoding="gzip"
    ),
    _post(
        "no zstd", 400, "invalid_encoding", "not valid zstd", CHECK, GOOD, Content_Encoding="zstd"
    ),
    _post(
        "gzip cut off",
        400,
        "invalid_encoding",
        "cut off; send it again",
        CHECK,
        gzip.compress(GOOD)[:-9],
        Content_Encoding="gzip",
    ),
    _post(
        "zstd cut off",
        400,
        "invalid_encoding",
        "cut off; send it again",
        CHECK,
        zstd.compress(GOOD)[:-3],
        Content_Encoding="zstd",
    ),
    _post(
        "gzip with a wrong sum",
        400,
        "invalid_encoding",
        "not valid gzip",
        CHECK,
        gzip.compress(GOOD)[:-8] + b"\0" * 8,
        Content_Encoding="gzip",
    ),
    _post(
        "gzip, then garbage",
        400,
        "invalid_encoding",
        "not valid gzip",
        CHECK,
        gzip.compress(GOOD) + b"garbage",
        Content_Encoding="gzip",
    ),
    _post(
        "lines with broken gzip",
        400,
        "invalid_encoding",
        "not valid gzip",
        ADD,
        GOOD,
        Content_Type=NDJSON,
        Content_Encoding="gzip",
    ),
    _post(
        "gzip bomb",
        413,
        "body_too_large",
        "the unpacked body is larger than --max-body allows (1 MB)",
        CHECK,
        gzip.compress(_BOMB),
        Content_Encoding="gzip",
    ),
    _post(
        "zstd bomb",
        413,
        "body_too_large",
        "the unpacked body is larger than --max-body allows (1 MB)",
        CHECK,
        zstd.compress(_BOMB),
        Content_Encoding="zstd",
    ),
    _post(
        "zstd with a window of 128 MB",
        400,
        "invalid_encoding",
        "not valid zstd",
        CHECK,
        # Magic number, a header with window descriptor 2^27, and an empty last block.
        b"\x28\xb5\x2f\xfd\x00\x88\x01\x00\x00",
        Content_Encoding="zstd",
    ),
]
_LARGE = [
    _post("1.2 MB", 413, "body_too_large", "--max-body allows (1 MB)", CHECK, b" " * 1_200_000),
    _post("in chunks", 413, "body_too_large", "x-ndjson", CHECK, (b" " * 300_000,) * 5),
    _post("settings", 413, "body_too_large", "1 MB", "/v1/fingerprint", b" " * 1_200_000),
    _post("51 documents", 413, "too_many_documents", "x-ndjson", CHECK, {"documents": [{}] * 51}),
    _post("51 to add", 413, "too_many_documents", "(50)", ADD, {"documents": [{}] * 51}),
    _post("51 texts", 413, "too_many_documents", "(50)", "/v1/fingerprint", {"texts": [""] * 51}),
    _post("many ids", 413, "too_many_documents", "", f"{ADD}/delete", {"ids": [*range(600)]}),
    _post("a long text", 413, "text_too_long", "--max-text", CHECK, {"text": _LONG}),
    _post("a long text to add", 413, "text_too_long", "split it", ADD, {"id": 1, "text": _LONG}),
    _post(
        "a long one to compare",
        413,
        "text_too_long",
        "--max-text",
        "/v1/compare",
        {"a": "", "b": _LONG},
    ),
    _post("long to fingerprint", 413, "text_too_long", "", "/v1/fingerprint", {"texts": [_LONG]}),
    _post(
        "a long field",
        413,
        "text_too_long",
        "--max-text",
        "/v1/indexes/records/query",
        {"name": _LONG, "city": "x"},
    ),
    _post(
        "many terms",
        413,
        "too_many_features",
        "(1,000); split it",
        "/v1/indexes/terms/query",
        {"terms": [f"t{number}" for number in range(1_001)]},
    ),
]
_SETTINGS = [
    _put("unknown", "did you mean 'threshold'?", {"treshold": 0.8}),
    _put("threshold 0", "threshold", {"threshold": 0}),
    _put("threshold 1.1", "threshold", {"threshold": 1.1}),
    _put("threshold a string", "threshold", {"threshold": "0.8"}),
    _put("features", "features", {"features": "words"}),
    _put("features 0", "features", {"features": "word:0"}),
    _put("features a number", "features", {"features": 3}),
    _put("weights", "weights", {"weights": "heavy"}),
    _put("bits 0", "bits", {"bits": 0}),
    _put("bits 5000", "bits", {"bits": 5000}),
    _put("bits of a similarity", "bits", {"bits": 64.5}),
    _put("hash", "hash", {"hash": "sha1"}),
    _put("a program as hash", "hash", {"hash": "os:system"}),
    _put("tie", "tie", {"tie": "<0"}),
    _put("projection", "projection", {"projection": "flat"}),
    _put("complete", "complete", {"complete": "yes"}),
    _put("ttl", "ttl", {"ttl": "soon"}),
    _put("ttl -1", "ttl", {"ttl": -1}),
    _put("max_distance -1", "max_distance", {"max_distance": -1}),
    _put("max_distance 64 of 64", "max_distance", {"max_distance": 64, "bits": 64}),
    _put("both", "give one of them", {"max_distance": 3, "threshold": 0.8}),
    _put("ttl by distance", "give one of them", {"max_distance": 3, "ttl": "1d"}),
    _put("plan", "choose", {"plan": "magic"}),
    _put("store_text of terms", "store_text", {"features": "terms", "store_text": True}),
    _put("no features", "max_distance", {"store_features": False}),
    _put("idf ..", "'..'", {"weights": "tfidf", "idf": "../idf.parquet"}),
    _put("idf absolute", "absolute", {"weights": "tfidf", "idf": "/etc/passwd"}),
    _put("idf missing", "does not exist", {"weights": "tfidf", "idf": "none.parquet"}),
    _put("idf that is none", "corpus/a.jsonl", {"weights": "tfidf", "idf": "corpus/a.jsonl"}),
    _put("no object", "JSON object", [], "invalid_json")._replace(status=400),
    Bad(
        "settings differ",
        409,
        "settings_differ",
        "has threshold 0.8, but 0.6 was asked for",
        "PUT",
        "/v1/indexes/plain",
        _json({"threshold": 0.6}),
        {"Content-Type": JSON},
    ),
    Bad(
        "schemes differ",
        409,
        "settings_differ",
        "nd1/char:4/set/64",
        "PUT",
        "/v1/indexes/plain",
        _json({"features": "char:4"}),
        {"Content-Type": JSON},
    ),
    _post(
        "fingerprint: unknown",
        422,
        "invalid_setting",
        "bites",
        "/v1/fingerprint",
        {"texts": [], "settings": {"bites": 4}},
    ),
    _post(
        "fingerprint: hash",
        422,
        "invalid_setting",
        "choose",
        "/v1/fingerprint",
        {"texts": [], "settings": {"hash": "sha1"}},
    ),
    _post("fingerprint: no texts", 422, "invalid_setting", "texts", "/v1/fingerprint", {}),
    _post(
        "fingerprint: a number", 422, "invalid_setting", "texts", "/v1/fingerprint", {"texts": [1]}
    ),
    _post("compare: one text", 422, "invalid_setting", "b", "/v1/compare", {"a": "x"}),
    _post(
        "compare: terms",
        422,
        "invalid_setting",
        "texts",
        "/v1/compare",
        {"a": "x", "b": "y", "settings": {"features": "terms"}},
    ),
]
_OPERATIONS = [
    _post(
        "backup ..", 422, "invalid_setting", "backup", "/v1/indexes/plain/backup", {"name": ".."}
    ),
    _post(
        "backup a/b", 422, "invalid_setting", "ASCII", "/v1/indexes/plain/backup", {"name": "a/b"}
    ),
    _post("backup no name", 422, "invalid_setting", "name", "/v1/indexes/plain/backup", {}),
    _post("backup 5", 422, "invalid_setting", "name", "/v1/indexes/plain/backup", {"name": 5}),
    _post(
        "backup exists",
        409,
        "backup_exists",
        "another name",
        "/v1/indexes/plain/backup",
        {"name": "old"},
    ),
    _post(
        "backup nowhere", 404, "index_not_found", "none", "/v1/indexes/none/backup", {"name": "x"}
    ),
    _post(
        "compare nothing",
        422,
        "invalid_document",
        "a needs a text or an id",
        "/v1/indexes/kept/compare",
        {"a": {}, "b": {"text": "x"}},
    ),
    _post(
        "compare both",
        422,
        "invalid_document",
        "b needs a text or an id",
        "/v1/indexes/kept/compare",
        {"a": {"text": "x"}, "b": {"text": "x", "id": 1}},
    ),
    _post(
        "compare an unknown id",
        404,
        "document_not_found",
        "'nobody'",
        "/v1/indexes/kept/compare",
        {"a": {"text": "x"}, "b": {"id": "nobody"}},
    ),
    _post(
        "compare without texts",
        422,
        "invalid_document",
        "store_text",
        "/v1/indexes/plain/compare",
        {"a": {"text": "x"}, "b": {"id": "stored"}},
    ),
    _post(
        "compare terms",
        422,
        "invalid_parameter",
        "only texts can be compared",
        "/v1/indexes/terms/compare",
        {"a": {"text": "x"}, "b": {"text": "y"}},
    ),
]
_ARROW = [
    _post(
        "Arrow garbage",
        422,
        "invalid_document",
        "Arrow IPC stream",
        CHECK,
        b"garbage" * 9,
        Content_Type=ARROW,
    ),
    _post(
        "Arrow nothing", 422, "invalid_document", "Arrow IPC stream", CHECK, b"", Content_Type=ARROW
    ),
    _post(
        "Arrow cut off",
        422,
        "invalid_document",
        "Arrow",
        ADD,
        arrow(_TABLE)[:300],
        Content_Type=ARROW,
    ),
    _post(
        "Arrow compressed",
        422,
        "invalid_document",
        "write it without compression",
        CHECK,
        arrow(_TABLE, compression="zstd"),
        Content_Type=ARROW,
    ),
    _post(
        "Arrow too long",
        413,
        "too_many_documents",
        "(50)",
        CHECK,
        arrow(pa.table({"text": ["a"] * 51})),
        Content_Type=ARROW,
    ),
    _post(
        "Arrow too large",
        413,
        "body_too_large",
        "1 MB",
        CHECK,
        arrow(pa.table({"text": ["a" * 1_100_000]})),
        Content_Type=ARROW,
    ),
]


def _job(name: str, code: str, said: str, **request: Any) -> Bad:
    whole = {"kind": "dedup", "inputs": ["corpus/a.jsonl"], **request}
    return _post(f"job: {name}", 422, code, said, "/v1/jobs", whole)


_JOBS = [
    _job("..", "invalid_parameter", "'..'", inputs=["../data/corpus/a.jsonl"]),
    _job("absolute", "invalid_parameter", "absolute path", inputs=["/etc/passwd"]),
    _job("URL", "invalid_parameter", "is a URL", inputs=["https://example.org/a.jsonl"]),
    _job("link", "invalid_parameter", "leaves the data folder", inputs=["corpus/out.jsonl"]),
    _job(
        "link by a glob", "invalid_parameter", "leaves the data folder", inputs=["corpus/*.jsonl"]
    ),
    _job("hidden", "invalid_parameter", "hidden", inputs=[".neardup-serve.lock"]),
    _job("missing", "invalid_parameter", "does not exist", inputs=["corpus/none.jsonl"]),
    _job("index as input", "invalid_parameter", "belongs to an index", inputs=["indexes/plain"]),
    _job("against outside", "invalid_parameter", "'..'", against=["../x"]),
    _job("no input", "invalid_parameter", "list of files", inputs=[]),
    _job("kind", "invalid_setting", "dedup", kind="delete"),
    _job("setting", "invalid_setting", "did you mean 'threshold'?", settings={"treshold": 1}),
    _job("output", "invalid_setting", "output", settings={"output": "/tmp/x"}),
    _job("inputs a string", "invalid_setting", "inputs", inputs="corpus/a.jsonl"),
    _post("job: nothing", 422, "invalid_setting", "kind", "/v1/jobs", {}),
]

BAD: list[Bad] = [
    *(*_NOT_JSON, *_WRONG_DOCUMENTS, *_PARAMETERS, *_NAMES, *_MISSING, *_METHODS, *_TYPES),
    *(*_PACKED, *_LARGE, *_SETTINGS, *_OPERATIONS, *_ARROW, *_JOBS),
]

"""The answers to documents as plain values, in JSON or as Arrow columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import pyarrow as pa

from neardup.fingerprints import Scheme
from neardup.index import Answers, Index, Match, Verdict
from neardup.index.told import StoredDocument

Row = dict[str, Any]


def verdict_row(id: Any, verdict: Verdict) -> Row:
    """The answer to a check."""
    matches = [match_row(match) for match in verdict.matches]
    return {
        "id": id,
        "is_new": verdict.is_new,
        "added": verdict.added,
        "match": matches[0] if matches else None,
        "matches": matches,
    }


def matches_row(id: Any, matches: Sequence[Match]) -> Row:
    """The answer to a query."""
    return {"id": id, "matches": [match_row(match) for match in matches]}


def answer_rows(ids: Sequence[Any], answers: Answers) -> list[Row]:
    """The answers to many queries; most have no match or one, which needs no order."""
    offsets, similarities = answers.offsets.tolist(), answers.similarities
    found, distances = answers.ids, answers.distances.tolist()
    known = [None] * len(found) if similarities is None else similarities.tolist()
    about = answers.metadata or [None] * len(found)
    rows = []
    for place, id in enumerate(ids):
        begin, end = offsets[place], offsets[place + 1]
        if end - begin > 1:
            rows.append(matches_row(id, answers[place]))
            continue
        rows.append(
            {
                "id": id,
                "matches": [
                    {
                        "id": found[at],
                        "distance": distances[at],
                        "similarity": known[at],
                        "metadata": about[at],
                    }
                    for at in range(begin, end)
                ],
            }
        )
    return rows


def match_row(match: Match) -> Row:
    return {
        "id": match.id,
        "distance": match.distance,
        "similarity": match.similarity,
        "metadata": match.metadata,
    }


def stored_row(id: Any) -> Row:
    return {"id": id, "stored": True}


def index_row(name: str, index: Index) -> Row:
    """What there is to know of an index."""
    settings, scheme = index.settings, index.settings.scheme
    return {
        "name": name,
        "documents": len(index),
        "scheme": str(scheme),
        "finds": settings.finds,
        "settings": {
            **scheme.recipe,
            "text": None if scheme.fields is None else str(scheme.fields),
            "similarity": None if settings.threshold is None else settings.similarity,
            "threshold": settings.threshold,
            "complete": settings.complete,
            "ttl": settings.ttl,
            "max_distance": settings.max_distance,
            "plan": None if settings.plan is None else settings.plan.name,
            "store_text": settings.store_text,
            "store_features": settings.store_features,
        },
    }


def document_row(document: StoredDocument, scheme: Scheme) -> Row:
    """A stored document; its fingerprint in hexadecimal, as JSON has no integers of 64 bits."""
    number = document.fingerprint
    seen = document.seen
    return {
        "id": document.id,
        "fingerprint": None if number is None else f"{number:0{-(-scheme.bits // 4)}x}",
        "words": document.words,
        "metadata": document.metadata,
        "text": document.text,
        "seen": {"times": seen.times, "first": seen.first, "last": seen.last},
        "expires": document.expires,
    }


def lines(rows: Sequence[Row], first_line: int) -> bytes:
    """Rows as NDJSON, each with the number of its line."""
    return b"".join(
        orjson.dumps({"line": line, **row}, option=orjson.OPT_APPEND_NEWLINE)
        for line, row in enumerate(rows, first_line)
    )


_IDS = pa.string()
_MATCH = [("match", _IDS), ("distance", pa.int32()), ("similarity", pa.float64())]
CHECK_SCHEMA = pa.schema(
    [
        ("row", pa.int64()),
        ("id", _IDS),
        ("is_new", pa.bool_()),
        ("added", pa.bool_()),
        *_MATCH,
        ("error", pa.string()),
    ]
)
QUERY_SCHEMA = pa.schema([("row", pa.int64()), ("id", _IDS), *_MATCH])
STORED_SCHEMA = pa.schema(
    [("row", pa.int64()), ("id", _IDS), ("stored", pa.bool_()), ("error", pa.string())]
)


def check_columns(rows: Sequence[Row], first: int) -> pa.RecordBatch:
    """Answers to checks, one row each; ids as strings."""
    found = [
        {
            "row": number,
            "id": _text(row["id"]),
            "is_new": row.get("is_new"),
            "added": row.get("added"),
            **_match_columns(row.get("match")),
            "error": row["error"]["detail"] if "error" in row else None,
        }
        for number, row in enumerate(rows, first)
    ]
    return pa.RecordBatch.from_pylist(found, CHECK_SCHEMA)


def query_columns(rows: Sequence[Row], first: int) -> pa.RecordBatch:
    """Answers to queries, one row for each match."""
    found = [
        {"row": number, "id": _text(row["id"]), **_match_columns(match)}
        for number, row in enumerate(rows, first)
        for match in row.get("matches", ())
    ]
    return pa.RecordBatch.from_pylist(found, QUERY_SCHEMA)


def stored_columns(rows: Sequence[Row], first: int) -> pa.RecordBatch:
    """Answers to additions, one row each."""
    found = [
        {
            "row": number,
            "id": _text(row["id"]),
            "stored": row.get("stored", False),
            "error": row["error"]["detail"] if "error" in row else None,
        }
        for number, row in enumerate(rows, first)
    ]
    return pa.RecordBatch.from_pylist(found, STORED_SCHEMA)


def _match_columns(match: Row | None) -> Row:
    if match is None:
        return {"match": None, "distance": None, "similarity": None}
    return {
        "match": _text(match["id"]),
        "distance": match["distance"],
        "similarity": match["similarity"],
    }


def _text(id: Any) -> str | None:
    return None if id is None else str(id)

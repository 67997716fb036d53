"""A decision: what somebody said about documents, and when."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from xxhash import xxh3_128_hexdigest

from neardup.errors import SettingError
from neardup.frozen import dataclass
from neardup.visible import visible

FILE_NAME = "decisions.jsonl"
SAYS = ("same", "different", "keep", "skip", "undo")
FORMAT = 1
# Every two of the documents differ, so that the pairs grow with the square.
MOST_DIFFERENT = 1000
MOST_WHY = 10_000
MOST_NAME = 200
MOST_ID = 100_000
_ZULU = re.compile(r"[Zz]\Z")  # Python 3.10 reads +00:00 only
_CONTENT = re.compile("[0-9a-f]{32}")
_LEAST = {"same": 2, "different": 2, "keep": 1, "skip": 1, "undo": 0}
_SHOWN = 60


@dataclass(frozen=True)
class Named:
    """A document as a decision names it: by its id, and by the hash of its content.

    The id 5 and the id "5" are different documents. With `other`, it is of the collection that
    the run compared with (`--against`).
    """

    id: int | str
    content: str
    other: bool = False

    def __str__(self) -> str:
        text = visible(str(self.id))
        return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


@dataclass(frozen=True)
class Decision:
    """What `by` said of documents at a time (ISO 8601, UTC); `key` is unique.

    `similarity` is that of the two documents when the decision was made, for labels. `undoes` is
    the key of the decision that an `undo` takes back.
    """

    says: str
    documents: tuple[Named, ...]
    by: str
    at: str
    key: str
    why: str = ""
    undoes: str = ""
    similarity: float | None = None


def content_of(text: str) -> str:
    """The hash of a document's text, as 32 hexadecimal digits.

    >>> content_of("one two three")
    '98460f19f5b1a02077af47c0aa7d17f0'
    """
    # Lone surrogates, as in file names that are not UTF-8, have bytes of their own.
    return xxh3_128_hexdigest(text.encode("utf-8", "surrogatepass"))


def now() -> str:
    """The time as a decision has it."""
    return _written(datetime.now(timezone.utc))


def checked(decision: Decision) -> Decision:
    """The decision, if it has a meaning; `SettingError` says what is wrong with it."""
    says, documents = decision.says, decision.documents
    if says not in SAYS:
        raise SettingError(f"says={says!r} is unknown; choose {', '.join(SAYS)}")
    for one in documents:
        fault = named_fault(one)
        if fault:
            raise SettingError(fault)
    if len(set(documents)) < len(documents):
        raise SettingError(f"a decision {says!r} names one document twice")
    if len(documents) < _LEAST[says]:
        word = "document" if _LEAST[says] == 1 else "documents"
        raise SettingError(f"a decision {says!r} needs at least {_LEAST[says]} {word}")
    if says == "different" and len(documents) > MOST_DIFFERENT:
        raise SettingError(
            f"a decision 'different' names every pair of its documents, and may have at most "
            f"{MOST_DIFFERENT:,}; it has {len(documents):,}"
        )
    for name, most in {"by": MOST_NAME, "at": 40, "key": MOST_NAME, "why": MOST_WHY}.items():
        value = getattr(decision, name)
        if not isinstance(value, str) or len(value) > most:
            raise SettingError(f"{name} must be a text of at most {most:,} characters")
    if not decision.key:
        raise SettingError("key must not be empty")
    if (says == "undo") != bool(decision.undoes) or not isinstance(decision.undoes, str):
        raise SettingError("undoes is the key of a decision, for 'undo' alone")
    if in_utc(decision.at) != decision.at:
        raise SettingError(f"at={decision.at!r} is not in the form of {in_utc(decision.at)!r}")
    similarity = decision.similarity
    if similarity is not None and not (
        type(similarity) in (int, float) and -1 <= similarity <= 1.000001
    ):
        raise SettingError(f"similarity={similarity!r} is not a number from -1 to 1")
    return decision


def named_fault(named: Named) -> str | None:
    """What is wrong with the name of a document."""
    if type(named.id) not in (int, str):
        return f"the id {named.id!r} is neither a whole number nor a text"
    if isinstance(named.id, int) and not -(2**63) <= named.id < 2**64:
        return f"the id {named.id} has more than 64 bits"
    if isinstance(named.id, str) and len(named.id) > MOST_ID:
        return f"an id has {len(named.id):,} characters; at most {MOST_ID:,} are allowed"
    if type(named.content) is not str or not _CONTENT.fullmatch(named.content):
        return f"content={named.content!r} is not a hash of 32 hexadecimal digits"
    return None if type(named.other) is bool else f"other={named.other!r} is not true or false"


def _utc(at: str) -> str | None:
    """A time in the form that decisions have, so that texts compare as times; None if it is none.

    >>> _utc("2026-05-04T12:30:00+02:00")
    '2026-05-04T10:30:00.000Z'
    """
    try:
        when = datetime.fromisoformat(_ZULU.sub("+00:00", at))
        return None if when.tzinfo is None else _written(when.astimezone(timezone.utc))
    except (ValueError, OverflowError):
        return None


def _written(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def in_utc(at: Any) -> str:
    """A time as decisions have it; `SettingError` if it is none."""
    found = _utc(at) if isinstance(at, str) else None
    if found is None:
        raise SettingError(f"at={at!r} is not a time such as 2026-05-04T10:30:00.000Z")
    return found


def as_line(decision: Decision) -> bytes:
    """The decision as a line of JSON, with its line end."""
    documents = [
        {"id": one.id, "content": one.content, **({"other": True} if one.other else {})}
        for one in decision.documents
    ]
    held: dict[str, Any] = {"v": FORMAT, "says": decision.says, "documents": documents}
    held |= {"by": decision.by, "at": decision.at, "key": decision.key}
    for name, value in (("why", decision.why), ("undoes", decision.undoes)):
        if value:
            held[name] = value
    if decision.similarity is not None:
        held["similarity"] = float(decision.similarity)
    try:
        return (json.dumps(held, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # lone surrogates, which only escapes can hold
        return (json.dumps(held) + "\n").encode()


def of_object(item: Any) -> Decision:
    """A decision from parsed JSON; `SettingError` if it is none."""
    if not isinstance(item, Mapping):
        raise SettingError("not a JSON object")
    version = item.get("v", FORMAT)
    if version != FORMAT:
        raise SettingError(f"format {version!r}, which this version of neardup does not know")
    missing = [name for name in ("says", "documents", "by", "at", "key") if name not in item]
    if missing:
        raise SettingError(f"{', '.join(map(repr, missing))} missing")
    if not isinstance(item["documents"], list):
        raise SettingError("'documents' is not a list")
    return checked(
        Decision(
            item["says"],
            tuple(map(_named, item["documents"])),
            item["by"],
            in_utc(item["at"]),
            item["key"],
            item.get("why", ""),
            item.get("undoes", ""),
            item.get("similarity"),
        )
    )


def _named(item: Any) -> Named:
    if not isinstance(item, Mapping) or not {"id", "content"} <= item.keys():
        raise SettingError("a document needs 'id' and 'content'")
    return Named(item["id"], item["content"], item.get("other", False))

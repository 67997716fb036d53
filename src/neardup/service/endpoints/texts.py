"""Fingerprints and comparisons: nothing is stored."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import msgspec

from neardup.comparison.compare import compare
from neardup.errors import SettingError
from neardup.fingerprints import Scheme, fingerprint
from neardup.index import Index
from neardup.service import typed
from neardup.service.endpoints.endpoint import Endpoint
from neardup.service.exchange import Exchange
from neardup.service.limits import Limits, size_words
from neardup.service.problems import Problem
from neardup.service.service import Service
from neardup.sphere.projection import is_computed

_SPHERE = re.compile(r"sphere:([0-9]{1,4})x([0-9]{1,4})(?::([0-9]{1,9}))?(?:@.*)?")


def require_length(text: str, limits: Limits) -> None:
    """Refuse a text that is too long; characters are counted, as bytes are not at hand."""
    if len(text) > limits.text:
        raise Problem(
            "text_too_long",
            f"a text has {len(text):,} characters, more than --max-text allows "
            f"({size_words(limits.text)}); split it",
        )


def require_count(count: int, limits: Limits) -> None:
    """Refuse too many documents in one request."""
    if count > limits.documents:
        raise Problem(
            "too_many_documents",
            f"{count:,} documents are more than one request may have ({limits.documents:,}); send "
            "several requests, or stream them as application/x-ndjson",
        )


async def fingerprint_texts(service: Service, exchange: Exchange) -> None:
    exchange.parameters(typed.NoParameters)
    given = await exchange.typed(typed.FingerprintRequest)
    require_count(len(given.texts), service.limits)
    for text in given.texts:
        require_length(text, service.limits)
    settings = _chosen(given.settings)

    def made() -> dict[str, Any]:
        found = fingerprint(given.texts, **settings)
        width = -(-found.scheme.bits // 4)
        spelt = [
            None if empty else f"{found[place]:0{width}x}"
            for place, empty in enumerate(found.empty.tolist())
        ]
        return {"scheme": str(found.scheme), "fingerprints": spelt, "words": found.words.tolist()}

    await exchange.answer(await asyncio.get_running_loop().run_in_executor(None, made))


async def compare_texts(service: Service, exchange: Exchange) -> None:
    exchange.parameters(typed.NoParameters)
    given = await exchange.typed(typed.CompareTexts)
    await _compared(service, exchange, given.a, given.b, _chosen(given.settings))


async def compare_in_index(service: Service, exchange: Exchange) -> None:
    exchange.parameters(typed.NoParameters)
    given = await exchange.typed(typed.CompareRequest)
    reader = await service.readers.get(exchange.values["name"])
    scheme = reader.index.scheme
    if scheme.features.are_given or scheme.fields is not None:
        raise Problem(
            "invalid_parameter",
            f"only texts can be compared, but {scheme} is not a scheme of texts; use POST "
            "/v1/compare with another one",
        )
    a, b = (_text_of(reader.index, each, side) for each, side in ((given.a, "a"), (given.b, "b")))
    settings = {name: value for name, value in scheme.recipe.items() if value is not None}
    if scheme.needs_idf:
        settings["idf"] = reader.index.idf
    await _compared(service, exchange, a, b, settings)


async def _compared(
    service: Service, exchange: Exchange, a: str, b: str, settings: dict[str, Any]
) -> None:
    for text in (a, b):
        require_length(text, service.limits)

    def made() -> dict[str, Any]:
        try:
            return compare(a, b, **settings).to_dict()
        except SettingError as error:
            raise Problem("invalid_setting", str(error)) from None

    await exchange.answer(await asyncio.get_running_loop().run_in_executor(None, made))


def _text_of(index: Index, given: typed.ComparedDocument, side: str) -> str:
    if (given.text is None) == (given.id is None):
        raise Problem("invalid_document", f"{side} needs a text or an id, one of them")
    if given.text is not None:
        return given.text
    assert given.id is not None
    stored = index.get(given.id)
    if stored is None:
        raise Problem("document_not_found", f"there is no document {given.id!r:.80}")
    if stored.text is None:
        raise Problem(
            "invalid_document",
            f"the text of {given.id!r:.80} is not stored; give the text, or create the index with "
            "store_text",
        )
    return stored.text


def _chosen(settings: typed.SchemeSettings) -> dict[str, Any]:
    chosen = given_settings(settings)
    try:
        Scheme.of(**chosen)
    except SettingError as error:
        raise Problem("invalid_setting", str(error)) from None
    return chosen


def given_settings(settings: typed.SchemeSettings) -> dict[str, Any]:
    """The settings that a request has; vectors that were never computed are refused."""
    chosen = {
        name: value for name, value in msgspec.structs.asdict(settings).items() if value is not None
    }
    found = _SPHERE.fullmatch(chosen.get("projection", ""))
    if found and not is_computed(int(found[1]), int(found[2]), int(found[3] or 0)):
        raise Problem(
            "invalid_setting",
            f"the vectors of {found[0]:.60} are not computed yet, which can take minutes; use "
            "them once on the server, with neardup fingerprint --projection",
        )
    return chosen


ENDPOINTS = [
    Endpoint(
        "POST",
        "/v1/indexes/{name}/compare",
        compare_in_index,
        "Compare two documents under the scheme of an index",
        "read",
        typed.Comparison,
        about="Features shared, differing bits, true similarities, and the diff.",
        body=typed.CompareRequest,
        codes=("index_not_found", "document_not_found", "invalid_document", "text_too_long"),
    ),
    Endpoint(
        "POST",
        "/v1/fingerprint",
        fingerprint_texts,
        "Fingerprint texts",
        "read",
        typed.Fingerprints,
        body=typed.FingerprintRequest,
        codes=("invalid_setting", "too_many_documents", "text_too_long"),
    ),
    Endpoint(
        "POST",
        "/v1/compare",
        compare_texts,
        "Compare two texts",
        "read",
        typed.Comparison,
        about="Features shared, differing bits, true similarities, and the diff.",
        body=typed.CompareTexts,
        codes=("invalid_setting", "text_too_long"),
    ),
]

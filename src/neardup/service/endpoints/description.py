"""`/openapi.json` and `/docs`."""

from __future__ import annotations

from neardup.service.endpoints.endpoint import Endpoint
from neardup.service.exchange import Exchange
from neardup.service.service import Service

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


async def openapi(service: Service, exchange: Exchange) -> None:
    from neardup.service.endpoints.table import DESCRIBED
    from neardup.service.openapi import description_json

    await exchange.answer_bytes(description_json(DESCRIBED))


async def docs(service: Service, exchange: Exchange) -> None:
    from neardup.service.docs_page import page
    from neardup.service.endpoints.table import DESCRIBED

    await exchange.answer_text(page(DESCRIBED), "text/html; charset=utf-8", _POLICY)


ENDPOINTS = [
    Endpoint("GET", "/openapi.json", openapi, "The description of the service", None, None),
    Endpoint("GET", "/docs", docs, "The description as a page", None, None),
]

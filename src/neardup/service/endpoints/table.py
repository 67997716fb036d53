"""All endpoints, those that are asked most often first."""

from __future__ import annotations

from neardup.service.endpoints import about, documents, explore, indexes, jobs, texts
from neardup.service.endpoints.description import ENDPOINTS as DESCRIPTION
from neardup.service.endpoints.endpoint import Endpoint

DESCRIBED: tuple[Endpoint, ...] = (
    *documents.ENDPOINTS,
    *texts.ENDPOINTS,
    *indexes.ENDPOINTS,
    *jobs.ENDPOINTS,
    *about.ENDPOINTS,
)
ENDPOINTS = (*DESCRIBED, *DESCRIPTION, *explore.ENDPOINTS)

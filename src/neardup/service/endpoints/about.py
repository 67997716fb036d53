"""The service itself: health, readiness, metrics, description."""

from __future__ import annotations

from neardup.errors import NeardupError
from neardup.service import typed
from neardup.service.endpoints.endpoint import Endpoint
from neardup.service.exchange import Exchange
from neardup.service.problems import Problem, unavailable
from neardup.service.service import Service
from neardup.system.files import allocated_bytes


async def healthz(service: Service, exchange: Exchange) -> None:
    await exchange.answer({"status": "ok"})


async def readyz(service: Service, exchange: Exchange) -> None:
    if service.shared.is_draining:
        raise unavailable("the service is being stopped; ask another one")
    if not (service.writer.is_connected and service.shared.writer_is_ready):
        raise unavailable("the writer is being started; ask again in a second")
    await exchange.answer({"status": "ready"})


async def metrics(service: Service, exchange: Exchange) -> None:
    if not exchange.key.sees_all:
        raise Problem("forbidden", "the metrics name all indexes; use a key for all of them")
    documents: dict[str, float] = {}
    sizes: dict[str, float] = {}
    for name in service.readers.names():
        try:
            reader = await service.readers.get(name)
            documents[name] = len(reader.index)
            sizes[name] = allocated_bytes(reader.index.path / "data.mdb")
        except (Problem, NeardupError, OSError) as error:  # deleted meanwhile, or damaged
            service.log.event("unreadable", index=name, fault=type(error).__name__)
    text = service.counters.text(
        {
            "index_documents": ("Documents of an index.", documents),
            "index_bytes": ("Size of an index on disk.", sizes),
        }
    )
    await exchange.answer_text(text, "text/plain; version=0.0.4; charset=utf-8")


ENDPOINTS = [
    Endpoint("GET", "/healthz", healthz, "Whether the process is alive", None, typed.Health),
    Endpoint(
        "GET",
        "/readyz",
        readyz,
        "Whether requests can be served",
        None,
        typed.Health,
        codes=("unavailable",),
    ),
    Endpoint(
        "GET",
        "/metrics",
        metrics,
        "Metrics for Prometheus",
        "read",
        None,
        media_type="text/plain",
    ),
]

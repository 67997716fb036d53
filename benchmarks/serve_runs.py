"""What the benchmark of the server measures: tools, kinds of load, sizes."""

from __future__ import annotations

from dataclasses import dataclass

BENCHMARK = "serve"
MILLION = 10**6
THRESHOLD = 0.8
WORKERS = 2
INDEX = "pages"
BATCH, PEER_BATCH = 100, 1_000
# A service is seldom asked as fast as it can answer: 16 connections that wait about 16 ms between
# an answer and the next request send somewhat less than 1,000 requests a second.
PAUSE_MILLISECONDS = 16

SERVER, LIBRARY = "neardup serve", "neardup, library"
MINHASH, SIMHASH = "FastAPI + datasketch", "FastAPI + simhash"
PEERS = {MINHASH: "serve_peer_minhash", SIMHASH: "serve_peer_simhash"}
PEER_PACKAGES = {MINHASH: ("fastapi", "datasketch"), SIMHASH: ("fastapi", "simhash")}

BULK = "bulk add"
ADD_LINES = "index add, from NDJSON"
ADD_ARROW = "add_many, from Arrow"
QUERY = "query"
BATCHES = f"query, {BATCH} a request"
CHECK, PACED, ALONE = "check", "check, paced", "check, one connection"
QUERY_BESIDE, CHECK_BESIDE = "query, beside checks", "check, beside queries"
ADDS = (BULK, ADD_ARROW, ADD_LINES)
LOADS = (QUERY, BATCHES, CHECK, PACED, ALONE, QUERY_BESIDE, CHECK_BESIDE)
PEER_LOADS = (QUERY, BATCHES, CHECK, ALONE)
PARTS = {"library": LIBRARY, "server": SERVER, "datasketch": MINHASH, "simhash": SIMHASH}


@dataclass(frozen=True)
class Scale:
    """How much is measured.

    `asked` is the number of pages that are queried for, over and over. No page is checked twice, so
    bodies are made for `most` checks a second, which is more than any tool answers.
    """

    n: int
    seconds: int
    rounds: int
    peer_seconds: float
    warm_seconds: int
    asked: int
    most: int


FULL = Scale(
    n=MILLION, seconds=10, rounds=3, peer_seconds=300, warm_seconds=2, asked=20_000, most=8_000
)
SMALL = Scale(n=2_000, seconds=1, rounds=1, peer_seconds=1, warm_seconds=0, asked=1_000, most=5_000)

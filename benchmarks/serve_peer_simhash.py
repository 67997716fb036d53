"""A service around simhash.SimhashIndex, as people write it: one process, in memory.

uvicorn benchmarks.serve_peer_simhash:app
"""

from __future__ import annotations

from fastapi import FastAPI
from pydantic import BaseModel
from simhash import Simhash, SimhashIndex

DISTANCE, SHINGLE = 3, 3

app = FastAPI()
index = SimhashIndex([], k=DISTANCE)


class Document(BaseModel):
    id: str
    text: str


class Documents(BaseModel):
    documents: list[Document]


def fingerprint(text: str) -> Simhash:
    words = text.lower().split()
    return Simhash([" ".join(words[i : i + SHINGLE]) for i in range(len(words) - SHINGLE + 1)])


# See serve_peer_minhash.py for why this is no pool of threads.
@app.post("/check")
async def check(document: Document) -> dict[str, object]:
    made = fingerprint(document.text)
    matches = index.get_near_dups(made)
    if not matches:
        index.add(document.id, made)
    return {"id": document.id, "is_new": not matches, "matches": matches}


@app.post("/query")
async def query(document: Document) -> dict[str, object]:
    return {"id": document.id, "matches": index.get_near_dups(fingerprint(document.text))}


@app.post("/query_many")
async def query_many(asked: Documents) -> dict[str, object]:
    found = [
        {"id": one.id, "matches": index.get_near_dups(fingerprint(one.text))}
        for one in asked.documents
    ]
    return {"results": found}


@app.post("/documents")
async def add(given: Documents) -> dict[str, int]:
    for document in given.documents:
        index.add(document.id, fingerprint(document.text))
    return {"stored": len(given.documents)}

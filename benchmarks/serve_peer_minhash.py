"""A service around datasketch's MinHashLSH, as people write it: one process, in memory.

uvicorn benchmarks.serve_peer_minhash:app
"""

from __future__ import annotations

from datasketch import MinHash, MinHashLSH
from fastapi import FastAPI
from pydantic import BaseModel

THRESHOLD, PERMUTATIONS, SHINGLE = 0.8, 128, 3

app = FastAPI()
index = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)


class Document(BaseModel):
    id: str
    text: str


class Documents(BaseModel):
    documents: list[Document]


def sketch(text: str) -> MinHash:
    words = text.lower().split()
    shingles = {" ".join(words[i : i + SHINGLE]) for i in range(len(words) - SHINGLE + 1)}
    made = MinHash(num_perm=PERMUTATIONS)
    made.update_batch([shingle.encode() for shingle in shingles])
    return made


# The work is Python's own and holds the interpreter, so that a pool of threads would only be in
# its way; and what runs in the event loop needs no lock.
@app.post("/check")
async def check(document: Document) -> dict[str, object]:
    made = sketch(document.text)
    matches = index.query(made)
    if not matches and document.id not in index:
        index.insert(document.id, made)
    return {"id": document.id, "is_new": not matches, "matches": matches}


@app.post("/query")
async def query(document: Document) -> dict[str, object]:
    return {"id": document.id, "matches": index.query(sketch(document.text))}


@app.post("/query_many")
async def query_many(asked: Documents) -> dict[str, object]:
    found = [{"id": one.id, "matches": index.query(sketch(one.text))} for one in asked.documents]
    return {"results": found}


@app.post("/documents")
async def add(given: Documents) -> dict[str, int]:
    with index.insertion_session() as session:
        for document in given.documents:
            session.insert(document.id, sketch(document.text))
    return {"stored": len(given.documents)}

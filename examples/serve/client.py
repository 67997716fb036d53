"""Seen before? With the Python client, against a server started with: neardup serve data.

    python examples/serve/client.py [http://127.0.0.1:7700]

It checks the sample of 355 texts in six languages, first as one batch and then one by one from
coroutines. A server with keys wants NEARDUP_KEY in the environment.
"""

import asyncio
import json
import os
import sys
from collections import Counter
from pathlib import Path

import neardup as nd

SAMPLE = Path(__file__).parents[1] / "sample.jsonl"
KEY = os.environ.get("NEARDUP_KEY")


def in_one_batch(url: str, rows: list[dict[str, str]]) -> None:
    """Check all documents with one call, and show a near-duplicate of each language."""
    with nd.Client(url, KEY) as client:
        index = client.create_index("python-example", store_text=True)
        verdicts = index.check_many((row["id"], row["text"], {"lang": row["lang"]}) for row in rows)
        new = sum(verdict.is_new for verdict in verdicts)
        print(f"{len(rows)} documents: {new} new, {len(rows) - new} near-duplicates, for example")
        shown = set()
        for row, verdict in zip(rows, verdicts, strict=True):
            match = verdict.match
            if match is None or match.similarity == 1 or row["lang"] in shown:
                continue
            shown.add(row["lang"])
            compared = index.compare(row["text"], {"id": match.id})
            print(
                f"  {row['id']:7} like {match.id:7} {match.metadata}: similarity "
                f"{match.similarity:.4f}, {compared.shared} features shared, "
                f"{compared.only_a + compared.only_b} not"
            )
        print(f"The index has {len(index)} documents: {index.stats().finds}.")


async def from_coroutines(url: str, rows: list[dict[str, str]]) -> None:
    """Ask for the near-duplicates of every document, sixteen requests at a time."""
    async with nd.AsyncClient(url, KEY) as client:
        index = client.index("python-example")
        free = asyncio.Semaphore(16)

        async def found(row: dict[str, str]) -> int:
            async with free:
                return len(await index.query(row["text"]))

        counts = await asyncio.gather(*map(found, rows))
    kinds = Counter("some" if count else "none" for count in counts)
    print(
        f"Of {len(rows)} queries, {kinds['some']} find a document; texts without words find none."
    )


def main(url: str = "http://127.0.0.1:7700") -> None:
    """Run both."""
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    in_one_batch(url, rows)
    asyncio.run(from_coroutines(url, rows))


if __name__ == "__main__":
    main(*sys.argv[1:])

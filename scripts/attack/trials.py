"""One measured run over documents: seconds, peak memory, and what came out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from scripts.attack import craft

import neardup as nd

KEY = "attack"  # the name of the key, which only the keyed runs have


def measured(trial: str, documents: list[str], hash: str, folder: Path) -> dict[str, Any]:
    """Run a trial in a process of its own, so that its memory is its own."""
    source = folder / "documents.json"
    source.write_text(json.dumps(documents), encoding="utf-8")
    command = [sys.executable, "-m", "scripts.attack.trials", trial, str(source), hash]
    secret = {"NEARDUP_KEY_ATTACK": os.urandom(16).hex()}
    run = subprocess.run(
        command, env={**os.environ, **secret}, check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def idf(documents: list[str], hash: str) -> str:
    """Count features for tf-idf."""
    return f"{len(nd.idf(documents, 'word:1', hash=hash)):,} features in two documents"


def exact(documents: list[str], hash: str) -> str:
    """Deduplicate by the exact join, word by word."""
    result = nd.dedup(documents, features="word:1", hash=hash, candidates="exact", threads=1)
    return f"{len(result.kept):,} kept"


def shingles(documents: list[str], hash: str) -> str:
    """The same as it is by default."""
    result = nd.dedup(documents, hash=hash, threads=1)
    return f"{len(result.kept):,} kept"


def index(documents: list[str], hash: str) -> str:
    """Fill an index and ask it for every document and for the victim's."""
    held = nd.MemoryIndex(hash=hash, threads=1)
    held.add_many(enumerate(documents))
    held.query_many(documents, limit=1)
    matches = held.query(craft.victim()[0], limit=None)
    return f"{len(matches):,} match the victim"


TRIALS = {"idf": idf, "exact": exact, "shingles": shingles, "index": index}


def peak_megabytes() -> float:
    """The largest memory of this process; `getrusage` would tell that of its parent, if larger."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    """Print what one trial took."""
    name, source, hash = sys.argv[1:]
    documents = json.loads(Path(source).read_text(encoding="utf-8"))
    started = time.process_time()
    outcome = TRIALS[name](documents, hash)
    found = {
        "seconds": time.process_time() - started,
        "megabytes": peak_megabytes(),
        "outcome": outcome,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()

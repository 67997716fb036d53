"""A MemoryIndex frees memory that it no longer needs."""

import subprocess
import sys

import numpy as np
import pytest

import neardup as nd

COUNT = 200_000

SCRIPT = f"""
import gc, sys
import numpy as np
import neardup as nd

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def fill(index, count):
    prints = np.random.default_rng(1).integers(0, 2**64, count, np.uint64)
    for first in range(0, count, 20_000):
        rows = prints[first : first + 20_000]
        ids = [f"document {{number}}" for number in range(first, first + len(rows))]
        index.add_many(nd.Fingerprints(rows, index.scheme, ids=ids))

def empty(index, count):
    for first in range(0, count, 20_000):
        index.delete_many([f"document {{number}}" for number in range(first, first + 20_000)])

index = nd.MemoryIndex(max_distance=3)
fill(index, 20_000)
empty(index, 20_000)
index.compact()
before = resident()
fill(index, {COUNT})
full = resident()
empty(index, {COUNT})
index.compact()
gc.collect()
print(before, full, resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_memory_goes_back_to_the_system():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    before, full, after = map(int, done.stdout.split())
    taken = full - before
    assert taken > 20 << 20
    assert after - before < taken // 3, (before, full, after)


def test_tables_shrink_when_most_documents_are_gone():
    index = nd.MemoryIndex(max_distance=3)
    prints = np.random.default_rng(2).integers(0, 2**64, 60_000, np.uint64)
    index.add_many(nd.Fingerprints(prints, index.scheme, ids=np.arange(60_000)))
    full = sum(index.stats(0).bytes.values())
    index.delete_many(range(59_000))  # without calling compact
    left = sum(index.stats(0).bytes.values())
    assert left < full // 10
    index.delete_many(range(59_000, 60_000))
    index.compact()
    assert sum(index.stats(0).bytes.values()) < 10_000

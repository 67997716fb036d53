"""The memory of a process that goes through data in batches."""

import platform
import subprocess
import sys

import pytest

# Blocks of growing sizes, so that none fits exactly where an earlier one was.
BATCHES = """
import resource, sys
import numpy as np, pyarrow as pa
from neardup.kernels.machine import keep_freed_memory
if sys.argv[1] == "keep":
    keep_freed_memory()
def touched():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
before = touched()
for size in range(4 << 20, 8 << 20, 1 << 16):
    array = np.ones(size, np.uint8)
    del array
print(touched() - before, pa.default_memory_pool().backend_name)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have no settings")
def test_freed_memory_is_used_again():
    pages = {}
    for how in ("keep", "return"):
        done = subprocess.run(
            [sys.executable, "-c", BATCHES, how], capture_output=True, text=True, check=True
        )
        count, pool = done.stdout.split()
        pages[how] = int(count)
        assert (pool == "system") == (how == "keep")
    assert pages["keep"] < pages["return"] / 4

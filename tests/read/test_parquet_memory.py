"""Reading Parquet holds some pages of a row group, never all of it."""

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq

READ = """
import sys
import pyarrow as pa
from neardup.read import Documents
size = sum(batch.documents["text"].nbytes for batch in Documents([sys.argv[1]]))
print(size, pa.default_memory_pool().max_memory())
"""


def test_a_single_row_group_is_not_held(tmp_path):
    """Its first page is a dictionary, which is looked at for long texts."""
    texts = [os.urandom(5_000).hex() for _ in range(6_000)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "one.parquet", row_group_size=10**6)
    done = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / "one.parquet")],
        capture_output=True,
        text=True,
        check=True,
    )
    size, held = map(int, done.stdout.split())
    assert size > 60_000_000
    assert held < size

"""What the tests of foreign tables share: some rows, and reading an input whole."""

import pyarrow as pa

from neardup.read import Documents

FOX = "the quick brown fox jumps over the lazy dog"
TEXTS = [FOX, f"{FOX.capitalize()}!", "something else entirely is written here", "größer 北京"]


def read(*inputs, **options):
    """All rows of an input under their own names, and the rejected ones as (row, reason)."""
    batches = list(Documents([str(name) for name in inputs], columns="all", **options))
    rows = pa.concat_tables(
        [pa.Table.from_batches([batch.as_read()]) for batch in batches],
        promote_options="permissive",
    )
    return rows.to_pydict(), [(bad.row, bad.reason) for batch in batches for bad in batch.rejected]

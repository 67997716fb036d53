"""Many columns: work is linear in the cells, and keys that never repeat are refused."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError
from neardup.read import Documents
from neardup.read.json.columns import MOST_CHANGING_KEYS

WIDE = 4_000


def write_wide(path, columns, rows):
    names = [f"c{i}" for i in range(columns)]
    if path.suffix == ".jsonl":
        lines = [json.dumps({"text": f"t{row}"} | dict.fromkeys(names, row)) for row in range(rows)]
        path.write_text("\n".join(lines))
    elif path.suffix == ".csv":
        lines = [",".join(["text", *names])]
        lines += [",".join([f"t{row}", *[str(row)] * columns]) for row in range(rows)]
        path.write_text("\n".join(lines))
    else:
        content = {"text": [f"t{row}" for row in range(rows)]} | dict.fromkeys(names, range(rows))
        pq.write_table(pa.table(content), path)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_many_columns_are_compared_a_linear_number_of_times(tmp_path, name, monkeypatch):
    """Comparisons of names are linear in the number of columns, not quadratic."""
    path = tmp_path / name
    write_wide(path, WIDE, 2)
    compared = 0

    class CountingName(str):
        __slots__ = ()

        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    from neardup.read.columns import Wanted

    require_once = Wanted.require_once

    def counted(self, file, names):
        return require_once(self, file, [CountingName(name) for name in names])

    monkeypatch.setattr(Wanted, "require_once", counted)
    found = pa.Table.from_batches([batch.as_read() for batch in Documents(path, columns="all")])
    assert found.num_columns == WIDE + 1
    assert found["text"].to_pylist() == ["t0", "t1"]
    assert compared < 20 * WIDE


def test_a_key_of_its_own_in_every_row_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    keys = 2 * MOST_CHANGING_KEYS
    path.write_text("\n".join(json.dumps({"text": "t", f"k{i}": i}) for i in range(keys)))
    with pytest.raises(InputError, match=r"a\.jsonl has objects with more than 4,096 keys that"):
        list(Documents(path, columns="all"))
    assert sum(len(batch.ids) for batch in Documents(path)) == keys


def test_changing_keys_within_an_object_are_carried_as_json(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"text": "t", "more": {f"k{i}": i}} for i in range(3000)]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = [row for batch in Documents(path, columns="all") for row in batch.as_read().to_pylist()]
    assert [json.loads(row["more"]) for row in found] == [row["more"] for row in rows]


def test_a_batch_of_changing_keys_has_a_bounded_number_of_cells(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"text": "t", f"k{i % 4000}": i} for i in range(6000)]
    path.write_text("\n".join(map(json.dumps, rows)))
    batches = [batch.as_read() for batch in Documents(path, columns="all")]
    assert len(batches) > 1
    assert max(batch.num_rows * batch.num_columns for batch in batches) <= 1 << 22
    found = (row for batch in batches for row in batch.to_pylist())
    assert [row[f"k{i % 4000}"] for i, row in enumerate(found)] == list(range(6000))

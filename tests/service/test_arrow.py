"""Documents as Arrow streams, answered by Arrow streams."""

from __future__ import annotations

import gzip
import io
from typing import Any

import httpx
import pyarrow as pa
import pytest
from tests.service.bad_requests import ARROW, arrow
from tests.service.conftest import make_index
from tests.service.packing import zstd
from tests.service.running import texts

HEADERS = {"Content-Type": ARROW}


def asked(client: httpx.Client, path: str, table: pa.Table, **options: Any) -> pa.Table:
    """Send a table; return that of the answer."""
    return read(client.post(path, content=arrow(table, **options), headers=HEADERS))


def read(answer: httpx.Response) -> pa.Table:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == ARROW
    with pa.ipc.open_stream(io.BytesIO(answer.content)) as reader:
        return reader.read_all()


def test_check(client, index):
    some = texts(50)
    table = pa.table({"id": [f"d{n}" for n in range(50)], "text": some})
    found = asked(client, f"{index}/check", table)
    assert found.column_names == [
        *("row", "id", "is_new", "added", "match", "distance", "similarity", "error"),
    ]
    assert found["row"].to_pylist() == [*range(50)]
    assert found["id"].to_pylist() == table["id"].to_pylist()
    assert set(found["is_new"].to_pylist()) == {True}
    again = asked(client, f"{index}/check", pa.table({"text": some[:3]})).to_pylist()
    assert [row["match"] for row in again] == ["d0", "d1", "d2"]
    assert [row["similarity"] for row in again] == [1.0] * 3
    assert [row["distance"] for row in again] == [0] * 3
    assert [row["is_new"] or row["added"] for row in again] == [False] * 3
    assert len({row["id"] for row in again}) == 3


def test_query_has_a_row_for_each_match(client, index):
    some = texts(5)
    documents = [{"id": n, "text": some[n // 2]} for n in range(6)]
    client.post(f"{index}/documents", json={"documents": documents}).raise_for_status()
    table = pa.table({"id": [10, 11, 12], "text": [some[0], some[4], some[2]]})
    found = asked(client, f"{index}/query", table)
    assert found.column_names == ["row", "id", "match", "distance", "similarity"]
    assert found["row"].to_pylist() == [0, 0, 2, 2]
    assert found["id"].to_pylist() == ["10", "10", "12", "12"]
    assert sorted(found["match"].to_pylist()) == ["0", "1", "4", "5"]


def test_add(client, index):
    table = pa.table({"id": [1, 2, 2**63 - 1], "text": texts(3), "metadata": ["x", None, "y"]})
    found = asked(client, f"{index}/documents?ttl=1d", table)
    assert found.column_names == ["row", "id", "stored", "error"]
    assert found.to_pylist()[2] == {"row": 2, "id": str(2**63 - 1), "stored": True, "error": None}
    stored = client.get(f"{index}/documents/{2**63 - 1}").json()
    assert (stored["id"], stored["metadata"]) == (2**63 - 1, "y")
    assert stored["expires"] is not None


def test_rows_with_errors(client, index):
    table = pa.table({"id": ["a", None, "c"], "text": ["a b c", "d e f", None]})
    added = asked(client, f"{index}/documents", table).to_pylist()
    assert [row["stored"] for row in added] == [True, False, False]
    assert added[0]["error"] is None
    assert "id" in added[1]["error"]
    assert "text" in added[2]["error"]
    checked = asked(client, f"{index}/check", table).to_pylist()
    assert [row["is_new"] for row in checked] == [True, True, None]
    assert "text" in checked[2]["error"]


def test_without_a_column_of_ids(client, index):
    table = pa.table({"text": texts(2)})
    added = asked(client, f"{index}/documents", table).to_pylist()
    assert [row["stored"] for row in added] == [False, False]
    assert all("id" in row["error"] for row in added)
    assert client.get(index).json()["documents"] == 0


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())],
)
def test_types_of_columns(client, index, kind):
    some = texts(3)
    table = pa.table({"id": pa.array([1, 2, 3], pa.uint8()), "text": pa.array(some).cast(kind)})
    assert asked(client, f"{index}/check", table)["is_new"].to_pylist() == [True] * 3
    assert client.get(f"{index}/documents/3").json()["id"] == 3


def test_metadata_of_arrow_types(client, index):
    table = pa.table(
        {
            "id": [1],
            "text": ["a b c"],
            "metadata": [{"list": [1, 2], "deep": {"x": 1.5, "none": None}, "flag": True}],
        }
    )
    asked(client, f"{index}/documents", table)
    assert client.get(f"{index}/documents/1").json()["metadata"] == {
        "list": [1, 2],
        "deep": {"x": 1.5, "none": None},
        "flag": True,
    }


@pytest.mark.parametrize(
    "column",
    [
        pa.array([b"\xff\xfe"]),
        pa.array([1], pa.timestamp("ns")),
        pa.array([1], pa.duration("ns")),
        pa.array([{"a": b"\xff"}]),
        pa.array([float("nan")]),
        pa.array([2**64 - 1], pa.uint64()),
        pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        pa.array([10**18], pa.int64()).cast(pa.decimal128(38)),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("name", ["metadata", "id", "text"])
def test_columns_of_strange_types(client, index, name, column):
    """Each row is stored or has an error; the service does not fail."""
    columns = {"id": pa.array([1]), "text": pa.array(["a b c"]), name: column}
    answer = client.post(f"{index}/documents", content=arrow(pa.table(columns)), headers=HEADERS)
    assert answer.status_code in (200, 422), answer.text
    if answer.status_code == 200:
        (row,) = read(answer).to_pylist()
        assert row["stored"] == (row["error"] is None)
        if row["stored"]:
            assert client.get(index).json()["documents"] == 1
            assert client.get(f"{index}/documents/{row['id']}").status_code == 200


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
def test_packed(client, index, packing):
    data = arrow(pa.table({"id": [1, 2], "text": texts(2)}))
    packed = gzip.compress(data) if packing == "gzip" else zstd.compress(data)
    answer = client.post(
        f"{index}/check", content=packed, headers={**HEADERS, "Content-Encoding": packing}
    )
    assert read(answer)["added"].to_pylist() == [True, True]


def test_many_batches_and_none(client, index):
    some = texts(9000, words=4)
    out = io.BytesIO()
    schema = pa.schema([("id", pa.int64()), ("text", pa.string())])
    with pa.ipc.new_stream(out, schema) as writer:
        for begin in (0, 10, 10, 5000, 9000):
            end = {0: 10, 10: 10, 5000: 9000, 9000: 9000}[begin]
            writer.write_batch(
                pa.record_batch([pa.array(range(begin, end), pa.int64()), some[begin:end]], schema)
            )
        writer.write_batch(
            pa.record_batch([pa.array(range(10, 5000), pa.int64()), some[10:5000]], schema)
        )
    found = read(client.post(f"{index}/check", content=out.getvalue(), headers=HEADERS))
    assert found["row"].to_pylist() == [*range(9000)]
    assert client.get(index).json()["documents"] == 9000
    empty = asked(client, f"{index}/check", pa.table({"id": pa.array([], pa.int64()), "text": []}))
    assert (len(empty), empty.column_names[0]) == (0, "row")


def test_terms(client):
    index = make_index(client, features="terms", weights="given")
    table = pa.table({"id": [1], "terms": [["a", "b"]], "weights": [[1.0, 2.0]]})
    assert asked(client, f"{index}/check", table)["is_new"].to_pylist() == [True]
    assert asked(client, f"{index}/query", table)["match"].to_pylist() == ["1"]


def test_damaged_streams_never_break_a_worker(client, index):
    """Every byte of a small stream changed in turn, as far as it describes something."""
    whole = arrow(pa.table({"id": [1, 2], "text": ["one two three", "four five six"]}))
    pids = set()
    for place in range(0, len(whole), 3):
        for value in (0xFF, 0x00, 0x80):
            broken = bytearray(whole)
            broken[place] = value
            answer = client.post(f"{index}/query", content=bytes(broken), headers=HEADERS)
            assert answer.status_code in (200, 413, 422), (place, value, answer.text)
            pids.add(answer.headers["x-request-id"].partition("-")[0])
    assert len(pids) <= 2, "a worker was started again"

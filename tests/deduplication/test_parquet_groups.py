"""Row groups that were encoded apart make the same table as a file that Arrow wrote."""

import io
from datetime import datetime, timezone
from decimal import Decimal

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from neardup.deduplication.parquet_groups import GroupEncoder, ParquetGroups
from neardup.deduplication.thrift_compact import decoded, encoded

EVERY_TYPE = pa.table(
    {
        "text": pa.array(["one", None, "", "不" * 5000], pa.large_string()),
        "name": pa.array(["a", "a", "b", None]),
        "number": pa.array([1, -(2**63), None, 2**63 - 1]),
        "share": pa.array([0.5, None, float("inf"), -0.0]),
        "flag": pa.array([True, None, False, True]),
        "list": pa.array([[1, 2], [], None, [3]]),
        "object": pa.array([{"x": 1, "y": "a"}, None, {"x": None, "y": "b"}, {"x": 3, "y": None}]),
        "date": pa.array([datetime(2026, 1, 2, tzinfo=timezone.utc), None, None, None]),
        "price": pa.array([Decimal("1.20"), None, Decimal("-3.40"), None]),
        "nothing": pa.nulls(4),
        "bytes": pa.array([b"\x00\xff", None, b"", b"x"]),
    },
    metadata={"made": "here"},
)


def put_together(parts, dictionaries=()):
    encoder = GroupEncoder(parts[0].schema, dictionaries)
    file = io.BytesIO()
    groups = ParquetGroups(file)
    for part in parts:
        groups.append(encoder.encoded(part))
    groups.finish()
    return file.getvalue()


def written_by_arrow(rows):
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink, rows.schema, compression="zstd", use_dictionary=[], write_page_checksum=True
    ) as writer:
        writer.write_table(rows)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("dictionaries", [(), ("name", "number")], ids=["plain", "dictionaries"])
@pytest.mark.parametrize("count", [1, 2, 15, 16, 40])
def test_every_type_is_read_back(count, dictionaries):
    file = put_together([EVERY_TYPE] * count, dictionaries)
    read = pq.ParquetFile(io.BytesIO(file), page_checksum_verification=True)
    whole = pa.concat_tables([EVERY_TYPE] * count)
    assert read.read().equals(whole)
    by_arrow = pq.ParquetFile(io.BytesIO(written_by_arrow(whole)))
    assert read.schema_arrow.equals(by_arrow.schema_arrow, check_metadata=True)
    assert read.metadata.num_rows == 4 * count
    assert read.metadata.num_row_groups == count
    for number in range(count):
        assert read.read_row_group(number).equals(EVERY_TYPE), number


@pytest.mark.parametrize("dictionaries", [(), ("name",)], ids=["plain", "dictionaries"])
def test_other_programs_read_it(tmp_path, dictionaries):
    parts = [pa.table({"text": [f"text {n}"] * 3, "name": ["a", "b", None]}) for n in range(50)]
    path = tmp_path / "rows.parquet"
    path.write_bytes(put_together(parts, dictionaries))
    expected = pa.concat_tables(parts).to_pylist()
    assert pl.read_parquet(path).to_dicts() == expected
    found = duckdb.sql(f"select * from '{path}'").fetchall()
    assert [dict(zip(("text", "name"), row, strict=True)) for row in found] == expected
    some = duckdb.sql(f"select count(*) from '{path}' where text = 'text 42'").fetchall()
    assert some == [(3,)]  # by the statistics of row groups


def test_one_part_is_the_file_that_arrow_writes():
    assert put_together([EVERY_TYPE]) == written_by_arrow(EVERY_TYPE)


def test_rows_of_nothing_are_a_file_with_a_schema():
    none = EVERY_TYPE.slice(0, 0)
    for parts in ([none], [none, none], [none, EVERY_TYPE, none]):
        read = pq.read_table(io.BytesIO(put_together(parts)))
        assert read.equals(pa.concat_tables(parts))


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(
            st.fixed_dictionaries(
                {
                    "id": st.integers(-(2**63), 2**63 - 1),
                    "text": st.none() | st.text(),
                    "share": st.floats(allow_nan=False),
                }
            ),
            max_size=5,
        ),
        min_size=1,
        max_size=20,
    )
)
def test_any_rows_in_any_portions(portions):
    schema = pa.schema({"id": pa.int64(), "text": pa.large_string(), "share": pa.float64()})
    parts = [pa.Table.from_pylist(rows, schema) for rows in portions]
    file = put_together(parts)
    assert pq.read_table(io.BytesIO(file)).to_pylist() == [row for rows in portions for row in rows]
    length = int.from_bytes(file[-8:-4], "little")
    metadata = file[-8 - length : -8]
    assert encoded(decoded(metadata)) == metadata


def test_metadata_with_values_that_parquet_has_not_is_refused():
    with pytest.raises(ValueError, match="values of kind 11"):
        decoded(bytes([0x1B, 0x00, 0x00]))

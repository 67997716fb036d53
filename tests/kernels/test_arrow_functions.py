"""Arrow's functions on columns: the same as the methods of arrays, for every type of column."""

from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from neardup.kernels.columns import chosen, column_of, converted, distinct, distinct_count, taken

COLUMNS = [
    pa.array(["a", None, "", "不"]),
    pa.array(["a", None, "", "不"], pa.large_string()),
    pa.array([1, None, 3, 4]),
    pa.array([1.5, None, float("inf"), 4]),
    pa.array([True, None, False, True]),
    pa.array([[1], None, [], [2, 3]]),
    pa.array([{"a": 1}, None, {"a": None}, {"a": 2}]),
    pa.array([date(2020, 1, 1), None, None, date(2021, 1, 1)]),
    pa.array([Decimal("1.2"), None, None, Decimal("3.4")]),
    pa.array(["a", None, "a", "b"]).dictionary_encode(),
    pa.nulls(4),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
def test_like_the_methods(column):
    places = column_of(np.array([3, 0, 0, 1]), np.array([False, False, True, False]))
    flags = np.array([True, False, True, True])
    batch = pa.record_batch({"c": column})
    for values in (column, column[1:], pa.chunked_array([column, column]), batch):
        some = taken(values, places) if len(values) > 3 else None
        assert some is None or some.equals(values.take(places))
    for values in (column, batch):
        assert chosen(values, flags).equals(values.filter(column_of(flags)))
        assert chosen(values, ~flags & flags).equals(values.slice(0, 0))


def test_distinct_values_are_counted_with_null():
    assert distinct_count(pa.array(["a", None, "a", "b"])) == 3
    assert distinct_count(pa.chunked_array([[1.5], [1.5]])) == 1
    assert distinct_count(pa.array([], pa.int64())) == 0


def test_a_place_beyond_the_end_is_an_error():
    with pytest.raises(pa.ArrowIndexError):
        taken(pa.array([1, 2]), column_of(np.array([2])))


@pytest.mark.parametrize(
    ("text", "kind"),
    [("12", pa.int64()), ("1.5", pa.float64()), ("true", pa.bool_()), ("x", pa.large_string())],
)
def test_conversions_are_casts(text, kind):
    column = pa.array([text, None])
    assert converted(column, kind).equals(column.cast(kind))
    assert converted(column[1:], kind).equals(column[1:].cast(kind))


def test_a_conversion_that_does_not_fit_is_an_error():
    with pytest.raises(pa.ArrowInvalid):
        converted(pa.array(["x"]), pa.int64())
    with pytest.raises(pa.ArrowInvalid):
        converted(pa.array([300]), pa.int8())


@given(arrays.arrays(st.sampled_from([np.int64, np.uint64, np.uint32]), st.integers(0, 30)))
def test_distinct_values(values):
    found = distinct(values)
    assert found.dtype == values.dtype
    assert found.tolist() == sorted(set(values.tolist()))

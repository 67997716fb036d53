import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from neardup.cluster import KeepPolicy
from neardup.errors import InputError, SettingError

NAN = float("nan")


@pytest.mark.parametrize(
    "text",
    ["first", "longest", "shortest", "max:date", "min:a:b", "max: x", "none", "each:1", "each:12"],
)
def test_a_policy_is_what_it_says(text):
    assert str(KeepPolicy.parse(text)) == text
    assert KeepPolicy.parse(KeepPolicy.parse(text)) == KeepPolicy.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "last", "max", "max:", "min:", "first:x", "Longest", ":a", "none:1", "each", "each:"),
        *("each:0", "each:-1", "each:1.5", "each:²", "each:x"),
    ],
)
def test_what_is_no_policy(text):
    with pytest.raises(SettingError, match="first, longest, shortest, none, max:COL or min:COL"):
        KeepPolicy.parse(text)


def test_only_max_and_min_have_a_column():
    assert KeepPolicy.parse("min:a:b").column == "a:b"
    assert KeepPolicy.parse("longest").column is None
    assert [KeepPolicy.parse(p).needs_lengths for p in ("first", "longest", "shortest")] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("policy", "order"),
    [
        ("first", [0, 1, 2, 3, 4, 5]),
        ("longest", [2, 4, 1, 3, 0, 5]),
        ("shortest", [5, 0, 1, 3, 2, 4]),
        ("none", [0, 1, 2, 3, 4, 5]),
        ("each:2", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_by_length_ties_go_to_the_first(policy, order):
    lengths = np.array([3, 5, 9, 5, 9, 0])
    assert KeepPolicy.parse(policy).order(6, lengths).tolist() == order


def best(policy, values):
    return int(KeepPolicy.parse(policy).order(len(values), values=values)[0])


@pytest.mark.parametrize(
    ("values", "largest", "smallest"),
    [
        (pa.array([2, 9, 9, 1, 1]), 1, 3),
        (pa.array([NAN, None, 3.5, -1.0]), 2, 3),
        (pa.array([None, NAN]), 0, 0),
        (pa.array([NAN, None], pa.float16()), 0, 0),
        (pa.array([None, None]), 0, 0),
        (pa.array([0.0, -0.0]), 0, 0),
        (pa.array([-np.inf, None, np.inf]), 2, 0),
        (pa.array(["b", "ä", "Z", None, "10", "9"]), 1, 4),
        (pa.array(["b", "ä", "Z", None, "10", "9"]).dictionary_encode(), 1, 4),
        (pa.array([dt.date(2024, 2, 29), dt.date(2025, 1, 1), None]), 1, 0),
        (pa.array([dt.datetime(2024, 1, 1, 12), dt.datetime(2024, 1, 1, 13)]), 1, 0),
        (pa.array([Decimal("1.10"), Decimal("-2.00")]), 0, 1),
        (pa.array([False, True, None]), 1, 0),
        (pa.array([2**63 - 1, 2**63 - 2], pa.int64()), 0, 1),
        (pa.chunked_array([pa.array([1, 5]), pa.array([5, None, 1])]), 1, 0),
        (
            pa.chunked_array(
                [pa.array(["x"]).dictionary_encode(), pa.array(["y", "w"]).dictionary_encode()]
            ),
            1,
            2,
        ),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array | pa.ChunkedArray) else None,
)
def test_by_column(values, largest, smallest):
    assert best("max:c", values) == largest
    assert best("min:c", values) == smallest


@given(st.lists(st.none() | st.floats(width=32) | st.just(1.0), min_size=1, max_size=30), st.data())
def test_the_order_is_total_and_stable(values, data):
    kind = data.draw(st.sampled_from(["max", "min"]))
    order = KeepPolicy.parse(f"{kind}:c").order(len(values), values=pa.array(values, pa.float64()))
    sign = -1 if kind == "max" else 1

    def key(place):
        value = values[place]
        missing = value is None or value != value
        return (missing, 0.0 if missing else sign * value, place)

    assert order.tolist() == sorted(range(len(values)), key=key)


@pytest.mark.parametrize("values", [pa.array([[1], [2]]), pa.array([{"x": 1}, {"x": 2}])])
def test_a_column_without_an_order_is_named(values):
    with pytest.raises(InputError, match=r"'c' holds (list|struct).*has no order"):
        best("max:c", values)


@pytest.mark.parametrize("policy", ["longest", "max:c"])
def test_what_decides_must_be_there(policy):
    with pytest.raises(ValueError, match="of all 2 documents"):
        KeepPolicy.parse(policy).order(2, np.arange(3), pa.array([1]))

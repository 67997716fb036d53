"""Numbers and dates in texts, as the twin reads them."""

import numpy as np
import pyarrow as pa
from hypothesis import given, strategies as st

from neardup.features.spec import FieldKind
from neardup.features.values import values_of
from neardup.scoring import reference

signs = st.sampled_from(["", "+", "-", "$", "-€", "--", " "])
numbers = st.builds(
    "{}{}{}{}".format,
    signs,
    st.integers(0, 10**7).map(lambda n: f"{n:,}") | st.integers(0, 10**20).map(str) | st.just(""),
    st.sampled_from(["", ".", ".5", ".05", ",5"]),
    st.sampled_from(["", "e3", "E-2", "e", "e400", "%", " "]),
)
dates = st.builds(
    "{:04}{}{:02}{}{:02}{}".format,
    st.integers(0, 9999),
    st.sampled_from(["-", "", "/"]),
    st.integers(0, 13),
    st.sampled_from(["-", ""]),
    st.integers(0, 32),
    st.sampled_from(["", "T10:00", " 1", "x"]),
)


@given(st.lists(numbers | st.text(max_size=5), max_size=20))
def test_numbers_are_those_of_the_twin(texts):
    found = values_of(pa.array(texts, pa.large_string()), FieldKind("number"))
    expected = [reference.number(text) for text in texts]
    assert np.array_equal(found, np.array(expected, np.float64), equal_nan=True)


@given(st.lists(dates | st.text(max_size=5), max_size=20))
def test_dates_are_those_of_the_twin(texts):
    found = values_of(pa.array(texts, pa.large_string()), FieldKind("date"))
    epoch = reference.day("1970-01-01")
    days = [reference.day(text) for text in texts]
    expected = np.array([np.nan if day is None else day - epoch for day in days], np.float64)
    assert np.array_equal(found, expected, equal_nan=True)

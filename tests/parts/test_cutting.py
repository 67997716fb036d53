"""Parts are cut out of texts, and put back."""

import numpy as np
import pyarrow as pa
from hypothesis import given, strategies as st

from neardup.parts.cutting import cut_out, put_back

texts = st.lists(st.text("ab é好🙂\n", max_size=12), max_size=5)


@given(texts, st.data())
def test_what_is_cut_out_is_what_was_asked_for(column, data):
    rows, begins, ends, inside = [], [], [], [[False] * len(text) for text in column]
    for row, text in enumerate(column):
        for _ in range(data.draw(st.integers(0, 3))):
            begin = data.draw(st.integers(0, len(text)))
            end = data.draw(st.integers(begin, len(text)))
            inside[row][begin:end] = [True] * (end - begin)
            rows.append(row)
            begins.append(len(text[:begin].encode()))
            ends.append(len(text[:end].encode()))
    order = data.draw(st.permutations(range(len(rows))))
    ranges = [np.array([some[i] for i in order], np.int64) for some in (rows, begins, ends)]
    found = cut_out(pa.array(column, pa.large_string()), *ranges)
    kept = [
        [c for c, gone in zip(*one, strict=True) if not gone]
        for one in zip(column, inside, strict=True)
    ]
    assert found.to_pylist() == ["".join(one) for one in kept]


def test_a_slice_of_a_column_is_cut_like_any_other():
    column = pa.array(["no", "one two", "three"], pa.string()).slice(1)
    one = np.array([0])
    assert cut_out(column, one, one, one + 4).to_pylist() == ["two", "three"]


@given(st.text("ab好🙂", max_size=20), st.data())
def test_parts_are_put_back_where_they_were(text, data):
    bounds = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    ranges = list(zip(bounds[::2], bounds[1::2], strict=False))
    left, at = "", 0
    for begin, end in ranges:
        left, at = left + text[at:begin], end
    left += text[at:]
    assert put_back(left, [(begin, text[begin:end]) for begin, end in ranges]) == text

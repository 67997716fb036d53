"""Texts in every supported type give the same fingerprints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import neardup as nd
from neardup.errors import InputError

TEXTS = ["one two three four", "", None, "日本語の text", "one two three four", "...", "Ж" * 70]
NO_NULLS = [text for text in TEXTS if text is not None]
LONG_CODE = pd.ArrowDtype(pa.large_string())

SHAPES = {
    "tuple": tuple,
    "iterator": iter,
    "generator": lambda texts: (text for text in texts),
    "dict's values": lambda texts: dict(enumerate(texts)).values(),
    "NumPy objects": lambda texts: np.array(texts, object),
    "pandas objects": lambda texts: pd.Series(texts, dtype=object),
    "pandas string": lambda texts: pd.Series(texts, dtype="string"),
    "pandas str": lambda texts: pd.Series(texts, dtype="str"),
    "pandas over Arrow": lambda texts: pd.Series(texts, dtype=LONG_CODE),
    "pandas categories": lambda texts: pd.Series(texts, dtype="category"),
    "pandas, other index": lambda texts: pd.Series(texts, index=range(len(texts), 0, -1)),
    "list with NaN": lambda texts: [float("nan") if text is None else text for text in texts],
    "list with NA": lambda texts: [pd.NA if text is None else text for text in texts],
    "Polars": pl.Series,
    "Polars chunks": lambda texts: pl.concat([pl.Series(texts[:2]), pl.Series(texts[2:])]),
    "Polars categories": lambda texts: pl.Series(texts, dtype=pl.Categorical),
    "Arrow string": lambda texts: pa.array(texts, pa.string()),
    "Arrow large_string": lambda texts: pa.array(texts, pa.large_string()),
    "Arrow string_view": lambda texts: pa.array(texts, pa.string_view()),
    "Arrow dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "Arrow dictionary of views": lambda texts: pa.DictionaryArray.from_arrays(
        pa.array(texts).dictionary_encode().indices,
        pa.array(texts).dictionary_encode().dictionary.cast(pa.string_view()),
    ),
    "Arrow chunks": lambda texts: pa.chunked_array([texts[:1], [], texts[1:]], pa.string()),
    "Arrow slice": lambda texts: pa.array(["x", *texts, None, "y"])[1 : len(texts) + 1],
    "Arrow slice of dictionary": lambda texts: pa.array(["x", *texts]).dictionary_encode()[1:],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same(shape):
    expected = nd.fingerprint(TEXTS)
    found = nd.fingerprint(SHAPES[shape](TEXTS))
    assert found == expected
    assert found.words.tolist() == expected.words.tolist()
    assert found.empty.tolist() == [False, True, True, False, False, True, False]


@pytest.mark.parametrize("dtype", ["U20", object, np.dtypes.StringDType()])
def test_numpy_strings(dtype):
    texts = [text[:20] for text in NO_NULLS]
    assert nd.fingerprint(np.array(texts, dtype)) == nd.fingerprint(texts)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_text_at_all_gives_no_fingerprint(shape):
    found = nd.fingerprint(SHAPES[shape]([]), bits=100)
    assert found.array.shape == (0, 2)
    assert found.words.tolist() == found.hex() == []


def test_nothing_but_missing_texts():
    for texts in ([None, None], pa.nulls(2), pd.Series([None, None]), np.array([None, None])):
        assert nd.fingerprint(texts).empty.tolist() == [True, True]


def test_more_texts_than_are_taken_at_once():
    texts = [f"text number {i}" for i in range(25_000)]
    assert nd.fingerprint(iter(texts)) == nd.fingerprint(pa.array(texts))


def invalid(data=b"\xff"):
    offsets = np.array([0, len(data)], np.int32)
    return pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ("one text", "put it in a list"),
        (b"one text", "put it in a list"),
        (None, "not NoneType"),
        (7, "not int"),
        (["a", 7], "text 1 is of type int"),
        (["a", ["b"]], "text 1 is of type list"),
        (["a", np.array([1, 2])], "text 1 is of type ndarray"),
        (np.array([1.5]), "text 0 is of type float"),
        (pa.array([1, 2]), "Arrow type int64"),
        (pa.array([b"a"]), "Arrow type binary"),
        (pa.array([1, 2]).dictionary_encode(), "Arrow type int64"),
        (pa.array([["a"]]), "Arrow type list"),
        (pd.Series([1, 2]), "type int"),
        (np.array([["a", "b"]]), r"df\['text'\]"),
        (pd.Series(["a", 7], dtype=object), "text 1 is of type int"),
        (pd.DataFrame({"text": ["a"]}), r"df\['text'\]"),
        (pl.DataFrame({"text": ["a"]}), r"df\['text'\]"),
        (pa.table({"text": ["a"]}), r"df\['text'\]"),
        (["ok", "half \ud83d"], r"text 1 .*U\+D83D.* character 5"),
        (np.array(["half \udc00"], object), r"text 0 .*U\+DC00"),
        (pd.Series(["half \udc00"], dtype=object), r"text 0 .*U\+DC00"),
        (invalid(), "text"),
        (pa.chunked_array([pa.array(["a", "b"]), invalid(b"ab\xc3")]), "texts? 2"),
    ],
)
def test_what_is_no_column_of_texts_is_refused_in_a_sentence(texts, why):
    with pytest.raises(InputError, match=why) as caught:
        nd.fingerprint(texts)
    assert "\n" not in str(caught.value)


def test_a_bad_text_is_named_by_its_place_among_all():
    texts: list[Any] = [f"text {i}" for i in range(12_000)]
    texts[11_111] = 7
    with pytest.raises(InputError, match="text 11111 "):
        nd.fingerprint(texts)


def test_bytes_behind_a_null_may_be_anything():
    offsets = np.array([0, 1, 2], np.int32)
    buffers = [pa.py_buffer(b"\x02"), pa.py_buffer(offsets), pa.py_buffer(b"\xffa")]
    array = pa.Array.from_buffers(pa.string(), 2, buffers)
    assert nd.fingerprint(array) == nd.fingerprint([None, "a"])

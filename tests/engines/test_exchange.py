"""Messages arrive once and whole, and their arrays are those that were packed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays_of

from neardup.engines.exchange import InProcess, Message, Tasks, in_order, packed, unpacked

DTYPES = ["u1", "u4", "u8", "i4", "i8", "f8", "?", "u2"]


@given(
    arrays_of.arrays(
        st.sampled_from(DTYPES).map(np.dtype),
        arrays_of.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=7),
    ),
    st.integers(0, 9),
)
def test_numpy_arrays_come_back(array, before):
    # What stands before may end at any byte; the array is still aligned.
    found = unpacked(packed(first=np.zeros(before, np.uint8), array=array, last=np.arange(3)))
    assert found["array"].dtype == array.dtype
    assert found["array"].shape == array.shape
    np.testing.assert_array_equal(found["array"], array)
    np.testing.assert_array_equal(found["last"], np.arange(3))
    assert found["array"].flags.aligned


def test_parts_of_arrays_come_back():
    array = np.arange(24, dtype=np.uint32).reshape(6, 4)
    for part in (array[::2], array[:, 1], array[:, ::-1], array.T, array[6:]):
        np.testing.assert_array_equal(unpacked(packed(part=part))["part"], part)


def test_a_blob_may_be_any_buffer():
    blob = packed(a=np.arange(5), b="ü")
    for one in (blob, bytearray(blob), memoryview(blob), pa.py_buffer(blob)):
        found = unpacked(one)
        np.testing.assert_array_equal(found["a"], np.arange(5))
        assert found["b"] == "ü"


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["x", None, "天地", ""]),
        pa.array(["x", None], pa.large_string()),
        pa.array([], pa.string()),
        pa.array([1, None, 2**62]),
        pa.array([True, None, False]),
        pa.array([[1, 2], None, []], pa.list_(pa.int64())),
        pa.array([{"a": 1}, None], pa.struct([("a", pa.int64())])),
        pa.nulls(3),
        pa.array(["b", "a", "b"]).dictionary_encode(),
    ],
    ids=lambda array: str(array.type),
)
def test_arrow_arrays_come_back(array):
    assert unpacked(packed(array=array, part=array[1:]))["array"].equals(array)
    assert unpacked(packed(array=array, part=array[1:]))["part"].equals(array[1:])


def test_record_batches_come_back():
    batch = pa.RecordBatch.from_pydict({"id": pa.array([1, None]), "text": pa.array(["a", "ü"])})
    for one in (batch, batch.slice(1), batch.slice(2)):
        found = unpacked(packed(rows=one, number=1))
        assert isinstance(found["rows"], pa.RecordBatch)
        assert found["rows"].equals(one)
    one_column = batch.select(["id"])
    found = unpacked(packed(rows=one_column))["rows"]
    assert isinstance(found, pa.RecordBatch)  # and not its only column
    assert found.equals(one_column)


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=5),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text()
        | st.lists(st.integers() | st.text())
        | st.dictionaries(st.text(), st.integers()),
        max_size=5,
    )
)
def test_plain_values_come_back(values):
    assert unpacked(packed(**values)) == values


def test_equal_values_make_equal_bytes():
    """A task that is done twice must write the same file twice."""
    made = [
        packed(a=np.arange(9), b=pa.array(["x", None]), rows=pa.record_batch({"c": [1]}), d=[1])
        for _ in range(2)
    ]
    assert made[0] == made[1]


def test_messages_are_put_in_the_order_of_their_tags():
    messages = [Message(0, tag, bytes([tag])) for tag in (3, 1, 2)]
    assert [message.tag for message in in_order(messages)] == [1, 2, 3]


@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_every_message_is_delivered_once_to_its_task(first, second, data):
    targets = data.draw(
        st.lists(st.lists(st.integers(0, second - 1)), min_size=first, max_size=first)
    )
    seen: list[tuple[int, int, bytes]] = []

    def send(number, messages):
        assert not list(messages)
        for which, target in enumerate(targets[number]):
            yield Message(target, which, bytes([number]))

    def receive(number, messages):
        for message in messages:
            assert message.to == number
            seen.append((message.to, message.tag, message.blob))
            yield Message(0, message.tag, message.blob + bytes([number]))

    sent = InProcess().run("test", [Tasks(send, first), Tasks(receive, second)])
    expected = [
        (target, which, bytes([number]))
        for number, some in enumerate(targets)
        for which, target in enumerate(some)
    ]
    assert Counter(seen) == Counter(expected)
    answers = Counter((message.tag, bytes(message.blob)) for message in sent)
    assert answers == Counter((tag, blob + bytes([to])) for to, tag, blob in expected)


def test_tasks_without_messages_run_too():
    def tell(number, messages):
        yield Message(0, number, bytes([len(list(messages))]))

    sent = InProcess().run("test", [Tasks(lambda *_: (), 2), Tasks(tell, 3)])
    assert sorted((message.tag, message.blob) for message in sent) == [
        (number, b"\0") for number in range(3)
    ]


def test_messages_do_not_come_in_the_order_in_which_they_were_sent():
    """A step that relies on the order fails here, and not first on a cluster."""
    seen = []

    def receive(_, messages):
        seen.extend(message.tag for message in messages)
        return ()

    first = Tasks(lambda number, _: [Message(0, number, b"")], 3)
    InProcess().run("test", [first, Tasks(receive, 1)])
    assert seen == [2, 1, 0]

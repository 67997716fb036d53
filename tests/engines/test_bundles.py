"""Messages as rows: nothing is lost, what belongs together travels together, memory is bounded."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from neardup.engines import bundles
from neardup.engines.bundles import Relays, messages_of, rows_of
from neardup.engines.exchange import Message

messages = st.lists(
    st.builds(Message, st.integers(0, 4), st.integers(0, 2**62), st.binary(max_size=50))
)


def seen(some):
    return [(one.to, one.tag, one.blob) for one in some]


def by_task(some):
    found = defaultdict(list)
    for one in some:
        found[one.to].append((one.tag, one.blob))
    return found


@given(messages, st.integers(1, 200), st.integers(1, 200))
def test_messages_come_back_from_rows(some, held, bundle):
    """In the order in which they were sent to each task, for every limit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundles, "HELD_BYTES", held)
        patch.setattr(bundles, "_BUNDLE_BYTES", bundle)
        batches = list(rows_of(some, lambda task: task + 7))
    assert by_task(messages_of(batches)) == by_task(some)
    for batch in batches:
        assert [7 + task for task in batch["task"].to_pylist()] == batch["to"].to_pylist()


@given(messages)
def test_small_messages_to_a_task_are_one_row(some):
    rows = Counter(
        task for batch in rows_of(some, lambda task: task) for task in batch["task"].to_pylist()
    )
    assert rows == dict.fromkeys({one.to for one in some}, 1)


def test_batches_of_rows_are_bounded():
    large = [Message(0, tag, bytes(bundles._BATCH_BYTES // 2)) for tag in range(5)]
    assert [len(batch) for batch in rows_of(large, lambda _: 0)] == [2, 2, 1]
    small = [Message(tag, tag, b"") for tag in range(2 * bundles._BATCH_ROWS + 1)]
    sizes = [len(batch) for batch in rows_of(small, lambda _: 0)]
    assert sizes == [bundles._BATCH_ROWS, bundles._BATCH_ROWS, 1]
    assert list(rows_of([], lambda _: 0)) == []


def test_no_more_messages_wait_than_there_is_room_for(monkeypatch):
    """Rows come before all messages were made."""
    monkeypatch.setattr(bundles, "HELD_BYTES", 1000)
    monkeypatch.setattr(bundles, "_BATCH_BYTES", 1)
    made = 0

    def make() -> Iterator[Message]:
        nonlocal made
        for number in range(1000):
            made += 10
            yield Message(number % 50, number, bytes(10))

    given_back = 0
    for batch in rows_of(make(), lambda task: task):
        for message in messages_of([batch]):
            given_back += len(message.blob)
        assert made - given_back <= 1000
    assert given_back == made == 10_000


@given(st.integers(1, 400), st.integers(1, 400))
def test_relays_are_few_for_every_task(senders, receivers):
    relays = Relays(senders, receivers)
    used = [
        [relays.between(sender, receiver) for receiver in range(receivers)]
        for sender in range(senders)
    ]
    assert {relay for row in used for relay in row} <= set(range(relays.count))
    # A sender sends to as many relays as there are columns, a receiver hears from each row.
    assert max(len(set(row)) for row in used) <= relays.columns <= receivers**0.5 + 1
    assert max(map(len, map(set, zip(*used, strict=True)))) <= relays.rows <= senders**0.5 + 1

"""Blocks of JSON lines give the same rows as the lines one by one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st
from tests.kernels.json_sources import STRINGS, WHOLE, messy_lines, mutated, object_lines

from neardup.errors import InputError
from neardup.read import Documents
from neardup.read.json.columns import ObjectGatherer

KEYS = ['"text"', '"id"', '"a"', '"b"', r'"\u0062"']
OPTIONS = [
    {},
    {"columns": "all"},
    {"columns": "all", "id": "row"},
    {"columns": ["a"], "id": "id"},
    {"columns": "all", "text": "b", "id": "a"},
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("blocks") / "some.jsonl"


def outcome(path, **options):
    """Everything a reader returns, or its error."""
    found = Documents(path, **options)
    batches = []
    try:
        for batch in found:
            batches.append((batch.documents, batch.places.tolist(), batch.rejected))
            batches.append((batch.as_read(), found.done_bytes))
    except InputError as error:
        return str(error)
    return batches


def one_by_one(path, **options):
    """The same with every line parsed by orjson."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ObjectGatherer, "add_block", lambda *_: 0)
        return outcome(path, **options)


def in_blocks(path, size, **options):
    """The same by blocks of this size."""
    taken = []

    def add_block(self, block):
        taken.append(add(self, block))
        return taken[-1]

    with pytest.MonkeyPatch.context() as patch:
        add = ObjectGatherer.add_block
        patch.setattr(ObjectGatherer, "add_block", add_block)
        patch.setattr("neardup.read.json.files.BLOCK_BYTES", size)
        return outcome(path, **options), taken


def rows_of(batches):
    """Everything a reader returns, regardless of batch boundaries."""
    if isinstance(batches, str):
        return batches
    documents = [row for documents, *_ in batches[::2] for row in documents.to_pylist()]
    places = [place for _, places, _ in batches[::2] for place in places]
    return repr(documents), places, [bad for *_, rejected in batches[::2] for bad in rejected]


SIZES = st.sampled_from([30, 200, 1000, 1 << 20])


@settings(max_examples=150)
@given(st.sampled_from(OPTIONS), SIZES, st.data())
def test_messy_lines(path, options, size, data):
    first = '{"text": "first", "id": -1, "a": "x", "b": "y"}'
    lines = [first] * data.draw(st.integers(0, 1)) + data.draw(messy_lines(KEYS))
    end = data.draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    path.write_bytes(data.draw(mutated(end.join(lines).encode())))
    # All in one batch, so that the types of the columns must be the same too.
    assert in_blocks(path, size, **options)[0] == one_by_one(path, **options)


@settings(max_examples=50)
@given(SIZES, st.sampled_from([40, 300, 2000]), st.data())
def test_any_batch_size(path, size, batch_bytes, data):
    columns = {'"text"': STRINGS, '"a"': STRINGS, '"b"': WHOLE}
    lines = data.draw(object_lines(columns)) + data.draw(object_lines(columns))
    path.write_bytes(data.draw(mutated("\n".join(lines).encode())))
    found, _ = in_blocks(path, size, columns="all", batch_bytes=batch_bytes)
    alone = one_by_one(path, columns="all", batch_bytes=batch_bytes)
    assert rows_of(found) == rows_of(alone)


def write(path, objects):
    path.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in objects))


def objects(count):
    return [
        {"id": i, "text": f"{i} é\n", "s": str(i), "f": i / 3, "t": i % 2 == 0, "n": None}
        for i in range(count)
    ]


@pytest.mark.parametrize("size", [100, 1000, 1 << 20])
def test_only_the_first_line_is_read_alone(path, size):
    write(path, objects(300))
    found, taken = in_blocks(path, size, columns="all")
    assert 0 not in taken
    assert sum(taken) == 299
    assert found == one_by_one(path, columns="all")
    (documents, *_), _ = found
    types = ["int64", "large_string", "string", "double", "bool", "null"]
    assert [str(field.type) for field in documents.schema] == types


@pytest.mark.parametrize(
    "odd",
    [
        *({"id": 1000, "text": None}, {"id": 1000}, {"text": "no id"}, {"id": 1.5, "text": "x"}),
        *({"id": 2**63 - 1, "text": "x", "s": None}, {"id": 1000, "text": "x", "s": [1]}),
        *({"id": 1000, "text": "x", "more": {}}, {"id": 1000, "text": "x", "f": 3}),
    ],
)
def test_one_odd_line_among_many(path, odd):
    write(path, [*objects(200), odd, *objects(400)[200:]])
    found, taken = in_blocks(path, 1000, columns="all")
    assert found == one_by_one(path, columns="all")
    assert taken.count(0) <= 1
    assert sum(taken) > 350


@pytest.mark.parametrize(
    "odd", [{"id": "1000", "text": "x"}, {"id": 2**63, "text": "x"}, {"id": 2**64, "text": "x"}]
)
def test_an_odd_id_stops_the_run(path, odd):
    write(path, [*objects(200), odd])
    found, _ = in_blocks(path, 1000)
    assert isinstance(found, str) == (odd["id"] != 2**64)
    assert found == one_by_one(path)


def test_an_id_where_the_first_line_has_none(path):
    path.write_text('{"text": "a"}\n' * 50 + '{"text": "b", "id": 1}\n')
    found, taken = in_blocks(path, 100)
    assert "no 'id' in its first row but one on line 51" in found
    assert sum(taken) > 40


def test_lines_are_numbered_through_blocks(path):
    good, bad = b'{"text": "a"}\n', b'{"text": "\xff"}\n'
    path.write_bytes((good * 20 + b"\n" + bad) * 3)
    found, taken = in_blocks(path, 100)
    assert 0 in taken
    assert sum(taken) > 20
    reasons = [row.reason for _, _, rejected in found[::2] for row in rejected]
    assert [reason.partition(":")[0] for reason in reasons] == ["line 22", "line 44", "line 66"]


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.ndjson"])
def test_every_file_of_lines_is_read_in_blocks(tmp_path, name):
    write(tmp_path / name, objects(100))
    found, taken = in_blocks(tmp_path / name, 1000)
    assert sum(taken) == 99
    assert found == one_by_one(tmp_path / name)

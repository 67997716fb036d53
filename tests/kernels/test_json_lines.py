"""The native reader of JSON lines agrees with orjson, or refuses a block."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings, strategies as st
from tests.kernels.json_sources import FRACTIONS, KINDS, messy_lines, mutated, object_lines

from neardup import kernels
from neardup.kernels.json_lines import JsonLines

ISAS = kernels.available_isas()
KEYS = ['"text"', '"id"', '"a"', '""', '"ключ"']
ODD_KEYS = [*KEYS, r'"\u0061"', r'"te\/xt"']
READ: dict[str, Callable[[str], Any]] = {
    "whole": int,
    "fraction": float,
    "boolean": lambda word: word == "true",
}


def values_of(column):
    if column.kind == "null":
        return [None] * column.rows
    if column.kind == "other":
        return orjson.loads(b"[" + column.data.tobytes().removesuffix(b",") + b"]")
    strings = column.strings()
    strings.validate(full=True)
    return list(map(READ.get(column.kind, str), strings.to_pylist()))


def same(left, right):
    """Equal values, also in type and in the sign of zero."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(map(same, left.values(), right.values()))
    if isinstance(left, float):
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return left == right


def check_accepted(block, columns, every, names=()):
    """Compare the columns of an accepted block with orjson's objects."""
    objects = [orjson.loads(line) for line in block.split(b"\n") if line.strip(b" \t\r")]
    assert all(type(item) is dict for item in objects)
    keys = list(dict.fromkeys([*names, *(key for item in objects for key in item if every)]))
    if objects:
        assert list(columns) == keys
        for key in keys:
            assert same(values_of(columns[key]), [item.get(key) for item in objects]), key


@settings(max_examples=100)
@given(st.booleans(), st.data())
def test_what_is_accepted_is_what_orjson_reads(every, data):
    keys = data.draw(st.sampled_from([KEYS, ODD_KEYS]))
    lines = data.draw(messy_lines(keys))
    block = data.draw(mutated("\n".join(lines).encode()))
    wanted = {"text": "string", "a": "any"}
    answers = set()
    for isa in ISAS:
        reader = JsonLines(wanted, every=every, isa=isa)
        lines_found = reader.add(block)
        answers.add(lines_found)
        if lines_found:
            assert lines_found == block.count(b"\n") + 1
            check_accepted(block, reader.take(), every, wanted)
        else:
            assert len(reader) == 0
    assert len(answers) == 1


@given(data=st.data())
def test_ordinary_lines_are_accepted(data):
    kinds = {key: data.draw(st.sampled_from(list(KINDS))) for key in KEYS}
    lines = data.draw(object_lines({key: KINDS[kind] for key, kind in kinds.items()}))
    block = "\n".join(lines).encode()
    for isa in ISAS:
        reader = JsonLines({}, every=True, isa=isa)
        assert reader.add(block) == len(lines)
        columns = reader.take()
        assert {f'"{key}"': column.kind for key, column in columns.items()} == kinds
        check_accepted(block, columns, every=True)


@given(FRACTIONS)
def test_arrow_reads_fractions_as_orjson_does(spelt):
    from neardup.read.json.columns import plain_column

    reader = JsonLines({}, every=True)
    assert reader.add(b'{"x": %b}' % spelt.encode())
    column = plain_column(reader.take()["x"])
    assert same(column.to_pylist(), [orjson.loads(spelt)])


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"{}", b'{"text": "a"}', b'{"text": "a", "more": [{"deep": {}}, [], ""]}'),
        *(b' {"text" : "a" , "n":1.5e-3}\r', b'{"text": "a", "text2": null}'),
        b'{"text": "a", "x": ' + b"[" * 63 + b"]" * 63 + b"}",
    ],
)
@pytest.mark.parametrize("isa", ISAS)
def test_sound(line, isa):
    assert JsonLines({"text": "any"}, every=True, isa=isa).add(line) == 1


@pytest.mark.parametrize(
    "line",
    [
        *(
            b"[]",
            b"7",
            b"null",
            b'"text"',
            b"{",
            b"}",
            b'{"text"}',
            b'{"text":}',
            b'{"text": "a",}',
        ),
        *(b'{"text": "a"} {}', b'{"text": "a"}}', b'{text: "a"}', b'{"text": "a" "b": 1}', b"\x0b"),
        *(b'{"text": "\xff"}', b'{"text": "\\x"}', b'{"text": "\\ud800"}', b'{"text": "\\udc00a"}'),
        *(
            b'{"text": "\\ud800\\u0041"}',
            b'{"text": "\\u12g4"}',
            b'{"text": "a\tb"}',
            b'{"text": "',
        ),
        *(b'{"text": 1.}', b'{"text": 01}', b'{"text": -}', b'{"text": 1e999}', b'{"text": NaN}'),
        *(b'{"text": "a", "text": "b"}', b'{"t\\u0065xt": "a"}', b'{"text": [1 2]}', b'{"a": tru}'),
        *(b'{"text": "a", "b": [1,]}', b'{"text": "a", "b": {"c": "\\q"}}', b'{"text": 1e}'),
        b'{"text": "a", "x": ' + b"[" * 65 + b"]" * 65 + b"}",
        b'{"text": "a", "x": ' + b"[" * 3000,
        b"{" + b",".join(b'"%d": 1' % i for i in range(300)) + b"}",
    ],
)
@pytest.mark.parametrize("isa", ISAS)
def test_left_to_others(line, isa):
    reader = JsonLines({"text": "any"}, every=True, isa=isa)
    assert reader.add(line) == 0
    assert reader.add(b'{"text": "a"}\n' + line) == 0
    assert reader.add(line + b'\n{"text": "a"}') == 0
    assert len(reader) == 0
    assert reader.add(b'{"text": "good"}') == 1
    assert list(reader.take()) == ["text"]


def test_what_must_be():
    sound = b'{"id": 7, "text": "a"}'
    for wanted, accepted in [
        ({"id": "whole", "text": "string"}, True),
        ({"id": "any", "text": "any"}, True),
        ({"id": "string"}, False),
        ({"id": "missing"}, False),
        ({"other": "missing"}, True),
        ({"other": "string"}, False),
        ({"other": "any"}, True),
    ]:
        reader = JsonLines(wanted, every=False)
        assert bool(reader.add(sound)) == accepted, wanted
    assert list(JsonLines({"id": "missing"}, every=True).take()) == []
    with pytest.raises(ValueError, match="no kind of JSON value is called 'date'"):
        JsonLines({"id": "date"}, every=False)  # type: ignore[dict-item]


def test_blocks_follow_one_another_as_long_as_they_are_alike():
    reader = JsonLines({"text": "string"}, every=True)
    assert reader.add(b'{"text": "a", "n": 1}\n\n{"text": "b", "n": 2}\n') == 4
    assert reader.add(b'{"n": 3, "text": "c"}') == 1
    for unlike in (b'{"text": "d", "n": "4"}', b'{"text": "d"}', b'{"text": "d", "n": 4, "m": 1}'):
        assert reader.add(unlike) == 0
    assert len(reader) == 3
    columns = reader.take()
    assert {name: values_of(column) for name, column in columns.items()} == {
        "text": ["a", "b", "c"],
        "n": [1, 2, 3],
    }
    assert len(reader) == 0
    assert reader.add(b'{"m": null, "text": "d"}') == 1
    assert reader.add(b'{"m": null, "text": "\\u00e9"}') == 1
    taken = reader.take()
    assert {name: values_of(column) for name, column in taken.items()} == {
        "text": ["d", "é"],
        "m": [None, None],
    }
    # Columns that were taken do not change.
    assert values_of(columns["text"]) == ["a", "b", "c"]


def test_large_blocks():
    random = np.random.default_rng(5)
    sizes = random.integers(0, 3000, 2000)
    texts = ["".join(random.choice(list('ab"\\\n é😀'), size)) for size in sizes]
    block = b"\n".join(orjson.dumps({"id": i, "text": text}) for i, text in enumerate(texts))
    for isa in ISAS:
        reader = JsonLines({"text": "string", "id": "whole"}, every=False, isa=isa)
        assert reader.add(block) == reader.add(block) == len(texts)
        columns = reader.take()
        assert columns["text"].strings().to_pylist() == texts * 2
        assert columns["id"].strings().to_pylist() == [str(i) for i in range(len(texts))] * 2


ESCAPES = [
    *(r"\n", r"\t\r\b\f", r"\"", r"\/", r"\\", r"\\n", r"\\\n", r"\\\\", r"\\\"", r"\u00e9"),
    *(r"\n\u0041\n", r"\ud83d\ude00", r"\x", r"\ud83d", "\\", "\x1f", "\\\n", "é\\n不\\n"),
]


@pytest.mark.parametrize("escape", ESCAPES)
def test_escapes_at_every_place_of_a_block(escape):
    for before in range(140):
        for after in ("", "a" * 70, r"b\n" * 30):
            block = f'{{"text": "{"x" * before}{escape}{after}"}}'.encode()
            try:
                expected = [orjson.loads(block)["text"]]
            except orjson.JSONDecodeError:
                expected = None
            for isa in ISAS:
                reader = JsonLines({"text": "string"}, every=False, isa=isa)
                added = reader.add(block)
                found = reader.take()["text"].strings().to_pylist() if added else None
                assert found == expected, (isa, before, after[:1])

"""The corpus of the fuzzers, checked against the Python twins.

`make sanitize` runs the same files through the harnesses of native/fuzz, under the sanitizers.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.kernels import quick_twin
from tests.kernels.hostile_texts import Recipe
from tests.kernels.test_json_lines import check_accepted

from neardup import kernels
from neardup.kernels import index_tables
from neardup.kernels.json_lines import JsonLines
from neardup.kernels.reference import text as reference
from neardup.kernels.segment_format import read_segment

CORPUS = Path(__file__).parents[1] / "fuzz_corpus"
ISAS = kernels.available_isas()
WANTED = (
    {},
    {"text": "string"},
    {"text": "any", "id": "whole"},
    {"text": "string", "id": "missing"},
)


def inputs(topic):
    files = sorted((CORPUS / topic).iterdir())
    assert files
    return [pytest.param(file.read_bytes(), id=f"{topic}-{file.name}") for file in files]


@pytest.mark.parametrize("data", inputs("json_lines"))
def test_json_lines(data):
    settings = data[0] if data else 0
    wanted, every = WANTED[settings >> 1 & 3], bool(settings & 1)
    for block in data[1:].split(b"\xff"):
        said = []
        for isa in ISAS:
            lines = JsonLines(wanted, every=every, isa=isa)
            said.append(lines.add(block))
            if said[-1]:
                names = [name for name, must_be in wanted.items() if must_be != "missing"]
                check_accepted(block, lines.take(), every, names)
        assert len(set(said)) == 1


@pytest.mark.parametrize("data", inputs("text"))
def test_text(data):
    flags, size, width = (*data[:3], 0, 0, 0)[:3]
    unit = "word" if flags & 1 else "char"
    recipe = Recipe(
        unit,
        (1, 2, 3, 5, 9, 300, 1 << 31)[size % 7],
        bool(flags & 2),
        (64, 1, 42, 63, 65, 128, 513)[width % 7],
        bool(flags & 4),
    )
    raw = data[5:]
    column = pa.Array.from_buffers(
        pa.large_string(), 1, [None, pa.py_buffer(np.array([0, len(raw)])), pa.py_buffer(raw)]
    )
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        assert not any(kernels.is_utf8(column, isa=isa) for isa in ISAS)
        return
    expected = quick_twin.fingerprint(text, recipe)
    for isa in ISAS:
        assert kernels.is_utf8(column, isa=isa)
        rows, words = kernels.fingerprint(column, **recipe.arguments(), isa=isa)
        assert rows.tolist() == [expected]
        assert words.tolist() == [len(reference.words(text))]


@pytest.mark.parametrize("data", inputs("segment"))
def test_segment(data):
    """The native reader and the twin agree on which bytes are a segment and on its contents."""
    segment = data[2 + 8 * (1 + data[1] % 8) :] if len(data) > 1 else b""
    try:
        expected = read_segment(segment)
    except ValueError:
        with pytest.raises(ValueError, match="segment"):
            index_tables.segment_rows(segment)
        return
    numbers, rows = index_tables.segment_rows(segment)
    assert numbers.tolist() == expected.numbers.tolist()
    assert rows.tolist() == expected.rows.tolist()

"""Documents given as terms: layouts, weights, ids, rejections and limits."""

import bz2
import gzip
import io
import json
import math
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from neardup.errors import InputError, SettingError
from neardup.read.terms.documents import TermDocuments

DOCUMENTS = {
    "a": {"dog": 0.5, "cat": 2.0},
    "b": {},
    "c": {"猫": -1.0, "dog": 0.25, "": 3.0},
}
IDS = list(DOCUMENTS)
TERMS = [list(terms) for terms in DOCUMENTS.values()]
WEIGHTS = [list(terms.values()) for terms in DOCUMENTS.values()]
PAIRS = [list(terms.items()) for terms in DOCUMENTS.values()]


def read(inputs, **options):
    """All batches joined: ids, terms, weights, places, and (row, reason) of rejected rows."""
    batches = list(TermDocuments(inputs, **options))
    for batch in batches:
        batch.terms.validate(full=True)
        assert batch.terms.null_count == batch.terms.flatten().null_count == 0
        if batch.weights is not None:
            assert batch.weights.type.value_type == pa.float64()
            assert batch.weights.value_lengths() == batch.terms.value_lengths()
    return (
        [id for batch in batches for id in batch.ids.to_pylist()],
        [terms for batch in batches for terms in batch.terms.to_pylist()],
        [weights for batch in batches for weights in weights_of(batch)],
        [place for batch in batches for place in batch.places.tolist()],
        [(r.row, r.reason) for batch in batches for r in batch.rejected],
    )


def weights_of(batch):
    if batch.weights is not None:
        return batch.weights.to_pylist()
    return [] if len(batch.terms.flatten()) else batch.terms.to_pylist()


ALL_GOOD = (IDS, TERMS, WEIGHTS, [0, 1, 2], [])


def structs(*fields):
    names = [name for name, _ in fields]
    rows = [
        [dict.fromkeys(names, 9) | {names[0]: term, names[-1]: weight} for term, weight in pairs]
        for pairs in PAIRS
    ]
    return {"terms": pa.array(rows, pa.list_(pa.struct(fields)))}


def two_lists(terms, weights=None):
    weights = pa.list_(pa.float64()) if weights is None else weights
    return {"terms": pa.array(TERMS, terms), "weights": pa.array(WEIGHTS, weights)}


def dictionaries(kind):
    flat = [term for terms in TERMS for term in terms]
    values = pa.array(["", "dog", "unused", "猫", "cat"]).cast(kind)
    places = [["", "dog", "unused", "猫", "cat"].index(term) for term in flat]
    encoded = pa.DictionaryArray.from_arrays(pa.array(places, pa.int16()), values)
    return {
        "terms": pa.ListArray.from_arrays(pa.array([0, 2, 2, 5], pa.int32()), encoded),
        "weights": pa.array(WEIGHTS),
    }


SHAPES = {
    "strings": two_lists(pa.list_(pa.string())),
    "large": two_lists(pa.large_list(pa.large_string()), pa.large_list(pa.float32())),
    "large terms": two_lists(pa.large_list(pa.string())),
    "binary": two_lists(pa.list_(pa.binary())),
    "dictionary": dictionaries(pa.string()),
    "large dictionary": dictionaries(pa.large_string()),
    "map": {"terms": pa.array(PAIRS, pa.map_(pa.string(), pa.float32()))},
    "structs": structs(("term", pa.string()), ("weight", pa.float64())),
    "named structs": structs(("term", pa.string()), ("lemma", pa.int8()), ("weight", pa.float64())),
    "other structs": structs(("word", pa.large_string()), ("score", pa.float32())),
}


@pytest.fixture(params=SHAPES)
def table(request):
    return pa.table({"id": IDS, **SHAPES[request.param]})


@pytest.mark.parametrize("batch_terms", [1, 2, 1 << 20])
def test_every_shape_of_table_gives_the_same(tmp_path, table, batch_terms):
    pq.write_table(table, tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet", batch_terms=batch_terms) == ALL_GOOD
    pa.feather.write_feather(table, tmp_path / "a.arrow", compression="uncompressed")
    assert read(tmp_path / "a.arrow", batch_terms=batch_terms) == ALL_GOOD


def test_a_slice_of_a_table_is_read_from_its_place(tmp_path, table):
    path = tmp_path / "a.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table.slice(1))
    assert read(path) == (IDS[1:], TERMS[1:], WEIGHTS[1:], [0, 1], [])


def test_row_groups_with_dictionaries_of_their_own(tmp_path):
    table = pa.table({"id": IDS, **SHAPES["dictionary"]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1)
    assert read(tmp_path / "a.parquet") == ALL_GOOD


def test_a_dictionary_that_grew_too_large_while_it_was_written(tmp_path):
    terms = [[f"term {i} {j}" for j in range(50)] for i in range(400)]
    column = pa.array(terms)
    encoded = pa.ListArray.from_arrays(column.offsets, column.values.dictionary_encode())
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"terms": encoded}), path, dictionary_pagesize_limit=2000, data_page_size=1000
    )
    for batch_terms in (1000, 1 << 20):
        assert read(path, batch_terms=batch_terms)[1] == terms


JSON_LINES: dict[str, list[dict[str, Any]]] = {
    "objects": [{"id": id, "terms": DOCUMENTS[id]} for id in IDS],
    "arrays": [
        {"id": i, "terms": t, "weights": w} for i, t, w in zip(IDS, TERMS, WEIGHTS, strict=True)
    ],
    "pairs": [{"id": i, "terms": pairs} for i, pairs in zip(IDS, PAIRS, strict=True)],
    "structs": [
        {"id": i, "terms": [{"term": term, "weight": weight} for term, weight in pairs]}
        for i, pairs in zip(IDS, PAIRS, strict=True)
    ],
    "id to terms": [{id: DOCUMENTS[id]} for id in IDS],
    "ids to terms": [DOCUMENTS],
    "mixed": [{"id": "a", "terms": DOCUMENTS["a"]}, {id: DOCUMENTS[id] for id in "bc"}],
}


def lines(*objects):
    return "".join(json.dumps(item) + "\n" for item in objects)


@pytest.mark.parametrize("shape", JSON_LINES)
def test_every_shape_of_json_gives_the_same(tmp_path, shape):
    path = tmp_path / "a.jsonl"
    path.write_text(lines(*JSON_LINES[shape]))
    assert read(path) == ALL_GOOD
    array, printed = tmp_path / "array.json", tmp_path / "printed.json"
    array.write_text(json.dumps(JSON_LINES[shape]))
    printed.write_text("\n".join(json.dumps(item, indent=1) for item in JSON_LINES[shape]))
    assert read(array) == read(printed) == ALL_GOOD


def test_an_empty_document_before_any_weight_tells_nothing(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(lines({"terms": []}, {"terms": {"a": 1}}, {"terms": []}))
    assert read(path)[1:3] == ([[], ["a"], []], [[], [1.0], []])
    batches = list(TermDocuments(path, batch_terms=1))
    assert [b.weights is None for b in batches] == [True, False, True]


def test_terms_without_weights(tmp_path):
    pq.write_table(pa.table({"id": IDS, "terms": TERMS}), tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text(
        lines(*({"id": i, "terms": t} for i, t in zip(IDS, TERMS, strict=True)))
    )
    for name in ("a.parquet", "a.jsonl"):
        (batch,) = TermDocuments(tmp_path / name)
        assert batch.weights is None
        assert batch.terms.to_pylist() == TERMS


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.int64(), pa.float16(), pa.decimal128(4, 1)], ids=str
)
def test_any_number_is_a_weight(tmp_path, kind):
    weights = pa.array([1, 2]).cast(pa.float32()).cast(kind)
    table = pa.table({"terms": [["a", "b"]], "weights": pa.ListArray.from_arrays([0, 2], weights)})
    pa.feather.write_feather(table, tmp_path / "a.arrow", compression="uncompressed")
    assert read(tmp_path / "a.arrow")[2] == [[1.0, 2.0]]


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view(), pa.large_binary()], ids=str)
def test_fixed_size_lists_and_other_strings(tmp_path, kind):
    rows = [["a", "b"], None, ["c", None], ["d", "e"]]
    plain = pa.array(rows, pa.list_(pa.string()))
    lists = pa.ListArray.from_arrays(
        plain.offsets, plain.values.cast(pa.binary()).cast(kind), mask=plain.is_null()
    )
    weights = pa.array([[1, 2], [3, 4], [5, 6], [7, 8]], pa.list_(pa.float32(), 2))
    encoded = pa.ListArray.from_arrays([0, 2, 2, 4, 6], pa.array(range(6)).dictionary_encode())
    fixed = pa.array(rows, pa.list_(pa.string(), 2))
    path = tmp_path / "a.arrow"
    faults = [(1, "'terms' is null"), (2, "'terms': term 2 is null")]
    for terms, beside, expected in (
        (lists, weights, [[1.0, 2.0], [7.0, 8.0]]),
        (fixed, weights, [[1.0, 2.0], [7.0, 8.0]]),
        (lists, encoded, [[0.0, 1.0], [4.0, 5.0]]),
    ):
        table = pa.table({"terms": terms, "weights": beside})
        pa.feather.write_feather(table, path, compression="uncompressed")
        for batch_terms in (1, 100):
            found = read(path, batch_terms=batch_terms)
            assert found[1:] == ([["a", "b"], ["d", "e"]], expected, [0, 3], faults)


def test_large_whole_numbers_are_rounded(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"terms": {"a": 9007199254740993, "b": 18446744073709551615, "c": 1e300}}')
    assert read(path)[2] == [[2.0**53, 2.0**64, 1e300]]
    table = pa.table({"terms": [["a"]], "weights": [[2**53 + 1]]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet")[2] == [[2.0**53]]


def test_columns_can_be_named(tmp_path):
    table = pa.table({"key": [5, 6], "words": [["x"], ["y"]], "terms": ["not", "these"]})
    pq.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text(lines(*table.to_pylist()))
    for name in ("a.parquet", "a.jsonl"):
        found = read(tmp_path / name, terms="words", id="key")
        assert found == ([5, 6], [["x"], ["y"]], [], [0, 1], [])


TABLE_FAULTS = {
    "null terms": (None, [], "'terms' is null"),
    "null term": (["a", None], [1.0, 2.0], "'terms': term 2 is null"),
    "null weights": (["a"], None, "'weights' is null"),
    "null weight": (["a", "b"], [1.0, None], "'weights': weight 2 is null"),
    "nan": (["a", "b"], [math.nan, 1.0], "'weights': weight 1 is NaN"),
    "infinite": (["a", "b"], [1.0, -math.inf], "'weights': weight 2 is infinite"),
    "fewer": (["a", "b"], [1.0], "'terms' and 'weights' differ in length, 2 and 1"),
    "more": ([], [1.0], "'terms' and 'weights' differ in length, 0 and 1"),
}


@pytest.mark.parametrize("fault", TABLE_FAULTS)
@pytest.mark.parametrize("batch_terms", [1, 1 << 20])
@pytest.mark.parametrize("encoded", [False, True])
def test_bad_rows_of_tables(tmp_path, fault, batch_terms, encoded):
    terms, weights, reason = TABLE_FAULTS[fault]
    column = pa.array([["x"], terms, [], ["y", "z"]], pa.list_(pa.string()))
    if encoded:
        column = pa.ListArray.from_arrays(
            column.offsets, column.values.dictionary_encode(), mask=column.is_null()
        )
    table = pa.table({"terms": column, "weights": [[1.0], weights, [], [2.0, 3.0]]})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    found = read(path, batch_terms=batch_terms)
    good = [["x"], [], ["y", "z"]], [[1.0], [], [2.0, 3.0]], [0, 2, 3]
    assert found == ([0, 2, 3], *good, [(1, reason)])


@pytest.mark.parametrize("shape", ["map", "structs"])
def test_bad_rows_of_tables_that_bring_weights(tmp_path, shape):
    rows: list[Any] = [
        [("x", 1.0)],
        None,
        [("a", 1.0), ("b", None)],
        [("c", math.nan)],
        [("y", 2.0)],
    ]
    table = pa.table({"terms": pa.array(rows, pa.map_(pa.string(), pa.float64()))})
    if shape == "structs":
        kind = pa.list_(pa.struct([("term", pa.string()), ("weight", pa.float64())]))
        rows = [r and [{"term": t, "weight": w} for t, w in r] for r in rows]
        table = pa.table({"terms": pa.array([*rows, [None]], kind)})
    pq.write_table(table, tmp_path / "a.parquet")
    _, terms, weights, places, rejected = read(tmp_path / "a.parquet")
    assert (terms, weights, places) == ([["x"], ["y"]], [[1.0], [2.0]], [0, 4])
    assert rejected[:3] == [
        (1, "'terms' is null"),
        (2, "'terms': weight 2 is null"),
        (3, "'terms': weight 1 is NaN"),
    ]
    assert rejected[3:] == ([(5, "'terms': term 1 is null")] if shape == "structs" else [])


@pytest.mark.parametrize("encoded", [False, True])
def test_invalid_utf8_in_tables(tmp_path, encoded):
    values = pa.array([b"ok", b"a\xff", b"fine", b"\xe7"], pa.binary()).view(pa.string())
    if encoded:
        places = pa.array([0, 1, 2, 3], pa.int32())
        values = pa.DictionaryArray.from_arrays(places, values)
    terms = pa.ListArray.from_arrays(pa.array([0, 1, 1, 3, 4], pa.int32()), values)
    path = tmp_path / "a.arrow"
    table = pa.table({"id": pa.array([b"w", b"x", b"y", b"\xff"]), "terms": terms})
    pa.feather.write_feather(table, path, compression="uncompressed")
    ids, terms, _, places, rejected = read(path)
    assert (ids, terms, places) == (["w", "x"], [["ok"], []], [0, 1])
    assert rejected == [
        (2, "'terms': term 1: invalid UTF-8, byte 0xff at offset 1"),
        (3, "'terms': term 1: invalid UTF-8, byte 0xe7 at offset 0"),
    ]


def test_a_null_in_a_dictionary_is_a_null_term(tmp_path):
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["a", None]))
    table = pa.table({"terms": pa.ListArray.from_arrays([0, 1, 2], values)})
    pa.feather.write_feather(table, tmp_path / "a.arrow", compression="uncompressed")
    assert read(tmp_path / "a.arrow")[1:] == (
        [["a"]], [], [0], [(1, "'terms': term 1 is null")]
    )  # fmt: skip


def test_ids_are_judged(tmp_path):
    table = pa.table({"id": ["a", None], "terms": [["x"], ["y"]]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet") == (["a"], [["x"]], [], [0], [(1, "'id' is null")])


JSON_FAULTS = {
    '{"terms": null}': "'terms' is null",
    '{"terms": "a b"}': "'terms' is a string, not an array or an object of terms",
    '{"words": ["a"]}': "no 'terms'",
    "{}": "no 'terms'",
    "[]": "an array, not an object",
    '{"terms": ["a", null], "weights": [1, 2]}': "term 2 is null",
    '{"terms": ["a", 7], "weights": [1, 2]}': "term 2 is a number, not a string",
    '{"terms": [7]}': "term 1 is a number, not a string",
    '{"terms": [["a", 1], "b"]}': "item 2 is a string, not an array of a term and its weight",
    '{"terms": [["a", 1], ["b"]]}': "item 2 has the length 1, not 2 for a term and its weight",
    '{"terms": [[1, "a"]]}': "term 1 is a number, not a string",
    '{"terms": [{"term": "a"}]}': "item 1 has no 'weight'",
    '{"terms": [{"term": "a", "weight": 1}, 2]}': (
        "item 2 is a number, not an object with term and weight"
    ),
    '{"terms": {"a": null}}': "weight 1 is null",
    '{"terms": {"a": "1"}}': "weight 1 is a string, not a number",
    '{"terms": {"a": true}}': "weight 1 is a boolean, not a number",
    '{"a": {"b": {}}}': "weight 1 is an object, not a number",
    '{"terms": ["a"], "weights": [1, 2]}': "'terms' and 'weights' differ in length, 1 and 2",
    '{"terms": ["a"], "weights": null}': "'weights' is null",
    '{"terms": ["a"], "weights": 1}': "'weights' is a number, not an array of numbers",
    '{"terms": ["a"]}': "no weights, which line 1 has",
}


@pytest.mark.parametrize("line", JSON_FAULTS)
@pytest.mark.parametrize("batch_terms", [1, 1 << 20])
def test_bad_lines_of_json(tmp_path, line, batch_terms):
    path = tmp_path / "a.jsonl"
    path.write_text('{"terms": {"x": 1}}\n\n' + line + '\n{"terms": {"y": 2}}\n')
    _, terms, weights, places, rejected = read(path, id="row", batch_terms=batch_terms)
    assert (terms, weights, places) == ([["x"], ["y"]], [[1.0], [2.0]], [0, 2])
    assert rejected == [(1, f"line 3: {JSON_FAULTS[line]}")]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_no_json(tmp_path, number):
    path = tmp_path / "a.jsonl"
    lines = b'{"terms": {"x": %s}}\n{"terms": {"\xff": 1}}\n{"terms": {}}\n'
    path.write_bytes(lines % number.encode())
    (_, reason), invalid = read(path)[4]
    assert reason.startswith("line 1: broken JSON at character")
    assert invalid == (1, "line 2: invalid UTF-8, byte 0xff at offset 12")


def test_one_bad_document_of_many_in_one_object(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"p": {"x": 1}, "q": {"x": null}, "r": {}}')
    assert read(path) == (
        ["p", "r"], [["x"], []], [[1.0], []], [0, 2], [(1, "line 1, 'q': weight 1 is null")]
    )  # fmt: skip
    assert read(path, id="row")[0] == [0, 2]


def test_weights_after_none_are_an_error(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(lines({"terms": ["a"]}, {"terms": {"a": 1}}))
    with pytest.raises(InputError, match="has no weights on line 1 but some on line 2"):
        read(path)


def test_files_with_and_without_weights_are_not_mixed(tmp_path):
    pq.write_table(pa.table({"terms": [["a"]], "weights": [[1.0]]}), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text('{"terms": []}\n{"terms": ["b"]}')
    with pytest.raises(InputError, match=r"a\.parquet has weights and .*b\.jsonl has none"):
        read(tmp_path)
    with pytest.raises(InputError, match=r"a\.parquet has weights and .*b\.jsonl has none"):
        read([tmp_path / "b.jsonl", tmp_path / "a.parquet"])


def test_missing_columns_are_listed_at_once(tmp_path):
    pq.write_table(pa.table({"id": [1], "words": [["a"]]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="no column 'terms'; its columns are 'id', 'words'; name"):
        TermDocuments(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="no column 'key'; its columns are 'id', 'words'; name"):
        TermDocuments(tmp_path / "a.parquet", terms="words", id="key")
    (tmp_path / "a.jsonl").write_text('{"id": 1, "words": ["a"]}')
    with pytest.raises(InputError, match="no column 'terms'; its columns are 'id', 'words'; name"):
        read(tmp_path / "a.jsonl")


WRONG_TYPES = {
    "string": pa.array(["a b"]),
    "list<.*: int64>": pa.array([[1]]),
    "map<string, string": pa.array([[("a", "b")]], pa.map_(pa.string(), pa.string())),
    "list<.*: struct<a: string>>": pa.array([[{"a": "b"}]]),
    "list<.*: list<.*: string>>": pa.array([[["a"]]]),
}


@pytest.mark.parametrize("kind", WRONG_TYPES)
def test_columns_of_the_wrong_type(tmp_path, kind):
    pq.write_table(pa.table({"terms": WRONG_TYPES[kind]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=f"'terms' of type {kind}.*, which cannot be terms"):
        TermDocuments(tmp_path / "a.parquet")


@pytest.mark.parametrize("weights", [[1.0], [["a"]]], ids=str)
def test_weights_of_the_wrong_type(tmp_path, weights):
    pq.write_table(pa.table({"terms": [["a"]], "weights": weights}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"'weights' of type .* cannot be the weights of terms"):
        TermDocuments(tmp_path / "a.parquet")


def test_weights_beside_a_map_are_another_matter(tmp_path):
    terms = pa.array([[("a", 2)]], pa.map_(pa.string(), pa.int32()))
    pq.write_table(pa.table({"terms": terms, "weights": ["heavy"]}), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet")[1:3] == ([["a"]], [[2.0]])


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "a.txt", "a.md"])
def test_formats_that_cannot_hold_terms(tmp_path, name):
    (tmp_path / name).write_bytes(b"id,terms\n1,a\n")
    for inputs in (tmp_path / name, tmp_path):
        with pytest.raises(InputError, match=r"cannot hold terms; write them as .*\.parquet"):
            TermDocuments(inputs)


def test_nothing_is_unpickled(tmp_path):
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(DOCUMENTS))
    with pytest.raises(InputError, match=r"a\.pkl is not text, nor of a format that neardup reads"):
        TermDocuments(tmp_path / "a.pkl")
    (tmp_path / "b.jsonl").write_text(lines(*JSON_LINES["objects"]))
    ids, *_, places, rejected = read(tmp_path)
    assert (ids, places) == (IDS, [1, 2, 3])
    assert rejected[0][1].startswith("is not text, nor of a format")


def test_folders_globs_and_compressed_files(tmp_path):
    first, second, third = JSON_LINES["objects"]
    (tmp_path / "1.jsonl.gz").write_bytes(gzip.compress(lines(first).encode()))
    (tmp_path / "2.jsonl.bz2").write_bytes(bz2.compress(lines(second).encode()))
    table = pa.table({"id": ["c"], "terms": [TERMS[2]], "weights": [WEIGHTS[2]]})
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    (tmp_path / "3.parquet.gz").write_bytes(gzip.compress(buffer.getvalue()))
    assert third["id"] == "c"
    for inputs in (tmp_path, f"{tmp_path}/*", sorted(tmp_path.iterdir())):
        assert read(inputs) == ALL_GOOD


@pytest.mark.parametrize("format", ["jsonl", "gzip", "parquet"])
def test_standard_input(monkeypatch, format):
    content = lines(*JSON_LINES["ids to terms"]).encode()
    if format == "gzip":
        content = gzip.compress(content)
    elif format == "parquet":
        buffer = io.BytesIO()
        pq.write_table(pa.table({"id": IDS, **SHAPES["map"]}), buffer)
        content = buffer.getvalue()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    documents = TermDocuments("-")
    assert [id for batch in documents for id in batch.ids.to_pylist()] == IDS
    with pytest.raises(InputError, match="can be read only once"):
        list(documents)


def test_standard_input_of_plain_lines_is_refused(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"some words\n")))
    with pytest.raises(InputError, match="standard input is of a format that cannot hold terms"):
        list(TermDocuments("-"))


def test_ids_are_unique_or_rows(tmp_path):
    first, second = tmp_path / "a.jsonl", tmp_path / "b.parquet"
    first.write_text('{"x": {"t": 1}}\n{"y": {"t": 1}}')
    pq.write_table(pa.table({"id": ["z", "y"], "terms": [["t"]] * 2, "weights": [[1]] * 2}), second)
    with pytest.raises(
        InputError, match=r"id 'y' occurs twice, in .*a\.jsonl row 1 and in .*row 1"
    ):
        read([first, second])
    assert read([first, second], id="row")[0] == [0, 1, 2, 3]


def test_progress_reaches_the_total_and_reading_again_is_the_same(tmp_path):
    pq.write_table(pa.table({"id": IDS, **SHAPES["map"]}), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text('{"z": {"t": 1}}\n')
    documents = TermDocuments(tmp_path, batch_terms=1)
    assert documents.total_bytes == sum(p.stat().st_size for p in tmp_path.iterdir())
    seen = []
    for _ in range(2):
        seen.append([(b.ids.to_pylist(), documents.done_bytes) for b in documents])
        assert documents.done_bytes == documents.total_bytes
    assert seen[0] == seen[1]
    assert [ids for ids, _ in seen[0]] == [["a"], ["b"], ["c"], ["z"]]
    progress = [done for _, done in seen[0]]
    assert progress == sorted(progress)


def test_settings_that_cannot_work(tmp_path):
    with pytest.raises(SettingError, match="batch_terms=0 must be at least 1"):
        TermDocuments(tmp_path, batch_terms=0)
    with pytest.raises(SettingError, match="'words' cannot be both the terms and the id"):
        TermDocuments(tmp_path, terms="words", id="words")


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "jsonl"])
def test_batches_are_bounded(tmp_path, suffix):
    lengths = [3, 40, 0, 7, 2, 9, 1] * 30
    table = pa.table({"terms": [[f"t{i}" for i in range(length)] for length in lengths]})
    path = tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, path)
    elif suffix == "arrow":
        pa.feather.write_feather(table, path, compression="uncompressed")
    else:
        path.write_text(lines(*table.to_pylist()))
    batches = list(TermDocuments(path, batch_terms=20))
    sizes = [batch.terms.value_lengths().to_pylist() for batch in batches]
    assert [length for batch in sizes for length in batch] == lengths
    assert all(sum(batch) <= 20 or len([n for n in batch if n]) == 1 for batch in sizes)
    assert any(len(batch) > 1 for batch in sizes)


terms_and_weights = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=5),
    st.floats(allow_nan=False, allow_infinity=False),
    max_size=6,
)


@given(st.lists(terms_and_weights, max_size=12), st.integers(1, 20), st.booleans())
def test_round_trip(tmp_path_factory, documents, batch_terms, keyed):
    folder = tmp_path_factory.mktemp("terms")
    ids = [f"d{i}" for i in range(len(documents))]
    table = pa.table(
        {
            "id": pa.array(ids, pa.string()),
            "terms": pa.array([list(d) for d in documents], pa.list_(pa.string())),
            "weights": pa.array([list(d.values()) for d in documents], pa.list_(pa.float64())),
        }
    )
    pq.write_table(table, folder / "a.parquet", row_group_size=5)
    (folder / "a.jsonl").write_text(
        lines(
            *(
                {i: d} if keyed else {"id": i, "terms": d}
                for i, d in zip(ids, documents, strict=True)
            )
        )
    )
    for name in ("a.parquet", "a.jsonl"):
        found = []
        for batch in TermDocuments(folder / name, batch_terms=batch_terms):
            assert not batch.rejected
            terms = batch.terms.to_pylist()
            weights = [[]] * len(terms) if batch.weights is None else batch.weights.to_pylist()
            found += [dict(zip(t, w, strict=True)) for t, w in zip(terms, weights, strict=True)]
        assert found == documents


def test_the_arxiv_features(shared_data):
    path = shared_data / "arxiv" / "features.parquet"
    table = pq.read_table(path)
    ids, counts, total = [], [], 0.0
    for batch in TermDocuments(path):
        assert not batch.rejected
        assert len(batch.terms.flatten()) <= 1 << 20
        assert pa.types.is_dictionary(batch.terms.type.value_type)
        ids += batch.ids.to_pylist()
        counts += batch.terms.value_lengths().to_pylist()
        total += np.sum(batch.weights.flatten().to_numpy())
    assert len(ids) == 55_760
    assert ids == table["id"].to_pylist()
    assert sum(counts) == 7_504_164
    assert total == pytest.approx(
        sum(c.flatten().to_numpy().sum(dtype=float) for c in table["weights"].chunks)
    )

"""Which columns are read and carried along, and the messages for missing ones."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError, SettingError
from neardup.read import Documents


def write(folder, name, rows):
    """Write the same rows in the format of the suffix."""
    path = folder / name
    names = list(dict.fromkeys(key for row in rows for key in row))
    if name.endswith(".parquet"):
        pq.write_table(pa.table({n: [row.get(n) for row in rows] for n in names}), path)
    elif name.endswith(".arrow"):
        content = pa.table({n: [row.get(n) for row in rows] for n in names})
        with pa.ipc.new_file(path, content.schema) as writer:
            writer.write_table(content)
    elif name.endswith(".csv"):
        lines = [names, *([str(row[n]) for n in names] for row in rows)]
        path.write_text("\n".join(",".join(line) for line in lines))
    elif name.endswith(".json"):
        path.write_text(json.dumps(rows))
    else:
        path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def read(path, **options):
    return pa.Table.from_batches([b.documents for b in Documents([path], **options)])


ALL_FORMATS = pytest.mark.parametrize(
    "name", ["x.jsonl", "x.json", "x.csv", "x.parquet", "x.arrow"]
)
ROWS = [{"body": "one", "key": "a", "n": "1"}, {"body": "two", "key": "b", "n": "2"}]


@ALL_FORMATS
def test_named_columns(tmp_path, name):
    path = write(tmp_path, name, ROWS)
    found = read(path, text="body", id="key", columns=["n", "key", "body", "n"])
    assert found.to_pydict() == {"id": ["a", "b"], "text": ["one", "two"], "n": ["1", "2"]}
    assert read(path, text="body").to_pydict() == {"id": [0, 1], "text": ["one", "two"]}


@ALL_FORMATS
@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ({}, "'text'.*--text"),
        ({"text": "body", "id": "id"}, "'id'.*--id row"),
        ({"text": "body", "columns": ["n", "m"]}, "'m'.*carry only"),
    ],
)
def test_missing_columns_are_named_with_those_there_are(tmp_path, name, options, missing):
    path = write(tmp_path, name, ROWS)
    with pytest.raises(InputError) as error:
        list(Documents([path], **options))
    assert error.match(missing)
    assert error.match(f"{path} has no column '.*'; its columns are 'body', 'key', 'n'; ")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.arrow"])
def test_headers_are_checked_before_any_file_is_read(tmp_path, name):
    first = write(tmp_path, "a.jsonl", [{"text": "t", "id": "1"}])
    with pytest.raises(InputError, match="no column 'text'"):
        Documents([first, write(tmp_path, name, ROWS)])


def test_text_files_have_no_other_columns(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    for options in ({"text": "body"}, {"columns": ["n"]}, {"id": "id"}):
        with pytest.raises(InputError, match="its columns are 'text'"):
            Documents([tmp_path / "a.txt"], **options)
    with pytest.raises(InputError, match="no column 'key'; its columns are 'id', 'text'"):
        Documents([tmp_path], id="key")


def test_a_key_that_only_later_objects_have_is_no_missing_column(tmp_path):
    rows = [{"id": 0}] * 999 + [{"id": 1, "text": "late"}]
    path = write(tmp_path, "late.jsonl", rows)
    assert read(path).to_pydict() == {"id": [1], "text": ["late"]}
    path = write(tmp_path, "later.jsonl", [{"id": 0}, *rows])
    with pytest.raises(InputError, match="no column 'text'"):
        list(Documents([path]))


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_columns_of_a_wrong_type_are_refused_whole(tmp_path, name):
    path = write(tmp_path, name, [{"text": 1, "id": 1.5, "words": ["a"]}])
    with pytest.raises(InputError, match="column 'text' of type int64, which cannot be a text"):
        Documents([path])
    with pytest.raises(InputError, match=r"'words' of type list.* cannot be a text"):
        Documents([path], text="words")
    path = write(tmp_path, name, [{"text": "a", "id": 1.5}])
    with pytest.raises(InputError, match="'id' of type double, which cannot be an id"):
        Documents([path])
    assert read(path, id="row").to_pydict() == {"id": [0], "text": ["a"]}


def test_a_column_twice(tmp_path):
    (tmp_path / "x.csv").write_text("text,n,n\na,1,2\n")
    with pytest.raises(InputError, match="more than one column 'n'"):
        Documents([tmp_path / "x.csv"], columns="all")
    assert read(tmp_path / "x.csv").column("text").to_pylist() == ["a"]
    two = pa.table([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    pq.write_table(two, tmp_path / "x.parquet")
    with pytest.raises(InputError, match="more than one column 'text'"):
        Documents([tmp_path / "x.parquet"])


@ALL_FORMATS
def test_a_carried_column_never_hides_the_id_or_the_text(tmp_path, name):
    path = write(tmp_path, name, [{"id": "k", "text": "t", "body": "b"}])
    found = read(path, text="body", id="row", columns="all").to_pydict()
    assert found == {"id": [0], "text": ["b"], "input_id": ["k"], "input_text": ["t"]}
    path = write(tmp_path, name, [{"id": "k", "text": "t", "input_id": "b"}])
    with pytest.raises(InputError, match="'id' and a column 'input_id'"):
        list(Documents([path], id="row", columns="all"))


def test_carried_parquet_columns_keep_their_types(tmp_path):
    content = pa.table({"text": ["a", "b"], "n": [1, None], "v": [[1.5], []], "s": [{"x": 1}] * 2})
    pq.write_table(content, tmp_path / "x.parquet")
    found = read(tmp_path / "x.parquet", columns="all")
    assert found.drop_columns(["id"]) == content


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2], [1, 2]),
        ([1, 2.5], [1.0, 2.5]),
        ([1, None], [1, None]),
        ([1, "a"], ["1", "a"]),
        ([True, 1], ["true", "1"]),
        ([[1], "a"], ["[1]", "a"]),
        ([{"x": 1}, 3], ['{"x":1}', "3"]),
        ([{}, None], ["{}", None]),
        ([[{}], [{}]], ["[{}]", "[{}]"]),
        ([{"x": 1}, {"y": 2}], [{"x": 1, "y": None}, {"x": None, "y": 2}]),
        ([2**63, -1], ["9223372036854775808", "-1"]),
        ([None, None], [None, None]),
    ],
)
def test_carried_json_values_of_any_shape(tmp_path, values, expected):
    rows = [{"text": "t", "v": value} for value in values]
    found = read(write(tmp_path, "x.jsonl", rows), columns=["v"])
    assert found.column("v").to_pylist() == expected
    pq.write_table(found, tmp_path / "can_be_stored.parquet")


def test_settings_that_cannot_work(tmp_path):
    path = write(tmp_path, "x.jsonl", ROWS)
    for options in ({"columns": "body"}, {"text": "key", "id": "key"}, {"batch_bytes": 0}):
        with pytest.raises(SettingError):
            Documents([path], **options)

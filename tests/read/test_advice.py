"""Which column to name: the advice where a table has no column `text`."""

import csv
import json
import shlex

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli import forked

import neardup as nd
from neardup.errors import InputError, NoColumnError

COUNT = 40
BODIES = [f"the body of document {n} has several words, and is long" for n in range(COUNT)]
TITLES = [f"a title of document {n}" for n in range(COUNT)]


def columns(**more):
    return {
        "id": list(range(COUNT)),
        "title": TITLES,
        "key": [f"k{n:04}" for n in range(COUNT)],
    } | more


def as_csv(path, given):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(given)
        writer.writerows(zip(*given.values(), strict=True))


def as_lines(path, given):
    rows = (dict(zip(given, row, strict=True)) for row in zip(*given.values(), strict=True))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def as_parquet(path, given):
    pq.write_table(pa.table(given), path)


WRITERS = {"csv": as_csv, "jsonl": as_lines, "parquet": as_parquet}


def advice(given, **options):
    with pytest.raises(InputError) as missing:
        nd.dedup(given, **options)
    return str(missing.value).split("; ", 2)[-1]


@pytest.fixture(params=WRITERS)
def write(tmp_path, request):
    def written(given, name="a"):
        path = tmp_path / f"{name}.{request.param}"
        WRITERS[request.param](path, given)
        return path

    return written


def test_the_longest_texts_come_first(write):
    path = write(columns(body=BODIES, parts=[[1, 2]] * COUNT))
    assert advice(path) == (
        "'body' looks most like text (54 characters on average), then 'title' (22): add --text body"
    )
    assert advice(path, text="content").endswith("add --text body")
    done = forked.neardup("fingerprint", path, "-o", path.with_name("f.parquet"))
    assert done.returncode == 1
    assert "add --text body" in done.stderr
    # And what it says works.
    done = forked.neardup("fingerprint", path, "--text", "body", "-o", path.with_name("f.parquet"))
    assert done.returncode == 0


def test_records_are_compared_by_fields(write):
    cities = ["Oslo", "Bergen"] * (COUNT // 2)
    path = write(columns(title=[f"Name{n % 7}" for n in range(COUNT)], city=cities))
    said = advice(path)
    assert "compare several columns with --text title+city, or let neardup tune" in said
    assert nd.dedup(path, text="title+city").summary["documents"] == COUNT


def test_one_column_that_tells_rows_apart(write):
    path = write({"id": list(range(COUNT)), "city": ["Oslo", "Bergen"] * (COUNT // 2)})
    assert advice(path) == "'city' alone tells rows apart: add --text city"


@pytest.mark.parametrize("name", ["main text", "a+b", "x*2", "dob:exact", "größe", "50%"])
def test_the_option_can_be_typed_as_it_is_shown(write, name):
    path = write({name: BODIES})
    done = forked.neardup("fingerprint", path, "-o", path.with_name("f.parquet"))
    option = done.stderr.rstrip().rpartition("--text ")[2]
    (value,) = shlex.split(option)
    assert nd.dedup(path, text=value).summary["documents"] == COUNT


def test_nothing_to_say(write):
    path = write({"a": [1] * COUNT, "b": ["x"] * COUNT})
    assert advice(path) == "name the column that holds the text with --text"


def test_a_folder_of_such_files(write):
    path = write(columns(body=BODIES), "a")
    write(columns(body=BODIES), "b")
    assert "add --text body" in advice(path.parent)


def test_a_table_in_memory():
    with pytest.raises(NoColumnError, match=r"only \['id', .*add text='body'$"):
        nd.dedup(pa.table(columns(body=BODIES)))
    with pytest.raises(NoColumnError, match=r"with text='title\+city', or let nd\.tune choose$"):
        nd.dedup(
            pa.table({"title": ["A", "B", "A"], "city": ["Oslo", "Bergen", "Oslo"], "n": [1, 1, 1]})
        )

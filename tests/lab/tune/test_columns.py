"""Tables without a column `text`: the main text, or all columns that say something."""

import datetime
import decimal
import json

import numpy as np
import pyarrow as pa
import pytest
from tests.lab.tune import made

import neardup as nd

COUNT = 120


def records(**more):
    """Names, towns, a key, and a constant."""
    random = np.random.default_rng(7)
    first, last, towns = (made.words(random, size) for size in (20, 60, 5))
    names = [f"{random.choice(first)} {random.choice(last)}" for _ in range(COUNT)]
    columns = {
        "key": [f"k{number:04}" for number in range(COUNT)],
        "name": names,
        "town": random.choice(towns, COUNT).tolist(),
        "state": ["bern"] * COUNT,
    }
    return {**columns, **more}


def as_csv(path, columns):
    import csv

    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def as_lines(path, columns):
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["csv", "jsonl", "table"])
def test_columns_that_say_something_are_fields(tmp_path, form):
    columns = records()
    source = {
        "csv": lambda: as_csv(tmp_path / "people.csv", columns),
        "jsonl": lambda: as_lines(tmp_path / "people.jsonl", columns),
        "table": lambda: pa.table(columns),
    }[form]()
    tuning = nd.tune(source)
    assert tuning.settings["text"] == "name+town"
    assert "name and town are compared as fields" in tuning.reasons[0]
    assert "key and state left out" in tuning.reasons[0]
    assert nd.dedup(source, **tuning.settings).summary["documents"] == COUNT


def test_one_long_column_is_the_text():
    random = np.random.default_rng(3)
    words = made.words(random, 300)
    bodies = [" ".join(random.choice(words, 40)) for _ in range(COUNT)]
    tuning = nd.tune(pa.table(records(body=bodies)))
    assert tuning.settings["text"] == "body"
    assert "body has most of the words" in tuning.reasons[0]


def test_the_ids_are_not_compared():
    columns = records()
    columns["id"] = columns.pop("key")
    assert nd.tune(pa.table(columns)).settings["text"] == "name+town"
    columns["town name"] = columns.pop("town")
    tuning = nd.tune(pa.table(columns), id="name")
    assert tuning.settings["text"] == "town name"


@pytest.mark.parametrize("name", ["a+b", "x*2", "full:name", "名", "a'b", 'a"b', " padded "])
def test_names_with_signs_are_columns_all_the_same(name):
    columns = records()
    columns[name] = columns.pop("name")
    table = pa.table(columns)
    settings = nd.tune(table).settings
    assert nd.dedup(table, **settings).summary["documents"] == COUNT
    del columns["town"]
    table = pa.table(columns)
    assert nd.dedup(table, **nd.tune(table).settings).summary["documents"] == COUNT


def test_chinese_values_are_texts():
    names = [f"王小{'明红刚丽军'[n % 5]}{'东西南北'[n % 4]}" for n in range(COUNT)]
    columns = records(name=names)
    assert nd.tune(pa.table(columns)).settings["text"] == "name+town"


def test_numbers_and_dates_are_fields_and_lists_are_not():
    columns = pa.table(
        records(
            price=[decimal.Decimal(number % 40) for number in range(COUNT)],
            weight=[number % 30 / 4 for number in range(COUNT)],
            born=[datetime.date(1950 + number % 50, 1, 1) for number in range(COUNT)],
            member=[number % 2 == 0 for number in range(COUNT)],
            tags=[["a", str(number)] for number in range(COUNT)],
            raw=[b"\xff\xfe%d" % number for number in range(COUNT)],
            nothing=[None] * COUNT,
        )
    )
    large = pa.array([b"\xff%d" % number for number in range(COUNT)], pa.large_binary())
    columns = columns.append_column("large", large)
    reason = nd.tune(columns).reasons[0]
    assert "name, town, price, weight, born and member are compared" in reason


def test_a_table_of_keys_alone_is_refused():
    with pytest.raises(nd.InputError, match="no column 'text'"):
        nd.tune(pa.table({"key": ["k1", "k2", "k3"], "state": ["x"] * 3}))


def test_a_named_column_is_taken_as_it_is(tmp_path):
    path = as_csv(tmp_path / "people.csv", records())
    assert nd.tune(path, text="town").settings["text"] == "town"
    with pytest.raises(nd.InputError, match="no column 'street'"):
        nd.tune(path, text="street")


def test_a_table_without_rows(tmp_path):
    (tmp_path / "none.csv").write_text("name,town\n", encoding="utf-8")
    with pytest.raises(nd.NeardupError, match="nothing to tune"):
        nd.tune(tmp_path / "none.csv")

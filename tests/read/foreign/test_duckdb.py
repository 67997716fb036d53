"""DuckDB tables and queries."""

import os
import subprocess
import sys
from contextlib import closing

import pytest
from tests.read.foreign.tables import TEXTS, read

import neardup as nd
from neardup.errors import InputError

duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A database with the table pages, and the current folder beside it."""
    monkeypatch.chdir(tmp_path)
    with closing(duckdb.connect("pages.duckdb")) as base:
        base.execute(
            "CREATE TABLE pages (id INTEGER, text VARCHAR, age INTERVAL, kind ENUM ('a', 'b'), "
            "parts INTEGER[], big HUGEINT, key UUID)"
        )
        for n, text in enumerate(TEXTS):
            base.execute(
                "INSERT INTO pages VALUES (?, ?, INTERVAL 3 DAY, 'a', [1, 2], 7, "
                "'00000000-0000-0000-0000-00000000000a')",
                [n, text],
            )
    return tmp_path / "pages.duckdb"


def refusal(*inputs, **options):
    with pytest.raises(InputError) as refused:
        read(*inputs, **options)
    return str(refused.value)


def test_a_table_with_its_types(path, tmp_path):
    before = path.read_bytes()
    rows, rejected = read("duckdb:///pages.duckdb?table=pages")
    assert rows["id"] == [0, 1, 2, 3]
    assert rows["text"] == TEXTS
    assert rows["age"][0] == "3 days"
    assert rows["kind"] == ["a"] * 4
    assert rows["parts"] == [[1, 2]] * 4
    assert rows["big"] == ["7"] * 4
    assert rows["key"][0].endswith("0a")
    assert rejected == []
    result = nd.dedup("pages.duckdb")
    result.save("out")  # Parquet can hold every column
    assert result.kept["id"].to_pylist() == [0, 2, 3]
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["out", "pages.duckdb"]


def test_tables_of_other_schemas_and_views(path):
    with closing(duckdb.connect("pages.duckdb")) as base:
        base.execute("CREATE SCHEMA old; CREATE TABLE old.pages AS SELECT 1 AS id, 'a b' AS text")
        base.execute("CREATE VIEW seen AS SELECT * FROM pages WHERE id = 1")
    assert refusal(path).endswith(
        f"has 2 tables, 'pages', 'old.pages'; name one, for example duckdb:///{path}?table=pages"
    )
    assert read("duckdb:///pages.duckdb?table=old.pages")[0]["text"] == ["a b"]
    assert read("duckdb:///pages.duckdb?table=seen")[0]["id"] == [1]


def test_what_was_not_read_to_its_end_does_not_hold_the_database_open(path):
    """DuckDB waits for ever to open a database of which this process has an open reader."""
    code = (
        "import gc, neardup as nd\n"
        "from neardup.read.foreign.address import database_address\n"
        "from neardup.read.foreign.duckdb import opened_duckdb\n"
        "gc.disable()\n"
        "address = database_address('duckdb:///pages.duckdb?table=pages')\n"
        "held = []\n"
        "with opened_duckdb(address) as table:\n"
        "    held.append(table)\n"
        "print(len(nd.dedup('pages.duckdb').kept))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "3\n"


def test_a_query(path):
    query = "SELECT id, text FROM pages WHERE text LIKE '%fox%' ORDER BY id DESC"
    assert read(f"duckdb:///pages.duckdb?query={query}")[0]["id"] == [1, 0]
    assert "with one SELECT" in refusal("duckdb:///pages.duckdb?query=DROP TABLE pages")
    assert "with one SELECT" in refusal("duckdb:///pages.duckdb?query=SELECT 1; SELECT 2")
    assert "Parser Error" in refusal("duckdb:///pages.duckdb?query=SELEC 1")
    assert "Table with name zz" in refusal("duckdb:///pages.duckdb?query=SELECT * FROM zz")


def test_other_files_are_refused(tmp_path):
    import sqlite3

    (tmp_path / "no.duckdb").write_text("text")
    assert refusal(tmp_path / "no.duckdb").endswith("is not a DuckDB database")
    with closing(sqlite3.connect(tmp_path / "lite.db")) as base:
        base.execute("CREATE TABLE t (text)")
    assert "name a SQLite database as sqlite:///" in refusal(f"duckdb:///{tmp_path}/lite.db")
    assert "does not exist" in refusal(f"duckdb:///{tmp_path}/none.duckdb")


def test_a_database_that_another_program_writes_to(path):
    code = "import duckdb; c = duckdb.connect('pages.duckdb'); print(1, flush=True); input()"
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        other.stdout.readline()
        assert "is open in another program" in refusal(path)
    finally:
        other.communicate(b"\n")


def test_a_missing_package_is_named(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert refusal(path).endswith(
        "needs the package duckdb; install it with pip install 'neardup[duckdb]'"
    )

"""SQLite tables: types of columns, tables by name, queries, and databases that others use."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from tests.cli import forked
from tests.read.foreign.tables import FOX, TEXTS, read

import neardup as nd
from neardup.errors import InputError
from neardup.read import Documents


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A database with the table pages, and the current folder beside it."""
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("pages.db")) as base:
        base.execute("CREATE TABLE pages (id INTEGER PRIMARY KEY, text TEXT, score REAL, mixed)")
        rows = [(10 + n, text, n / 2, n if n % 2 else f"m{n}") for n, text in enumerate(TEXTS)]
        base.executemany("INSERT INTO pages VALUES (?, ?, ?, ?)", rows)
        base.commit()
    return tmp_path / "pages.db"


def change(path, *statements):
    with closing(sqlite3.connect(path)) as base:
        for statement in statements:
            base.execute(statement)
        base.commit()


def refusal(*inputs, **options):
    with pytest.raises(InputError) as refused:
        read(*inputs, **options)
    return str(refused.value)


def test_columns_have_the_types_of_their_values(path):
    rows, rejected = read("sqlite:///pages.db?table=pages")
    assert rows == {
        "id": [10, 11, 12, 13],
        "text": TEXTS,
        "score": [0.0, 0.5, 1.0, 1.5],
        "mixed": ["m0", "1", "m2", "3"],
    }
    assert rejected == []


def test_the_ways_to_name_a_database(path):
    expected = read("sqlite:///pages.db")
    for name in ("pages.db", path, f"sqlite:///{path}", f"sqlite://{path}", "SQLITE://pages.db"):
        assert read(name) == expected
    path.rename("a b?.db")
    assert read("a b?.db") == expected
    assert read("sqlite:///a%20b%3F.db?table=PAGES") == expected


def test_null_and_invalid_texts_are_rejected_with_their_rows(path):
    change(
        path,
        "INSERT INTO pages VALUES (20, NULL, 1, NULL)",
        "INSERT INTO pages VALUES (21, CAST(x'4142FF' AS TEXT), 1, NULL)",
        "INSERT INTO pages VALUES (22, x'c3a4', 1, x'00ff')",
    )
    rows, rejected = read(path)
    assert rows["id"] == [10, 11, 12, 13, 22]
    assert rows["text"] == [*TEXTS, "ä"]
    assert rows["mixed"][-2:] == [b"3", b"\0\xff"]
    assert rejected == [
        (4, "'text' is null"),
        (5, "'text': invalid UTF-8, byte 0xff at offset 2"),
    ]


def test_a_database_with_several_tables_says_which(path):
    change(path, 'CREATE TABLE "b ""c" (id, text)', "CREATE VIEW seen AS SELECT * FROM pages")
    assert refusal(path) == (
        f"sqlite:///{path} has 2 tables, 'b \"c', 'pages'; name one, for example "
        f'sqlite:///{path}?table=b "c'
    )
    assert refusal(f"sqlite:///{path}?table=zz").endswith(
        "has no table 'zz'; its tables are 'b \"c', 'pages', 'seen'"
    )
    assert read("sqlite:///pages.db?table=seen") == read("sqlite:///pages.db?table=pages")
    empty = nd.dedup('sqlite:///pages.db?table=b%20"c')
    assert empty.summary["documents"] == 0
    assert empty.kept.num_rows == 0


def test_the_parts_of_a_full_text_index_are_no_tables(path):
    change(path, "DROP TABLE pages", "CREATE VIRTUAL TABLE docs USING fts5(text)")
    change(path, f"INSERT INTO docs VALUES ('{FOX}')")
    assert read(path) == ({"text": [FOX]}, [])


@pytest.mark.parametrize(
    "query",
    [
        'SELECT id, text FROM pages WHERE text LIKE "%20dog%" OR id + 0 = 12;',
        "SELECT+id%2C+text+FROM+pages+WHERE+id+%3D+12",
        "WITH some AS (SELECT * FROM pages WHERE id = 12) SELECT id, text FROM some",
    ],
)
def test_a_query(path, query):
    assert read(f"sqlite:///pages.db?query={query}")[0] == {"id": [12], "text": [TEXTS[2]]}


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM pages",
        "ATTACH 'x.db' AS x",
        "SELECT 1; DROP TABLE pages",
        "PRAGMA user_version = 7",
    ],
)
def test_a_query_that_does_more_than_read_is_refused(path, query):
    before = path.read_bytes()
    assert "sqlite:///pages.db" in refusal(f"sqlite:///pages.db?query={query}")
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["pages.db"]


def test_what_a_url_may_ask_for(path):
    assert "write ?table=TABLE or ?query=SELECT" in refusal("sqlite:///pages.db?tables=pages")
    assert "'none.db'" not in refusal("sqlite:///none.db")
    assert refusal("sqlite:///none.db") == "none.db does not exist; check the path"
    assert "names no file" in refusal("sqlite://")
    Path("no.db").write_text("no database, but text")
    assert refusal("no.db") == "sqlite:///no.db is not a SQLite database; check the path"
    assert "no such column: zz" in refusal("sqlite:///pages.db?query=SELECT zz FROM pages")


def test_servers_are_refused_with_a_way_to_pipe(path):
    said = refusal("postgresql://me:secret@host/base")
    assert "row_to_json" in said
    assert "secret" not in said
    assert "JSON_OBJECT" in refusal("mysql+pymysql://host/base")
    assert "Parquet or CSV" in refusal("mssql://host/base")


def test_reading_leaves_nothing_beside_a_database_with_a_log(path):
    change(path, "PRAGMA journal_mode = WAL")
    before = path.read_bytes()
    assert read(path)[0]["id"] == [10, 11, 12, 13]
    assert os.listdir(path.parent) == ["pages.db"]
    assert path.read_bytes() == before


def test_rows_that_are_in_the_log_alone_are_read(path):
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute(f"INSERT INTO pages VALUES (14, '{FOX}', 1, 1)")
        other.commit()
        other.execute("INSERT INTO pages VALUES (15, 'not committed', 1, 1)")
        assert read(path)[0]["id"] == [10, 11, 12, 13, 14]


def test_a_run_sees_one_state_and_does_not_lock(path, monkeypatch):
    documents = Documents([str(path)], again=True)
    change(path, "DELETE FROM pages WHERE id < 12")  # would wait for a lock, and fail
    assert [len(batch.ids) for batch in documents] == [4]
    assert [len(batch.ids) for batch in documents] == [4]
    assert nd.dedup(path).summary["documents"] == 2


def test_a_locked_database_is_a_sentence(path, monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", partial(connect, timeout=0.1))
    with closing(connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert "is locked by another program that writes to it; try again" in refusal(path)


def test_a_damaged_database_is_a_sentence(path):
    content = bytearray(path.read_bytes())
    content[4096:4200] = bytes(104)
    path.write_bytes(content)
    assert "is damaged" in refusal(path)
    path.write_bytes(content[:3000])
    assert "is damaged" in refusal(path)
    path.write_bytes(b"")
    assert refusal(path).endswith("has no tables, so there is nothing to read")


def test_every_command_reads_a_database(path):
    for command in (
        ["dedup", "pages.db", "-o", "out"],
        ["dedup", "pages.db", "--against", "sqlite:///pages.db?table=pages", "-o", "none"],
        ["fingerprint", "pages.db", "-o", "prints.parquet"],
        ["tune", "pages.db"],
        ["sweep", "pages.db", "-o", "swept", "--plan", "blocks:3"],
        ["index", "create", "seen"],
        ["index", "add", "seen", "pages.db"],
    ):
        done = forked.neardup(*command)
        assert done.returncode == 0, done.stderr
    kept = nd.Result.load("out")
    assert kept.kept["id"].to_pylist() == [10, 12, 13]
    assert nd.Result.load("none").summary["kept"] == 0
    assert len(nd.Index("seen")) == 4


def test_a_run_on_a_database_cannot_be_resumed_or_sent_to_executors(path):
    done = forked.neardup("dedup", "pages.db", "-o", "out", "--resume")
    assert done.returncode == 2
    assert "--resume cannot tell whether pages.db is unchanged" in done.stderr
    done = forked.neardup("dedup", "pages.db", "-o", "out", "--engine", "spark")
    assert done.returncode == 1
    assert "cannot be read by executors" in done.stderr


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the memory")
def test_many_rows_are_read_in_bounded_memory(path, tmp_path):
    change(
        path,
        "DROP TABLE pages",
        "CREATE TABLE pages (id INTEGER PRIMARY KEY, text TEXT)",
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 400000) "
        "INSERT INTO pages SELECT i, printf('document %d ', i) || hex(zeroblob(300)) FROM n",
    )
    code = """
import re
from neardup.read import Documents

def held():  # not what is mapped from files
    return int(re.search(r"RssAnon:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024

before = held()
documents = Documents(["pages.db"], again=True)
sizes = [(len(batch.ids), held()) for batch in documents]
print(sum(size for size, _ in sizes), max(most for _, most in sizes) - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    rows, grown = map(int, done.stdout.split())
    assert rows == 400_000
    assert grown < 130  # MB, of 260 MB of text

"""The SQL functions for DuckDB, and tables that are deduplicated in place."""

import pyarrow as pa
import pytest
from tests.contrib.collections import rows

import neardup as nd

pytest.importorskip("duckdb", reason="DuckDB is not installed")

import duckdb

from neardup.contrib.duckdb import register

A, B = "to be or not to be", "To be, or not to be?"


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        register(connection)
        connection.register("frame", pa.table(rows()))
        connection.execute(
            "CREATE TABLE articles AS SELECT *, 7::HUGEINT AS large, uuid() AS key FROM frame"
        )
        yield connection


def answer(connection, query):
    return connection.execute(query).fetchall()


def test_fingerprints_are_those_of_the_function(connection):
    texts = rows()["body"] * 40  # more than the rows that DuckDB passes at a time
    connection.register("many", pa.table({"n": range(len(texts)), "body": texts}))
    found = answer(connection, "SELECT neardup_fingerprint(body) FROM many ORDER BY n")
    assert [value for (value,) in found] == [value or None for value in nd.fingerprint(texts)]
    kind = answer(connection, "SELECT typeof(neardup_fingerprint('x'))")
    assert kind == [("UBIGINT",)]


def test_hamming_and_jaccard(connection):
    found = answer(
        connection,
        "SELECT neardup_jaccard(a, b), neardup_hamming(neardup_fingerprint(a),"
        " neardup_fingerprint(b)), typeof(neardup_jaccard(a, b)), typeof(neardup_hamming(1, 2))"
        f" FROM (VALUES ('{A}', '{B}'), ('{A}', 'to be or not'), (NULL, '{A}'), ('{A}', NULL),"
        " ('?', '?'), (NULL, NULL)) AS pairs(a, b)",
    )
    near = nd.compare(A, "to be or not")
    assert [row[:2] for row in found] == [
        (1.0, 0), (0.5, near.distance), (None, None), (None, None), (0.0, None), (None, None),
    ]  # fmt: skip
    assert found[0][2:] == ("DOUBLE", "BIGINT")
    assert answer(connection, "SELECT neardup_hamming(0, 18446744073709551615)") == [(64,)]


def test_the_default_connection():
    assert register(duckdb) is duckdb
    assert duckdb.sql(f"SELECT neardup_jaccard('{A}', '{B}')").fetchall() == [(1.0,)]


def test_functions_of_constants_and_of_groups(connection):
    assert answer(connection, "SELECT neardup_fingerprint(NULL)") == [(None,)]
    assert answer(connection, f"SELECT neardup_jaccard('{A}', '{B}')") == [(1.0,)]
    ((texts, fps),) = answer(
        connection, "SELECT count(*), count(DISTINCT neardup_fingerprint(body)) FROM articles"
    )
    assert texts == 120
    assert fps == len({value for value in nd.fingerprint(rows()["body"]) if value})


def test_the_recipe_may_be_another_one(connection):
    register(connection, features="char:4", bits=32)
    ((fp, similarity),) = answer(
        connection, "SELECT neardup_fingerprint('abcdef'), neardup_jaccard('abcdef', 'abcdex')"
    )
    assert fp == nd.fingerprint(["abcdef"], "char:4", bits=32)[0]
    assert similarity == 0.5
    with pytest.raises(nd.SettingError, match="did you mean 'features'"):
        register(connection, feature="char:4")
    with pytest.raises(nd.SettingError, match="up to 64 bits"):
        register(connection, bits=128)


def test_a_table_is_deduplicated_in_place(connection):
    found = nd.dedup(connection.sql("SELECT rowid AS id, body FROM articles"), text="body")
    removed = found.removed  # noqa: F841 - DuckDB finds tables by the names of variables
    before = answer(connection, "SELECT * FROM articles ORDER BY rowid")
    connection.execute("DELETE FROM articles WHERE rowid IN (SELECT id FROM removed)")
    expected = nd.dedup(rows()["body"]).kept_rows
    assert 60 < len(expected) < 120
    after = answer(connection, "SELECT * FROM articles ORDER BY rowid")
    assert after == [before[place] for place in expected]


def test_what_became_of_each_row_is_a_table(connection):
    documents = nd.dedup(
        connection.sql("SELECT rowid AS id, body FROM articles"), text="body"
    ).documents
    connection.execute(
        "CREATE TABLE marked AS SELECT articles.*, documents.* EXCLUDE id"
        " FROM articles JOIN documents ON articles.rowid = documents.id"
    )
    assert documents.column_names[1:] == ["kept", "cluster", "duplicate_of", "similarity"]
    ((wrong,),) = answer(
        connection,
        "SELECT count(*) FROM marked JOIN articles ON articles.rowid = duplicate_of"
        " WHERE abs(similarity - neardup_jaccard(marked.body, articles.body)) > 1e-9",
    )
    assert wrong == 0
    ((kept,),) = answer(connection, "SELECT count(*) FROM marked WHERE kept")
    assert kept == len(nd.dedup(rows()["body"]).kept)


def test_a_wrong_argument_is_an_error_of_duckdb(connection):
    with pytest.raises(duckdb.Error, match="neardup_hamming"):
        connection.execute("SELECT neardup_hamming('a', [1])")

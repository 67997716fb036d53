"""neardup in DuckDB: SQL functions for fingerprints and similarities.

>>> import duckdb
>>> import neardup.contrib.duckdb
>>> connection = neardup.contrib.duckdb.register(duckdb.connect())
>>> question = "SELECT neardup_jaccard('to be or not to be', 'To be, or not!')"
>>> connection.execute(question).fetchall()
[(0.5,)]
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TypeVar

from neardup.contrib.columns import ColumnFingerprints, ColumnSimilarity, hammings
from neardup.contrib.needs import needs

with needs("duckdb", "neardup[duckdb]"):
    from duckdb import InvalidInputException

Connection = TypeVar("Connection")


def register(connection: Connection, **recipe: Any) -> Connection:
    """Create the functions of neardup on a connection, and return it.

    | function | returns |
    |---|---|
    | `neardup_fingerprint(text)` | UBIGINT; NULL for NULL and for a text without words |
    | `neardup_hamming(a, b)` | BIGINT: how many bits of two fingerprints differ |
    | `neardup_jaccard(a, b)` | DOUBLE: the similarity of two texts, as `neardup.dedup` has it |

    They are NULL if an argument is NULL. A function of an earlier call is replaced.

    Args:
        connection: A connection, or the module `duckdb` for its default one. The functions last as
            long as the connection.
        recipe: Settings of `neardup.fingerprint`, such as `features="char:4"`, with up to 64
            `bits`; `neardup_jaccard` has the same features.
    """
    fingerprints = ColumnFingerprints.of(**recipe)
    similarities = ColumnSimilarity.of(recipe.get("features", "word:3"))
    functions = (
        ("neardup_fingerprint", fingerprints, ["VARCHAR"], "UBIGINT"),
        ("neardup_hamming", hammings, ["UBIGINT", "UBIGINT"], "BIGINT"),
        ("neardup_jaccard", similarities, ["VARCHAR", "VARCHAR"], "DOUBLE"),
    )
    on: Any = connection
    for name, function, arguments, kind in functions:
        with suppress(InvalidInputException):  # there is none of this name yet
            on.remove_function(name)
        on.create_function(name, function, arguments, kind, type="arrow", null_handling="special")
    return connection

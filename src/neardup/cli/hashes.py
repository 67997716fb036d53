"""`neardup hashes`: the hash families, tried on words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from neardup.cli import options
from neardup.cli.files import read_text
from neardup.cli.terminal import plain_console, say_json
from neardup.errors import InputError


def hashes(
    families: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FAMILY",
            help="The families to try, for example md5 or string:5749:1024.",
            show_default="all",
        ),
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Words to hash, one on each line, in UTF-8; - is standard input.",
            show_default="1,000 common English words",
        ),
    ] = None,
    slots: Annotated[
        int, typer.Option(help="The size of the table they fall into.", min=2, max=1_000_000)
    ] = 257,
    json: options.Json = False,
) -> None:
    """Show the hash families: collisions, load, bits and speed over a list of words.

    Example: neardup hashes --slots 257
    """
    from neardup.hashes import hash_family
    from neardup.hashes.family import common_words
    from neardup.hashes.measurement import measure

    tried_words = common_words() if words is None else _words_of(words)
    names = families or _every_family(slots, tried_words)
    tried = [measure(family, tried_words, slots) for family in map(hash_family, names)]
    if json:
        found = {
            "words": len(tried_words),
            "slots": slots,
            "expected_distinct": tried[0].load.expected_distinct,
            "families": [one.to_dict() for one in tried],
        }
        say_json(found)
        return
    from neardup.report.hashes import HashesView

    plain_console().print(HashesView(tried))


def _every_family(slots: int, words: Sequence[str]) -> list[str]:
    """One of each kind; those made for a table are made for this one."""
    from neardup.hashes.integers import range_of
    from neardup.hashes.universal import next_prime

    return [
        *("nd1", "md5", "xxh3", "string64", "dek"),
        f"string:{slots}:1024",
        f"universal:{next_prime(slots)}:1",
        f"remainder:{slots}",
        f"division:{slots}:{range_of(words)}",
    ]


def _words_of(name: str) -> list[str]:
    """The distinct lines of a file, without blanks around them."""
    lines = read_text(name).splitlines()
    words = list(dict.fromkeys(word for line in lines if (word := line.strip())))
    if not words:
        raise InputError(f"{name} holds no word; --words takes a file with one on each line")
    return words

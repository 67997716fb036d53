"""`neardup hashes`: the hash families, tried on words."""

from __future__ import annotations

from collections.abc import Sequence

import click

from neardup.cli import options
from neardup.cli.command import Command
from neardup.cli.files import read_text
from neardup.cli.terminal import plain_console, say_json
from neardup.errors import InputError


@click.command(cls=Command)
@options.argument(
    "families",
    "Families to try, for example md5 or string:5749:1024.",
    metavar="[FAMILY...]",
    nargs=-1,
    default_note="all",
)
@options.option(
    "--words",
    metavar="FILE",
    note="1,000 common English words",
    help="File of words to hash, one per line, in UTF-8; - is standard input.",
)
@options.option(
    "--slots",
    type=click.IntRange(2, 1_000_000),
    default=257,
    help="Number of slots in the hash table.",
)
@options.as_json
def hashes(families: tuple[str, ...], words: str | None, slots: int, json: bool) -> None:
    """Compare hash families: collisions, load, bits and speed.

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
    """One family of each kind; families for hash tables are sized for `slots`."""
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
    """The distinct lines of a file, without surrounding white space."""
    lines = read_text(name).splitlines()
    words = list(dict.fromkeys(word for line in lines if (word := line.strip())))
    if not words:
        raise InputError(f"{name} holds no word; --words takes a file with one on each line")
    return words

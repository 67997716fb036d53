"""Craft documents against plain nd1, try them on plain and keyed runs, and write the table.

python -m scripts.attack          # show it
python -m scripts.attack --write  # put it into docs/guides/security.md
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scripts.attack import craft
from scripts.attack.trials import KEY, measured

import neardup as nd

PAGE = Path(__file__).parents[2] / "docs/guides/security.md"
BEGIN, END = "<!-- attack table -->\n", "<!-- end of the attack table -->\n"
HASHES = ("nd1", f"nd1:{KEY}")


@dataclass(frozen=True)
class Attack:
    """Crafted documents, the run they are aimed at, and ordinary ones of the same size."""

    name: str
    trial: str
    crafted: Callable[[], list[str]]
    ordinary: Callable[[], list[str]]


def every_attack() -> list[Attack]:
    """All of them, in the order of the page."""
    target = craft.victim()[1]
    whole, block = 2**64 - 1, 0xFFFF << 48
    return [
        Attack(
            "**Same features**: 100 words each, no word in common",
            "shingles",
            lambda: craft.same_features(craft.common_start()),
            lambda: craft.ordinary(100),
        ),
        Attack(
            "**Chosen fingerprint**: 100 common words each, the victim's 64 bits",
            "index",
            lambda: craft.varied(craft.steered(target, whole, 2000, 100, tried=32, seed=1)),
            lambda: craft.ordinary(100),
        ),
        Attack(
            "**One bucket**: 30 common words each, the first 16 bits the same",
            "index",
            lambda: craft.varied(craft.steered(target, block, 2000, 30, tried=16, seed=2)),
            lambda: craft.ordinary(30),
        ),
        Attack(
            "**Crowded counts**: 200,000 words that hash into one range of the tf-idf table",
            "idf",
            lambda: craft.documents_of(craft.words_where(200_000, craft.in_one_stretch), 2),
            lambda: craft.documents_of(craft.numbered_words(0, 200_000, 7), 2),
        ),
        Attack(
            "**Crowded ranks**: 200,000 words that hash into a few partitions of the exact join",
            "exact",
            lambda: craft.documents_of(craft.words_where(200_000, craft.in_one_part), 2),
            lambda: craft.documents_of(craft.numbered_words(0, 200_000, 7), 2),
        ),
        Attack(
            "**Near the threshold**: 38 of the same 56 words each, few pairs reach 0.8",
            "exact",
            craft.near_the_threshold,
            lambda: craft.ordinary(38),
        ),
    ]


def table(attacks: list[Attack]) -> str:
    """Run every attack and give the table."""
    rows = [
        "| attack | crafted in | ordinary documents | crafted, `nd1` | crafted, keyed |",
        "|---|--:|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for attack in attacks:
            started = time.process_time()
            crafted = attack.crafted()
            seconds = time.process_time() - started
            runs = [measured(attack.trial, attack.ordinary(), HASHES[0], folder)]
            runs += [measured(attack.trial, crafted, hash, folder) for hash in HASHES]
            cells = [
                f"{run['outcome']}; {run['seconds']:.1f} s, {run['megabytes']:.0f} MB"
                for run in runs
            ]
            rows.append(f"| {attack.name} | {seconds:.0f} s | {' | '.join(cells)} |")
            print(rows[-1], file=sys.stderr)
    return "\n".join(rows) + "\n"


def steering() -> str:
    """How near the crafted fingerprints come, with and without the key."""
    text, target = craft.victim()
    documents = craft.steered(target, 2**64 - 1, 1000, 100, tried=32, seed=1)
    key = nd.keyed(KEY, np.random.default_rng(4).bytes(16))
    shares = []
    for hash in ("nd1", key):
        distances = nd.hamming(
            nd.fingerprint(documents, hash=hash),
            nd.fingerprint([text] * len(documents), hash=hash),
        )
        shares.append((np.mean(distances <= 3), np.mean(distances)))
    (near, _), (kept_near, mean) = shares
    return (
        f"Of 1,000 documents steered to the victim's fingerprint, {near:.1%} come within 3 bits "
        f"of it with `nd1`, and {kept_near:.1%} with a key, where they are {mean:.1f} bits away on "
        "average.\n"
    )


def main() -> None:
    """Show the table, or write it into the page."""
    chosen = [name for name in sys.argv[1:] if name != "--write"]
    attacks = [a for a in every_attack() if not chosen or any(part in a.name for part in chosen)]
    found = table(attacks) + "\n" + steering()
    if "--write" not in sys.argv:
        print(found)
        return
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + found + "\n" + END + rest.split(END)[1], "utf-8")


if __name__ == "__main__":
    main()

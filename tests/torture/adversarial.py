"""Collections that are hard to join: correct results, within `--memory` plus a constant.

Small collections are compared with brute force over the sets of three words; for large ones memory
is measured from outside, and some documents are compared with all.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from tests.torture.commands import Process, neardup, require_manners, workplace
from tests.torture.outputs import require_clean, require_counts
from tests.torture.rounds import repeat
from tests.torture.scenes import edited, text_of, write_lines

THRESHOLD = 0.8
MEMORIES = {"100MB": 100_000_000, "300MB": 300_000_000, "1GB": 1_000_000_000}
CONSTANT = 400_000_000  # bytes in addition to --memory, see docs/how-it-works/reliability.md
LONGEST = 900.0


def run(rounds: int, seed: int) -> dict[str, int]:
    return repeat("adversarial", trial, rounds, seed)


def trial(chance: random.Random) -> dict[str, int]:
    kind = chance.choice(list(KINDS))
    if chance.random() < 0.6:
        return compared(chance, kind, chance.choice([2, 40, 150]))
    return watched(chance, kind, chance.choice([3000, 8000, 20_000]))


def compared(chance: random.Random, kind: str, count: int) -> dict[str, int]:
    texts = KINDS[kind](chance, count)
    cluster = chance.choice(["components", "star"])
    with workplace("adversarial") as folder:
        write_lines(folder / "in.jsonl", texts)
        words = ("dedup", "in.jsonl", "-o", "out", "--cluster", cluster, "--candidates", "exact")
        ran = neardup(*words, "--memory", chance.choice(["1MB", "100MB", "2GB"]), cwd=folder)
        require_manners(ran)
        assert ran.code == 0, f"{count} documents, {kind}: {ran}"
        require_counts(folder / "out", len(texts))
        require_kept(texts, kept_rows(folder / "out"), cluster, f"{kind}: {ran}")
        require_clean(folder)
    return {"compared": 1}


def watched(chance: random.Random, kind: str, count: int) -> dict[str, int]:
    memory = chance.choice(list(MEMORIES))
    texts = KINDS[kind](chance, count)
    with workplace("adversarial") as folder:
        write_lines(folder / "in.jsonl", texts)
        running = Process("dedup", "in.jsonl", "-o", "out", "--memory", memory, cwd=folder)
        ran = running.wait(LONGEST)
        require_manners(ran)
        about = f"{count} documents, {kind}, peak memory {running.peak / 1e6:.0f} MB: {ran}"
        assert running.peak <= MEMORIES[memory] + CONSTANT, f"too much memory: {about}"
        # A limit may also be refused with an error that names it.
        assert ran.code == 0 or "memory" in ran.err.decode(), about
        if ran.code == 0:
            require_counts(folder / "out", len(texts))
            require_some_kept(chance, texts, kept_rows(folder / "out"), about)
        require_clean(folder)
    return {"watched": 1, "largest peak in MB": running.peak // 1_000_000}


def near_threshold(chance: random.Random, count: int) -> list[str]:
    """Copies whose similarity is just above and just below the threshold."""
    bases = [text_of(chance, 120) for _ in range(max(1, count // 50))]
    return [edited(chance, chance.choice(bases), chance.choice([2, 3, 4, 5])) for _ in range(count)]


def excerpts(chance: random.Random, count: int) -> list[str]:
    """Parts of one text: all pairs are similar, and most documents have every feature."""
    sentences = [text_of(chance, 8) for _ in range(20)]
    share = chance.choice([0.8, 0.9, 0.95])
    drawn = ([part for part in sentences if chance.random() < share] for _ in range(count))
    return [" ".join(parts or sentences) for parts in drawn]


def one_template(chance: random.Random, count: int) -> list[str]:
    """A long common part, and a different body for each."""
    template = text_of(chance, 200)
    return [f"{template} {text_of(chance, chance.choice([5, 60, 100]))}" for _ in range(count)]


def identical(chance: random.Random, count: int) -> list[str]:
    return [text_of(chance, 60)] * count


def equal_features(chance: random.Random, count: int) -> list[str]:
    """Different texts with the same feature set."""
    words = text_of(chance, 30).split()
    return [" ".join(words * (2 + number % 7)) for number in range(count)]


def one_feature(chance: random.Random, count: int) -> list[str]:
    return [text_of(chance, 3) for _ in range(count)]


def chains(chance: random.Random, count: int) -> list[str]:
    """Each is an edited copy of the one before; the first and the last have nothing in common."""
    texts = [text_of(chance, 100)]
    while len(texts) < count:
        texts.append(edited(chance, texts[-1], chance.choice([1, 2, 3])))
    return texts


def few_words(chance: random.Random, count: int) -> list[str]:
    """All features are common, so that no rare one tells documents apart."""
    return [
        " ".join(chance.choice("ab") for _ in range(chance.choice([8, 40]))) for _ in range(count)
    ]


KINDS: dict[str, Callable[[random.Random, int], list[str]]] = {
    make.__name__: make
    for make in (
        near_threshold,
        excerpts,
        one_template,
        identical,
        equal_features,
        one_feature,
        chains,
        few_words,
    )
}


def kept_rows(output: Path) -> set[int]:
    ids = pq.read_table(output / "kept.parquet", columns=["id"])["id"].to_pylist()
    return {int(id.removeprefix("d")) for id in ids}


def features(text: str) -> frozenset[tuple[str, ...]]:
    words = text.split()
    return frozenset(zip(*(words[i:] for i in range(3)), strict=False)) or frozenset({tuple(words)})


def similar(x: frozenset[tuple[str, ...]], y: frozenset[tuple[str, ...]]) -> bool:
    shared = len(x & y)
    return shared >= THRESHOLD * (len(x) + len(y) - shared)


def require_kept(texts: list[str], kept: set[int], cluster: str, about: str) -> None:
    """By brute force: one kept per component or, for stars, a kept one near every removed one."""
    every = [features(text) for text in texts]
    places = range(len(every))
    near = {i: [j for j in places if similar(every[i], every[j])] for i in places}
    if cluster == "star":
        for place in range(len(texts)):
            beside = [other for other in near[place] if other in kept and other != place]
            if place in kept:
                assert not beside, f"{place} and {beside} are both kept; {about}"
            else:
                assert beside, f"{place} was removed without a kept one that is similar; {about}"
        return
    left = set(range(len(texts)))
    while left:
        component, waiting = set(), [left.pop()]
        while waiting:
            place = waiting.pop()
            component.add(place)
            waiting += [other for other in near[place] if other in left]
            left.difference_update(waiting)
        staying = component & kept
        assert len(staying) == 1, f"{sorted(staying)} of {sorted(component)} are kept; {about}"


def require_some_kept(chance: random.Random, texts: list[str], kept: set[int], about: str) -> None:
    """Check for some kept documents that no other kept one is similar."""
    every = {place: features(texts[place]) for place in kept}
    for place in chance.sample(sorted(kept), min(len(kept), 20)):
        twins = [other for other in kept if other != place and similar(every[place], every[other])]
        assert not twins, f"{place} and {twins} are both kept; {about}"

"""`kill -9` during a run: the old or the new output is complete, and the next run works.

An index keeps every earlier document, and adding again completes it.
"""

from __future__ import annotations

import json
import random
import signal
import time
from pathlib import Path

from tests.torture.commands import Argument, Ran, neardup, require_manners, server, workplace
from tests.torture.outputs import remove, require_clean, snapshot, whole
from tests.torture.rounds import repeat
from tests.torture.scenes import scene, write_lines

COMMANDS = ("dedup", "dedup", "fingerprint", "pairs", "idf", "index add", "index export", "sweep")


def run(rounds: int, seed: int) -> dict[str, int]:
    return repeat("kills", trial, rounds, seed)


def trial(chance: random.Random) -> dict[str, int]:
    with workplace("kills") as folder:
        calls = scene(folder, chance, chance.choice([60, 300, 1000]))
        name = chance.choice(COMMANDS)
        words: tuple[Argument, ...] = calls[name].words
        if name == "index add":
            return kill_index_add(chance, folder, words)
        output = calls[name].output
        assert output is not None
        if name in ("dedup", "sweep"):
            words = (*words, "--overwrite")
        if name == "dedup" and chance.random() < 0.5:
            words = (*words, "--resume")
        target = folder / output
        finished = done(neardup(*words, cwd=folder))
        expected = snapshot(target)
        old = chance.choice(["nothing", "other"])
        remove(target)
        if old == "other":  # from an earlier run on other documents
            others = tuple("more.jsonl" if word == "in.jsonl" else word for word in words)
            done(neardup(*others, cwd=folder))
        before = snapshot(target)
        killed = kill_after(chance, finished.seconds, words, folder)
        after = snapshot(target)
        assert after == before or whole(output, after, expected), (
            f"neither the old output nor the new one stands after kill -9 of {killed}"
        )
        done(neardup(*words, cwd=folder))
        assert whole(output, snapshot(target), expected), f"the run after {killed} differs"
        require_clean(folder)
        return {"killed": int(killed.code == -signal.SIGKILL), "ended before": int(not killed.code)}


def kill_index_add(
    chance: random.Random, folder: Path, words: tuple[Argument, ...]
) -> dict[str, int]:
    texts = [f"{number} {chance.random()} of a kind of its own" for number in range(3000)]
    write_lines(folder / "more.jsonl", texts, "m")
    old = exported(folder)
    killed = kill_after(chance, 0.6, words, folder)
    found = exported(folder)
    assert old <= found, f"{len(old - found)} documents are lost after kill -9 of {killed}"
    done(neardup(*words, cwd=folder))
    every = old | {f"m{number}" for number in range(len(texts))}
    assert exported(folder) == every, f"adding again after {killed} does not complete the index"
    return {"killed": int(killed.code == -signal.SIGKILL), "ended before": int(not killed.code)}


def exported(folder: Path) -> set[str]:
    """The ids of the index, from an export."""
    done(neardup("index", "export", "seen.index", "-o", "ids.jsonl", cwd=folder))
    lines = (folder / "ids.jsonl").read_text(encoding="utf-8").splitlines()
    return {json.loads(line)["id"] for line in lines}


def kill_after(
    chance: random.Random, seconds: float, words: tuple[Argument, ...], folder: Path
) -> Ran:
    running = server().start(*words, cwd=folder)
    time.sleep(chance.random() * seconds)
    running.kill(signal.SIGKILL)
    return running.wait()


def done(ran: Ran) -> Ran:
    require_manners(ran)
    assert ran.code == 0, f"a sound call fails: {ran}"
    return ran

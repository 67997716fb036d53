"""INT, TERM and HUP at any moment: one sentence, exit code 130, 143 or 129, nothing left behind.

A quarter of the commands are new processes, so that some signals arrive during imports; the others
are forks, which start at once.
"""

from __future__ import annotations

import random
import re
import signal
import time

from tests.torture.commands import (
    SIGNALS,
    Process,
    Ran,
    Running,
    neardup,
    require_manners,
    server,
    workplace,
)
from tests.torture.outputs import remove, require_clean, snapshot, whole
from tests.torture.rounds import repeat
from tests.torture.scenes import scene

QUICK = ("presets", "plan", "compare", "hashes", "reproduce", "curve")
# A key is another one each time, and is made or revoked once; a document is deleted once.
NOT_REPEATABLE = ("keys create", "keys delete", "index delete")


def run(rounds: int, seed: int) -> dict[str, int]:
    return repeat("signals", trial, rounds, seed)


def python_was_interrupted(ran: Ran) -> bool:
    """Whether Ctrl-C came while Python itself started, which reports it in its own way."""
    said = ran.err.rstrip()
    if not said.endswith(b"KeyboardInterrupt") or ran.cpu > 0.15:
        return False
    return not re.search(rb'cli/entry\.py", line \d+, in main', said)


def trial(chance: random.Random) -> dict[str, int]:
    with workplace("signals") as folder:
        calls = scene(folder, chance, chance.choice([60, 600]))
        repeatable = [name for name in calls if name not in NOT_REPEATABLE]
        names = [name for name in repeatable if name not in QUICK or chance.random() < 0.2]
        call = calls[chance.choice(names)]
        words = call.words
        target = folder / (call.output or "no-output")
        undisturbed = neardup(*words, cwd=folder)
        assert undisturbed.code == 0, f"a sound call fails: {undisturbed}"
        expected = snapshot(target)
        overwrites = "dedup" in words or "sweep" in words
        if chance.random() < 0.5 or (target.is_dir() and not overwrites):
            remove(target)
        elif overwrites:
            words = (*words, "--overwrite")
        before = snapshot(target)
        inputs = snapshot(folder / "in.jsonl")
        number = chance.choice(SIGNALS)
        running: Process | Running
        if imports := chance.random() < 0.25:
            running = Process(*words, cwd=folder)
            time.sleep(chance.random() * 0.8)
        else:
            running = server().start(*words, cwd=folder)
            time.sleep(chance.random() * undisturbed.seconds)
        running.kill(number)
        ran = running.wait()
        what = f"{signal.Signals(number).name}: {ran}"
        # Before Python has started, the system ends the process; shells report 128 + number.
        unborn = ran.code == -number and not ran.err and ran.cpu < (0.15 if imports else 0.1)
        if not unborn and not (imports and python_was_interrupted(ran)):
            require_manners(ran, (0, 128 + number))
        if ran.code == 128 + number:
            sentences = ran.err.decode().count("neardup: ")
            assert sentences == 1, f"{sentences} sentences instead of one after {what}"
        after = snapshot(target)
        assert snapshot(folder / "in.jsonl") == inputs, f"the input has changed after {what}"
        if target.name.endswith(".index"):
            # A folder may stand without an index in it: running the command again makes one.
            opens = after is None or neardup("index", "stats", target, cwd=folder).code == 0
            assert opens or neardup(*words, cwd=folder).code == 0, what
        else:
            assert after == before or whole(target.name, after, expected), (
                f"neither the old output nor the new one stands after {what}"
            )
        if ran.code == 0 and not target.name.endswith(".index"):
            assert whole(target.name, after, expected), f"the output is not whole after {what}"
        try:
            require_clean(folder)
        except AssertionError as error:
            raise AssertionError(f"{error} after {what}") from None
        return {"stopped": int(ran.code != 0), "ended before": int(ran.code == 0)}

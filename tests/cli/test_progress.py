"""Progress bars on a terminal."""

import json
import os
import pty
import re
import subprocess
import sys

from tests.deduplication.planted import planted_texts


def on_a_terminal(*arguments):
    """Run a command whose standard error is a terminal: the exit code, and what that shows."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "neardup", *map(str, arguments)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160", "NO_COLOR": "1"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return process.wait(), re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())


def test_every_stage_has_a_bar_that_says_what_is_done(tmp_path):
    source = tmp_path / "in.jsonl"
    with source.open("w") as file:
        for number, text in enumerate(planted_texts(400)):
            file.write(json.dumps({"text": text, "n": number}) + "\n")
    code, shown = on_a_terminal(
        *("dedup", source, "-o", tmp_path / "out", "--weights", "tfidf"),
        *("--keep", "max:n", "--pairs", "all"),
    )
    assert code == 0, shown
    for stage in (
        "idf: count words",
        "features: read documents",
        "keep order: read the column",
        "pairs: search for near-duplicates",
        "clusters: put removals together",
        "output: write rows",
    ):
        assert stage in shown
    assert "400 of 400 documents" in shown
    assert "Traceback" not in shown

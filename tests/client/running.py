"""A server in a process of its own, for tests."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

_READY = re.compile(r"neardup serves .* on (http://\S+)")
_START_SECONDS, _STOP_SECONDS = 60, 60


@dataclass(frozen=True)
class Running:
    """A server: its address, its data folder, and its process."""

    url: str
    data: Path
    process: subprocess.Popen[str]


@contextmanager
def serving(data: Path, *options: str, port: int = 0) -> Iterator[Running]:
    """Run `neardup serve`, and stop it by SIGTERM, after which it must end well."""
    command = [sys.executable, "-m", "neardup", "serve", str(data), "--port", str(port), *options]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    told: list[str] = []
    ready: Queue[str | None] = Queue()

    def read() -> None:  # to the end, lest the server wait for a full pipe
        assert process.stderr is not None
        for line in process.stderr:
            told.append(line)
            if found := _READY.search(line):
                ready.put(found[1])
        ready.put(None)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        url = ready.get(timeout=_START_SECONDS)
        assert url is not None, f"neardup serve ended: {''.join(told)}"
        yield Running(url, data, process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(_STOP_SECONDS) == 0, "".join(told)
    finally:
        process.kill()
        process.wait()
        reader.join(_STOP_SECONDS)
        assert process.stderr is not None
        process.stderr.close()
    assert not any("Traceback" in line for line in told), "".join(told)

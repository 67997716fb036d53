"""The program of the process of a job: `python command.py DATA dedup ...` runs `neardup dedup ...`.

It runs a command of neardup in the data folder, with low priority, and ends with the service:
standard input is a pipe whose other end only the service holds. If that is closed, however the
service has ended, the process and all that it has started are killed.

It is started as a file, not by `-m` or `-c`, which would let Python import modules from the
current folder.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path

_NICENESS = 10
_FIRST_TO_BE_KILLED = "500"  # of 1000, if memory runs out
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Run the command that the arguments name, and end the process."""
    sys.path.pop(0)  # the folder of this file
    data, *arguments = sys.argv[1:]
    # The service may ignore these. Until the command waits for them they are only blocked, also in
    # the thread that is started here, which otherwise would end the process without a word.
    for number in _STOPPING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    service = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_end_with, args=(service,), name="neardup-job", daemon=True).start()
    _give_way()
    if arguments[0] == "sweep":
        os.chdir("/")  # matplotlib takes its settings from the current folder when it is imported
        with suppress(ImportError):
            import_module("matplotlib")
    os.chdir(data)
    sys.argv = ["neardup", *arguments]
    import_module("neardup.cli.entry").main()


def _end_with(service: int) -> None:
    """Wait for the end of the service, and end everything that belongs to this job."""
    os.read(service, 1)
    os.killpg(0, signal.SIGKILL)


def _give_way() -> None:
    """Let requests be answered first, and let the job go first if memory runs out."""
    os.nice(_NICENESS)
    with suppress(OSError):  # not Linux
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_BE_KILLED)


if __name__ == "__main__":
    main()

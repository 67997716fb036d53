"""A process that runs commands in forks of itself, which saves the start of Python.

    python -m tests.torture.server REQUESTS ANSWERS

REQUESTS and ANSWERS are open file descriptors. A request is a line of JSON. The answer is a line
with the process id and, when the process has ended, a line with its status. This process runs no
command itself, so that no thread is lost in a fork.
"""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import resource
import signal
import sys
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

LIMITS = {"memory": resource.RLIMIT_AS, "file": resource.RLIMIT_FSIZE}
HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    requests, answers = int(sys.argv[1]), int(sys.argv[2])
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import neardup

    for module in pkgutil.walk_packages(neardup.__path__, "neardup."):
        if module.name != "neardup.system.windows":  # needs modules that only Windows has
            import_module(module.name)
    (command,) = entry_points(group="console_scripts", name="neardup")
    neardup_main = command.load()
    gc.collect()
    gc.freeze()
    request = next_in_fork(requests, answers)
    if request is not None:
        prepare(request)
        neardup_main()  # ends like `neardup`: with SystemExit or a traceback
        sys.exit(0)


def next_in_fork(requests: int, answers: int) -> dict[str, Any] | None:
    """Fork for every request; only the forks return one."""
    with os.fdopen(requests, encoding="utf-8") as asked:
        for line in asked:
            # Blocked until `neardup` waits for them itself, so that none meets a half-made command.
            signal.pthread_sigmask(signal.SIG_BLOCK, HANDLED)
            child = os.fork()
            if child == 0:
                os.close(answers)
                request: dict[str, Any] = json.loads(line)
                return request
            signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDLED)
            tell(answers, pid=child)
            _, status, used = os.wait4(child, 0)
            cpu = used.ru_utime + used.ru_stime
            tell(answers, status=os.waitstatus_to_exitcode(status), cpu=cpu)
    return None


def tell(answers: int, **values: float) -> None:
    os.write(answers, (json.dumps(values) + "\n").encode())


def prepare(request: dict[str, Any]) -> None:
    """Give this process what the command was asked to run with."""
    os.setsid()
    for number in HANDLED:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    os.chdir(request["cwd"])
    for fd, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        file = os.open(request["files"][fd], mode)
        os.dup2(file, fd)
        os.close(file)
    os.environ.update(request["environment"])
    for name, most in request["limits"].items():
        resource.setrlimit(LIMITS[name], (most, most))
    sys.argv = ["neardup", *(os.fsdecode(bytes.fromhex(word)) for word in request["arguments"])]


if __name__ == "__main__":
    main()

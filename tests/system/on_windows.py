"""Makes this process resemble one on Windows, then runs `neardup` with the arguments.

Taken away is what Windows lacks in `os`, `signal`, `socket` and among the modules; `sys.platform`
is that of Windows. One module is replaced, because its calls do not exist elsewhere:
`neardup.system.windows`, by one that locks with `fcntl`. Paths and the file system stay those of
this machine.
"""

import _signal  # type: ignore[import-not-found]
import fcntl
import importlib
import os
import resource
import runpy
import signal
import socket
import sys
import sysconfig
import types

LACKING = {
    os: (
        *("fork", "forkpty", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "sched_getaffinity"),
        *("geteuid", "getuid", "mkfifo", "statvfs", "pread", "pwrite", "posix_fallocate", "chown"),
        *("killpg", "nice", "setsid", "getpgid"),
    ),
    signal: ("SIGHUP", "SIGKILL", "pthread_sigmask", "sigwait"),
    _signal: ("SIGHUP", "SIGKILL", "pthread_sigmask", "sigwait"),
    socket: ("AF_UNIX", "SO_REUSEPORT"),
}
MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "uvloop")


def try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def become_windows() -> None:
    """Take away what Windows lacks."""
    # What Python's own library decides by the platform when it is imported is decided before.
    for name in ("subprocess", "tempfile", "shutil", "webbrowser", "asyncio", "multiprocessing"):
        importlib.import_module(name)
    for name in ("numpy", "pyarrow.parquet", "pyarrow.csv", "lmdb", "rich.console", "click"):
        importlib.import_module(name)
    sysconfig.get_config_vars()
    calls = types.ModuleType("neardup.system.windows")
    usage, flock = resource.getrusage, fcntl.flock
    vars(calls).update(
        try_lock=try_lock,
        unlock=lambda descriptor: flock(descriptor, fcntl.LOCK_UN),
        peak_bytes=lambda: usage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        allocated_bytes=lambda path: os.stat(path).st_blocks * 512,
        make_sparse=lambda descriptor: True,
    )
    sys.modules["neardup.system.windows"] = calls
    sys.modules |= dict.fromkeys(MODULES)
    for module, names in LACKING.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    os.O_BINARY = 0  # type: ignore[attr-defined]
    for module in (signal, _signal):
        module.SIGBREAK = signal.SIGUSR1
        module.CTRL_BREAK_EVENT = 1
    sys.platform = "win32"


if __name__ == "__main__":
    become_windows()
    sys.argv = ["neardup", *sys.argv[1:]]
    runpy.run_module("neardup", run_name="__main__")

"""Which tests need what Windows does not have, found by what they call.

A test is skipped on Windows if its source, or that of a fixture beside it, calls one of these; a
module is left out if it cannot even be imported. Everything else runs on every system.
"""

import inspect
import os
import re
import sys

# Windows has no permissions that `chmod` could take away; root has them all.
READS_EVERYTHING = sys.platform == "win32" or os.geteuid() == 0

CALLS = {
    r"os\.fork\(|get_context\(\"fork\"|forked\b": "it forks",
    r"mkfifo|/dev/fd|/dev/stdin|/dev/full|/dev/zero|<\(": "it uses named pipes or device files",
    r"SIGKILL|SIGHUP|SIGTERM|send_signal|pthread_sigmask|os\.kill\b": "it sends signals of POSIX",
    r"symlink|os\.link\b": "it makes links, which Windows allows to few users",
    r"\bresource\.|ulimit|RLIMIT": "it limits or measures resources",
    r"\.chmod\(|os\.chmod|st_mode|geteuid|getuid": "it is about permissions of POSIX",
    r"AF_UNIX|SO_REUSEPORT": "it uses sockets of POSIX",
    r"/proc/|\bpty\.|termios|\[\"sh\"|\"bash\"|/bin/sh|shell=True": "it uses a shell or terminal",
    r"bytes\(os\.fsencode|os\.fsdecode\(b|b\"[^\"]*\\xff[^\"]*\" *\)": "its file names are no text",
}
_IMPORTS = re.compile(r"^(?:import|from) (?:fcntl|pty|pwd|resource|termios)\b", re.MULTILINE)
_AT_IMPORT = re.compile(r"^\w+ = .*get_context\(\"fork\"\)", re.MULTILINE)
# These folders test `neardup serve`, which Windows does not have, or commands for a POSIX shell.
_FOLDERS = ("client", "contrib", "deploy", "distributed", "docs", "service", "soak", "torture")


def reason_to_skip(function: object) -> str | None:
    """Why a test cannot run on Windows; None if it can."""
    source = inspect.getsource(inspect.unwrap(function))
    found = (reason for call, reason in CALLS.items() if re.search(call, source))
    return next(found, None)


def is_left_out(folders: tuple[str, ...], text: str) -> bool:
    """Whether a test module cannot be imported on this system."""
    if sys.platform != "win32":
        return False
    return (
        not set(_FOLDERS).isdisjoint(folders)
        or _IMPORTS.search(text) is not None
        or _AT_IMPORT.search(text) is not None
    )

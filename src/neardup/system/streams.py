"""Standard streams: what they are encoded in, and how a closed pipe shows."""

from __future__ import annotations

import errno
import io
import os
import sys

if sys.platform == "win32":

    def speak_utf8() -> None:
        """Print UTF-8 and plain line feeds into pipes and files, as on other systems.

        By default, it is the encoding of the system, which lacks most characters. The variable
        PYTHONIOENCODING asks for another one.
        """
        if os.environ.get("PYTHONIOENCODING"):
            return
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", errors=stream.errors, newline="\n")

    def is_closed_pipe(error: OSError) -> bool:
        """Whether nobody reads what is printed any more."""
        return isinstance(error, BrokenPipeError) or error.errno == errno.EINVAL

else:

    def speak_utf8() -> None:
        """Nothing to do: the streams have the encoding of the user's language."""

    def is_closed_pipe(error: OSError) -> bool:
        """Whether nobody reads what is printed any more."""
        return isinstance(error, BrokenPipeError)

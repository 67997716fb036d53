"""The entry point of `neardup`: handles signals before anything heavy is imported."""

from __future__ import annotations

import atexit
import gc
import os
import sys

from neardup import __version__
from neardup.system import signals

# Imports make some 200,000 objects, none of them garbage. With Python's threshold of 700 the
# collector looks at them 300 times, which takes 5 % of a small run.
_OBJECTS_BETWEEN_COLLECTIONS = 10_000


class _NoPandas:
    """Prevents the import of pandas, which takes longer than a small run.

    Only Spark uses pandas objects, but `pa.array` imports pandas, if it is installed, to recognise
    them. With this finder, Arrow behaves as if pandas were not installed.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Raise for pandas, so that no other finder is tried; find nothing else."""
        if name == "pandas":
            raise ModuleNotFoundError("the command line does not use pandas", name=name)


def allow_pandas() -> None:
    """Let pandas be imported, for Spark, which requires it."""
    if _NoPandas in sys.meta_path:
        sys.meta_path.remove(_NoPandas)


def main() -> None:
    """Run the command that the arguments name, and end the process."""
    # Ctrl-C waits until somebody listens; as an exception it would end an import in a traceback.
    signals.hold_interrupts()
    from neardup.cli import stopping

    stopping.watch()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    sys.meta_path.insert(0, _NoPandas)
    try:
        _run()
    except SystemExit as ended:
        _leave(ended.code)
        raise


def _run() -> None:
    if sys.argv[1:] == ["--version"]:
        _print_version()
    from neardup.cli.app import main

    main()


def _print_version() -> None:
    """Print what click would print; importing click takes longer than all the rest."""
    from neardup.cli import streams
    from neardup.errors import NeardupError

    streams.replace_closed_streams()
    try:
        streams.flush(f"neardup {__version__}\n")
    except NeardupError as error:
        streams.complain(str(error))
        sys.exit(1)
    sys.exit(0)


def _leave(code: object) -> None:
    """End the process without taking the interpreter apart, which takes a fifth of a small run.

    Everything that Python promises at exit is done: no thread is left behind, exit hooks run, and
    the standard streams are flushed. If one of these is not plainly possible, return, and let
    Python do it.
    """
    import threading

    others = [one for one in threading.enumerate() if one is not threading.current_thread()]
    if not isinstance(code, int) or not all(one.daemon for one in others):
        return
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return
    os._exit(code & 0xFF)

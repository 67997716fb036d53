"""Signals that end a program: they wait for a thread of their own, whatever the others do.

Nothing heavy is imported here, because the thread must start before anything else is done.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # built in; signal takes time to import
import os
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes time to import
    from collections.abc import Callable

if sys.platform == "win32":
    # Ctrl-C, and Ctrl-Break, which is also what a process gets when its console is closed.
    _ENDING = (_signal.SIGINT, _signal.SIGBREAK)
    _held: list[int] = []

    def hold_interrupts() -> None:
        """Let Ctrl-C wait until `each_ending` is called."""
        _signal.signal(_signal.SIGINT, lambda number, frame: _held.append(number))

    def each_ending(act: Callable[[int], None]) -> None:
        """Call `act` with the number of each signal that ends a program, on a thread.

        One that is ignored stays ignored. Windows lets only the main thread handle signals, and
        only between two steps of Python; but when a signal arrives, its number is written to this
        pipe at once.
        """
        heard, told = os.pipe()
        if hasattr(os, "set_blocking"):  # since Python 3.12
            os.set_blocking(told, False)
        _signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        for number in _ENDING:
            if _signal.getsignal(number) != _signal.SIG_IGN:
                _signal.signal(number, lambda number, frame: None)
        os.write(told, bytes(_held))

        def listen() -> None:
            while True:
                act(os.read(heard, 1)[0])

        threading.Thread(target=listen, name="neardup-stop", daemon=True).start()

    def print_at_once(line: bytes, patience: float) -> None:
        """Write to standard error, without waiting longer for a full pipe."""
        printing = threading.Thread(target=os.write, args=(2, line), daemon=True)
        printing.start()
        printing.join(patience)

else:
    import select

    _ENDING = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)

    def hold_interrupts() -> None:
        """Let Ctrl-C wait until `each_ending` is called."""
        _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGINT])

    def each_ending(act: Callable[[int], None]) -> None:
        """Call `act` with the number of each signal that ends a program, on a thread.

        One that is ignored, as by nohup, stays ignored. The signals are blocked on all other
        threads, so that the main one cannot be interrupted between two steps that belong together.
        """
        awaited = [each for each in _ENDING if _signal.getsignal(each) != _signal.SIG_IGN]
        _signal.pthread_sigmask(_signal.SIG_BLOCK, awaited)

        def listen() -> None:
            while True:
                act(_signal.sigwait(awaited))

        threading.Thread(target=listen, name="neardup-stop", daemon=True).start()

    def print_at_once(line: bytes, patience: float) -> None:
        """Write to standard error, without waiting longer for a full pipe."""
        if select.select([], [2], [], patience)[1]:
            os.write(2, line)

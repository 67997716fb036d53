"""Opening an address in the user's browser, without waiting for it."""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":

    def open_browser(address: str) -> None:
        """Open the address."""
        os.startfile(address)

else:
    _SCREENS = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    # A separate process: a browser that it starts must not inherit the signals blocked here, and
    # one that runs in a terminal would take this one.
    _OPEN = (
        "import signal, sys, webbrowser; "
        "signal.pthread_sigmask(signal.SIG_SETMASK, []); "
        "webbrowser.open(sys.argv[1])"
    )

    def open_browser(address: str) -> None:
        """Open the address where there is a screen: a text browser would take the terminal."""
        if sys.platform != "darwin" and not any(os.environ.get(name) for name in _SCREENS):
            return
        import subprocess

        subprocess.Popen(
            [sys.executable, "-c", _OPEN, address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

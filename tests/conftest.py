"""Settings for every test."""

from pathlib import Path

import pytest
from hypothesis import settings

from neardup import kernels

# No deadline: the first example loads tables, and times belong in benchmarks, not in tests.
settings.register_profile("neardup", deadline=None)
settings.load_profile("neardup")

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the instruction sets under test, all that this machine can run; -q hides a header."""
    terminalreporter.write_line(f"instruction sets: {', '.join(kernels.available_isas())}")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real corpora; skips the test if there is none."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"there is no {SHARED_DATA}")
    return SHARED_DATA

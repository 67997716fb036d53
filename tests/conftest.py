"""Settings for every test."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings
from tests.needs_posix import is_left_out, reason_to_skip

from neardup import kernels

# No deadline: the first example loads tables, and times belong in benchmarks, not in tests.
settings.register_profile("neardup", deadline=None)
settings.load_profile("neardup")

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the instruction sets under test, all that this machine can run; -q hides a header."""
    terminalreporter.write_line(f"instruction sets: {', '.join(kernels.available_isas())}")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out, on Windows, the modules that import what it lacks."""
    if collection_path.suffix != ".py" or "tests" not in collection_path.parts:
        return None
    text = collection_path.read_text(encoding="utf-8")
    return True if is_left_out(collection_path.parts, text) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, on Windows, the tests that call what it lacks."""
    if sys.platform != "win32":
        return
    for item in items:
        reason = reason_to_skip(item.function) if isinstance(item, pytest.Function) else None
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=f"needs POSIX: {reason}"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real corpora; skips the test if there is none."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"there is no {SHARED_DATA}")
    return SHARED_DATA

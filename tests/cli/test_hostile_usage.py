"""Every option of every command with hostile values: a sentence and an exit code, no traceback."""

import io
import sys
import tempfile

import pytest
from tests.cli.hostile_usage import Files, commands, usages

from neardup.cli.app import main

STEERING = ("\x1b", "\u202e", "\u009b", "\0")


def run(monkeypatch, line):
    """Run the real program in this process; return its exit code and output."""
    streams = [
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors)
        for errors in ("strict", "backslashreplace")
    ]
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["neardup", *line])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        patch.setattr(sys, "stdout", streams[0])
        patch.setattr(sys, "stderr", streams[1])
        try:
            main()
            code: str | int = 0
        except SystemExit as end:
            code = 0 if end.code is None else end.code
    for stream in streams:
        stream.flush()
    return code, *(stream.buffer.getvalue().decode() for stream in streams)


@pytest.mark.parametrize("name", commands())
def test_hostile_values(name, tmp_path, monkeypatch):
    files = Files(tmp_path / "files").made()
    (tmp_path / "here").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    for line in usages(name, files):
        code, printed, errors = run(monkeypatch, line)
        told = f"{line!r} → {code}: {errors[-2000:]!r}"
        assert code in (0, 1, 2), told
        assert "Traceback" not in errors, told
        assert "unexpected error" not in errors, told
        assert not any(sign in printed + errors for sign in STEERING), told
        assert bool(errors.strip()) or code == 0, told
    assert list((tmp_path / "here").iterdir()) == [], "a file was written that was not an output"


def test_every_command_is_tried(tmp_path):
    files = Files(tmp_path)
    tried = {name: list(usages(name, files)) for name in commands()}
    assert len(tried) >= 20
    assert all(tried[name] for name in tried if name != "presets")

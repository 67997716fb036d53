"""What differs between systems is in `neardup.system` alone."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import neardup
from neardup.system import files, locks, memory, paths
from neardup.system.folders import FolderLock

SOURCE = Path(neardup.__file__).parent
# `service` runs on Linux and macOS alone, and may fork and send signals.
OTHERS = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.relative_to(SOURCE).parts[0] not in ("system", "service")
]
CALLS = re.compile(
    r"\b(?:import (?:fcntl|resource|termios|pwd|grp|msvcrt|winreg)|pthread_sigmask|sigwait|flock"
    r"|O_DIRECTORY|O_NOFOLLOW|O_CLOEXEC|geteuid|getuid|mkfifo|statvfs|st_blocks|st_rdev"
    r"|os\.(?:pread|pwrite|fork|killpg|nice|chown|symlink)|posix_fallocate|renameat2"
    r"|signal\.SIG(?:HUP|KILL|BREAK))\b"
)


def test_nothing_else_calls_what_not_all_systems_have():
    found = [
        f"{path.relative_to(SOURCE)}: {call[0]}"
        for path in OTHERS
        for call in CALLS.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_written_texts_have_the_same_bytes_on_all_systems():
    found = [
        f"{path.relative_to(SOURCE)}, line {call.lineno}"
        for path in OTHERS
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and writes_text(call)
        and not {"encoding", "newline"} <= {keyword.arg for keyword in call.keywords}
    ]
    assert found == []


def writes_text(call):
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    modes = [one.value for one in call.args if isinstance(one, ast.Constant)]
    return name == "write_text" or (name == "open" and not {"w", "a", "x"}.isdisjoint(modes))


def test_a_lock_is_held_until_it_is_let_go(tmp_path):
    one, other = (os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(2))
    try:
        assert locks.try_lock(one)
        assert not locks.try_lock(other)
        told = subprocess.run(
            [
                *(sys.executable, "-c"),
                "import os, sys; from neardup.system import locks\n"
                "print(locks.try_lock(os.open(sys.argv[1], os.O_RDWR)))",
                str(tmp_path / "lock"),
            ],
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        assert told.stdout.strip() == b"False", told.stderr
        locks.unlock(one)
        assert locks.try_lock(other)
    finally:
        os.close(one)
        os.close(other)


def test_a_locked_file_can_be_read_and_written(tmp_path):
    path = tmp_path / "lines"
    held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | files.BINARY)
    locks.lock(held)
    os.write(held, b"one\ntwo\n")
    assert path.read_bytes() == b"one\ntwo\n"
    assert files.read_at(held, 3, 4) == b"two"
    os.close(held)


def test_a_folder_is_locked_once(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    one = FolderLock(folder)
    assert one.take()
    other = FolderLock(folder)
    assert not other.take()
    other.release()
    assert one.is_in_place()
    folder.rmdir()
    assert not one.is_in_place()
    one.release()
    assert list(tmp_path.iterdir()) == []


def test_peak_memory_grows_with_what_is_held():
    before = memory.peak_bytes()
    held = b"\1" * (before + (64 << 20))
    assert memory.peak_bytes() >= len(held)


def test_allocated_files_take_space(tmp_path):
    path = tmp_path / "file"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    files.allocate(descriptor, 1 << 20)
    os.close(descriptor)
    assert path.stat().st_size == 1 << 20
    assert files.allocated_bytes(path) >= 1 << 20


def test_files_and_folders_are_flushed(tmp_path):
    (tmp_path / "file").write_bytes(b"1")
    files.flush(tmp_path / "file")
    files.flush(tmp_path)
    with pytest.raises(FileNotFoundError):
        files.flush(tmp_path / "none")


@pytest.mark.parametrize(
    ("path", "expected"), [("a\\b", "a/b"), ("C:\\x\\y.txt", "C:/x/y.txt"), ("\\\\?\\C:\\x", None)]
)
def test_slashes(path, expected, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    assert paths.with_slashes(path) == path  # a backslash is part of a name
    monkeypatch.setattr(sys, "platform", "win32")
    assert paths.with_slashes(path) == (expected or path)


def test_the_path_of_a_file_url(monkeypatch):
    assert paths.of_file_url("/tmp/x") == "/tmp/x"
    monkeypatch.setattr(sys, "platform", "win32")
    assert paths.of_file_url("/C:/x") == "C:/x"

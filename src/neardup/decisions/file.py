"""`decisions.jsonl`: decisions as lines of JSON, to which many processes may append.

A line is appended under a lock, by one write, and is on disk before `add` returns. Nothing is ever
changed or erased: an `undo` is a line, too. If a writer is killed within its write, the file ends
with a torn line. It does not count, and the next writer replaces it by a line that quotes it, so
that any other line that cannot be read is damage, and an error.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from neardup.decisions.current import Current
from neardup.decisions.model import FILE_NAME, Decision, Named, as_line, checked, now, of_object
from neardup.errors import InputError, SettingError
from neardup.system import files, locks

MOST_LINE = 64_000_000
_TORN = "torn"
_COMPARED = 256


class DecisionFile:
    """The decisions in a file, which need not exist before the first one is added.

    Safe to use from many threads and processes at once. Reading again is cheap: only what was
    appended since is read.

    >>> from tempfile import TemporaryDirectory
    >>> from neardup.decisions import DecisionFile, Named, content_of
    >>> one, two = Named(1, content_of("a text")), Named(2, content_of("a test"))
    >>> with TemporaryDirectory() as folder:
    ...     file = DecisionFile(folder + "/decisions.jsonl")
    ...     said = file.add("different", [one, two], by="ann")
    ...     taken_back = file.undo(said.key, by="bob")
    ...     [decision.says for decision in file.history()], file.current().decisions
    (['different', 'undo'], ())
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._mutex = threading.Lock()
        self._current: tuple[tuple[Decision, ...], Current] | None = None
        self._forget()

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> DecisionFile:
        """The file of this name, or that in the folder of this name."""
        return cls(Path(path) / FILE_NAME if os.path.isdir(path) else path)

    def add(
        self,
        says: str,
        documents: Iterable[Named],
        *,
        by: str,
        why: str = "",
        similarity: float | None = None,
    ) -> Decision:
        """Append a decision; it is on disk when this returns."""
        if says == "undo":
            raise SettingError("use undo() with the key of the decision to take back")
        made = Decision(says, tuple(documents), by, now(), uuid4().hex, why, "", similarity)
        checked(made)
        return self._append(lambda _: [made])[0]

    def undo(self, key: str, *, by: str) -> Decision:
        """Take back a decision, or an earlier undo, of anybody; nothing is erased."""

        def taken_back(history: tuple[Decision, ...]) -> list[Decision]:
            for one in reversed(history):
                if one.key == key:
                    made = Decision("undo", one.documents, by, now(), uuid4().hex, "", key)
                    return [checked(made)]
            raise InputError(f"{self.path} has no decision with the key {key!r}")

        return self._append(taken_back)[0]

    def merge(self, decisions: Iterable[Decision]) -> tuple[Decision, ...]:
        """Append the decisions whose keys are not there yet; returns these."""
        given = [checked(one) for one in decisions]

        def missing(history: tuple[Decision, ...]) -> list[Decision]:
            known = {one.key for one in history}
            found = []
            for one in given:
                if one.key not in known:
                    known.add(one.key)
                    found.append(one)
            return found

        return tuple(self._append(missing, as_made=True))

    def history(self) -> tuple[Decision, ...]:
        """All decisions, in the order of the file; none if there is no file."""
        with self._mutex:
            return self._refreshed()

    def current(self) -> Current:
        """What holds now."""
        with self._mutex:
            history = self._refreshed()
            if self._current is None or self._current[0] is not history:
                self._current = (history, Current.of(history))
            return self._current[1]

    def _forget(self) -> None:
        self._state: tuple[int, int, int] | None = None  # inode, size, time of change
        self._end = self._lines = 0  # after the last complete line
        self._before_end = b""
        self._complete: list[Decision] = []
        self._history: tuple[Decision, ...] = ()

    def _refreshed(self) -> tuple[Decision, ...]:
        try:
            with self.path.open("rb") as file:
                stat = os.fstat(file.fileno())
                state = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
                if state != self._state:
                    self._read(file.fileno(), stat.st_ino, stat.st_size)
                    self._state = state
        except FileNotFoundError:
            self._forget()
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror or error}") from None
        return self._history

    def _read(self, descriptor: int, inode: int, size: int) -> None:
        """Read what is new; everything, if the file is another one."""
        before = self._before_end
        begins = self._end - len(before)
        if (
            self._state is None
            or self._state[0] != inode
            or size < self._end
            or _bytes_at(descriptor, begins, len(before)) != before
        ):
            self._forget()
        data = _bytes_at(descriptor, self._end, size - self._end)
        *lines, tail = data.split(b"\n")
        found: list[Decision] = []
        for number, line in enumerate(lines, self._lines + 1):
            decision = self._parsed(line, number)
            if decision is not None:
                found.append(decision)
        used = len(data) - len(tail)
        self._complete += found
        self._lines += len(lines)
        self._end += used
        self._before_end = (self._before_end + data[:used])[-_COMPARED:]
        unfinished = _unfinished(tail)
        self._history = (*self._complete, *([] if unfinished is None else [unfinished]))

    def _parsed(self, line: bytes, number: int) -> Decision | None:
        """The decision of a line; None if the line is empty or quotes a torn one."""
        if not line.strip():
            return None
        try:
            if len(line) > MOST_LINE:
                raise SettingError(f"longer than {MOST_LINE // 1_000_000} MB")
            item = json.loads(line.decode())
            if isinstance(item, dict) and item.keys() == {_TORN}:
                return None
            return of_object(item)
        except UnicodeDecodeError as error:
            fault = f"not UTF-8 at byte {error.start + 1}"
        except json.JSONDecodeError as error:
            fault = f"broken JSON at character {error.pos + 1}, {error.msg}"
        except (RecursionError, ValueError) as error:
            # SettingError is a ValueError; json raises one for numbers of very many digits.
            fault = str(error)
        raise InputError(
            f"{self.path}, line {number}: {fault}; restore the line from a copy, or delete it"
        )

    def _append(
        self,
        lines_after: Callable[[tuple[Decision, ...]], list[Decision]],
        *,
        as_made: bool = False,
    ) -> list[Decision]:
        """Append the decisions that `lines_after` makes of the history, under the lock.

        Unless `as_made`, their times are not before those that the file has already.
        """
        with self._mutex, self._locked() as descriptor:
            history = self._refreshed()
            made = lines_after(history)
            if not as_made and history:
                # A clock that was set back must not let an older decision win.
                latest = max(one.at for one in history)
                made = [_at_least(one, latest) for one in made]
            if made:
                self._write(descriptor, made)
            return made

    def _write(self, descriptor: int, made: list[Decision]) -> None:
        size = os.fstat(descriptor).st_size
        tail = _bytes_at(descriptor, self._end, size - self._end)
        keep = size
        lines = [as_line(one) for one in made]
        if tail and _unfinished(tail) is not None:
            lines.insert(0, b"\n")
        elif tail:
            keep = self._end
            quoted = json.dumps({_TORN: tail.decode("utf-8", "backslashreplace")})
            lines.insert(0, quoted.encode() + b"\n")
        try:
            if keep < size:
                os.ftruncate(descriptor, keep)
            for line in lines:
                if os.write(descriptor, line) < len(line):
                    raise OSError("the disk is full")
            os.fsync(descriptor)
        except OSError as error:
            os.ftruncate(descriptor, keep)
            raise InputError(
                f"cannot write to {self.path}: {error.strerror or error}; nothing was added"
            ) from None

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The file, made if it is missing, opened to append and locked."""
        try:
            descriptor = self._opened()
        except OSError as error:
            raise InputError(f"cannot write to {self.path}: {error.strerror or error}") from None
        try:
            yield descriptor
        finally:
            os.close(descriptor)  # ends the lock, too

    def _opened(self) -> int:
        while True:
            is_new = not self.path.exists()
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | files.BINARY
            descriptor = os.open(self.path, flags, 0o666)
            try:
                if is_new:
                    files.flush(self.path.parent)
                locks.lock(descriptor)
                # Another file may have taken its place while this one was waited for.
                if self.path.exists() and os.path.samestat(os.fstat(descriptor), self.path.stat()):
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)


def _bytes_at(descriptor: int, begins: int, count: int) -> bytes:
    parts = []
    while count > 0:
        part = files.read_at(descriptor, count, begins)
        if not part:
            break
        parts.append(part)
        begins, count = begins + len(part), count - len(part)
    return b"".join(parts)


def _unfinished(tail: bytes) -> Decision | None:
    """The decision of a last line that lacks only its end; None if it is torn."""
    try:
        return of_object(json.loads(tail.decode())) if tail.strip() else None
    except (ValueError, RecursionError):
        return None


def _at_least(decision: Decision, at: str) -> Decision:
    if decision.at >= at:
        return decision
    held = {**vars(decision), "at": at}
    return Decision(**held)

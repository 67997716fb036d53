"""Somebody who follows a page: runs its steps from top to bottom, in one folder, as written.

What is not as written: the ports 7700 and 7800 become free ones, 0.0.0.0 becomes 127.0.0.1, a
server in the foreground goes on in the background until another one starts or the page ends, and
`neardup review` is answered by keys.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.docs import exceptions, stand_ins, visitor
from tests.docs.steps import ROOT, Step, name_of, steps

_SECONDS = 120
_START_SECONDS = 30
_ADVICE = """\
What to do: correct the page, if a reader could not run this either. If it needs a file that the
page does not make, add a stand-in to tests/docs/stand_ins.py. If it cannot run in a test, or ends
with another exit code on purpose, say so in tests/docs/exceptions.py, with the reason."""
_SERVER = re.compile(r"(?:[A-Z_]+=\S+ )?neardup (?:serve|explore)\b")
_BACKGROUND = re.compile(r"&\s*(?:#.*)?$")
_READY = re.compile(r"http://127\.0\.0\.1:(\d+)")
_DOCTEST = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?"), "TIME"),
    (
        re.compile(r"\d[\d.,]* ?(?:(?:documents|terms|rows)/s|(?:[kMG]B|B)(?:/s)?|[mµ]?s|min)\b"),
        "AMOUNT",
    ),
    (re.compile(r"─+"), "─"),
    (re.compile(r"\d[\d.,]* [kM]\b"), "AMOUNT"),
)
# Where there is no terminal, each stage of a run tells its seconds in a line.
_STAGES = re.compile(r"^[A-Za-z ]+: \d+\.\d\d s$\n?", re.M)


def problems(page: Path) -> list[str]:
    """What goes wrong for a reader of the page: one text for each step that fails."""
    followed = [step for step in steps(page) if exceptions.reason(step) is None]
    if not followed:
        return []
    with Reader(page) as reader:
        told = [(step, reader.follow(step)) for step in followed]
    found = [f"{step.place}: {wrong}" for step, wrong in told if wrong is not None]
    return [*found, _ADVICE] if found else []


def follow(name: str) -> None:
    """Fail with everything that goes wrong for a reader of the page."""
    found = problems(ROOT / name)
    assert not found, "\n\n".join(found)


class Reader:
    """The folder, the environment, the variables and the servers of one who follows a page."""

    def __init__(self, page: Path) -> None:
        self._name = name_of(page)
        self._page = page
        self._top = Path(tempfile.mkdtemp(prefix="neardup-docs-"))
        self._here = self._top / "here"
        self._here.mkdir()
        self._made: set[str] = set()
        self._ports: dict[str, str] = {}
        self._server: subprocess.Popen[bytes] | None = None
        self._variables: dict[str, Any] | None = None
        home = self._top / "home"
        # Fish makes this folder when it is started first.
        (home / ".config" / "fish" / "completions").mkdir(parents=True)
        # An answer of the service that is an error fails the command.
        (home / ".curlrc").write_text("silent\nshow-error\nfail-with-body\n")
        kept = {name: value for name, value in os.environ.items() if "NEARDUP" not in name}
        self._environment = kept | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
            "COLUMNS": "80",
            "BROWSER": "true",
            "USER": "ann",
            "LOGNAME": "ann",
            "SPARK_LOCAL_IP": "127.0.0.1",
            # Java that compiles less: it works for a few seconds only.
            "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "PYTHONIOENCODING": "utf-8",
        }
        self._environment.pop("FORCE_COLOR", None)

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()
        shutil.rmtree(self._top)

    def follow(self, step: Step) -> str | None:
        """What went wrong, or None."""
        if self._name in stand_ins.ALTERNATIVES:
            stand_ins.tidy(step, self._here, self._made)
        self._made |= stand_ins.make(step, self._here)
        if self._name in stand_ins.SERVED and step.line:
            self._prepare_service(step)
        if step.kind == "python":
            return self._python(step)
        text = self._local(step.text)
        if _SERVER.match(text) or _BACKGROUND.search(text):
            return self._serve(step, _BACKGROUND.sub("", text))
        return self._shell(step, text)

    def _shell(self, step: Step, text: str) -> str | None:
        state = self._top / "state"
        # The next command starts where this one ends, with the variables that it exports.
        script = f"{text}\nended=$?\nenv -0 > {state}; pwd > {state}.here\nexit $ended"
        try:
            done = subprocess.run(
                ["bash", "-c", script],
                cwd=self._here,
                env=self._environment,
                input=visitor.keys(step, self._here).encode(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            return self._failure(step, f"has not ended after {_SECONDS} s", late.output or b"")
        if state.exists():
            pairs = (each.partition("=") for each in state.read_text("utf-8").split("\0") if each)
            self._environment = {one: value for one, _, value in pairs}
            self._here = Path(Path(f"{state}.here").read_text("utf-8").rstrip("\n"))
        expected = exceptions.exit_code(step)
        if done.returncode != expected:
            return self._failure(step, f"exit code {done.returncode}, not {expected}", done.stdout)
        return self._compared(step, done.stdout)

    def _serve(self, step: Step, text: str) -> str | None:
        self._stop()
        visitor.visit(text, self._here, self._environment)
        log = self._top / "server.log"
        with log.open("wb") as output:
            self._server = subprocess.Popen(
                ["bash", "-c", f"exec {text}"],
                cwd=self._here,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        late = time.monotonic() + _START_SECONDS
        while time.monotonic() < late and self._server.poll() is None:
            told = log.read_bytes()
            found = _READY.search(told.decode("utf-8", "replace"))
            if found and _answers(int(found[1])):
                return self._compared(step, told)
            time.sleep(0.02)
        return self._failure(step, "the server did not start", log.read_bytes())

    def _prepare_service(self, step: Step) -> None:
        if self._server is None:
            start = Step(step.page, 0, "shell", "neardup serve data &")
            failed = self.follow(start)
            assert failed is None, failed
        visitor.prepare_index(f"http://127.0.0.1:{self._ports['7700']}", step)

    def _stop(self) -> None:
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            try:
                self._server.wait(_START_SECONDS)
            finally:
                self._server.kill()
                self._server.wait()
            self._server = None

    def _python(self, step: Step) -> str | None:
        if self._variables is None:
            self._variables = stand_ins.variables(self._page)
        text = self._local(step.text)
        told = io.StringIO()
        with _in_folder(self._here, self._environment), contextlib.redirect_stdout(told):
            try:
                if ">>>" in text:
                    parsed = doctest.DocTestParser().get_doctest(
                        text, self._variables, step.page, step.page, step.line - 1
                    )
                    runner = doctest.DocTestRunner(optionflags=_DOCTEST)
                    failed = runner.run(parsed, out=told.write, clear_globs=False).failed
                    self._variables.update(parsed.globs)
                    return (
                        self._failure(step, "failed", told.getvalue().encode()) if failed else None
                    )
                exec(compile(text, step.page, "exec"), self._variables)
            except Exception:
                return self._failure(step, "failed", traceback.format_exc(limit=-3).encode())
        return None

    def _local(self, text: str) -> str:
        for port in ("7700", "7800"):
            if port in text or (_SERVER.match(text) and "--port" not in text):
                self._ports.setdefault(port, str(_free_port()))
        for port, free in self._ports.items():
            text = re.sub(rf"\b{port}\b", free, text)
        if found := _SERVER.match(text):
            text = text.replace("0.0.0.0", "127.0.0.1")
            if "--port" not in text:
                port = self._ports["7700" if "serve" in found[0] else "7800"]
                text = f"{found[0]} --port {port}{text[found.end() :]}"
        return text

    def _compared(self, step: Step, told: bytes) -> str | None:
        if not step.shown or exceptions.prints_other(step):
            return None
        expected, printed = self._local(step.shown), told.decode("utf-8", "replace")
        if re.fullmatch(_pattern(expected), _normal(printed)):
            return None
        return self._failure(step, "does not print what the page shows", told)

    def _failure(self, step: Step, what: str, told: bytes) -> str:
        printed = told.decode("utf-8", "replace").splitlines()
        lines = [what, *step.text.splitlines(), "prints:", *printed[-30:]]
        return "\n    ".join(lines).rstrip()


def _normal(text: str) -> str:
    text = _STAGES.sub("", text)
    for varying, name in _VARYING:
        text = varying.sub(name, text)
    return " ".join(text.split())


def _pattern(shown: str) -> str:
    """What the page shows as an expression: `…` stands for any text."""
    parts = (re.escape(_normal(part)) for part in shown.split("…"))
    return r"[\s\S]*?".join(rf"{part}\s*" if part else "" for part in parts)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def _in_folder(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    before, variables = Path.cwd(), dict(os.environ)
    keys = {name: value for name, value in environment.items() if "NEARDUP" in name}
    os.chdir(folder)
    os.environ.update(keys)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(variables)

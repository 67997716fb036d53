"""Results: the JSON file that a benchmark leaves behind, written and read again."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

Json = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """What one benchmark measured, and all it takes to measure it again."""

    benchmark: str
    date: str
    command: str
    machine: Json
    versions: dict[str, str]
    conditions: Json
    rows: list[Json]

    @classmethod
    def of(
        cls,
        benchmark: str,
        arguments: Sequence[str],
        versions: dict[str, str],
        conditions: Json,
        rows: list[Json],
    ) -> Result:
        """A result of today, on this machine."""
        return cls(
            benchmark,
            today(),
            " ".join(["python", "-m", f"benchmarks.{benchmark}", *arguments]),
            machine(),
            {"python": platform.python_version(), **versions},
            conditions,
            rows,
        )

    @classmethod
    def load(cls, benchmark: str, folder: Path = RESULTS) -> Result:
        """Read a result back."""
        path = folder / f"{benchmark}.json"
        if not path.exists():
            raise SystemExit(f"{path} is missing: run python -m benchmarks.{benchmark} first")
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def save(self, folder: Path) -> None:
        """Write `folder/benchmark.json`."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.benchmark}.json"
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
        print(f"wrote {path}", file=sys.stderr)

    def find(self, **wanted: str) -> Json | None:
        """The first row that holds these values, if there is one."""
        rows = (row for row in self.rows if wanted.items() <= row.items())
        return next(rows, None)

    def row(self, **wanted: str) -> Json:
        """The first row that holds these values, which must be there."""
        row = self.find(**wanted)
        if row is None:
            asked = ", ".join(f"{key} {value}" for key, value in wanted.items())
            raise SystemExit(
                f"the result of {self.benchmark} has no row with {asked}: run {self.benchmark} "
                "again without leaving anything out"
            )
        return row


def today() -> str:
    """The date of a measurement."""
    return datetime.now(timezone.utc).date().isoformat()


def commit() -> str | None:
    """The commit that is measured, with `-dirty` if its code was changed; None outside of git."""

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        folder = RESULTS.parents[1]
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, check=False, text=True)

    head = git("rev-parse", "--short", "HEAD")
    if head.returncode:
        return None
    changed = git("diff", "--quiet", "HEAD", "--", "src", "native").returncode
    return head.stdout.strip() + ("-dirty" if changed else "")


def machine() -> Json:
    """The processor and the memory, as the operating system names them."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text(encoding="utf-8") if cpuinfo.exists() else ""
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.M)
    return {
        "cpu": model[1] if model else platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "isa": isa(),
        "memory_gigabytes": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "system": platform.system(),
    }


def isa() -> str | None:
    """The instruction set that neardup uses here; None if it is not installed."""
    try:
        from neardup.kernels import available_isas
    except ImportError:
        return None
    return available_isas()[-1]


def package_versions(packages: Sequence[str]) -> dict[str, str]:
    """The installed version of each package."""
    try:
        return {package: metadata.version(package) for package in packages}
    except metadata.PackageNotFoundError as error:
        raise SystemExit(f"{error.name} is not installed: pip install -e '.[bench]'") from error

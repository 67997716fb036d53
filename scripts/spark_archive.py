"""Pack an environment with neardup for the executors of a Spark cluster.

    python scripts/spark_archive.py [PACKAGE ...] [--python-prefix DIR] [-o FILE]

The archive has neardup, built anew and not editable, what it needs, and the PACKAGEs, such as
s3fs. PySpark is left out: executors get it from their Spark. Python itself is a link, so the
executors need the same version of it at the same path; --python-prefix names another one.
Needs venv-pack; `make spark-archive` installs it.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
ARCHIVE = ROOT / "build" / "neardup-spark.tar.gz"
NATIVE = ROOT / "build" / "spark-archive"  # apart from that of the editable install
PYTHON = "./environment/bin/python"


def main(arguments: Sequence[str] | None = None) -> None:
    """Build the archive, and print how it is used."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="to pack with neardup")
    parser.add_argument("--python-prefix", metavar="DIR", help="of Python on the executors")
    parser.add_argument("-o", "--output", type=Path, default=ARCHIVE, help="default: %(default)s")
    given = parser.parse_args(arguments)
    output = given.output.absolute()
    if not output.name.endswith(".tar.gz"):
        parser.error(f"{output.name}: Spark tells archives by their names; end it with .tar.gz")
    with tempfile.TemporaryDirectory(prefix="neardup-spark-") as folder:
        environment = Path(folder) / "environment"
        install(environment, [str(ROOT), *requirements(), *given.packages])
        pack(environment, output, given.python_prefix)
    print(f"{output}: {output.stat().st_size / 1e6:.0f} MB, Python {version()}")
    print(usage(output))


def requirements() -> list[str]:
    """The packages of the extra `spark` without PySpark."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extra: list[str] = about["project"]["optional-dependencies"]["spark"]
    return [one for one in extra if re.split(r"[^\w.-]", one, maxsplit=1)[0] != "pyspark"]


def install(environment: Path, packages: Sequence[str]) -> None:
    """A new environment with these packages, without pip."""
    venv = [sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(environment)]
    subprocess.run(venv, check=True)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q"]
    subprocess.run([*pip, "-C", f"build-dir={NATIVE}", *packages], check=True)


def pack(environment: Path, output: Path, python_prefix: str | None) -> None:
    """The environment as an archive that works in any folder."""
    command = shutil.which("venv-pack", path=str(Path(sys.executable).parent))
    if command is None:
        raise SystemExit("venv-pack is missing: pip install venv-pack, or make spark-archive")
    output.parent.mkdir(parents=True, exist_ok=True)
    prefix = [] if python_prefix is None else ["--python-prefix", python_prefix]
    subprocess.run(
        [command, "-q", "-f", "-p", str(environment), "-o", str(output), *prefix], check=True
    )
    output.chmod(0o644)  # executors may run as somebody else


def usage(archive: Path) -> str:
    """What to add to a command."""
    return (
        "Add this to a command, with the path of the archive on the driver or its URL:\n"
        f"  PYSPARK_PYTHON={PYTHON} neardup dedup … --engine spark \\\n"
        f"    --conf spark.archives={archive}#environment \\\n"
        f"    --conf spark.pyspark.python={PYTHON}"
    )


def version() -> str:
    """The version of Python that executors need, too."""
    return ".".join(map(str, sys.version_info[:2]))


if __name__ == "__main__":
    main()

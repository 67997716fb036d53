"""The parts that every section of the page of benchmarks is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.result import Result


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; all but the first column are aligned to the right."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def provenance(result: Result) -> str:
    """Say on what machine, with which versions, when and by which command it was measured."""
    machine = result.machine
    vector = "AVX2" if machine["avx2"] else "no AVX2"
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    return (
        f"{machine['cpu']} ({machine['architecture']}, {machine['cores']} cores, {vector}, "
        f"{machine['memory_gigabytes']} GB, {machine['system']}) · {result.date}  \n"
        f"{versions}  \n`{result.command}`\n"
    )

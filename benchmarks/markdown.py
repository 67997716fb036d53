"""The parts that every section of the page of benchmarks is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.result import Json, Result

_VECTOR_NAMES = {"avx512": "AVX-512", "avx2": "AVX2", "sse2": "SSE2", "neon": "NEON"}


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; all but the first column are aligned to the right."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def provenance(result: Result) -> str:
    """Say on what machine, with which versions, when and by which command it was measured."""
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    return f"{machine_text(result.machine)} · {result.date}  \n{versions}  \n`{result.command}`\n"


def machine_text(machine: Json) -> str:
    """A machine in one line, with the best instruction set that neardup uses on it."""
    return (
        f"{machine['cpu']} ({machine['architecture']}, {machine['cores']} cores, "
        f"{vector_name(machine)}, {machine['memory_gigabytes']} GB, {machine['system']})"
    )


def vector_name(machine: Json) -> str:
    """The instruction set that neardup used; before AVX-512 it was AVX2 or a smaller one."""
    if isa := machine.get("isa"):
        return _VECTOR_NAMES.get(isa, str(isa))
    return "AVX2" if machine.get("avx2") else "no AVX2"

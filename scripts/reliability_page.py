"""Write the figures of docs/how-it-works/reliability.md from `make torture` and `make fuzz`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "how-it-works" / "reliability.md"
RESULTS = ROOT / "benchmarks" / "results"
CORPUS = ROOT / "tests" / "fuzz_corpus"
BEGIN, END = "<!-- figures: make torture, make fuzz -->\n", "<!-- end of figures -->\n"


def page(old: str) -> str:
    """The page with the figures of today."""
    before, rest = old.split(BEGIN)
    _, after = rest.split(END)
    parts = [
        table(json.loads((RESULTS / name).read_text(encoding="utf-8")))
        for name, table in (("torture.json", _campaigns), ("fuzz.json", _fuzzers))
        if (RESULTS / name).exists()  # whichever has been run
    ]
    return before + BEGIN + "\n".join(parts) + END + after


def _campaigns(figures: dict[str, Any]) -> str:
    lines = [
        f"Campaigns ({figures['machine']}):",
        "",
        "| campaign | rounds | what happened | findings | minutes |",
        "|---|---|---|---|---|",
    ]
    for report in figures["campaigns"]:
        counted = ", ".join(f"{number:,} {name}" for name, number in report["counted"].items())
        lines.append(
            f"| `{report['name']}` | {report['rounds']:,} | {counted} | "
            f"{len(report['findings'])} | {report['seconds'] / 60:.0f} |"
        )
    return "\n".join(lines) + "\n"


def _fuzzers(figures: dict[str, Any]) -> str:
    lines = [
        "Fuzzers:",
        "",
        "| fuzzer | executions | edges reached | findings | CPU minutes | inputs kept |",
        "|---|---|---|---|---|---|",
    ]
    for topic, found in sorted(figures.items()):
        kept = len(list((CORPUS / topic).iterdir()))
        lines.append(
            f"| `{topic}` | {found['executions']:,} | {found['edges']:,} | {found['findings']} | "
            f"{found['cpu_seconds'] / 60:.0f} | {kept} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

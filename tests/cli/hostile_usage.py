"""Every option and argument of every command, found by introspection, with hostile values.

`usages(folder)` yields command lines that should end in a sentence and an exit code: never in a
traceback, never in a hang. A new command needs a line in `_WORKING`; a new option needs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from neardup.cli.app import app
from neardup.cli.command import Command
from neardup.cli.options import PathName

_TEXTS = [
    "the quick brown fox jumps over the lazy dog near the river bank at dawn",
    "the quick brown fox jumps over the lazy dog near the river bank at noon",
    "a completely different sentence about the weather in the northern mountains",
    "",
]

# For each command, working arguments and options; `{…}` are names of files.
_WORKING: dict[str, dict[str, list[str]]] = {
    "dedup": {"inputs": ["{docs}"], "output": ["{new}"]},
    "passages": {"inputs": ["{docs}"], "output": ["{new}"]},
    "contamination": {"inputs": ["{docs}"], "benchmark": ["{text}"], "output": ["{new}"]},
    "fingerprint": {"inputs": ["{docs}"], "output": ["{new}"]},
    "pairs": {"left": ["{prints}"], "output": ["{new}"]},
    "plan": {},
    "sweep": {"inputs": ["{docs}"], "plan": ["bands:4x16"]},
    "curve": {"plan": ["bands:4x16"]},
    "tune": {"inputs": ["{docs}"]},
    "compare": {"documents": ["{text}", "{text}"]},
    # No folder of a run: pages that are served would not end.
    "explore": {"out": ["{broken}"]},
    "explain": {"out": ["{run}"], "id": ["1"]},
    "review": {"out": ["{run}"]},
    "decisions": {"file": ["{decisions}"]},
    "rethreshold": {"run": ["{run}"], "threshold": ["0.9"], "output": ["{new}"]},
    "evaluate": {"out": ["{run}"], "truth_column": ["text"]},
    "index query": {"path": ["{index}"], "document": ["the quick brown fox"]},
    "index check": {
        "path": ["{index}"],
        "document": ["nothing of the kind"],
        "add": ["never"],
    },
    "index create": {"path": ["{new}"]},
    "index add": {"path": ["{index}"], "inputs": ["{docs}"]},
    "index delete": {"path": ["{index}"], "ids": ["no such id"]},
    "index expire": {"path": ["{index}"]},
    "index stats": {"path": ["{index}"]},
    "index backup": {"path": ["{index}"], "destination": ["{new}"]},
    "index upgrade": {"path": ["{index}"]},
    "index export": {"path": ["{index}"], "output": ["{new}.parquet"]},
    "index compact": {"path": ["{index}"]},
    # An address that is not of this machine: a service that starts would not end.
    "serve": {"data": ["{new}"], "host": ["192.0.2.1"]},
    "keys create": {"path": ["{new}"], "name": ["crawler"], "role": ["read"]},
    "keys list": {"path": ["{new}"]},
    "keys delete": {"path": ["{new}"], "name": ["crawler"]},
    "idf": {"inputs": ["{docs}"], "output": ["{new}"]},
    "presets": {},
    "hashes": {"families": ["nd1"], "words": ["{text}"]},
    "sphere": {"count": ["3"]},
    "reproduce": {"preset": ["sphere"], "inputs": ["{docs}"]},
    "benchmark": {"what": ["{labelled}"]},
    "sample": {"kind": ["texts"], "output": ["{new}.jsonl"]},
    "completion": {"shell": ["bash"]},
}

_TEXT_VALUES = ["", "bands:4x0", "9" * 40, "[/bold]a\x1b[2J\u202e\u009b"]
_NUMBER_VALUES = ["-1", "1e308", "nan", "9" * 20]
_PATH_VALUES = [
    "",
    "{folder}/none/at/all",
    "{broken}",
    "{empty}",
    "\udcff\x1b[2J",
    "x" * 5000,
]


@dataclass(frozen=True)
class Files:
    """The files in command lines: valid and invalid ones."""

    folder: Path

    def made(self) -> Files:
        """Write the documents, the broken and the empty file; create fingerprints and an index."""
        from neardup import dedup
        from neardup.collection.fingerprint_files import fingerprint_files
        from neardup.decisions import DecisionFile, Named, content_of
        from neardup.fingerprints import Scheme
        from neardup.index import Index

        (self.folder / "full").mkdir(parents=True)
        docs = self.folder / "docs.jsonl"
        rows = [{"id": str(place), "text": text} for place, text in enumerate(_TEXTS)]
        docs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        (self.folder / "text.txt").write_text(_TEXTS[0], encoding="utf-8")
        (self.folder / "broken").write_bytes(b"\xff\xfe\x00PAR1\x1b[2J" * 9)
        (self.folder / "empty").touch()
        fingerprint_files([str(docs)], self.folder / "prints.parquet", Scheme.of())
        with Index(self.folder / "index", store_text=True) as index:
            index.add_many((row["id"], row["text"]) for row in rows)
        dedup(rows, pairs="all", threshold=0.7).save(self.folder / "run")
        (self.folder / "labelled").mkdir()
        (self.folder / "labelled" / "docs.jsonl").write_bytes(docs.read_bytes())
        (self.folder / "labelled" / "pairs.csv").write_text("a,b\n0,1\n", encoding="utf-8")
        named = [Named(row["id"], content_of(row["text"])) for row in rows[:2]]
        DecisionFile(self.folder / "decisions.jsonl").add("same", named, by="ann")
        return self

    def filled(self, value: str, number: int) -> str:
        """The value with file names filled in; `{new}` is a path that does not exist yet."""
        names = {
            "docs": "docs.jsonl",
            "text": "text.txt",
            "prints": "prints.parquet",
            "index": "index",
            "run": "run",
            "labelled": "labelled",
            "decisions": "decisions.jsonl",
            "broken": "broken",
            "empty": "empty",
            "folder": "full",
            "new": f"new-{number}",
        }
        for name, file in names.items():
            value = value.replace("{" + name + "}", str(self.folder / file))
        return value


def commands() -> dict[str, Command]:
    """All commands by name, including subcommands as `index add`."""
    return dict(_commands_of(app, ""))


def _commands_of(group: click.Group, prefix: str) -> Iterator[tuple[str, Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands_of(command, f"{prefix}{name} ")
        else:
            assert isinstance(command, Command), name
            yield prefix + name, command


def usages(name: str, files: Files) -> Iterator[list[str]]:
    """Command lines of one command, each with one hostile value."""
    command = commands()[name]
    number = 0
    for parameter in command.params:
        for value in _values(parameter):
            number += 1
            line = [*name.split(), *_line(command, _WORKING[name], parameter, value)]
            yield [files.filled(part, number) for part in line]


def _values(parameter: click.Parameter) -> list[str]:
    if isinstance(parameter.type, click.types.BoolParamType):
        return []
    if isinstance(parameter.type, click.types.IntParamType | click.types.FloatParamType):
        return _NUMBER_VALUES
    if isinstance(parameter.type, PathName):
        return _PATH_VALUES
    many = parameter.multiple or parameter.nargs == -1
    return [*_TEXT_VALUES, *_PATH_VALUES] if many else _TEXT_VALUES


def _line(command: Any, working: dict[str, list[str]], hostile: Any, value: str) -> list[str]:
    options: list[str] = []
    arguments: list[str] = []
    for parameter in command.params:
        given = [value] if parameter is hostile else working.get(parameter.name, [])
        if parameter.param_type_name == "argument":
            arguments += given
        else:
            for one in given:
                options += [parameter.opts[0], one]
    return [*options, "--", *arguments]

"""The commands of the guide to tables run as they are written."""

import re
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from tests.cli import forked
from tests.read.foreign.tables import TEXTS
from tests.read.foreign.test_flight import Server

duckdb = pytest.importorskip("duckdb")
datasets = pytest.importorskip("datasets")
openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "tables.md"
COMMANDS = re.findall(r"^    neardup (.*)$", PAGE.read_text(encoding="utf-8"), re.M)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with every file that the guide names."""
    folder = tmp_path_factory.mktemp("guide")
    ids = list(range(len(TEXTS)))
    with closing(sqlite3.connect(folder / "pages.db")) as base:
        base.execute("CREATE TABLE pages (id INTEGER PRIMARY KEY, text TEXT, body TEXT)")
        base.executemany("INSERT INTO pages VALUES (?, ?, ?)", zip(ids, TEXTS, TEXTS, strict=True))
        base.commit()
    with closing(duckdb.connect(str(folder / "pages.duckdb"))) as base:
        base.register("given", pa.table({"id": ids, "text": [*TEXTS[:-1], "a new page"]}))
        base.execute("CREATE TABLE pages AS SELECT * FROM given")
    book = openpyxl.Workbook()
    for sheet in (book.active, book.create_sheet("Sheet2")):
        sheet.append(["name", "dob", "city"])
        for number in range(20):
            sheet.append([f"name{number % 7}", f"1980-01-{number + 1:02}", f"city{number % 3}"])
    book.save(folder / "people.xlsx")
    datasets.disable_progress_bars()
    pages = datasets.Dataset.from_dict({"id": ids, "text": TEXTS})
    datasets.DatasetDict({"train": pages, "test": pages}).save_to_disk(folder / "corpus")
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_guide(place, monkeypatch, command):
    monkeypatch.chdir(place)
    if "grpc://" in command:
        with Server("grpc://127.0.0.1:0") as server:
            address = f"127.0.0.1:{server.port}/corpus/pages"
            done = forked.neardup(*shlex.split(command.replace("127.0.0.1:8815/pages", address)))
    else:
        done = forked.neardup(*shlex.split(command))
    assert done.returncode == 0, done.stderr


def test_all_commands_are_found():
    assert len(COMMANDS) >= 10

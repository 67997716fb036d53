"""Sheets of workbooks: which sheet, which header, types, and workbooks that cannot be read."""

import datetime
import gzip
import sys

import fsspec
import pytest
from tests.cli import forked
from tests.read.foreign.tables import read

import neardup as nd
from neardup.errors import InputError

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")

BORN = datetime.date(1980, 1, 2)
NOON = datetime.datetime(2020, 1, 1, 12, 0)


def save(path, sheets, after=lambda workbook: None):
    """A workbook with these rows in these sheets."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(row)
    after(workbook)
    workbook.save(path)
    return path


def refusal(*inputs, **options):
    with pytest.raises(InputError) as refused:
        read(*inputs, **options)
    return str(refused.value)


def test_types_titles_and_empty_rows(tmp_path):
    rows = [
        ["People of 2024"],
        [],
        ["Source:", "the register"],
        ["id", "text", "born", "seen", "is in", "size", "share", "note", "at", None, None],
        [1, "ann", BORN, NOON, True, 3, 1.5, "x", datetime.time(3, 4), 5, None],
        [],
        [2, "bob", BORN, BORN, False, 4, 2, 7, datetime.time(4, 5), None, None],
        [3, "cy", None, None, None, None, None, BORN, None, None, None],
    ]
    assert read(save(tmp_path / "people.xlsx", {"A": rows})) == (
        {
            "id": [1, 2, 3],
            "text": ["ann", "bob", "cy"],
            "born": [BORN, BORN, None],
            "seen": [NOON, datetime.datetime(1980, 1, 2), None],
            "is in": [True, False, None],
            "size": [3, 4, None],
            "share": [1.5, 2.0, None],
            "note": ["x", "7", "1980-01-02"],
            "at": ["03:04:00", "04:05:00", None],
            "J": [5, None, None],
        },
        [],
    )


def test_merged_cells_have_one_value(tmp_path):
    def merge(workbook):
        workbook["A"].merge_cells("A2:A4")
        workbook["A"].merge_cells("A5:C5")

    rows = [["city", "text", "id"], ["Oslo", "a", 1], [None, "b", 2], [None, "c", 3]]
    rows += [["A note across the table"], ["Bergen", "d", 4]]
    found, rejected = read(save(tmp_path / "a.xlsx", {"A": rows}, merge))
    assert found["city"] == ["Oslo", "Oslo", "Oslo", "Bergen"]
    assert rejected == [(3, "'text' is null")]


def test_which_sheet(tmp_path):
    def hide(workbook):
        workbook["Hidden"].sheet_state = "hidden"

    sheets = {"Hidden": [["a"], ["b"]], "Cover": [], "My data": [["text"], ["x y"]]}
    path = save(tmp_path / "a.xlsx", sheets, hide)
    assert refusal(path) == (
        f"{path} has no cells in its first sheet 'Cover'; name another, 'Hidden', 'My data', for "
        f"example {path}#Hidden"
    )
    assert read(f"{path}#My data")[0] == {"text": ["x y"]}
    assert read(f"{path}#my DATA")[0] == {"text": ["x y"]}
    assert refusal(f"{path}#No").endswith(
        "no sheet 'No'; its sheets are 'Hidden', 'Cover', 'My data'"
    )
    named = path.rename(tmp_path / "b.xlsx#My data")  # a file of that very name
    assert "is a ZIP archive" in refusal(named)


def test_no_rows_are_no_documents_and_no_cells_an_error(tmp_path):
    assert nd.dedup(save(tmp_path / "a.xlsx", {"A": [["id", "text"]]})).summary["documents"] == 0
    assert refusal(save(tmp_path / "b.xlsx", {"A": []})).endswith("has no cells in the sheet 'A'")


def test_columns_that_do_not_fit(tmp_path):
    path = save(tmp_path / "a.xlsx", {"A": [["id", "text", "born"], [1, 2.5, BORN]]})
    assert "column 'text' of type double, which cannot be a text" in refusal(path)
    path = save(tmp_path / "b.xlsx", {"A": [["text", "born"], ["a b", BORN]]})
    assert "'born' of type date32[day], which cannot be an id" in refusal(path, id="born")
    path = save(tmp_path / "c.xlsx", {"A": [["text", "text"], ["a", "b"]]})
    assert "more than one column 'text'" in refusal(path)


def test_workbooks_that_cannot_be_read(tmp_path):
    from msoffcrypto.format.ooxml import OOXMLFile

    path = save(tmp_path / "a.xlsx", {"A": [["id", "text"], [1, "a b c"]]})
    locked = tmp_path / "locked.xlsx"
    with path.open("rb") as file, locked.open("wb") as out:
        OOXMLFile(file).encrypt("secret", out)
    assert "is protected by a password; save it without one" in refusal(locked)
    (tmp_path / "cut.xlsx").write_bytes(path.read_bytes()[:2000])
    assert "open it in Excel or LibreOffice and save it again" in refusal(tmp_path / "cut.xlsx")
    (tmp_path / "text.xlsx").write_text("id,text\n1,a\n")
    assert "is text, not a workbook; rename it" in refusal(tmp_path / "text.xlsx")
    (tmp_path / "empty.xlsx").write_bytes(b"")
    assert "is empty" in refusal(tmp_path / "empty.xlsx")
    far = save(
        tmp_path / "far.xlsx", {"A": [["text"], ["a"]]}, lambda w: w["A"].cell(1048576, 16384, "x")
    )
    assert "has a cell in column XFD and row 1,048,576" in refusal(far)
    # In a folder they are left out, with the reason.
    rows, rejected = read(tmp_path)
    assert rows["text"] == ["a b c"]
    assert [row for row, _ in rejected] == [None] * 5


def test_compressed_and_remote_workbooks(tmp_path):
    content = save(tmp_path / "a.xlsx", {"A": [["text"], ["a b c"]]}).read_bytes()
    (tmp_path / "b.xlsx.gz").write_bytes(gzip.compress(content))
    fsspec.filesystem("memory").pipe("/books/a.xlsx", content)
    for name in (tmp_path / "b.xlsx.gz", "memory://books/a.xlsx"):
        assert read(name)[0] == {"text": ["a b c"]}


def test_records_are_compared_by_fields(tmp_path):
    rows = [
        ["id", "name", "dob"],
        [1, "Ann Meyer", BORN],
        [2, "Ann Meier", BORN],
        [3, "Bo Li", BORN],
    ]
    path = save(tmp_path / "people.xlsx", {"A": rows})
    done = forked.neardup(
        *("dedup", path, "--text", "name:char:3*2 + dob:exact", "--threshold", "0.6"),
        *("-o", tmp_path / "out", "--format", "csv"),
    )
    assert done.returncode == 0, done.stderr
    kept = (tmp_path / "out" / "kept.csv").read_text().replace('"', "").splitlines()
    assert kept == ["id,name,dob", "1,Ann Meyer,1980-01-02", "3,Bo Li,1980-01-02"]
    found = nd.tune(path)
    assert found.settings["text"] == "name"


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    path = save(tmp_path / "a.xlsx", {"A": [["text"], ["a b c"]]})
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    assert refusal(path).endswith("install it with pip install 'neardup[excel]'")

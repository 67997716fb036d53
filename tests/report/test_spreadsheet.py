"""CSV for spreadsheets: no cell is a formula, and every text can be restored."""

import csv
import io
from decimal import Decimal

from hypothesis import given, strategies as st

import neardup as nd
from neardup.report.spreadsheet import SpreadsheetWriter, as_text, as_written

FORMULAS = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "\t=1", "\r=1", "\n=1", " =1", "＝1"]


def test_formulas_get_an_apostrophe():
    for formula in FORMULAS:
        assert as_text(formula) == "'" + formula


def test_other_texts_and_numbers_stay():
    for text in ["", "a=b", "'tis", "-3.5", "+49", "1e-5", "-", "don't", "''"]:
        assert as_text(text) == text or text == "-"


@given(st.text(alphabet="'=+-@\t\r\n ＝a1.", max_size=8))
def test_every_text_comes_back(text):
    assert as_written(as_text(text)) == text


@given(st.text(alphabet="'=+-@ a", max_size=6), st.text(alphabet="'=+-@ a", max_size=6))
def test_no_two_texts_become_one(one, other):
    assert (as_text(one) == as_text(other)) == (one == other)


def test_rows():
    file = io.StringIO(newline="")
    SpreadsheetWriter(file).rows([["=x", "y;=z"], [-3.5, Decimal("-2")], [None, "a"]])
    assert file.getvalue() == '"\'=x","y;=z"\r\n-3.5,-2\r\n"","a"\r\n'


def test_kept_csv_holds_no_formula(tmp_path):
    rows = [
        {"id": "=1", "text": "=HYPERLINK(1) one two three", "n": -5},
        {"id": "'=1", "text": "-2+3 something else altogether", "n": 6},
    ]
    nd.dedup(rows).save(tmp_path / "out", format="csv")
    with (tmp_path / "out" / "kept.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["id"] for row in read] == ["'=1", "''=1"]
    assert [row["n"] for row in read] == ["-5", "6"]
    assert [as_written(row["text"]) for row in read] == [row["text"] for row in rows]
    again = nd.dedup(tmp_path / "out" / "kept.csv", text="text", against=rows)
    assert len(again.kept) == 0  # the apostrophe is not a word: texts compare as before

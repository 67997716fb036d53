"""Folders of pages, texts, archives and data, with both engines."""

import gzip

import pytest
from tests.distributed.both_engines import assert_same_output, run_distributed, run_local

WORDS = [f"word{n}" for n in range(40)]
RECORD = (
    "WARC/1.1\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:{id}>\r\n"
    "Content-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{text}\r\n\r\n"
)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "input"
    place.mkdir()
    for number in range(12):
        text = " ".join(WORDS[number % 4 :])
        (place / f"{number}.html").write_text(f"<p class=a{number}>{text}<script>{number}</script>")
        (place / f"{number}.py").write_text(f"# {number}\n{text}")
        (place / f"{number}.json").write_text('{"name": "x"}')
    (place / "logo.png").write_bytes(b"\x89PNG\r\n")
    records = (RECORD.format(id=n, length=len(WORDS[n]), text=WORDS[n]) for n in range(9))
    (place / "a.warc.gz").write_bytes(gzip.compress("".join(records).encode()))
    return place


@pytest.mark.parametrize(
    "choice",
    [{}, {"suffix": ".html,.py"}, {"read_as": "text"}, {"read_as": "lines", "suffix": ".py"}],
)
def test_the_same_files_are_read_the_same_way(folder, tmp_path, choice):
    run_local(folder, tmp_path / "local", **choice)
    run_distributed(folder, tmp_path / "distributed", **choice)
    assert_same_output(tmp_path / "local", tmp_path / "distributed")

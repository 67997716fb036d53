"""The file of decisions: nothing is lost, whoever writes and however a writer ends."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings, strategies as st

from neardup.decisions import SAYS, Decision, DecisionFile, Named, content_of
from neardup.decisions.model import MOST_DIFFERENT, as_line, of_object
from neardup.errors import InputError, SettingError

A, B, C = (Named(place, content_of(f"text {place}")) for place in range(3))
ids = st.integers(-(2**63), 2**64 - 1) | st.text(max_size=8)
named = st.builds(Named, ids, st.text().map(content_of), st.booleans())


@pytest.fixture
def file(tmp_path):
    return DecisionFile(tmp_path / "decisions.jsonl")


def test_a_decision_is_there_for_everybody(file):
    said = file.add("different", [A, B], by="ann", why="=1+1 “é”", similarity=0.5)
    assert file.history() == DecisionFile(file.path).history() == (said,)
    assert said.at.endswith("Z")
    assert said.similarity == 0.5


def test_there_need_be_no_file(file):
    assert file.history() == ()
    assert file.current().decisions == ()
    assert not file.path.exists()


@given(
    documents=st.lists(named, min_size=2, max_size=4, unique=True),
    by=st.text(max_size=9),
    why=st.text(st.characters(codec=None), max_size=9),
    similarity=st.none() | st.floats(0, 1),
)
def test_a_line_says_what_was_said(documents, by, why, similarity):
    said = Decision(
        "same", tuple(documents), by, "2026-01-02T03:04:05.678Z", "k", why, "", similarity
    )
    line = as_line(said)
    assert line.count(b"\n") == 1
    found = of_object(json.loads(line))
    assert found == said
    assert [type(one.id) for one in found.documents] == [type(one.id) for one in documents]


def test_a_number_is_not_a_text(file):
    number, text = Named(5, A.content), Named("5", A.content)
    file.add("keep", [number], by="ann")
    current = DecisionFile(file.path).current()
    assert current.of_document(5)
    assert not current.of_document("5")
    assert current.pinned == (number,) != (text,)


@pytest.mark.parametrize(
    ("says", "documents", "word"),
    [
        ("perhaps", [A, B], "unknown"),
        ("same", [A], "at least 2"),
        ("keep", [], "at least 1"),
        ("different", [A, A], "twice"),
        ("same", [A, Named(1.5, A.content)], "whole number"),
        ("same", [A, Named(True, A.content)], "whole number"),
        ("same", [A, Named(2**64, A.content)], "64 bits"),
        ("same", [A, Named(7, "xyz")], "32 hexadecimal"),
        ("undo", [A], "undo()"),
        ("different", [Named(one, A.content) for one in range(MOST_DIFFERENT + 1)], "at most"),
    ],
)
def test_what_has_no_meaning_is_refused(file, says, documents, word):
    with pytest.raises(SettingError, match=word.replace("(", r"\(").replace(")", r"\)")):
        file.add(says, documents, by="ann")
    assert not file.path.exists()


def test_undo_and_redo(file):
    said = file.add("same", [A, B], by="ann")
    undone = file.undo(said.key, by="bob")
    assert file.current().decisions == ()
    file.undo(undone.key, by="ann")
    assert file.current().decisions == (said,)
    assert [one.says for one in file.history()] == ["same", "undo", "undo"]
    with pytest.raises(InputError, match="no decision with the key"):
        file.undo("nothing", by="ann")


WRITER = """
import sys
from neardup.decisions import DecisionFile, Named, content_of
file = DecisionFile(sys.argv[1])
for number in range(int(sys.argv[3])):
    file.add("keep", [Named(number, content_of(""))], by=sys.argv[2], why="x" * 5000)
    print(number, flush=True)
"""


def started(path, name, count):
    words = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE)


def test_many_processes_lose_nothing(file):
    writers = [started(file.path, f"writer {number}", 40) for number in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    for writer in writers:
        writer.stdout.close()
    found = {(one.by, one.documents[0].id) for one in file.history()}
    assert found == {(f"writer {number}", one) for number in range(4) for one in range(40)}


def test_many_threads_lose_nothing(file):
    def write(name):
        for number in range(25):
            file.add("keep", [Named(number, A.content)], by=name)
            file.history()

    threads = [threading.Thread(target=write, args=(f"{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(file.history()) == len(DecisionFile(file.path).history()) == 100


def test_a_killed_writer_loses_nothing_that_it_reported(file):
    for round_ in range(3):
        writer = started(file.path, f"round {round_}", 100_000)
        reported = -1
        for _ in range(10 * (round_ + 1)):
            reported = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        file.add("skip", [A], by="after")
        mine = [one for one in file.history() if one.by == f"round {round_}"]
        assert len(mine) >= reported + 1
    assert DecisionFile(file.path).history() == file.history()


@pytest.mark.parametrize("cut", [1, 10, 60, -2])
def test_a_torn_last_line_is_neither_counted_nor_lost(file, cut):
    said = file.add("same", [A, B], by="ann")
    torn = file.path.read_bytes()[:cut]
    with file.path.open("ab") as lines:
        lines.write(torn)
    assert DecisionFile(file.path).history() == file.history() == (said,)
    later = file.add("different", [A, C], by="ann")
    assert file.history() == DecisionFile(file.path).history() == (said, later)
    assert {"torn": torn.decode()} in map(json.loads, file.path.read_text().splitlines())


def test_a_last_line_without_its_end_counts(file):
    said = file.add("same", [A, B], by="ann")
    os.truncate(file.path, file.path.stat().st_size - 1)
    other = DecisionFile(file.path)
    assert other.history() == (said,)
    later = other.add("keep", [A], by="ann")
    assert file.history() == other.history() == (said, later)
    assert len(file.path.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b"{broken", "broken JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[1]", "not a JSON object"),
        (b'{"says": "same"}', "missing"),
        (b"[" * 100_000, "line 2"),
        (b"9" * 10_000, "line 2"),
    ],
)
def test_a_broken_line_is_named(file, line, word):
    file.add("same", [A, B], by="ann")
    with file.path.open("ab") as lines:
        lines.write(line + b"\n")
    with pytest.raises(InputError, match=r"decisions\.jsonl, line 2") as refused:
        file.history()
    assert word in str(refused.value)
    with pytest.raises(InputError, match="line 2"):
        file.add("same", [A, C], by="ann")


@pytest.mark.parametrize(
    ("key", "value", "word"),
    [
        ("says", "perhaps", "unknown"),
        ("at", "yesterday", "not a time"),
        ("at", "2026-01-01T00:00:00", "not a time"),
        ("by", 5, "by must be"),
        ("documents", {}, "not a list"),
        ("documents", [5, 6], "needs 'id'"),
        ("similarity", "high", "similarity"),
        ("v", 2, "format 2"),
    ],
)
def test_a_wrong_value_is_named(file, key, value, word):
    file.add("same", [A, B], by="ann")
    item = json.loads(file.path.read_text())
    file.path.write_text(json.dumps({**item, key: value}) + "\n")
    with pytest.raises(InputError, match=f"line 1: .*{word}"):
        DecisionFile(file.path).history()


def test_times_of_other_zones_are_compared_as_times(file):
    item = json.loads(as_line(Decision("same", (A, B), "ann", "2026-01-01T00:00:00.000Z", "k1")))
    later = {**item, "says": "different", "at": "2026-01-01T01:30:00+01:00", "key": "k2"}
    file.path.write_text(f"{json.dumps(later)}\n{json.dumps(item)}\n")
    assert [one.says for one in file.current().decisions] == ["different"]


def test_a_huge_line_is_refused(file, monkeypatch):
    monkeypatch.setattr("neardup.decisions.file.MOST_LINE", 1000)
    file.path.write_bytes(b'{"says": "' + b"x" * 2000 + b'"}\n')
    with pytest.raises(InputError, match="line 1: longer than"):
        file.history()


def test_a_file_that_was_replaced_is_read_anew(file, tmp_path):
    file.add("same", [A, B], by="ann")
    assert len(file.history()) == 1
    other = DecisionFile(tmp_path / "other")
    for name in ("bob", "cat"):
        other.add("different", [A, B], by=name)
    os.replace(other.path, file.path)
    assert [one.by for one in file.history()] == ["bob", "cat"]
    file.path.write_bytes(b"")
    assert file.history() == ()
    file.path.unlink()
    assert file.history() == ()
    assert file.add("keep", [A], by="ann") in file.history()


def test_only_what_is_new_is_read(file, monkeypatch):
    for _ in range(3):
        file.add("keep", [A], by="ann")
    assert len(file.history()) == 3
    parsed = []

    def noted(item):
        parsed.append(item)
        return of_object(item)

    monkeypatch.setattr("neardup.decisions.file.of_object", noted)
    DecisionFile(file.path)
    before = file.history()
    assert file.history() is before
    assert parsed == []
    file.add("keep", [B], by="ann")
    assert len(file.history()) == 4
    assert len(parsed) == 1


def test_a_clock_that_was_set_back_changes_nothing(file, monkeypatch):
    file.add("same", [A, B], by="ann")
    monkeypatch.setattr("neardup.decisions.file.now", lambda: "2001-01-01T00:00:00.000Z")
    file.add("different", [A, B], by="ann")
    assert [one.says for one in file.current().decisions] == ["different"]


def test_a_full_disk_leaves_the_file_as_it_was(file, monkeypatch):
    file.add("same", [A, B], by="ann")
    before = file.path.read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, line: write(descriptor, line[:20]))
    with pytest.raises(InputError, match="nothing was added"):
        file.add("keep", [A], by="ann")
    monkeypatch.undo()
    assert file.path.read_bytes() == before
    assert len(file.history()) == 1


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot write to"):
        DecisionFile(tmp_path / "none" / "decisions.jsonl").add("keep", [A], by="ann")
    with pytest.raises(InputError, match="cannot read"):
        DecisionFile(tmp_path).history()


@settings(max_examples=50)
@given(data=st.data())
def test_any_history_can_be_read_step_by_step(data, tmp_path_factory):
    """One object that follows the file sees what another sees that reads it at once."""
    path = tmp_path_factory.mktemp("steps") / "decisions.jsonl"
    followed = DecisionFile(path)
    for _ in range(data.draw(st.integers(1, 8))):
        says = data.draw(st.sampled_from(SAYS))
        history = followed.history()
        if says == "undo":
            if history:
                DecisionFile(path).undo(data.draw(st.sampled_from(history)).key, by="ann")
        else:
            documents = data.draw(st.permutations([A, B, C]))[: data.draw(st.integers(2, 3))]
            DecisionFile(path).add(says, documents, by=data.draw(st.sampled_from("ab")))
        assert followed.history() == DecisionFile(path).history()
        assert followed.current().decisions == DecisionFile(path).current().decisions

"""`neardup index check`, and `query` line by line, as processes that other programs talk to."""

import json
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli import forked
from tests.index.texts import text

import neardup as nd

NEARDUP = str(Path(sys.executable).with_name("neardup"))
PATIENCE = 60  # seconds; only a broken program takes that long


def neardup(*arguments, **options):
    if options.keys() <= {"cwd"}:
        return forked.neardup("index", *arguments, **options)
    options.setdefault("text", True)
    return subprocess.run(
        [NEARDUP, "index", *map(str, arguments)], capture_output=True, check=False, **options
    )


def edited(number, words=100):
    """A text in which one word of the original is another."""
    found = text(number, words).split()
    found[words // 2] = "edited"
    return " ".join(found)


def held(index):
    with nd.Index(index, readonly=True, create=False) as opened:
        return list(opened.ids())


class Coprocess:
    """A running command that is asked line by line."""

    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen(
            [NEARDUP, "index", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def ask(self, line):
        """Send one line and wait for its answer; nothing else may be printed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if not isinstance(line, bytes):
            line = (line if isinstance(line, str) else json.dumps(line)).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        assert select.select([self.process.stdout], [], [], PATIENCE)[0], "no answer"
        answer = self.process.stdout.readline().decode()
        assert answer.endswith("\n")
        assert not select.select([self.process.stdout], [], [], 0)[0], "more than one line"
        return answer.rstrip("\n")

    def end(self):
        """Close the input; return the exit code, and what is still printed."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out.decode(), err.decode()


@pytest.fixture
def index(tmp_path):
    path = tmp_path / "seen.index"
    assert neardup("create", path).returncode == 0
    return path


def test_one_text_is_new_and_then_seen(index):
    done = neardup("check", index, text(1, 100), "--id", "one")
    assert (done.returncode, done.stdout, done.stderr) == (0, "new\tone\t-\t-\n", "")
    done = neardup("check", index, edited(1), "--id", "two")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("seen\ttwo\tone\t0.94")
    done = neardup("check", index, text(2, 100), "--id", "three", "--json")
    assert json.loads(done.stdout) == {"id": "three", "is_new": True, "added": True, "matches": []}
    done = neardup("check", index, text(2, 100), "--id", "four", "--json")
    match = {"id": "three", "distance": 0, "similarity": 1.0, "metadata": None}
    assert json.loads(done.stdout) == {
        "id": "four",
        "is_new": False,
        "added": False,
        "matches": [match],
    }
    assert held(index) == ["one", "three"]
    again = neardup("check", index, text(1, 100), "--id", "one")  # no match of itself
    assert (again.returncode, again.stdout) == (0, "new\tone\t-\t-\n")


def test_a_text_without_id_is_seen_the_second_time(index):
    first = neardup("check", index, text(1))
    again = neardup("check", index, text(1))
    other = neardup("check", index, text(2))
    assert [first.returncode, again.returncode, other.returncode] == [0, 1, 0]
    id = first.stdout.split("\t")[1]
    state, new, match, similarity = again.stdout.rstrip("\n").split("\t")
    assert (state, match, similarity) == ("seen", id, "1.0000")
    assert new != id
    assert len(held(index)) == 2
    done = neardup("check", index, " \n")
    assert (done.returncode, "needs an id" in done.stderr) == (2, True)


def test_what_is_added(index):
    neardup("check", index, text(1), "--id", "a")
    never = neardup("check", index, text(2), "--id", "b", "--add", "never")
    assert (never.returncode, held(index)) == (0, ["a"])
    always = neardup("check", index, text(1), "--id", "c", "--add", "always")
    assert (always.returncode, held(index)) == (1, ["a", "c"])
    lines = "".join(f"{text(7)}\n" for _ in range(4))
    done = neardup("check", index, "--keep-per-group", 2, input=lines)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["new"] * 2 + ["seen"] * 2


def test_a_number_names_the_document_that_has_it(index, tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": 17, "text": text(1)}) + "\n")
    neardup("add", index, tmp_path / "a.jsonl")
    assert neardup("check", index, text(1), "--id", 17).returncode == 0  # no match of itself
    assert held(index) == [17]


def test_each_line_is_answered_at_once(index):
    with Coprocess("check", index, "--json") as program:
        page = {"id": "u1", "text": text(1, 100), "metadata": {"url": "u"}}
        assert json.loads(program.ask(page))["is_new"]
        seen = json.loads(program.ask({"id": "u2", "text": edited(1)}))
        assert (seen["id"], seen["is_new"], seen["added"]) == ("u2", False, False)
        assert (seen["matches"][0]["id"], seen["matches"][0]["metadata"]) == ("u1", {"url": "u"})
        # Answered is stored, for other programs too.
        assert neardup("check", index, text(1, 100), "--add", "never").returncode == 1
        assert neardup("check", index, text(2), "--id", "other").returncode == 0
        assert json.loads(program.ask({"id": 3, "text": text(2)}))["matches"][0]["id"] == "other"
        assert json.loads(program.ask(page))["is_new"]  # a check can be repeated
        assert program.end() == (1, "", "")
    assert held(index) == ["u1", "other"]


def test_lines_that_are_texts(index):
    lines = [
        text(1),
        "火车票和旅馆已经订好了明天早上我们在车站见面",
        "👩‍🚀 🚀 to the moon and back 🌕",
        "{{wiki}} text of its own",
    ]
    with Coprocess("check", index, "-") as program:
        for state in ("new", "seen"):
            for line in lines:
                assert program.ask(line).split("\t")[0] == state
        assert program.ask(f"{text(1)}\r").startswith("seen")
        assert program.ask(f"\t {text(1)}").startswith("seen")
        assert program.end() == (1, "", "")
    assert len(held(index)) == len(lines)


BAD = [
    (b"", "it is empty"),
    (b"  \t\r", "it is empty"),
    (b"caf\xe9 au lait", "invalid UTF-8, byte 0xe9 at offset 3"),
    (b'{"id": "x", "text": "caf\xe9"}', "invalid UTF-8"),
    (b'{"id": "x", "text": "cut o', "begins like a JSON object"),
    (b'{"id": "x", "text": "a"} {"id": 2}', "begins like a JSON object"),
    (b"{}", "no key 'text'"),
    (b'{"id": "x"}', "no key 'text'"),
    (b'{"id": "x", "text": null}', "NoneType"),
    (b'{"id": "x", "text": ["a"]}', "list"),
    (b'{"id": 1.5, "text": "a"}', "ids are int or str"),
    (b'{"id": true, "text": "a"}', "ids are int or str"),
    (b'{"id": 99999999999999999999, "text": "a"}', "id"),
    (b'{"id": "x", "text": "\\ud800"}', "begins like a JSON object"),
    (b'{"id": "x", "text": "a", "metadata": ' + b"[" * 70 + b"]" * 70 + b"}", "nested"),
    (b"x" * 20_000, "more than --max-document allows"),
]


@pytest.mark.parametrize("command", ["check", "query"])
def test_a_bad_line_is_answered_and_ends_nothing(index, command):
    neardup("check", index, text(1), "--id", "one")
    with Coprocess(command, index, "-", "--json", "--max-document", "10000") as program:
        for number, (line, reason) in enumerate(BAD):
            answer = json.loads(program.ask(line))
            assert answer.keys() == {"id" if command == "check" else "query", "error"}
            assert answer["error"].startswith(f"line {2 * number + 1}: "), line
            assert reason in answer["error"], line
            good = json.loads(program.ask({"id": f"{number}", "text": text(1)}))
            assert good["matches"][0]["id"] == "one"
        assert program.end() == (2 if command == "check" else 1, "", "")
    assert held(index) == ["one"]


def test_many_lines_at_once_are_answered_in_order(index):
    lines, expected = [], []
    for number in range(300):
        line, _ = random.Random(number).choice(BAD)
        lines += [line, json.dumps({"id": number, "text": text(number // 2)}).encode()]
        expected += [None, (number, number % 2 == 0)]
    done = neardup(
        *("check", index, "-", "--json", "--max-document", "10000"),
        input=b"\n".join(lines),  # the last line has no end
        text=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 2
    found = [None if "error" in one else (one["id"], one["is_new"]) for one in answers]
    assert found == expected
    assert held(index) == list(range(0, 300, 2))


def test_bad_lines_are_words_in_columns(index):
    done = neardup("check", index, "-", input=f'\n{{"id": "a\\tb", "text": 1}}\n{text(1)}\n')
    first, second, third = done.stdout.splitlines()
    assert first == "error\t-\tline 1: it is empty; write a text or a JSON object"
    assert second.startswith("error\ta␉b\tline 2: the value of 'text' is of type int")
    assert third.startswith("new\t")
    assert done.returncode == 2


def test_a_long_line(index):
    page = text(1, 700_000)
    assert len(page) > 4_500_000
    with Coprocess("check", index, "--json") as program:
        assert json.loads(program.ask({"id": "a", "text": page}))["is_new"]
        assert json.loads(program.ask(page))["matches"][0]["similarity"] == 1.0
        assert program.end() == (1, "", "")


def test_query_answers_line_by_line_and_changes_nothing(index):
    neardup("check", index, text(1, 100), "--id", "one")
    neardup("check", index, edited(1), "--id", "two", "--add", "always")
    with Coprocess("query", index, "-") as program:
        assert program.ask({"id": "q", "text": text(1, 100)}) == "q\tone\t0\t1.0000"
        assert program.ask(text(1, 100)) == "line 2\tone\t0\t1.0000"
        assert program.ask(text(2)) == "line 3\tno match"
        # What others add is found.
        neardup("check", index, text(2), "--id", "three")
        assert program.ask(text(2)) == "line 4\tthree\t0\t1.0000"
        assert (
            program.ask("") == "line 5\terror\tline 5: it is empty; write a text or a JSON object"
        )
        assert program.end() == (1, "", "")
    with Coprocess("query", index, "-", "--json") as program:
        found = json.loads(program.ask(text(1, 100)))
        assert (found["query"], [match["id"] for match in found["matches"]]) == (
            None,
            ["one", "two"],
        )
        assert program.end() == (0, "", "")
    assert held(index) == ["one", "two", "three"]
    whole = neardup("query", index, input=text(1, 100).replace(" ", "\n"))  # one text, as before
    assert whole.stdout.startswith("one\t0\t1.0000\n")


def test_an_index_by_distance(tmp_path):
    index = tmp_path / "near.index"
    neardup("create", index, "--max-distance", 3)
    with Coprocess("check", index) as program:
        assert program.ask({"id": "a", "text": text(1)}) == "new\ta\t-\t-"
        assert program.ask({"id": "b", "text": text(1)}) == "seen\tb\ta\t-"
        assert program.end() == (1, "", "")
    assert neardup("check", index, text(1), "--max-distance", 0, "--add", "never").returncode == 1
    done = neardup("check", index, text(1), "--threshold", 0.9)
    assert (done.returncode, "store" in done.stderr) == (2, True)


def test_records_and_terms(tmp_path):
    records, terms = tmp_path / "records", tmp_path / "terms"
    assert (
        neardup("create", records, "--text", "name*2+city", "--features", "char:3").returncode == 0
    )
    assert neardup("create", terms, "--features", "terms").returncode == 0
    with Coprocess("check", records) as program:
        record = {"id": 1, "name": "Anna Meier", "city": "Zürich", "age": 7}
        assert program.ask(record) == "new\t1\t-\t-"
        assert program.ask(record | {"id": 2, "age": 8}).startswith("seen\t2\t1\t1.0000")
        assert "none of the fields name, city" in program.ask({"id": 3, "text": "x"})
        assert "name" in program.ask({"id": 3, "name": ["x"], "city": "y"})
        assert "not a JSON object" in program.ask("Anna Meier")
        assert program.end() == (2, "", "")
    with Coprocess("check", terms) as program:
        assert program.ask({"id": 1, "terms": ["a", "b"], "weights": [1, 2.5]}) == "new\t1\t-\t-"
        assert program.ask({"id": 2, "terms": {"a": 1, "b": 2.5}}) == "seen\t2\t1\t1.0000"
        assert "1 terms, but 2 weights" in program.ask({"id": 3, "terms": ["a"], "weights": [1, 2]})
        assert program.ask({"id": 3, "terms": "a b"}).startswith("error\t3\tline 4: ")
        assert program.end() == (2, "", "")


def test_keys_have_other_names(index):
    with Coprocess(
        *("check", index, "--text", "body", "--id", "url", "--metadata", "when", "--json")
    ) as program:
        page = {"url": "u", "body": text(1), "when": "now", "more": 1}
        assert json.loads(program.ask(page))["id"] == "u"
        found = json.loads(program.ask(page | {"url": "v"}))
        assert found["matches"][0]["metadata"] == {"when": "now"}
        assert "no key 'url'" in json.loads(program.ask({"body": "x"}))["error"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_program_has_stored_what_it_answered(index, number):
    with Coprocess("check", index) as program:
        program.ask({"id": "a", "text": text(1)})
        program.ask({"id": "b", "text": text(2)})
        program.process.send_signal(number)
        assert program.process.wait(PATIENCE) == 128 + number  # its input is still open
        code, out, err = program.end()
    assert (code, out) == (128 + number, "")
    assert err == (
        f"neardup: stopped; 2 documents answered; those that were added are stored in {index}\n"
    )
    assert held(index) == ["a", "b"]


def test_nobody_reads_the_answers(index):
    lines = "".join(json.dumps({"id": n, "text": text(n)}) + "\n" for n in range(20_000))
    with Coprocess("check", index, "--no-sync") as program:
        program.process.stdin.write(lines.encode()[:1000])
        program.process.stdin.flush()
        program.process.stdout.readline()
        program.process.stdout.close()
        with pytest.raises(BrokenPipeError):
            program.process.stdin.write(lines.encode()[1000:])
            program.process.stdin.flush()
        assert program.process.wait(PATIENCE) == 141
        assert program.process.stderr.read() == b""


def test_copies_that_many_programs_ask_for_are_new_once(index):
    programs = [Coprocess("check", index) for _ in range(4)]
    lines = "".join(f"{text(number)}\n" for number in range(50)).encode()
    for program in programs:
        program.process.stdin.write(lines)
        program.process.stdin.close()
    out = b"".join(program.process.stdout.read() for program in programs).decode()
    assert sorted(program.process.wait(PATIENCE) for program in programs)[0] in (0, 1)
    assert sum(line.startswith("new\t") for line in out.splitlines()) == 50
    assert len(held(index)) == 50
    for program in programs:
        program.process.stdout.close()
        program.process.stderr.close()


def test_files(index, tmp_path):
    file = tmp_path / "pages.jsonl"
    rows = [{"id": "a", "text": text(1, 100)}, {"id": "b", "text": edited(1)}, {"id": "c"}]
    rows += [{"id": "d", "text": text(2), "url": "u"}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ("check", index, "-i", file, "--metadata", "url")
    done = neardup(*arguments)
    assert done.returncode == 2
    found = [line.split("\t") for line in done.stdout.splitlines()]
    assert [cells[:2] for cells in found] == [
        ["error", f"{file}:2"],
        ["new", "a"],
        ["seen", "b"],
        ["new", "d"],
    ]
    assert neardup(*arguments).stdout == done.stdout  # the same run again
    assert held(index) == ["a", "d"]
    assert "{'url': 'u'}" in neardup("query", index, text(2)).stdout


def test_files_without_ids(index, tmp_path):
    for folder, first in (("a", 0), ("b", 100)):
        (tmp_path / folder).mkdir()
        rows = [json.dumps({"text": text(n)}) for n in (first, first + 1, first)]
        (tmp_path / folder / "rows.jsonl").write_text("\n".join(rows))
        done = neardup("check", index, "-i", "rows.jsonl", "--json", cwd=tmp_path / folder)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert [(one["id"], one["is_new"]) for one in answers] == [
            ("rows.jsonl:0", True),
            ("rows.jsonl:1", True),
            ("rows.jsonl:2", False),
        ]
        assert done.returncode == 1
    assert len(held(index)) == 4


def test_errors_exit_with_2_because_1_means_seen(index, tmp_path):
    for arguments, says in [
        (["check", tmp_path / "none", "x"], "there is no index"),
        (["check", tmp_path, "x"], "not an index"),
        (["check", index, "x", "-i", "y"], "not both"),
        (["check", index, "x", "--text", "y"], "omit"),
        (["check", index, "x", "--add", "maybe"], "choose new, always, never"),
        (["check", index, "x", "--keep-per-group", "0"], "1 or more"),
        (["check", index, "x", "--limit", "-1"], "limit"),
        (["check", index, "x", "--ttl", "soon"], "amount of time"),
        (["check", index, "-i", tmp_path / "none.jsonl"], "does not exist"),
    ]:
        done = neardup(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert says in done.stderr, (arguments, done.stderr)
        assert done.stderr.startswith("neardup: "), arguments
        assert done.stderr.count("\n") == 1, arguments


@pytest.mark.parametrize("option", [["--threshold", "0.5"], ["--max-distance", "3"]])
@pytest.mark.parametrize("command", ["check", "query"])
def test_wrong_options_are_refused_before_a_line_is_read(index, command, option):
    with Coprocess(command, index, "-", *option) as program:
        assert program.process.wait(PATIENCE) == 2
        assert b"the index" in program.process.stderr.read() or option[0] == "--max-distance"


@pytest.fixture
def disk(tmp_path):
    """A small disk; skips the test if none can be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(command, check=False).returncode:
        pytest.skip("this user may not mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_disk_that_is_read_only(disk):
    index = disk / "seen.index"
    neardup("create", index)
    neardup("check", index, text(1), "--id", "a")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    done = neardup("check", index, text(2))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"neardup: {index} cannot be opened: Read-only file system\n"
    done = neardup("check", index, text(1), "--add", "never")
    assert (done.returncode, done.stderr) == (1, "")
    with Coprocess("query", index, "-") as program:
        assert program.ask(text(1)) == "line 1\ta\t0\t1.0000"
        assert program.end() == (0, "", "")


def test_an_index_that_is_removed_meanwhile(index):
    with Coprocess("check", index) as program:
        program.ask(text(1))
        for file in index.iterdir():
            file.unlink()
        program.process.stdin.write(b"another text that is not there\n")
        program.process.stdin.flush()
        assert program.process.wait(PATIENCE) == 2
        assert b"was removed or replaced" in program.process.stderr.read()


def test_a_document_that_expires_is_new_again(index):
    with Coprocess("check", index, "--ttl", "0.3") as program:
        assert program.ask({"id": "a", "text": text(1)}).startswith("new")
        assert program.ask({"id": "b", "text": text(1)}).startswith("seen")
        time.sleep(0.4)
        assert program.ask({"id": "c", "text": text(1)}).startswith("new")

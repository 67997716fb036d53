"""What is a step of a page, what is wrong with one, and that no exception has outlived its page."""

import pytest
from tests.docs import collection, exceptions, stand_ins
from tests.docs.reader import Reader, problems
from tests.docs.steps import ROOT, Step, mentions, steps
from tests.docs.usage import is_complete, unknown

PAGE = """\
# A page

Text with `neardup dedup -o`.

    neardup plan --n 10 \\
      --max-distance 3   # bits
    KEY=1 curl localhost:7700

```text
Some output, no command
```

```text
$ echo "one
two"
one
two
$ cat <<'END' > file
three
END
```

- an item

    neardup plan

| command | what |
|---|---|
| `neardup plan --n 10` | complete |
| `neardup dedup -o OUT` | lacks the input |

```python
print(1)
```

    total = a + b
"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE, "utf-8")
    return path


@pytest.fixture(scope="module")
def all_steps():
    return [step for name in collection.pages() for step in steps(ROOT / name)]


def test_the_steps_of_a_page(page):
    found = [(step.line, step.kind, step.text, step.shown) for step in steps(page)]
    assert found == [
        (5, "shell", "neardup plan --n 10 \\\n  --max-distance 3   # bits", None),
        (7, "shell", "KEY=1 curl localhost:7700", None),
        (14, "shell", 'echo "one\ntwo"', "one\ntwo"),
        (18, "shell", "cat <<'END' > file\nthree\nEND", ""),
        (29, "shell", "neardup plan --n 10", None),
        (33, "python", "print(1)\n", None),
    ]


def test_many_steps_are_found(all_steps):
    assert sum(step.kind == "shell" for step in all_steps) > 200
    assert sum(step.kind == "python" for step in all_steps) > 70


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("$ cat missing.txt", "exit code 1, not 0"),
        ("$ echo one\ntwo", "does not print what the page shows"),
        ("$ neardup serve", "the server did not start"),
        ("$ python -c 'import sys; sys.exit(3)'", "exit code 3, not 0"),
    ],
)
def test_what_goes_wrong_is_told(text, said, tmp_path):
    path = tmp_path / "page.md"
    path.write_text(f"# Page\n\n```text\n{text}\n```\n")
    found, advice = problems(path)
    assert found.startswith(f"page.md:4: {said}\n    {text[2:].splitlines()[0]}")
    assert "stand_ins.py" in advice
    assert "exceptions.py" in advice


def test_a_python_example_that_fails_is_told(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("```python\nx = 1\nassert x == 2\n```\n\n```python\n>>> x\n2\n\n```\n")
    first, second, _ = problems(path)
    assert "AssertionError" in first
    assert "Expected:" in second


def test_output_may_be_shortened_and_numbers_of_time_and_size_vary(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("$ echo\n")
    command = "printf 'one 0.02 s 102.7 MB\\n-- two --\\nthree 2026-11-18T10:00:00Z\\n'"
    with Reader(path) as reader:
        for shown in (
            "one 1.5 s 3 MB\n-- two --\nthree 2020-01-01T00:00:00Z",
            "one 1.5 s 3 MB\n…\nthree …",
            "one 1.5 s 3 MB -- tw…\n…",
        ):
            assert reader.follow(Step("page.md", 1, "shell", command, shown)) is None
        for shown in ("one 1.5 s 3 MB", "one 1.5 s 3 MB\n…\nfour", "…\ntwo"):
            assert "does not print" in reader.follow(Step("page.md", 1, "shell", command, shown))


def test_a_command_leaves_its_folder_and_its_variables(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(
        "    mkdir a && cd a\n    export B='one two'\n\nThen:\n\n    $ echo $B $(ls ..)\n"
        "    one two a\n"
    )
    assert problems(path) == []


@pytest.mark.parametrize("table", ["CANNOT_RUN", "EXIT_CODES", "PRINTS_OTHER"])
def test_every_exception_is_for_a_step(table, all_steps):
    for expression in getattr(exceptions, table):
        assert any(exceptions.finds(expression, step) for step in all_steps), expression


def test_every_stand_in_is_named_on_its_page(all_steps):
    for page, files in stand_ins.FILES_OF_PAGES.items():
        for name in files:
            assert any(name in step.text for step in all_steps if step.page == page), (page, name)
    for name in stand_ins.FILES:
        assert any(name in step.text for step in all_steps), name


def test_pages_that_are_run_elsewhere_are_named_there():
    for page, module in exceptions.RUN_ELSEWHERE.items():
        text = (ROOT / module).read_text("utf-8")
        assert (ROOT / page).name in text


@pytest.mark.parametrize("page", collection.pages())
def test_a_page_names_commands_and_options_that_there_are(page):
    for line, call in mentions(ROOT / page):
        if not exceptions.is_no_command(call):
            assert unknown(call) is None, f"{page}:{line}: {call}: {unknown(call)}"


def test_calls():
    assert is_complete("neardup dedup a -o b")
    assert is_complete("neardup completion fish > file")
    assert not is_complete("neardup dedup -o b")
    assert not is_complete("neardup dodup a -o b")
    assert unknown("neardup dodup") == "there is no command 'dodup'"
    assert unknown("neardup index add --no-such-option") == "there is no option --no-such-option"
    assert unknown("neardup index") is None
    assert unknown("neardup COMMAND --help") is None

"""What the Spark engine does without Spark: the messages of a task, and the text of errors."""

from __future__ import annotations

import os
from collections import Counter

import pytest

pytest.importorskip("pyspark", reason="the Spark engine needs pyspark")

from neardup.engines import spark
from neardup.engines.bundles import rows_of
from neardup.engines.exchange import Message
from neardup.errors import InputError, NeardupError, SettingError


def test_messages_of_another_task_are_noticed():
    (batch,) = rows_of([Message(3, 0, b"")], lambda task: task)
    (message,) = spark._received(iter([batch]), 3)
    assert (message.to, message.tag, message.blob) == (3, 0, b"")
    with pytest.raises(AssertionError, match="a message to 3 came to 2"):
        list(spark._received(iter([batch]), 2))


SENTENCES = ["plain", "two\nlines", "quotes ' and \"", "a: colon:", "天地 😀", "back\\slash", ""]


@pytest.mark.parametrize("kind", [InputError, SettingError, NeardupError])
@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_refusal_is_known_by_the_text_of_the_error(kind, sentence):
    """Spark passes on nothing but the text, among lines of its own, and often twice."""
    name = next(name for name, one in spark._REFUSALS.items() if one is kind)
    told = f"{spark._MARK}{name}:{sentence!r}:{spark._MARK}"
    text = f"Job aborted: Traceback\n  File\nRuntimeError: {told}\n\tat java\nCaused by: {told}\n"
    found = spark._refusal(RuntimeError(text))
    assert type(found) is kind
    assert str(found) == sentence


def test_kinds_of_refusals_are_told_apart():
    kinds = Counter(spark._REFUSALS.values())
    assert set(kinds.values()) == {1}
    # The most general comes last, because the first that fits is taken.
    assert list(kinds)[-1] is NeardupError


def test_other_errors_are_no_refusals():
    assert spark._refusal(RuntimeError("ZeroDivisionError: division by zero")) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("one\ntwo", "one"),
        ("\n\n  two  \n", "two"),
        ("", "ValueError"),
        ("x" * 999, "x" * 300),
        (
            "An error occurred while calling None.x.\n: java.lang.E: no master\n\tat y",
            "java.lang.E: no master",
        ),
        ("An error occurred while calling o1.y", "An error occurred while calling o1.y"),
    ],
)
def test_an_error_is_told_by_its_first_line(text, line):
    assert spark._first_line(ValueError(text)) == line


def test_options_of_java_are_those_of_the_user_or_ours_for_the_start_only(monkeypatch):
    monkeypatch.delenv(spark._JAVA_OPTIONS, raising=False)
    with pytest.raises(RuntimeError, match="did not start"), spark._compiling_less():
        assert os.environ[spark._JAVA_OPTIONS] == spark._COMPILE_LESS
        raise RuntimeError("did not start")
    assert spark._JAVA_OPTIONS not in os.environ
    monkeypatch.setenv(spark._JAVA_OPTIONS, "-Xmx4g")
    with spark._compiling_less():
        assert os.environ[spark._JAVA_OPTIONS] == "-Xmx4g"
    assert os.environ[spark._JAVA_OPTIONS] == "-Xmx4g"

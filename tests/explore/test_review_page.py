"""The review queue: one doubtful pair at a time."""

import re
import shlex

import pytest
from tests.explore.browsing import Browser, browse, text_of, varied

import neardup as nd
from neardup.runs.rerun import rerun_command


def families(count=4):
    """Families of two documents, each a little less similar than the one before."""
    return [
        {
            "id": f"{name}{side}",
            "text": varied(*[side] * (place + 1), length=90, family=name),
        }
        for place, name in enumerate("abcdefgh"[:count])
        for side in "xy"
    ]


@pytest.fixture
def browser(tmp_path):
    return browse(tmp_path, families())


def places(page):
    return re.findall(r'name="documents" value="(\d+)"', page)


def ids(browser, page):
    return [browser.run.document(int(place)).id for place in places(page)]


def test_the_most_doubtful_pair_comes_first_with_its_reason(browser):
    item = browser.run.queue(0, 1, "ann")[0]
    page = browser.page("/review")
    assert places(page) == [str(item.a), str(item.b)]
    assert item.reason in text_of(page)
    assert "0 of 4 decided" in page
    assert '<progress max="4" value="0"' in page


def test_after_a_decision_the_next_pair_appears(browser):
    seen = []
    for decided in range(4):
        page = browser.page("/review")
        assert f"{decided} of 4 decided" in page
        seen.append(tuple(places(page)))
        answer = browser.post("/decisions", says="same", documents=places(page), next="/review")
        assert answer.header("Location") == "/review"
    assert len(set(seen)) == 4
    end = browser.page("/review")
    assert "All 4 doubtful pairs are decided." in text_of(end)
    assert places(end) == []


def test_one_can_go_on_and_back_without_deciding(browser):
    first = browser.page("/review")
    assert 'data-key="k"' not in first
    (later,) = re.findall(r'href="([^"]*)" data-key="j"', first)
    second = browser.page(later)
    assert places(second) != places(first)
    (earlier,) = re.findall(r'href="([^"]*)" data-key="k"', second)
    assert places(browser.page(earlier)) == places(first)
    assert 'data-key="j"' not in browser.page("/review?at=3")
    assert places(browser.page("/review?at=99")) == places(first)


def test_undo_brings_the_pair_back(browser):
    first = places(browser.page("/review"))
    browser.post("/decisions", says="different", documents=first, next="/review")
    page = browser.page("/review")
    assert places(page) != first
    (key,) = re.findall(r'name="key" value="(\w+)"', page)
    browser.post("/decisions/undo", key=key, next="/review")
    assert places(browser.page("/review")) == first


def test_a_skipped_pair_leaves_the_queue(browser):
    first = places(browser.page("/review"))
    browser.post("/decisions", says="skip", documents=first, next="/review")
    assert places(browser.page("/review")) != first


def test_what_others_decided_meanwhile_is_left_out(browser):
    other = Browser(browser.run.path, reviewer="bob")
    first = places(browser.page("/review"))
    other.post("/decisions", says="same", documents=first)
    page = browser.page("/review")
    assert places(page) != first
    assert "1 of 4 decided" in page
    assert "Last:" not in text_of(page)


def test_at_the_end_there_is_the_command_to_run_again(tmp_path):
    browser = browse(tmp_path, families(1))
    browser.run.summary["command"] = "neardup dedup 'my rows.jsonl' -o out --threshold 0.6"
    browser.post("/decisions", says="different", documents=places(browser.page("/review")))
    page = browser.page("/review")
    (command,) = re.findall(r'<code id="command">(.*?)</code>', page)
    words = shlex.split(command.replace("&#39;", "'"))
    assert words[:3] == ["neardup", "dedup", "my rows.jsonl"]
    assert words[words.index("--decisions") + 1] == str(browser.run.path / "decisions.jsonl")
    assert words[words.index("-o") + 1] == f"{browser.run.path}2"


@pytest.mark.parametrize("command", [None, "neardup rethreshold out 0.6 -o out2", "a ' b"])
def test_other_runs_are_described_by_their_settings(browser, command):
    browser.run.summary["command"] = command
    words = shlex.split(rerun_command(browser.run))
    assert words[:2] == ["neardup", "dedup"]
    assert words[2].endswith("rows.jsonl")
    assert words[words.index("--threshold") + 1] == "0.6"
    assert "--features" not in words
    browser.run.summary["inputs"] = []
    code = rerun_command(browser.run)
    assert code.startswith("nd.dedup(documents, ")
    assert "threshold=0.6, " in code
    assert "memory" not in code
    assert f"decisions={str(browser.run.path / 'decisions.jsonl')!r}" in code


def test_the_next_run_obeys_what_was_decided(tmp_path):
    browser = browse(tmp_path, families(1))
    browser.post("/decisions", says="different", documents=places(browser.page("/review")))
    again = nd.dedup(
        str(tmp_path / "rows.jsonl"),
        threshold=0.6,
        decisions=str(browser.run.path / "decisions.jsonl"),
    )
    assert again.summary["removed"] == 0


def test_a_run_without_doubt_says_so(tmp_path):
    browser = browse(tmp_path, [{"id": 1, "text": "one"}, {"id": 2, "text": "another thing"}])
    assert "nothing doubtful" in text_of(browser.page("/review"))


def test_reading_alone_shows_no_buttons(browser):
    reader = Browser(browser.run.path, read_only=True)
    page = reader.page("/review")
    assert 'method="post"' not in page
    assert "0 of 4 decided" in page


def test_enter_in_the_reason_decides_nothing(browser):
    form = browser.page("/review")
    form = form[form.index('<form class="decide"') :]
    assert form.index("<button disabled hidden>") < form.index('value="same"')


def test_keys_are_documented(browser):
    page = browser.page("/review")
    for key in "sdnjkku12":
        assert f"<dt><kbd>{key}</kbd></dt>" in page

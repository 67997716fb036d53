"""People decide in the browser, and the next run obeys."""

import json
import re
import shlex
import shutil
import urllib.error
import urllib.request

import pytest
from tests.explore.browser.samples import deduplicated, kept_ids, run_neardup
from tests.explore.browser.serving import explored

expect = pytest.importorskip("playwright.sync_api").expect


def _text(name, *changes):
    words = [f"{name}{place}" for place in range(90)]
    for place, change in enumerate(changes):
        words[7 + 9 * place] = change
    return " ".join(words)


def families():
    """Pairs above the threshold, and pairs just below it."""
    names = ("apple", "birch", "cedar", "dahlia", "elder", "fern")
    return [
        {"id": f"{name}-{side}", "text": _text(name, *[f"{side}{n}" for n in range(changes)])}
        for name, changes in zip(names, (1, 2, 2, 3, 4, 4), strict=True)
        for side in ("one", "two")
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run that every test copies: eight documents in four clusters, and two near misses."""
    out = deduplicated(
        tmp_path_factory.mktemp("made"), families(), "--threshold", "0.8", "--floor", "0.6"
    )
    assert len(kept_ids(out)) == 8
    return out


@pytest.fixture
def served(browser, made, tmp_path):
    out = shutil.copytree(made, tmp_path / "out")
    with explored(out, "--by", "ann") as running:
        yield running


@pytest.fixture
def page(visit, served):
    return visit(served.origin).open(served.at("/review"))


def ids(page):
    return tuple(page.locator(".sides .id").all_inner_texts())


def progress(page):
    return page.get_by_role("status").inner_text().strip()


def stored(served):
    return [json.loads(line) for line in served.lines()]


def said(served):
    """What was decided, as (says, by, ids)."""
    return [
        (one["says"], one["by"], tuple(named["id"] for named in one.get("documents", ())))
        for one in stored(served)
    ]


def after(page, action):
    """Do what leads to another page, and wait for that."""
    with page.expect_navigation():
        action()


def go_to(page, first, second):
    """Look for a pair in the review queue, as one does with the key j."""
    while set(ids(page)) != {first, second}:
        after(page, lambda: page.keyboard.press("j"))


def test_keys_decide_one_pair_after_the_other(page, served):
    expect(page.locator("h1")).to_have_text("Review")
    assert progress(page) == "0 of 6 decided"
    pairs, expected = [], []
    for place, (key, says) in enumerate(
        {"s": "same", "d": "different", "n": "skip", "2": "keep"}.items()
    ):
        pairs.append(ids(page))
        after(page, lambda key=key: page.keyboard.press(key))
        assert progress(page) == f"{place + 1} of 6 decided"
        documents = pairs[-1][::-1] if says == "keep" else pairs[-1]
        expected.append((says, "ann", documents))
        assert said(served) == expected
    assert len(set(pairs)) == 4
    page.goto(served.at("/decisions"))
    badges = page.locator(".history .badge").all_inner_texts()
    assert len(badges) == 4
    assert "different" in badges


def test_undo_brings_the_pair_back(page, served):
    first = ids(page)
    after(page, lambda: page.keyboard.press("d"))
    assert ids(page) != first
    after(page, lambda: page.keyboard.press("u"))
    assert ids(page) == first
    assert progress(page) == "0 of 6 decided"
    assert [says for says, _, _ in said(served)] == ["different", "undo"]
    page.get_by_role("link", name="Decisions", exact=True).click()
    expect(page.locator(".history")).to_contain_text("undone")


def test_buttons_and_a_reason(page, served):
    page.get_by_label("Why (optional)").fill("other street d s u")
    page.get_by_label("Why (optional)").press("Enter")
    assert served.lines() == []  # Enter in a field decides nothing, and letters are letters
    after(page, lambda: page.get_by_role("button", name="Different").click())
    assert stored(served)[0]["why"] == "other street d s u"
    page.reload()
    assert progress(page) == "1 of 6 decided"
    page.get_by_role("link", name="Decisions", exact=True).click()
    expect(page.locator(".history")).to_contain_text("other street d s u")
    after(page, lambda: page.get_by_role("button", name="Undo").click())
    expect(page.locator(".history")).to_contain_text("undone")


def test_a_key_that_is_held_decides_once(page, served):
    page.keyboard.down("d")
    page.keyboard.down("d")
    page.keyboard.up("d")
    expect(page.get_by_role("status")).to_contain_text("1 of 6 decided")
    assert len(served.lines()) == 1


def test_the_end_of_the_queue(page, served):
    for _ in range(6):
        after(page, lambda: page.keyboard.press("s"))
    expect(page.locator(".empty")).to_contain_text("All 6 doubtful pairs are decided.")
    expect(page.locator("#command")).to_contain_text("--decisions")
    page.goto(served.at("/clusters"))
    assert set(page.locator("[data-name=decided]").all_inner_texts()) == {"yes"}


def test_a_cluster_is_decided_as_a_whole(page, served):
    page.goto(served.at("/clusters/0"))
    after(page, lambda: page.get_by_role("button", name="All different").click())
    expect(page.locator("#decisions-heading + .decided, .decided").first).to_contain_text(
        "different"
    )
    assert len(stored(served)[0]["documents"]) == 2
    after(page, lambda: page.get_by_role("button", name=re.compile("^Undo")).first.click())
    assert said(served)[-1][0] == "undo"


def test_two_reviewers_do_not_overwrite_each_other(visit, served):
    ann, bob = (visit(served.origin).open(served.at("/review")) for _ in range(2))
    bob.get_by_text("Decisions are signed").first.click()
    bob.get_by_label("Your name").fill("Bob <b>Ω</b>")
    after(bob, lambda: bob.get_by_role("button", name="Sign with this name").click())
    pair = ids(ann)
    assert ids(bob) == pair
    # Both look at the same pair, and disagree.
    after(ann, lambda: ann.keyboard.press("s"))
    after(bob, lambda: bob.keyboard.press("d"))
    assert said(served) == [("same", "ann", pair), ("different", "Bob <b>Ω</b>", pair)]
    ann.goto(served.at("/decisions"))
    expect(ann.locator(".warning")).to_contain_text("Reviewers disagree on 1 pair")
    expect(ann.locator(".history tbody tr")).to_have_count(2)
    # Each undoes what is their own.
    after(bob, lambda: bob.keyboard.press("u"))
    assert said(served)[-1][:2] == ("undo", "Bob <b>Ω</b>")
    ann.reload()
    expect(ann.locator(".warning")).to_have_count(0)


def test_without_scripts_buttons_do_the_same(visit, served):
    page = visit(served.origin, java_script_enabled=False).open(served.at("/review"))
    first = ids(page)
    after(page, lambda: page.get_by_role("button", name="Different").click())
    after(page, lambda: page.get_by_role("button", name="Undo").click())
    assert ids(page) == first
    after(page, lambda: page.get_by_role("button", name="Keep B").click())
    after(page, lambda: page.get_by_role("button", name="Skip").click())
    after(page, lambda: page.get_by_role("link", name="Next").click())
    assert [says for says, _, _ in said(served)] == ["different", "undo", "keep", "skip"]
    for name in ("Overview", "Clusters", "Threshold", "Decisions", "Laboratory"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.locator("h1")).to_have_count(1)
    page.goto(served.at("/clusters"))
    page.get_by_label("Search words").fill("apple3")
    page.get_by_role("button", name="Search").click()
    page.locator("tbody a").first.click()
    expect(page.locator(".sides")).to_contain_text("apple-one")
    page.get_by_role("link", name="Inline").click()
    expect(page.locator(".diff.inline")).to_be_visible()
    page.locator(".members th a").last.click()
    expect(page.locator("h1")).to_contain_text("apple-two")
    page.goto(served.at("/threshold"))
    page.get_by_role("link", name="0.7", exact=True).click()
    expect(page.locator("[data-figure=kept]")).to_have_text("6")


def run_again(page):
    """Run the command on the page, exactly as it is shown; the ids that are kept."""
    words = shlex.split(page.locator("#command").inner_text())
    assert words[:2] == ["neardup", "dedup"]
    run_neardup(*words[1:])
    return kept_ids(words[words.index("-o") + 1])


def test_different_keeps_both(page, served):
    before = kept_ids(served.out)
    go_to(page, "apple-one", "apple-two")
    assert sum(id.startswith("apple") for id in before) == 1
    after(page, lambda: page.get_by_role("button", name="Different").click())
    again = run_again(page)
    assert {"apple-one", "apple-two"} <= set(again)
    assert len(again) == len(before) + 1


def test_same_removes_a_near_miss(page, served):
    before = kept_ids(served.out)
    go_to(page, "elder-one", "elder-two")
    expect(page.locator("#pair")).to_contain_text("near miss")
    assert {"elder-one", "elder-two"} <= set(before)
    after(page, lambda: page.keyboard.press("s"))
    assert set(before) - set(run_again(page)) == {"elder-two"}


def test_keep_this_one_overrides_the_policy(page, served):
    assert "birch-one" in kept_ids(served.out)
    go_to(page, "birch-one", "birch-two")
    name = "Keep B" if ids(page)[1] == "birch-two" else "Keep A"
    after(page, lambda: page.get_by_role("button", name=name).click())
    again = run_again(page)
    assert "birch-two" in again
    assert "birch-one" not in again


def test_what_is_undone_is_not_obeyed(page, served):
    go_to(page, "apple-one", "apple-two")
    after(page, lambda: page.keyboard.press("d"))
    after(page, lambda: page.keyboard.press("u"))
    after(page, lambda: page.keyboard.press("n"))
    assert run_again(page) == kept_ids(served.out)


def test_reading_alone_has_no_buttons_and_takes_no_forms(visit, browser, made, tmp_path):
    out = shutil.copytree(made, tmp_path / "out")
    with explored(out, "--read-only") as served:
        visitor = visit(served.origin)
        page = visitor.open(served.at())
        for path in ("/", "/clusters", "/clusters/0", "/review", "/decisions", "/threshold"):
            page.goto(served.at(path))
            expect(page.locator("form[method=post]")).to_have_count(0)
            expect(page.locator("footer")).to_contain_text("read-only")
        page.goto(served.at("/review"))
        for key in ("s", "d", "1", "2", "n", "u"):
            page.keyboard.press(key)
        assert page.url == served.at("/review")
        visitor.expect("403")
        for path in ("/decisions", "/decisions/undo", "/reviewer"):
            body = "says=same&documents=0&documents=1&token=x"
            status = page.evaluate(
                "([path, body]) => fetch(path, {method: 'POST', body: new URLSearchParams(body)})"
                ".then((answer) => answer.status)",
                [path, body],
            )
            assert status == 403
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(served.at(path), body.encode())
        assert not (out / "decisions.jsonl").exists()

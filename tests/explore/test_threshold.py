"""The thresholds: a table that says what each would give, and the command that applies one."""

import json
import re

import pytest
from tests.explore.browsing import ROWS, Browser, varied

import neardup as nd

PAIR = [{"id": "1", "text": varied()}, {"id": "2", "text": varied("a", "b", "c")}]


def run_of(folder, rows, **settings):
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = nd.dedup(str(folder / "in.jsonl"), **settings)
    result.save(folder / "out")
    return result


def table_of(page):
    """kept and removed by threshold."""
    found = re.findall(
        r'<tr data-threshold="([\d.]+)".*?"kept">([\d,]+)<.*?"removed">([\d,]+)<',
        page,
        re.DOTALL,
    )
    return {float(level): (int(kept), int(removed)) for level, kept, removed in found}


def shown(page):
    return dict(re.findall(r'<dd data-figure="(\w+)">([^<]*)</dd>', page))


def test_the_table_agrees_with_rethreshold(tmp_path):
    result = run_of(tmp_path, ROWS + PAIR, floor=0.5)
    table = table_of(Browser(tmp_path / "out").page("/threshold"))
    assert len(table) == 51
    for level, (kept, removed) in table.items():
        again = result.rethreshold(level)
        assert (kept, removed) == (again.summary["kept"], again.summary["removed"]), level


def test_the_chosen_threshold_is_shown_large(tmp_path):
    run_of(tmp_path, ROWS + PAIR, floor=0.5)
    browser = Browser(tmp_path / "out")
    table = table_of(browser.page("/threshold"))
    assert shown(browser.page("/threshold"))["kept"] == str(table[0.8][0])
    for level in (0.5, 0.65, 1.0):
        page = browser.page(f"/threshold?at={level}")
        assert shown(page)["removed"] == str(table[level][1])
        assert re.search(rf'<tr data-threshold="{level:g}" aria-current="true"', page)
        assert f'name="at" min="0.5" max="1" step="0.01" value="{level:g}"' in page


def test_the_command_applies_it(tmp_path):
    run_of(tmp_path, ROWS, floor=0.5)
    page = Browser(tmp_path / "out").page("/threshold?at=0.9")
    command = re.sub("<[^>]*>", "", re.search("<pre>(.*?)</pre>", page)[1])
    out = tmp_path / "out"
    assert command == f"neardup rethreshold {out} 0.9 -o {out}-0.9"


def test_without_all_pairs_dedup_runs_again(tmp_path):
    run_of(tmp_path, ROWS)
    page = Browser(tmp_path / "out").page("/threshold?at=0.9")
    assert "too few pairs" in page
    assert "--floor" in page
    assert "--threshold <b data-chosen>0.9</b>" in page
    assert shown(page).keys() == {"kept", "removed"}


def test_by_distance_the_threshold_is_a_number_of_bits(tmp_path):
    run_of(tmp_path, ROWS, similarity="hamming", threshold=6, pairs="all")
    page = Browser(tmp_path / "out").page("/threshold?at=3")
    assert "differ in at most 6 bits" in page
    assert 'min="0" max="6" step="1" value="3"' in page


@pytest.mark.parametrize("at", ["x", "nan", "inf", "1e999"])
def test_what_is_no_threshold_is_refused(tmp_path, at):
    run_of(tmp_path, ROWS)
    assert "at must be a threshold" in Browser(tmp_path / "out").page(f"/threshold?at={at}", 400)


def test_thresholds_outside_of_the_table_are_its_ends(tmp_path):
    run_of(tmp_path, ROWS, floor=0.5)
    browser = Browser(tmp_path / "out")
    assert 'aria-current="true"><th scope="row" class="number"><a href="/threshold?at=0.5">' in (
        browser.page("/threshold?at=-7")
    )
    assert 'value="1">' in browser.page("/threshold?at=7")

"""Notebook output: short reprs, and HTML that is escaped, valid and self-contained."""

import re
from html.parser import HTMLParser

import pyarrow as pa
import pytest

import neardup as nd
from neardup.lab.sweep import notebook as sweep_notebook
from neardup.notebook import block, code, heading, items, plots, table

EVIL = "<script>alert('x')</script>&\u202e"
WORDS = [f"word{number}" for number in range(40)]
TEXTS = [" ".join(WORDS), " ".join([*WORDS[:39], "other"]), f"{EVIL} stands alone in this text"]
TABLE = pa.table({"id": [f"{EVIL}{number}" for number in range(3)], "text": TEXTS})
VOID = {"meta", "img", "br", "path", "circle"}


class Sound(HTMLParser):
    """Checks that elements are closed, and that there are no scripts or external resources."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.text = []

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "iframe", "link", "object", "embed", "base")
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in ("href", "srcset", "action", "xlink:href")
            assert name != "src" or value.startswith("data:image/svg+xml;base64,")
            assert "url(" not in value or value.startswith("url(#")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        assert "@import" not in data
        assert "://" not in data
        self.text.append(data)


def sound(shown):
    """The text of HTML, which must pass the checks."""
    html = shown._repr_html_()
    parser = Sound()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    assert "\u202e" not in html
    return "".join(parser.text)


def filled_index():
    made = nd.MemoryIndex(store_text=True, plan="bands:8x8", max_distance=20)
    for id, text in zip(TABLE["id"].to_pylist(), TEXTS, strict=True):
        made.add(id, text, {"about": EVIL})
    return made


SHOWN = {
    "Result": lambda: nd.dedup(TABLE, threshold=0.5),
    "Result of nothing": lambda: nd.dedup([]),
    "Result without pairs": lambda: nd.dedup(TEXTS[:1]),
    "Result by hamming": lambda: nd.dedup(TABLE, similarity="hamming", threshold=20),
    "Result against others": lambda: nd.dedup(TABLE, against=TABLE.slice(1, 1), threshold=0.5),
    "Comparison": lambda: nd.compare(TEXTS[1], TEXTS[2]),
    "Comparison of nothing": lambda: nd.compare("", EVIL),
    "long Comparison": lambda: nd.compare("a b " * 3000, "a c " * 3000),
    "Sweep": lambda: nd.sweep(
        TABLE, bands=[2, 3], band_bits=[4, 5], threshold=[0.5, 0.6], exact=True
    ),
    "Sweep of nothing": lambda: nd.sweep([], plans=["all"]),
    "Tuning": lambda: nd.tune(TABLE, threshold=0.5, text="text", keep="longest"),
    "query": lambda: filled_index().query(TEXTS[0]),
    "query by fingerprint": lambda: filled_index().query(nd.fingerprint(TEXTS[:1])[:1]),
    "query of nothing": lambda: filled_index().query("nothing of the kind"),
    "check": lambda: filled_index().check("new", TEXTS[0]),
    "Answers": lambda: filled_index().query_many(TEXTS),
    "Answers to nothing": lambda: filled_index().query_many([]),
}
EVERY = pytest.mark.parametrize("made", SHOWN.values(), ids=SHOWN)


@EVERY
def test_html_is_sound_and_small(made):
    shown = made()
    sound(shown)
    assert len(shown._repr_html_()) < 100_000


@EVERY
def test_reprs_are_one_short_line(made):
    shown = made()
    assert "\n" not in repr(shown)
    if not isinstance(shown, list):
        assert re.fullmatch(r"<[A-Z]\w+ .+>", repr(shown))
        assert len(repr(shown)) < 120


def test_the_reprs():
    made = {name: repr(one()) for name, one in SHOWN.items()}
    assert made["Result"] == "<Result of 3 documents: 1 removed, 1 cluster>"
    assert made["Result without pairs"] == "<Result of 1 document: 0 removed, 0 clusters>"
    assert made["Sweep"] == "<Sweep of 3 documents: 8 rows, jaccard ≥ 0.6, 0.5>"
    assert made["Tuning"].startswith("<Tuning for 3 documents, without labels: word:1>")
    assert made["Answers"] == "<Answers to 3 queries: 5 matches>"
    assert repr(nd.MemoryIndex().check(1, "a b c")) == "<Verdict new, added>"
    seen = nd.MemoryIndex()
    seen.add("a", TEXTS[0])
    expected = "<Verdict seen, best match 'a', similarity 1.0000, 1 in all, not added>"
    assert repr(seen.check("b", TEXTS[0])) == expected


def test_a_result_shows_numbers_plots_and_pairs():
    result = nd.dedup(TABLE, threshold=0.5)
    text, html = sound(result), result._repr_html_()
    assert "jaccard ≥ 0.5, exact" in text
    assert "<script>alert('x')</script>&⟨U+202E⟩1" in text
    assert html.count("<svg") == 2
    pair = result.pairs.to_pylist()[0]
    assert f"{pair['similarity']:.4f}" in text


def test_showing_a_result_does_not_read_the_input_again(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(f'{{"id": {i}, "text": "{t}"}}\n' for i, t in enumerate(TEXTS[:2])))
    result = nd.dedup(path, threshold=0.5)
    path.unlink()
    assert "nearest the threshold" in sound(result)


def test_a_comparison_shows_the_diff():
    shown = nd.compare("the red fox\n\n<i>sleeps</i>", "the old fox\n\n<i>sleeps</i>")
    html = shown._repr_html_()
    assert "<del>red</del><ins>old</ins>" in html
    assert "&lt;i&gt;sleeps&lt;/i&gt;" in html
    assert f"{shown.distance} of 64 bits" in sound(shown)


def test_a_sweep_has_plots_with_matplotlib_only(monkeypatch):
    swept = SHOWN["Sweep"]()
    html = swept._repr_html_()
    assert html.count("<img ") == 2
    assert html.count("<table>") == 2
    monkeypatch.setattr(sweep_notebook, "find_spec", lambda name: None)
    assert "<img " not in swept._repr_html_()
    assert "pip install 'neardup[plots]'" in sound(swept)
    assert swept._repr_html_().count("<table>") == 2


def test_a_tuning_shows_settings_options_and_reasons():
    tuning = SHOWN["Tuning"]()
    text = sound(tuning)
    assert 'candidates = "exact"' in text
    assert 'keep = "longest"' in text
    assert tuning.reasons[0] in text
    assert all(problem in text for problem in tuning.problems)


def test_matches_stay_lists():
    index = filled_index()
    checked = index.check("new", TEXTS[0]).matches
    for found in (index.query(TEXTS[0]), checked, index.query("no such text")):
        assert isinstance(found, list)
        assert found == list(found)
    assert repr(index.query("no such text")) == "[]"
    assert isinstance(index.query_many(TEXTS)[0], list)


def test_matches_show_what_there_is():
    text = sound(filled_index().query(TEXTS[0]))
    assert "2 matches" in text
    assert "{'about': \"<script>alert('x')</script>" in text
    assert "query" not in text
    plain = nd.MemoryIndex(max_distance=3)
    plain.add("a", TEXTS[0])
    assert "similarity" not in sound(plain.query(TEXTS[0]))


def test_many_matches_are_cut():
    index = nd.MemoryIndex()
    index.add_many((number, TEXTS[0]) for number in range(70))
    found = index.query_many(TEXTS[:1], limit=None)
    assert "Answers to 1 query: 70 matches" in sound(found)
    assert found._repr_html_().count("<tr>") == 51


def test_cells_are_cut_and_aligned():
    html = table(["name", "n", "share"], [["x" * 500, 12345, 0.25], [None, 1, None]])
    assert "x" * 79 + "…" in html
    assert "x" * 80 not in html
    assert '<td class="text"></td><td>1</td><td></td>' in html
    assert "<td>12,345</td><td>0.2500</td>" in html
    assert "<td>yes</td>" in table(["a"], [[True], [False]])


def test_nothing_is_shown_of_nothing():
    assert (items([]), plots([None])) == ("", "")
    assert "<li>&lt;b&gt;</li>" in items(["<b>"])
    assert block(heading("a"), "").endswith("<div><b>a</b></div>\n</div>")
    assert code("a <\nb") == "<pre>a &lt;\nb</pre>"

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given, strategies as st

import neardup as nd
from neardup.features.words import find_words
from neardup.report.dedup_page.clusters import ChainStep, ClusterView, DocumentView, natural
from neardup.report.dedup_page.diff import direction, side_by_side
from neardup.report.dedup_page.page import DedupReport, report_page
from neardup.visible import visible

NASTY = (
    "<script>alert(1)</script></div></svg></style><!-- <img src=https://a.example/x onerror=run()>"
    ' {{ 7 * 7 }} {% raw %} &lt; "quoted" \x00 \x1b[31m \u202eturned\u202c'
)
VOID = {"meta", "br", "img", "input"}


def view(name, text, similarity=None):
    return DocumentView(name, text, similarity)


def cluster(kept, *others, size=None):
    return ClusterView(
        size or len(others) + 1,
        view("kept-1", kept),
        tuple(view(f"copy-{place}", text, 0.9) for place, text in enumerate(others)),
    )


def report(**changes):
    whole = DedupReport(
        title="corpus.jsonl",
        summary={
            "documents": 12345,
            "empty": 2,
            "removed": 1021,
            "kept": 11324,
            "peak_memory_bytes": 5_000_000,
            "settings": {"inner": "nothing of this is a number"},
        },
        settings={"features": "word:3", "threshold": "0.8"},
        command="neardup dedup corpus.jsonl -o out",
        similarities=np.array([0.8, 0.85, 1.0]),
        true_by_distance=np.bincount([0, 3, 3]),
        false_by_distance=np.bincount([9]),
        bits=64,
        cluster_sizes=np.array([2, 2, 3, 700]),
        threshold=0.8,
        curve=((0.0, 0.0), (0.5, 0.2), (0.8, 0.99), (1.0, 1.0)),
        seconds={"read": 0.5, "verify": 1.25},
        largest=(cluster("the red fox ran", "the old fox ran", size=700),),
        weakest=(cluster("one two three", "one two four"),),
    )
    return replace(whole, **changes)


NOTHING = {
    "summary": {"documents": 0, "removed": 0, "kept": 0},
    "settings": {},
    "similarities": np.array([]),
    "true_by_distance": np.zeros(65, int),
    "false_by_distance": np.zeros(65, int),
    "cluster_sizes": np.array([], np.int64),
    "curve": (),
    "seconds": {},
    "largest": (),
    "weakest": (),
}


def diffs(*clusters):
    """A page of clusters alone."""
    return report_page(report(**{**NOTHING, "largest": clusters}))


class Parsed(HTMLParser):
    """Collects tags, attributes and the text of the body; every tag must be closed in order."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], "", []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_headline_and_the_numbers():
    text = Parsed(report_page(report())).text
    assert "12,345 documents: 1,021 removed, 11,324 kept" in text
    assert re.search(r"empty documents\s*2\s", text)
    assert re.search(r"peak memory\s*5\.0 MB\s", text)
    assert "nothing of this" not in text
    assert "neardup dedup corpus.jsonl -o out" in text
    assert "and 698 more in clusters.parquet" in text


def test_one_document_is_no_plural():
    page = report_page(report(summary={"documents": 1, "removed": 0, "kept": 1}))
    assert "1 document: 0 removed, 1 kept" in page


def test_text_of_documents_is_shown_and_changes_nothing_around_it():
    def page(text, name):
        kept = view(name, text + " end")
        clusters = (ClusterView(2, kept, (view(name, text + " END", 0.8),)),)
        return report_page(
            report(
                title=name,
                command=name,
                settings={name: name},
                largest=clusters,
                weakest=clusters,
            )
        )

    nasty, harmless = Parsed(page(NASTY, NASTY)), Parsed(page("harmless", "name"))
    assert nasty.tags == harmless.tags
    assert "script" not in nasty.tags
    shown = visible(NASTY)
    assert nasty.text.count(shown) >= 10
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", nasty.text)


def test_the_page_needs_nothing_beside_it():
    page = report_page(report())
    parsed = Parsed(page)
    assert not re.search("https?:|//[a-z]|@import", page)
    assert not {"script", "link", "img", "iframe", "object", "image"} & set(parsed.tags)
    for name, value in parsed.attributes:
        assert name not in ("src", "srcset", "action", "data", "xlink:href")
        assert not name.startswith("on")
        if name == "href":
            assert value.startswith("#")
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", page))
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in parsed.attributes


def test_names_inside_the_plots_are_unique_and_links_lead_somewhere():
    page = report_page(report())
    names = re.findall(r'\bid="([^"]*)"', page)
    assert len(names) == len(set(names))
    linked = set(re.findall(r'href="#([^"]*)"', page)) | set(re.findall(r"url\(#([^)]*)\)", page))
    assert linked
    assert linked <= set(names)


def test_the_same_report_gives_the_same_page():
    assert report_page(report()) == report_page(report())
    assert report_page(report(title="other")) != report_page(report())


def test_without_data_there_are_sentences_instead_of_plots():
    page = report_page(report(**NOTHING))
    parsed = Parsed(page)
    assert "svg" not in parsed.tags
    for sentence in (
        "0 documents: 0 removed, 0 kept",
        "No document is removed, except exact copies.",
        "No pairs are listed whose fingerprints could differ.",
        "There are no clusters.",
        "No times were measured.",
    ):
        assert sentence in parsed.text
    assert "Largest clusters" not in page


def test_fingerprints_are_those_of_candidates_only_where_some_were_refused():
    both, accepted = (
        Parsed(report_page(report(false_by_distance=np.bincount(false, minlength=65)))).text
        for false in ([9], [])
    )
    assert "Fingerprints of candidates" in both
    assert "Fingerprints of pairs" in accepted
    assert "false" in both
    assert "false" not in accepted


def test_a_plan_without_a_curve_is_a_line_among_the_numbers():
    certain, unknown = (Parsed(report_page(report(curve=curve))).text for curve in ((), None))
    assert re.search(
        r"the plan finds\s*every pair that reaches the threshold, for certain", certain
    )
    assert re.search(r"the plan finds\s*an unknown share of the pairs", unknown)
    assert ">the plan finds<" not in report_page(report())
    assert "What the plan finds" not in certain + unknown


@pytest.mark.parametrize("missing", sorted(set(NOTHING) - {"summary", "settings"}))
def test_each_part_may_be_missing_alone(missing):
    drawn = Parsed(report_page(report(**{missing: NOTHING[missing]}))).tags.count("svg")
    sole_source = missing in ("similarities", "cluster_sizes", "curve", "seconds")
    assert drawn == (4 if sole_source else 5)


@pytest.mark.parametrize(
    "changes",
    [
        {"similarities": np.array([1.0])},
        {"similarities": np.array([0.7, 0.9999999999999999, 1.0000000000000002]), "threshold": 0.7},
        {"similarities": np.full(9, 1.0), "threshold": 1.0},
        {"true_by_distance": np.bincount([0]), "false_by_distance": np.zeros(65, int)},
        {"true_by_distance": np.ones(4000, int), "bits": 4096},
        {"cluster_sizes": np.array([2])},
        {"cluster_sizes": np.array([1, 10_000_000])},
        {"curve": ((0.5, 0.2), (1.0, 1.0)), "threshold": 0.4},
        {"curve": ((0.5, 1.0),), "threshold": 0.5},
        {"seconds": {"read": 0.0}},
        {"seconds": {f"stage {place}": 10.0**place for place in range(12)}},
    ],
    ids=str,
)
def test_odd_data_is_drawn_without_a_warning(changes, recwarn):
    assert Parsed(report_page(report(**changes))).tags.count("svg") == 5
    assert [str(warning.message) for warning in recwarn] == []


def row_text(rows, side):
    return "".join(piece.text for row in rows for piece in getattr(row, side))


@given(st.text(max_size=60), st.text(max_size=60))
def test_short_texts_are_shown_whole_with_nothing_steering(left, right):
    diff = side_by_side(left, right)
    for side, text in (("left", left), ("right", right)):
        folded = re.sub("[ \t\r\n\f\v\x85\xa0\u2028\u2029]+", "", text)
        shown = row_text(diff.rows, side)
        assert "".join(shown.split()) == "".join(visible(folded).split())
        assert visible(shown.replace("\n", "")) == shown.replace("\n", "")


@given(st.integers(1, 400), st.lists(st.integers(0, 399), max_size=20))
def test_every_word_is_shown_or_counted(size, changed):
    left = [f"w{place}" for place in range(size)]
    right = [f"x{place}" if place in changed else word for place, word in enumerate(left)]
    rows = side_by_side(" ".join(left), " ".join(right)).rows
    notes = [re.fullmatch(r"… ([\d,]+) words? alike …", row.note) for row in rows if row.note]
    alike = sum(int(note[1]) for note in notes if note)
    assert None not in notes
    for side, words in (("left", left), ("right", right)):
        shown = [
            word
            for row in rows
            for word in find_words("".join(piece.text for piece in getattr(row, side)))
        ]
        assert len(shown) + alike == len(words)
    marked = {piece.text for row in rows for piece in row.right if piece.mark == "changed"}
    assert sum(len(text.split()) for text in marked) == len({c for c in changed if c < size})


def test_changes_are_marked_by_more_than_colour():
    page = diffs(cluster("The red fox ran, ok", "the old fox ran ok"))
    assert '<span class="variant">The</span> <del>red</del> fox ran' in page
    assert '<span class="variant">the</span> <ins>old</ins> fox ran' in page
    assert re.search(r"\bdel \{[^}]*line-through", page)
    assert re.search(r"\bins \{[^}]*underline", page)
    assert re.search(r"\.variant \{[^}]*underline dotted", page)
    assert "1 change (−1 +1 words); case or punctuation in 2 places" in page


def test_long_equal_stretches_are_folded():
    words = [f"word{place}" for place in range(200)]
    page = diffs(cluster(" ".join(words), " ".join([*words, "more"])))
    assert '<div class="note">… 166 words alike …</div>' in page
    assert "word23" in page
    assert "word24" not in page


def test_the_first_different_copy_stands_open():
    text = "the red fox ran"
    page = diffs(cluster(text, text, "the old fox ran"))
    assert re.findall(r"<details( open)?>", page) == ["", " open"]
    assert "the same text" in page


def test_a_chain_is_shown_with_the_similarity_of_each_step():
    steps = (ChainStep("<m>", 0.81), ChainStep("a", 0.9))
    end = DocumentView("b", "two three", 0.31, steps)
    chained = ClusterView(2, view("a", "one two"), (end,))
    text = Parsed(diffs(chained)).text
    assert "similarity 0.3100" in text
    assert "b: 0.8100 → <m> 0.9000 → a" in text
    assert "chain of pairs" not in Parsed(diffs(cluster("one two", "two three"))).text


def test_unproven_removals_are_explained():
    summary = {"documents": 3, "removed": 2, "kept": 1, "unproven": 2}
    text = Parsed(report_page(report(summary=summary))).text
    assert "2 removed documents do not reach the threshold" in text
    assert "--cluster star" in text
    assert "do not reach" not in Parsed(report_page(report())).text


def test_warnings_and_inputs_are_escaped():
    summary = {
        "documents": 3,
        "removed": 2,
        "kept": 1,
        "warnings": [f"look at {NASTY}"],
        "inputs": [{"name": NASTY, "files": 2, "bytes": 1234, "modified": "2026-01-02T03:04:05"}],
        "against": [{"name": "s3://old", "files": None, "bytes": None, "modified": None}],
    }
    page = report_page(report(summary=summary))
    text = Parsed(page).text
    assert text.index("Check this:") < text.index("documents: 2 removed") + 200
    assert "2 files, 1,234 bytes, modified 2026-01-02T03:04:05" in text
    assert "compared with s3://old" in text
    assert "<script>alert" not in page


def test_the_date_the_folder_and_the_versions_are_shown():
    summary = {
        **report().summary,
        "started": "2026-01-02T03:04:05.678+01:00",
        "format": "csv",
        "versions": {"neardup": "1.2", "numpy": NASTY},
    }
    page = report_page(report(summary=summary, folder=f"'{NASTY}'"))
    text = Parsed(page).text
    assert "Run started 2026-01-02 03:04:05 UTC+01:00" in text
    assert '<time datetime="2026-01-02T03:04:05.678+01:00">' in page
    assert f"neardup explore '{visible(NASTY)}'" in text
    assert f"neardup 1.2, numpy {visible(NASTY)}" in text
    assert re.search(r"format of kept and removed\s*csv\s", text)
    assert "neardup explore" not in report_page(report())
    assert "Run started" not in report_page(report())


def test_decisions_are_counted():
    decisions = {"file": NASTY, "obeyed": 1200, "stale_count": 0, "conflict_count": 2}
    text = Parsed(report_page(report(summary={**report().summary, "decisions": decisions}))).text
    assert f"1,200 obeyed, 2 in conflict ({visible(NASTY)})" in text


def test_a_command_of_several_lines_keeps_them():
    page = report_page(report(command="a(\n    <b>\x1b\n)"))
    assert "<pre><code>a(\n    &lt;b&gt;␛\n)</code></pre>" in page


def places(page, number):
    """The place of each cluster in an order, from top to bottom of the page."""
    return [int(place) for place in re.findall(rf"--by-{number}:(\d+)", page)]


def test_clusters_are_sorted_without_a_script():
    views = [
        ClusterView(9, view("b10", "x"), (view("c", "y", 0.9),), weakest=0.8),
        ClusterView(7, view("b9", "x"), (view("a", "y", 0.9),), weakest=0.9),
        ClusterView(5, view("a", "x"), (), weakest=None),
        ClusterView(3, view("<b>", "x"), (view("b", "y", 0.9),), weakest=0.7),
    ]
    page = diffs(*views)
    parsed = Parsed(page)
    assert places(page, 1) == [1, 2, 3, 0]  # by the weakest member
    assert places(page, 2) == [3, 2, 1, 0]  # by id: < a b9 b10
    assert parsed.text.index("b10") < parsed.text.index("b9")
    assert [value for name, value in parsed.attributes if name == "type"] == ["radio"] * 3
    assert "script" not in parsed.tags
    assert "weakest 0.7000" in parsed.text
    for number in (1, 2):
        assert f".orders:has(.by-{number}:checked) + .list > * {{ order: var(--by-{number})" in page


def test_removals_are_sorted_by_changed_words_too():
    def pair(name, text):
        return ClusterView(2, view("k", "one two three four"), (view(name, text, 0.9),))

    views = (pair("z", "one two three"), pair("y", "five six"), pair("x", "one two three four"))
    page = report_page(report(**{**NOTHING, "weakest": views}))
    assert places(page, 1) == [1, 0, 2]
    assert places(page, 2) == [2, 1, 0]


def test_a_single_cluster_needs_no_order():
    page = diffs(cluster("the red fox ran", "the old fox ran"))
    assert "radio" not in page.partition("</head>")[2]
    assert "style=" not in page


@given(st.lists(st.text(alphabet="ab019<٣", max_size=6), max_size=8))
def test_names_are_sorted_by_their_numbers(names):
    ordered = sorted(names, key=natural)
    assert sorted(ordered) == sorted(names)
    assert sorted(["x" + "9" * 5000, "x10", "x9"], key=natural)[:2] == ["x9", "x10"]


def test_code_keeps_its_lines_and_indentation():
    code = "def f(x):\n    if x:\n        return 1\n    return {}\n"
    page = diffs(cluster(code.format(2), code.format(3)))
    assert '<div class="text code" dir="ltr"' in page
    assert "    if x:\n" in page
    assert "        return 1" in page
    assert "return <ins>3</ins>" in page
    prose = diffs(cluster("one two\nthree four\nfive", "one two\nthree five\nfive"))
    assert '<div class="text" dir="ltr"' in prose


def test_a_cluster_may_be_around_a_document_that_is_not_kept():
    around = ClusterView(2, view("x", "one two"), (view("b", "two", 0.9),), "removed too")
    text = Parsed(diffs(around)).text
    assert "2 documents; removed too: x" in text
    assert "removed too: x" in text.partition("2 documents; removed too: x")[2]


def test_empty_documents_can_be_compared():
    assert "both documents are empty" in diffs(cluster("", " \n"))
    assert "<ins>word</ins>" in diffs(cluster("", "word"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "ltr"), ("123", "ltr"), ("العربية", "rtl"), ("עברית abc", "rtl"), ("abcdef ע", "ltr")],
)
def test_direction(text, expected):
    assert direction(text) == expected


def test_right_to_left_text_has_its_direction():
    page = diffs(cluster("Arabic: اجتمعت لجنة الميناء", "a b c"))
    assert '<div class="text" dir="rtl" data-side="kept">' in page
    assert '<div class="text" dir="ltr" data-side="removed">' in page


def test_long_documents_and_long_words_are_cut():
    random = np.random.default_rng(5)
    texts = [" ".join(map(str, random.integers(0, 9**6, 30_000))) for _ in range(2)]
    for left, right in [texts, ["x" * 10**6, "y" * 10**6], ["!" * 10**6, "?" * 10**6]]:
        page = diffs(cluster(left, right))
        assert len(page.encode()) < 400_000
        assert "the rest was not compared" in page


def test_what_follows_the_cut_is_not_called_different():
    words = [f"w{place}" for place in range(25_000)]
    diff = side_by_side(" ".join(words), " ".join([*["new"] * 50, *words]))
    assert diff.counts.words_a == 0
    assert diff.counts.words_b == 50


def test_many_clusters_stay_under_a_few_megabytes():
    random = np.random.default_rng(5)
    texts = [" ".join(map(str, random.integers(0, 400, 3_000))) for _ in range(4)]
    page = report_page(report(largest=(cluster(*texts),) * 20))
    assert len(page.encode()) < 4_000_000


def test_settings_may_be_of_any_kind_that_json_has():
    summary = {**report().summary, "complete": True, "ratio": 0.123456, "count": np.int64(5000)}
    text = Parsed(report_page(report(summary=summary))).text
    assert re.search(r"complete\s*yes\s", text)
    assert re.search(r"ratio\s*0\.1235\s", text)
    assert re.search(r"count\s*5,000\s", text)
    assert json.dumps(summary["settings"]) not in text


RECORDS = (
    {"name": "Ann Lee", "street": "Main street 5", "city": "Oslo"},
    {"name": "Anne Lee", "street": "Main street 5", "city": ""},
)


def records(a, b, **settings):
    """A page of one record and its copy, compared field by field."""
    found = nd.compare(a, b, **{"text": "name*2+street+city", "features": "word:1", **settings})
    kept, copy = (" ".join(map(str, record.values())) for record in (a, b))
    document = replace(view("copy-1", copy, found.score), record=found)
    return diffs(ClusterView(2, view("kept-1", kept), (document,)))


def test_records_are_shown_field_by_field():
    page = records(*RECORDS)
    Parsed(page)
    table = page[page.index('<table class="wide record scored">') : page.index("</table>")]
    rows = re.findall(r'<tr( class="differing")?><th scope="row"><bdi>(\w+)</bdi>', table)
    assert rows == [(' class="differing"', "name"), ("", "street"), (' class="differing"', "city")]
    assert "<del>Ann</del> Lee" in table
    assert "<ins>Anne</ins> Lee" in table
    numbers = re.findall(r'<td class="number"[^>]*>([^<]*)</td>', table)
    assert numbers == [
        *("0.3333", "2", "0.2000"),
        *("1.0000", "1", "0.3000"),
        *("0.0000", "1", "0.0000"),
        "0.5000",
    ]
    assert '<div class="diff">' not in page
    assert "The sum is the similarity (weighted-jaccard): 0.5000." in page


def test_typed_fields_say_how_they_are_compared_and_what_is_no_evidence():
    page = records(*RECORDS, text="name:char:3*2 + street:exact + city:exact")
    assert '<span class="how">char:3</span>' in page
    assert "no evidence" in page
    assert "divided by 3, the weight of the fields that both fill" in page


def test_a_distance_is_no_sum():
    page = records(*RECORDS, similarity="hamming")
    assert "Adds" not in page
    assert "<tfoot>" not in page
    assert "The fingerprints differ in " in page


def test_records_cannot_become_markup():
    field = f"n{NASTY}".replace("*", "").replace("+", "").replace(":", "")
    a, b = {field: NASTY, "x": "1"}, {field: f"{NASTY} more", "x": "1"}
    page = records(a, b, text=f"{quote(field)}+x")
    Parsed(page)
    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_long_fields_are_shortened():
    long = " ".join(f"w{number}" for number in range(50_000))
    page = records({"name": "Ann", "street": long}, {"name": "Ann", "street": f"new {long}"})
    assert len(page) < 60_000

import re
import subprocess
import sys
from collections import Counter
from itertools import combinations, pairwise
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, strategies as st

from neardup.report.look import stylesheet
from neardup.report.plots.curves import curve_plot, threshold_plot
from neardup.report.plots.drawing import (
    LETTER,
    WIDTH,
    Drawing,
    count_axis,
    linear_axis,
    log_count_axis,
    text_width,
)
from neardup.report.plots.histograms import (
    cluster_bars,
    cluster_plot,
    cut,
    distance_plot,
    length_plot,
    similarity_bars,
    similarity_plot,
)
from neardup.report.plots.matrix import heat, matrix_table
from neardup.report.plots.seconds import seconds_plot

COUNTS = st.integers(1, 10**10)
THRESHOLDS = st.sampled_from([0.1, 0.7, 0.8, 0.8125, 0.9, 0.123456, 1.0])
CURVES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=60)
SECONDS = st.dictionaries(st.text(max_size=60), st.floats(0, 1e9), min_size=1, max_size=12)


def whole_numbers(most):
    return st.lists(st.integers(0, most), max_size=60).map(lambda some: np.array(some, np.int64))


def hints(svg):
    """The tooltips of the bars."""
    return [title.text for title in ElementTree.fromstring(svg).iter("title")]


def texts(svg):
    """Each text with its largest possible box: left, top, right, bottom."""
    for element in ElementTree.fromstring(svg).iter("text"):
        width = text_width(element.text or "")
        if "transform" in element.attrib:
            x, middle = map(float, re.findall(r"[\d.]+", element.attrib["transform"])[:2])
            yield element.text, (x - LETTER, middle - width / 2, x + 2, middle + width / 2)
            continue
        shift = {"start": 0, "middle": 0.5, "end": 1}[element.get("text-anchor", "start")]
        left, foot = float(element.attrib["x"]) - shift * width, float(element.attrib["y"])
        yield element.text, (left, foot - 0.72 * LETTER, left + width, foot)


def check_texts(svg):
    height = float(ElementTree.fromstring(svg).attrib["viewBox"].split()[3])
    for text, (left, top, right, bottom) in texts(svg):
        assert left >= -0.1, text
        assert top >= 0, text
        assert right <= WIDTH + 0.1, text
        assert bottom <= height, text
    for (text, a), (other, b) in combinations(texts(svg), 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, (text, other)


@given(st.lists(st.floats(0, 1), min_size=1), THRESHOLDS)
def test_each_similarity_is_in_the_bar_whose_edges_are_around_it(similarities, threshold):
    svg = similarity_plot(np.array(similarities), threshold)
    check_texts(svg)
    shown = {}
    for hint in hints(svg):
        pattern = r"([\d.]+) to ([\d.]+): ([\d,]+) documents?"
        low, high, count = re.fullmatch(pattern, hint).groups()
        shown[float(low), float(high)] = int(count.replace(",", ""))
    assert 1 <= len(shown) <= 41
    assert sum(shown.values()) == len(similarities)
    for (low, high), count in shown.items():
        surely = sum(low + 1e-8 < value < high - 1e-8 for value in similarities)
        perhaps = sum(low - 1e-8 <= value <= high + 1e-8 for value in similarities)
        assert surely <= count <= perhaps


def test_a_round_similarity_opens_its_bar():
    found = hints(similarity_plot(np.array([0.7, 0.85, 1.0, 1.0000000000000002]), 0.7))
    assert [hint for hint in found if not hint.endswith(" 0 documents")] == [
        "0.7 to 0.71: 1 document",
        "0.85 to 0.86: 1 document",
        "0.99 to 1: 2 documents",
    ]


@given(st.floats(0, 1))
def test_a_range_is_cut_where_a_person_would(lowest):
    step, first, last = cut(lowest, 1.0)
    assert first * step <= lowest + 1e-9
    assert last * step == pytest.approx(1)
    assert 1 <= last - first <= 41


@given(whole_numbers(4096), whole_numbers(4096))
def test_each_candidate_is_counted_at_its_distance(true, false):
    svg = distance_plot(np.bincount(true), np.bincount(false), 4096)
    if not len(true) and not len(false):
        assert svg is None
        return
    check_texts(svg)
    for hint in hints(svg):
        numbers = [int(number.replace(",", "")) for number in re.findall(r"[\d,]+\d|\d", hint)]
        *span, trues, falses = numbers if len(false) else (*numbers, 0)
        assert trues == np.sum((span[0] <= true) & (true <= span[-1]))
        assert falses == np.sum((span[0] <= false) & (false <= span[-1]))
    assert (f"true: {len(true)}" in svg) == (len(false) > 0)
    assert (f"false: {len(false)}" in svg) == (len(false) > 0)


def test_distances_beyond_the_last_pair_are_not_drawn():
    counts = np.bincount([0, 3, 200])
    padded = np.pad(counts, (0, 56))
    assert distance_plot(counts, np.zeros(0, int), 256) == distance_plot(
        padded, np.zeros(257, int), 256
    )


@given(st.lists(st.integers(1, 2**31), min_size=1))
def test_each_cluster_is_counted_at_its_doubling(sizes):
    svg = cluster_plot(np.array(sizes))
    check_texts(svg)
    expected = Counter((size - 1).bit_length() for size in sizes)
    shown = [int(hint.split(": ")[1].split()[0]) for hint in hints(svg)]
    doublings = range(min(expected), max(expected) + 1)
    assert shown == [expected[doubling] for doubling in doublings]


def test_bars_of_clusters_have_names():
    assert hints(cluster_plot(np.array([2, 2, 3, 16]))) == [
        "2 documents: 2 clusters",
        "3 to 4 documents: 1 cluster",
        "5 to 8 documents: 0 clusters",
        "9 to 16 documents: 1 cluster",
    ]


@given(CURVES, THRESHOLDS)
def test_the_legend_of_the_curve_has_room(curve, threshold):
    check_texts(curve_plot(curve, threshold))


def test_the_chance_at_the_threshold_is_told():
    svg = curve_plot([(1.0, 1.0), (0.5, 0.0)], 0.8)
    assert "found: 60 %" in svg
    assert "60 % at the threshold 0.8" in ElementTree.fromstring(svg).attrib["aria-label"]


@given(SECONDS)
def test_numbers_stand_beside_their_bars(seconds):
    check_texts(seconds_plot(seconds))


def test_a_bar_is_as_long_as_its_time():
    svg = seconds_plot({"read": 1.0, "verify": 3.0, "<b>&": 0.0})
    bars = re.findall(r'<path class="plot-bar" d="M([\d.]+) [\d.]+H([\d.]+)V[^"]*Z"', svg)
    lengths = [float(end) - float(start) for start, end in bars]
    assert lengths[1] == pytest.approx(3 * lengths[0], abs=0.3)
    assert ">&lt;b&gt;&amp;</text>" in svg


@given(
    st.one_of(
        st.tuples(st.floats(-0.02, 1), st.floats(0.02, 1)),  # similarities
        st.tuples(st.floats(-40, 4096), st.floats(5, 4096)),  # distances
        st.tuples(st.just(0.0), st.floats(1e-3, 1e9)),  # seconds
    )
)
def test_ticks_are_round_and_inside(low_and_room):
    low, room = low_and_room
    axis = linear_axis(low, low + room, "")
    values = [value for value, _ in axis.ticks]
    assert 2 <= len(values) <= 8
    assert all(-1e-9 <= axis.share(value) <= 1 + 1e-9 for value in values)
    steps = {float(f"{right - left:.3e}") for left, right in pairwise(values)}
    assert len(steps) == 1
    assert f"{steps.pop():e}"[0] in "125"


@given(COUNTS)
def test_ticks_of_counts_are_whole_and_told_apart(most):
    for axis in (count_axis(most, "pairs"), log_count_axis(most, "pairs")):
        labels = [label for _, label in axis.ticks]
        assert 2 <= len(labels) <= 8
        assert len(set(labels)) == len(labels)
        assert all(value == int(value) for value, _ in axis.ticks)
        assert all(0 <= axis.share(value) <= 1 for value, _ in axis.ticks)
        assert axis.share(most) <= 1


@pytest.mark.parametrize(
    ("most", "labels"),
    [
        (3, ["1", "2", "5", "10"]),
        (700, ["1", "10", "100", "1,000"]),
        (2_400_000, ["1", "10", "100", "1,000", "10,000", "100,000", "1M"]),
    ],
)
def test_logarithmic_ticks(most, labels):
    assert [label for _, label in log_count_axis(most, "pairs").ticks] == labels


def test_false_candidates_differ_by_more_than_colour():
    svg = distance_plot(np.bincount([1]), np.bincount([2]), 64)
    assert svg.count('fill="url(#distance-hatching)"') == 2
    assert '<pattern id="distance-hatching"' in svg


@given(whole_numbers(4096), whole_numbers(9999))
def test_near_misses_are_stacked_on_removals(removed, missed):
    edges = [place / 100 for place in range(40, 101)]
    gone, near = (
        np.resize(counts, 60) if len(counts) else [0] * 60 for counts in (removed, missed)
    )
    svg = similarity_bars(edges, gone, 0.8, misses=near)
    if not np.any(gone) and not np.any(near):
        assert svg is None
        return
    check_texts(svg)
    assert len(hints(svg)) == 60
    assert ("near misses" in svg) == bool(np.any(near))
    for hint, count, miss in zip(hints(svg), gone, near, strict=True):
        said = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) [rnd]", hint)]
        assert said == [number for number in (count, miss) if number] or not count + miss


def test_near_misses_differ_by_more_than_colour():
    svg = similarity_bars([0.6, 0.7, 0.8, 0.9], [0, 0, 4], 0.8, misses=[3, 1, 0])
    assert svg.count('fill="url(#similarity-hatching)"') == 2  # the bars and the legend
    assert hints(svg) == [
        "0.6 to 0.7: 3 near misses",
        "0.7 to 0.8: 1 near miss",
        "0.8 to 0.9: 4 removed documents",
    ]


SPANS = [(0, 0), (1, 1), (2, 2), (3, 4), (5, 8), (9, 16)]


@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=6, max_size=6))
def test_lengths_of_kept_and_removed_are_stacked(counts):
    kept, removed = zip(*counts, strict=True)
    svg = length_plot(SPANS, kept, removed)
    check_texts(svg)
    assert hints(svg)[3] == f"3 to 4 words: {kept[3]:,} kept, {removed[3]:,} removed"
    assert length_plot(SPANS, [0] * 6, [0] * 6) is None


def test_bars_are_links_and_empty_ones_are_not():
    def link(first, last):
        return f"/clusters?least={first}&most={last}&q=\"><script>'"

    for svg in (
        cluster_bars(SPANS[2:], [5, 0, 2, 1], link=link),
        length_plot(SPANS[2:], [5, 0, 2, 0], [0, 0, 0, 1], link=link),
        distance_plot(np.array([1, 0, 2]), np.array([0, 0, 0, 7]), 64, link=link),
        similarity_bars([0.6, 0.7, 0.8, 0.9, 1], [0, 0, 4, 1], 0.8, misses=[3, 0, 0, 0], link=link),
    ):
        parsed = ElementTree.fromstring(svg)
        assert parsed.attrib["role"] == "group"
        links = list(parsed.iter("a"))
        assert len(links) == 3
        for element in links:
            first, last = re.search(
                r"least=([\d.]+)&most=([\d.]+)", element.attrib["href"]
            ).groups()
            assert element.attrib["href"] == link(first, last)
            assert element.attrib["aria-label"] == element.find("path/title").text
        # What is not a link is hidden from screen readers, which have the label.
        assert [child.tag for child in parsed] == ["g", "a", "a", "a"]
        assert parsed[0].attrib["aria-hidden"] == "true"
        assert "<script" not in svg


@given(st.lists(st.tuples(st.floats(0, 1), COUNTS, COUNTS), min_size=1, max_size=60), THRESHOLDS)
def test_the_marker_of_the_threshold_can_be_moved(rows, threshold):
    thresholds, kept, removed = zip(*rows, strict=True)
    svg = threshold_plot(thresholds, kept, removed, threshold)
    check_texts(svg)
    (marker,) = (
        e for e in ElementTree.fromstring(svg).iter() if "plot-marker" in e.get("class", "")
    )
    assert marker.attrib["id"] == "threshold-marker"
    low, high, left, right = (float(marker.attrib[f"data-{name}"]) for name in ENDS)
    placed = left + (threshold - low) / (high - low) * (right - left)
    assert marker.attrib["transform"] == f"translate({placed:.1f})".replace(".0)", ")")


ENDS = ("low", "high", "left", "right")


def test_plots_have_classes_and_no_colours_or_styles():
    for svg in (
        similarity_bars([0.6, 0.7, 0.8], [1, 2], 0.7, misses=[1, 0], link=lambda a, b: "/x"),
        distance_plot(np.bincount([1]), np.bincount([2]), 64),
        cluster_plot(np.array([2, 3])),
        length_plot(SPANS, [1] * 6, [1] * 6),
        seconds_plot({"read": 1.0}),
        curve_plot([(0.0, 0.0), (1.0, 1.0)], 0.8),
        threshold_plot([0.5, 0.6], [1, 2], [2, 1], 0.5),
    ):
        assert not re.search(r"#[0-9a-f]{3}|style|rgb|\bon\w+=|stroke=|<script", svg)
        used = set(re.findall(r"plot[\w-]*", " ".join(re.findall(r'class="([^"]*)"', svg))))
        assert "plot" in used
        for name in used - {"plot-marker"}:
            assert re.search(rf"\.{name}[ ,:]", stylesheet()), name
        assert svg.__html__() is svg  # a template does not escape it again


def test_a_matrix_has_steps_links_and_names():
    names = ["data/in/<b>.jsonl", "data/in/" + "x" * 100 + "\x1b.jsonl", "other"]
    counts = [[0, 10_000, 1], [20, 0, 0], [0, 0, 500]]

    def address(row, column):
        return f"/?r={quote(row)}&c={quote(column)}"

    table = matrix_table(names, names, counts, link=address)
    parsed = ElementTree.fromstring(table.replace("\n", ""))
    cells = [cell for cell in parsed.iter("td") if cell.get("class")]
    assert [cell.attrib["class"] for cell in cells] == [
        f"heat-{step}" for step in (0, 5, 1, 2, 0, 0, 0, 0, 4)
    ]
    assert [link.text for link in parsed.iter("a")] == ["10,000", "1", "20", "500"]
    assert next(parsed.iter("a")).attrib["href"] == address(*names[:2])
    headers = ["".join(header.itertext()) for header in parsed.iter("th")]
    assert headers[0] == "1 <b>.jsonl"
    assert headers[2] == "3 other"
    assert "\x1b" not in table
    assert all(len(header) < 70 for header in headers)
    assert matrix_table(["a"], ["b"], [[0]]) is None
    assert matrix_table([], [], []) is None


@given(st.integers(1, 10**9), st.integers(0, 10**9))
def test_heat_grows_with_the_count(most, count):
    count = min(count, most)
    assert heat(0, most) == 0
    assert heat(most, most) == 5
    assert (1 if count else 0) <= heat(count, most) <= 5
    assert heat(count, most) >= heat(count // 2, most)


def test_text_cannot_leave_its_place():
    drawing = Drawing("name", 'label "quoted" <b>', 20)
    drawing.text((1, 2), "</text><script>\x1b")
    drawing.hint(0, 0, 1, 1, "</title>&")
    parsed = ElementTree.fromstring(drawing.svg())
    assert parsed.attrib["aria-label"] == 'label "quoted" <b>'
    assert parsed.attrib["role"] == "img"
    assert [element.tag for element in parsed.iter()] == ["svg", "text", "path", "title"]
    assert parsed[0].text == "</text><script>␛"


def test_a_page_loads_no_plotting_library():
    code = "import sys, neardup.report.dedup_page.page; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

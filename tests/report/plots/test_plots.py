import re
import subprocess
import sys
from collections import Counter
from itertools import combinations, pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, strategies as st

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

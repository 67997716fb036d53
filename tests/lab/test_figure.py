from itertools import combinations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from neardup.figures import new_figure
from neardup.lab.figure import label_points, line_style, log_scale


def test_labels_hide_nothing():
    random = np.random.default_rng(3)
    points = [tuple(point) for point in random.random((40, 2)).tolist()]
    figure = new_figure(6, 5)
    axes = figure.subplots()
    axes.plot(*zip(*points[:5], strict=True))
    axes.margins(0.2)
    label_points(axes, points, [f"label {i}" for i in range(40)])
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    boxes = [text.get_window_extent(canvas.get_renderer()) for text in axes.texts]
    assert 5 < len(boxes) < 40  # some had no room, and no label lies on another
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    spots = axes.transData.transform(points)
    assert not any(box.contains(x, y) for box in boxes for x, y in spots)


def test_lines_differ_by_marker_and_dash():
    looks = [line_style(number) for number in range(6)]
    assert len({look["marker"] for look in looks}) == 6
    assert len({str(look["linestyle"]) for look in looks}) == 6


def test_log_numbers_are_short():
    axes = new_figure(3, 3).subplots()
    axes.plot([0, 1], [1000, 2e6])
    log_scale(axes)
    axes.figure.draw_without_rendering()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert {"1 k", "100 k", "1 M"} <= set(labels)


def test_nothing_above_zero_stays_linear():
    axes = new_figure(3, 3).subplots()
    axes.plot([0, 1], [0, 0])
    log_scale(axes)
    assert axes.get_yscale() == "linear"

"""The labels of points in figures cover neither points nor each other."""

from itertools import combinations, pairwise

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

from matplotlib.figure import Figure
from matplotlib.text import Text

from tieaware import retrieval, samples
from tieaware.experiments import inexact
from tieaware.output.plots import label_points


def _boxes(labels):
    """Return the boxes of the texts, without the lines to their points."""
    return [Text.get_window_extent(label) for label in labels]


def _draw(points, names, dpi=100, scale="log"):
    """Return a figure with labelled points, its axes, and the labels."""
    figure = Figure(figsize=(6.8, 5.0), layout="constrained", dpi=dpi)
    ax = figure.subplots()
    ax.plot(*zip(*points, strict=True), "o", markersize=5)
    ax.set_xscale(scale)
    ax.set_xlabel("cost")
    labels = label_points(ax, names, points, [(x, y, y) for x, y in points])
    return figure, ax, labels


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", ["log", "linear"])
def test_labels_cover_neither_points_nor_each_other(seed, scale):
    random = np.random.default_rng(seed)
    # The first points lie close together, as methods with similar costs do.
    near, far = random.uniform(0.18, 0.25, (4, 2)), random.uniform(0.1, 1.0, (5, 2))
    points = [tuple(point) for point in np.concatenate([near, far]).tolist()]
    names = [f"ClusterPruning(b1={i}, b2=5)" for i in range(len(points))]
    figure, ax, labels = _draw(points, names, scale=scale)
    # The figure is drawn again, as when it is saved: the layout must not move what was placed.
    figure.draw_without_rendering()
    boxes = _boxes(labels)
    assert [label.get_text() for label in labels] == names
    assert not [pair for pair in combinations(boxes, 2) if _overlap(*pair)]
    markers = ax.transData.transform(points)
    assert not [1 for box in boxes for x, y in markers if box.x0 < x < box.x1 and box.y0 < y < box.y1]
    window = ax.get_window_extent()
    assert all(window.x0 <= box.x0 and box.x1 <= window.x1 for box in boxes)
    assert all(window.y0 <= box.y0 and box.y1 <= window.y1 for box in boxes)


def test_labels_that_were_beside_their_points_would_collide():
    """The points of the first test need a placement: labels to their upper right overlap."""
    random = np.random.default_rng(0)
    points = [tuple(point) for point in random.uniform(0.18, 0.25, (4, 2)).tolist()]
    _, ax, _ = _draw([*points, (1.0, 1.0)], ["x"] * 5)
    labels = [ax.annotate("ClusterPruning(b1=1, b2=5)", at, (6, 6), textcoords="offset points") for at in points]
    assert any(_overlap(*pair) for pair in combinations(_boxes(labels), 2))


def test_the_same_figure_gets_the_same_labels():
    points, names = [(0.2, 0.3), (0.21, 0.3), (0.22, 0.31)], ["Champions(r=10)", "HighIdf(share=0.5)", "Tiers()"]
    first, second = (_draw(points, names)[2] for _ in range(2))
    assert [each.get_position() for each in first] == [each.get_position() for each in second]


def test_a_label_far_from_its_point_is_joined_to_it():
    crowd = [(0.5 + i / 20, 0.5 + j / 20) for i in range(5) for j in range(5)]
    points = [*crowd, (0.0, 0.0), (1.0, 1.0)]
    _, _, labels = _draw(points, [f"ImpactOrdered(postings={i})" for i in range(len(points))], scale="linear")
    distances = [max(map(abs, label.get_position())) for label in labels]
    assert max(distances) >= 14.0
    assert all((label.arrow_patch is not None) == (far >= 14.0) for label, far in zip(labels, distances, strict=True))


def test_the_labels_of_the_frontier_do_not_collide():
    collection = samples.generate_texts(n_documents=500, n_topics=20)
    index = retrieval.Index.build(collection.documents.items())
    methods = [
        retrieval.parse_method(name)
        for name in ("Champions(r=2)", "Champions(r=3)", "HighIdf(share=0.5)", "ImpactOrdered(postings=0.1)",
                     "ImpactOrdered(postings=0.5)", "ClusterPruning(b1=1)", "Exact(weighting='impact:8')")
    ]  # fmt: skip
    outcome = inexact(index, collection.topics, collection.qrels, methods, ["AP"], k=100)
    for name, cost in (("frontier-AP", "time"), ("postings-AP", "postings")):
        figure = outcome.drawings()[name].figure()
        (ax,) = figure.axes
        assert len(ax.texts) == len(outcome.frontier(0, cost)) > 1
        figure.draw_without_rendering()
        boxes = _boxes(ax.texts)
        assert not [pair for pair in combinations(boxes, 2) if _overlap(*pair)]
        # Nor do they lie on the lines of the families of methods.
        lines = [ax.transData.transform(line.get_xydata()) for line in ax.lines if line.get_drawstyle() == "default"]
        along = np.concatenate([np.linspace(a, b, 400) for line in lines for a, b in pairwise(line)])
        for box in boxes:
            inside = (along > [box.x0, box.y0]) & (along < [box.x1, box.y1])
            assert not inside.all(axis=1).any()


def _overlap(a, b):
    return min(a.x1, b.x1) > max(a.x0, b.x0) and min(a.y1, b.y1) > max(a.y0, b.y0)

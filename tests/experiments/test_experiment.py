"""The display of outcomes in consoles and notebooks, and the legends of all figures."""

import base64
import html
import re

import numpy as np
import pytest
from support.pages import Page

from tieaware import AP, RR, Results, evaluate, experiments, retrieval, samples
from tieaware.errors import InputError, printable
from tieaware.runtime.extras import MissingExtraError

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

HOSTILE = '<script>alert("x")</script> & $x_1$ | "q"'


@pytest.fixture(scope="module")
def outcomes():
    """A small outcome of each experiment."""
    qrels = {f"q{i}": {"d1": 1, "d2": i % 2} for i in range(6)}
    runs = {
        name: {q: {f"d{j}": float((i * j + seed) % 4) for j in range(1, 5 + i)} for i, q in enumerate(qrels)}
        for seed, name in enumerate(("a", "b", "c", HOSTILE))
    }
    results = evaluate(qrels, runs, "AP")
    texts = samples.generate_texts(n_documents=60, n_topics=6)
    index = retrieval.Index.build(texts.documents.items())
    return [
        experiments.banding(qrels, runs, measures=["RR", "AP"]),
        experiments.bounds(qrels, runs, 0.5, ["RR", "AP"]),
        experiments.tie_prevalence(runs, qrels),
        experiments.comparison(qrels, runs),
        experiments.compare(results),
        experiments.curves(qrels, runs),
        experiments.curves(qrels, runs, "roc"),
        experiments.pooling(runs, 2, qrels=qrels),
        experiments.assessors(qrels, {q: {"d1": 1 - i % 2, "d2": 1} for i, q in enumerate(qrels)}, runs),
        experiments.smoothing(results, repeats=20, topics=2),
        experiments.fusion(qrels, runs, "AP", folds=2),
        experiments.overhead(["AP"], n_queries=20, rounds=1),
        experiments.inexact(index, texts.topics, texts.qrels, [retrieval.Champions(r=2), retrieval.Tiers()], k=20),
    ]


def test_the_repr_of_an_outcome_is_its_verdict_and_the_first_rows(outcomes):
    for outcome in outcomes:
        text = repr(outcome)
        table = outcome.tables()[outcome.answers[0]]
        assert " ".join(text.split()).startswith(" ".join(printable(outcome.verdict()).split()))
        assert printable(table.title) in text
        assert "array(" not in text
        assert len(text.splitlines()) < 20
        assert (f"and {len(table.rows) - 8} more row" in text) == (len(table.rows) > 8)
    assert repr(outcomes[0]).endswith("\nand 14 more rows")


def test_a_notebook_shows_verdict_figure_and_table(outcomes):
    for outcome in outcomes:
        text = outcome._repr_html_()
        page = Page(text)
        assert html.escape(outcome.heading) in text
        assert html.escape(outcome.verdict()) in text
        assert page.tags.count("img") == page.tags.count("table") == 1
        assert base64.b64decode(page.values("src")[0].partition("base64,")[2]).startswith(b"<?xml")
        assert "script" not in page.tags
        assert page.tags.count("tr") <= 31
        assert len(text) < 400_000
    # The order is that of a report: the answer comes first, then the figure, then the table.
    assert text.index("<p>") < text.index("<img") < text.index("<table")


def test_a_notebook_without_matplotlib_shows_the_verdict_and_the_table(outcomes, monkeypatch):
    def missing(*_):
        raise MissingExtraError("matplotlib is not installed")

    monkeypatch.setattr("tieaware.output.plots.load", missing)
    page = Page(outcomes[0]._repr_html_())
    assert "img" not in page.tags
    assert "table" in page.tags


def test_every_figure_has_a_title_that_no_other_has(outcomes):
    """Headings, contents and alternative texts are these titles, whole: nothing is cut, at a full stop or elsewhere."""
    for outcome in outcomes:
        titles = [drawing.title for drawing in outcome.drawings().values()]
        assert all(titles)
        assert len(set(titles)) == len(titles)


VALUES = np.random.default_rng(0).random((3, 4, 2))
COMPARED = experiments.compare(Results(VALUES, ("a", "b", "c"), tuple("wxyz"), (AP, RR)))


@pytest.mark.parametrize(("measure", "name"), [("mrr", "RR"), (AP, "AP")])
def test_the_figure_of_a_measure_is_drawn(measure, name):
    assert name in COMPARED.plot(measure=measure).get_ylabel()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (["mrr"], {}, "plot: the first argument is matplotlib axes; type drawings()['verdicts-RR'].plot() to choose"),
        ([AP], {}, "plot: the first argument is matplotlib axes; type drawings()['verdicts-AP'].plot() to choose"),
        (["means-RR"], {}, "plot: the first argument is matplotlib axes; type drawings()['means-RR'].plot() to choose"),
        (["all"], {}, "plot: the first argument is matplotlib axes; type drawings()['verdicts-AP'].plot() to choose"),
        ([], {"measure": "nDCG"}, "measure: no figure shows only nDCG; there are verdicts-AP, differ"),
    ],
)
def test_what_is_no_figure_and_no_axes_is_refused(arguments, options, message):
    """The message says what to type to draw the figure of this name or measure, or else the main figure."""
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        COMPARED.plot(*arguments, **options)


def test_no_legend_covers_data(outcomes):
    """Every legend lies outside of its axes, within the figure."""
    n_legends = 0
    for outcome in outcomes:
        for name, drawing in outcome.drawings().items():
            figure = drawing.figure()
            figure.draw_without_rendering()
            for ax in figure.axes:
                if ax.get_legend() is None:
                    continue
                n_legends += 1
                legend, axes = ax.get_legend().get_window_extent(), ax.get_window_extent()
                apart = legend.x0 >= axes.x1 or legend.y0 >= axes.y1 - 1 or legend.y1 <= axes.y0 or legend.x1 <= axes.x0
                assert apart, (type(outcome).__name__, name)
                assert legend.x1 <= figure.bbox.x1 + 1, (type(outcome).__name__, name)
                assert legend.y1 <= figure.bbox.y1 + 1, (type(outcome).__name__, name)
    assert n_legends > 15

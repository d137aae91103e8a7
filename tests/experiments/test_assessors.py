"""The effect of another assessor's labels on measures and verdicts."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import kendalltau

from tieaware import evaluate
from tieaware.experiments import assessors, comparison
from tieaware.statistics import kappa

pytest.importorskip("matplotlib")


def judgments(seed, n_queries=12, n_documents=30, flipped=0.25):
    """Return the judgments of two assessors, who disagree on some documents, and of runs of different quality."""
    rng = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(n_documents)]
    first = {f"q{q}": {d: int(rng.random() < 0.3) for d in names} for q in range(n_queries)}
    second = {
        q: {d: 1 - label if rng.random() < flipped else label for d, label in labels.items()}
        for q, labels in first.items()
    }
    runs = {
        f"run {r}": {q: {d: round(float(r * label / 6 + rng.random()), 1) for d, label in labels.items()}
                     for q, labels in first.items()}
        for r in range(5)
    }  # fmt: skip
    return first, second, runs


def test_values_are_those_of_the_queries_that_both_judged():
    first, second, runs = judgments(1)
    del first["q3"]
    del second["q0"]
    first["other"] = {"d1": 1}
    outcome = assessors(first, second, runs, ["AP", "P@5"], ties="run_order")
    common = [q for q in first if q in second]
    assert outcome.queries == tuple(common)
    for values, qrels in zip(outcome.values, (first, second), strict=True):
        expected = evaluate({q: qrels[q] for q in common}, runs, ["AP", "P@5"], ties="run_order")
        np.testing.assert_array_equal(values, expected.values)


@pytest.mark.filterwarnings("ignore:.*end inside a tie")
@pytest.mark.parametrize(
    "options", [{}, {"correction": "none"}, {"test": "wilcoxon", "alpha": 0.2}, {"test": "tukey"}], ids=str
)
def test_verdicts_are_those_of_the_comparison_by_each_assessor(options):
    first, second, runs = judgments(2, flipped=0.4)
    outcome = assessors(first, second, runs, ["AP", "RR"], **options)
    before, after = (comparison(qrels, runs, ["AP", "RR"], **options) for qrels in (first, second))
    n_changed = []
    for m in range(2):
        expected = np.flatnonzero(before.signs[m] != after.signs[m]).tolist()
        assert outcome.changed[m].tolist() == expected
        n_changed.append(len(expected))
    assert sum(n_changed) > 0
    rows = outcome.tables()["changed-verdicts"].rows
    assert len(rows) == sum(n_changed)
    m, pair = (0, outcome.changed[0][0]) if n_changed[0] else (1, outcome.changed[1][0])
    runs_of_pair = outcome.runs[outcome.first[pair]], outcome.runs[outcome.second[pair]]
    numbers = [each for c in (before, after) for each in (c.tests[m].difference[pair], c.adjusted[m][pair])]
    assert rows[0] == (("AP", "RR")[m], *runs_of_pair, *numbers)
    counts = [row[-3:] for row in outcome.tables()["measures"].rows]
    signs = [[int((c.signs[m] != 0).sum()) for c in (before, after)] for m in range(2)]
    assert counts == [(*signs[m], n_changed[m]) for m in range(2)]


def test_tau_is_scipys_of_the_means():
    first, second, runs = judgments(3)
    outcome = assessors(first, second, runs, "AP nDCG")
    means = outcome.values.mean(axis=2)
    for m, tau in enumerate(outcome.taus):
        assert tau == pytest.approx(kendalltau(*means[:, :, m]).statistic)
    rows = outcome.tables()["runs"].rows
    assert [row[1] for row in rows] == [*runs, *runs]
    assert [row[2:5] for row in rows[:5]] == [(a, b, b - a) for a, b in means[:, :, 0].T.tolist()]
    for column, values in ((5, means[0, :, 0]), (6, means[1, :, 0])):
        assert [row[column] for row in rows[:5]] == [1 + int((values > value).sum()) for value in values]


def test_the_agreement_is_that_of_the_textbook():
    """Manning, Raghavan and Schütze: 300 documents relevant to both, 20 and 10 to one of them, 70 to none."""
    pairs = [(1, 1)] * 300 + [(1, 0)] * 20 + [(0, 1)] * 10 + [(0, 0)] * 70
    first, second = ({f"d{i}": pair[j] for i, pair in enumerate(pairs)} for j in (0, 1))
    first["only A"] = 1
    outcome = assessors({"q": first}, {"q": second}, {"q": {"d0": 1.0}}, "AP")
    agreed = outcome.agreement
    assert agreed.kappa.value == agreed.kappa_of_relevance.value == pytest.approx(0.77591, abs=5e-6)
    assert agreed.share == 370 / 400
    assert agreed.overlap == 300 / 330
    table = outcome.tables()["agreement"]
    assert table.rows == [(401, 400, 400, 0.925, agreed.kappa.value, agreed.kappa.value, 320, 310, 300, 300 / 330)]
    assert outcome.tables()["labels"].rows == [(0, 70, 10), (1, 20, 300)]
    assert outcome.tables()["queries"].rows == [("q", 400, 370, 320, 310, 300)]


def test_graded_labels_have_a_kappa_of_their_own():
    labels = [(2, 1), (2, 2), (1, 2), (0, 0), (0, 1), (3, 3)]
    first, second = ({f"d{i}": pair[j] for i, pair in enumerate(labels)} for j in (0, 1))
    agreed = assessors({"q": first}, {"q": second}, {"q": {"d0": 1.0}}, "AP", rel=2).agreement
    assert agreed.kappa.value == kappa([a for a, _ in labels], [b for _, b in labels]).value
    assert agreed.kappa_of_relevance.value == kappa([a > 1 for a, _ in labels], [b > 1 for _, b in labels]).value


def test_the_figure_of_a_measure_names_the_runs():
    first, second, runs = judgments(5)
    outcome = assessors(first, second, runs, "AP")
    ax = outcome.plot()
    _, points = ax.get_lines()
    np.testing.assert_array_equal(points.get_xydata(), outcome.values[..., 0].mean(axis=2).T)
    assert {text.get_text() for text in ax.texts} == set(runs)


def test_of_many_runs_the_figure_names_those_that_change_rank():
    first, second = ({f"q{i}": {"d": 1 - label, "e": label} for i in range(16)} for label in (0, 1))
    # Each run finds the first assessor's document of some queries, and only run 7 finds the second assessor's.
    runs = {f"run {i}": {q: {"d": float(j < i), "x": 0.5} for j, q in enumerate(first)} for i in range(1, 17)}
    runs["run 7"] = {q: {"e": 1.0, "x": 0.5} for q in first}
    drawing = assessors(first, second, runs, "P@1").drawings()["means-P_1"]
    assert drawing.caption.endswith(" Named: the 8 of 16 runs whose ranks differ most.")
    names = [text.get_text() for text in drawing.plot().texts]
    assert (len(names), names[0]) == (8, "run 7")


def test_swaps_are_those_of_all_mixtures():
    first, second, runs = judgments(3, n_queries=4, flipped=0.5)
    outcome = assessors(first, second, runs, ["AP", "P@5"])
    mixtures = []
    for chosen in product((first, second), repeat=4):
        mixed = {query: qrels[query] for query, qrels in zip(first, chosen, strict=True)}
        mixtures.append(evaluate(mixed, runs, ["AP", "P@5"]).mean())
    found = outcome.swaps()
    np.testing.assert_allclose(found.mean, np.mean(mixtures, axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.std, np.std(mixtures, axis=0), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.min, np.min(mixtures, axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.max, np.max(mixtures, axis=0), rtol=1e-12)
    a, b = np.triu_indices(5, 1)
    signs = np.sign(np.round(np.array(mixtures)[:, a] - np.array(mixtures)[:, b], 12))
    expected = (signs == signs[0]).all(axis=0) & (signs[0] != 0)
    np.testing.assert_array_equal(found.kept, expected)
    assert 0 < expected.sum() < expected.size
    table = outcome.tables()["swaps"]
    assert len(table.rows) == 10
    assert f"of 10: {expected[:, 0].sum()} by AP, {expected[:, 1].sum()} by P@5" in table.notes[1]


def test_one_run_has_no_pairs_in_the_table_of_swaps():
    outcome = assessors({"q": {"d": 1}}, {"q": {"d": 0}}, {"q": {"d": 1.0, "e": 2.0}}, "RR")
    table = outcome.tables()["swaps"]
    assert table.rows == [("RR", "run", 0.25, 0.25, 0.0, 0.5)]
    assert len(table.notes) == 1

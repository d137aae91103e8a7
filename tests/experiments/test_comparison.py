"""The comparison of runs: its tests equal SciPy's, and its effects of ties equal an enumeration of all orders."""

from itertools import permutations, product

import numpy as np
import pytest
from made_runs import growing_results
from support.trec_files import PUBLIC_IS_SLOW

import tieaware
from tieaware.experiments import compare, comparison
from tieaware.statistics import benjamini_hochberg, bonferroni, holm, paired_test, randomised_tukey_hsd, tukey_hsd

stats = pytest.importorskip("scipy.stats")
pytest.importorskip("matplotlib")

# The lists of the small runs below are complete, but `comparison` cannot know it.
pytestmark = pytest.mark.filterwarnings("ignore:.* inside a tie at the common length:UserWarning")


def _values_of_all_orders(scores, labels):
    """Return the values that RR of a list has in any order that its scores allow."""
    n = len(scores)
    found = set()
    for order in permutations(range(n)):
        if all(scores[order[i]] >= scores[order[i + 1]] for i in range(n - 1)):
            ranks = [rank for rank, i in enumerate(order, 1) if labels[i]]
            found.add(1 / min(ranks))
    return sorted(found)


@pytest.mark.parametrize("seed", range(40))
def test_flips_agree_with_an_enumeration_of_all_orders(seed):
    """For two runs on four queries, all signs and verdicts are found that some order of the ties gives."""
    rng = np.random.default_rng(seed)
    n_topics, n_docs, alpha = 4, 4, 0.25
    labels = np.eye(n_docs, dtype=int)[rng.integers(0, n_docs, n_topics)]
    scores = rng.integers(0, 3, (2, n_topics, n_docs))
    qrels = {f"q{t}": {f"d{i}": int(labels[t, i]) for i in range(n_docs)} for t in range(n_topics)}
    runs = {
        name: {f"q{t}": {f"d{i}": float(scores[r, t, i]) for i in range(n_docs)} for t in range(n_topics)}
        for r, name in enumerate("ab")
    }
    outcome = comparison(qrels, runs, ["RR"], alpha=alpha)
    (resolved,) = outcome.resolutions
    possible = [
        sorted({x - y for x, y in product(*(_values_of_all_orders(scores[r, t], labels[t]) for r in range(2)))})
        for t in range(n_topics)
    ]
    differences = np.array(list(product(*possible)))
    tests = paired_test(differences, 0.0)
    signs = np.sign(tests.difference.round(12))
    assert resolved.lowest[0] == pytest.approx(tests.difference.min(), abs=1e-12)
    assert resolved.highest[0] == pytest.approx(tests.difference.max(), abs=1e-12)
    average = np.sign(outcome.tests[0].difference[0].round(12))
    other = {-average} if average else {-1.0, 1.0}
    assert resolved.sign_flips[0] == bool(other & set(signs))
    verdict = average if outcome.tests[0].p[0] < alpha else 0.0
    verdicts = np.where(tests.p < alpha, signs, 0.0)
    if resolved.verdict_flips[0] >= 0:
        assert resolved.verdict_flips[0] == (verdicts != verdict).any()


def test_differences_intervals_and_p_values_agree_with_scipy(collection):
    qrels, runs = collection.qrels, list(collection.runs[:5])
    outcome = comparison(qrels, runs, ["AP", "RR"], confidence=0.9)
    values = tieaware.evaluate(qrels, runs, ["AP", "RR"]).values
    for m in range(2):
        theirs = stats.ttest_rel(values[outcome.first, :, m], values[outcome.second, :, m], axis=1)
        np.testing.assert_allclose(outcome.tests[m].p, theirs.pvalue, rtol=1e-9)
        np.testing.assert_allclose(outcome.tests[m].low, theirs.confidence_interval(0.9).low, rtol=1e-9)
        np.testing.assert_array_equal(outcome.adjusted[m], holm(outcome.tests[m].p))
    row = outcome.table().rows[0]
    assert row[:3] == ("AP", outcome.results.runs[0], outcome.results.runs[1])
    assert row[3] == outcome.tests[0].difference[0]


@PUBLIC_IS_SLOW
def test_nothing_stays_open_and_runs_without_ties_cannot_flip(collection):
    qrels, runs = collection.qrels, list(collection.runs)
    outcome = comparison(qrels, runs, ["AP", "RR", "nDCG@10"])
    for resolved in outcome.resolutions:
        assert (resolved.verdict_flips >= 0).all()
        fixed = resolved.highest == resolved.lowest
        assert fixed.any()
        assert not resolved.verdict_flips[fixed].any()
    assert any((resolved.verdict_flips == 1).any() for resolved in outcome.resolutions)
    # The differences under each tie rule are within the bounds.
    for rule in ("run_order", "trec_eval"):
        means = tieaware.evaluate(qrels, runs, ["AP"], ties=rule).mean()[:, 0]
        differences = means[outcome.first] - means[outcome.second]
        assert (differences <= outcome.highest[0] + 1e-12).all()
        assert (differences >= outcome.lowest[0] - 1e-12).all()


def test_equal_runs_can_differ_only_by_the_order_of_their_ties():
    qrels = {f"q{i}": {"a": 1} for i in range(6)}
    tied = {f"q{i}": {"a": 1.0, "b": 1.0} for i in range(6)}
    other = {query: {"a": 2.0, "b": 2.0} for query in tied}
    outcome = comparison(qrels, {"one": tied, "two": other}, ["RR"])
    assert outcome.table().rows == [("RR", "one", "two", 0.0, 0.0, 0.0, 1.0, 1.0, -0.5, 0.5, "yes", "yes")]
    untied = {f"q{i}": {"a": 1.0, "b": 0.5} for i in range(6)}
    outcome = comparison(qrels, {"one": untied, "two": untied}, ["RR"])
    assert outcome.table().rows == [("RR", "one", "two", 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, "no", "no")]


@PUBLIC_IS_SLOW
def test_the_table_of_wins_says_who_beats_whom(collection):
    outcome = comparison(collection.qrels, list(collection.runs), ["AP"])
    names, (test,), (p,) = outcome.results.runs, outcome.tests, outcome.adjusted
    won = {
        (names[a], names[b]) if difference > 0 else (names[b], names[a])
        for a, b, difference, holm_p in zip(outcome.first, outcome.second, test.difference, p, strict=True)
        if holm_p < 0.05
    }
    rows = outcome.tables()["wins"].rows
    np.testing.assert_allclose([row[2] for row in rows], np.sort(outcome.results.mean()[:, 0])[::-1])
    beaten = outcome.tables()["wins"]["whom it beats"]
    pairs = {(row[1], loser) for row, whom in zip(rows, beaten, strict=True) for loser in whom.split(", ") if loser}
    assert pairs == won
    for (_, run, mean, low, high, _, beats, lost, p_at_most, _, _), whom in zip(rows, beaten, strict=True):
        assert low <= mean <= high
        assert (beats, lost) == (len(list(filter(None, whom.split(", ")))), sum(loser == run for _, loser in won))
        assert (p_at_most is not None and p_at_most < 0.05) == (beats > 0)
    assert [row[3] for row in outcome.tables()["verdicts"].rows] == [len(won)]


def test_figures_show_the_most_contested_pairs_with_their_corrected_p():
    """With more than 36 pairs, the figure shows 36: verdicts that ties can flip, and p values nearest to the level."""
    rng = np.random.default_rng(3)
    values = rng.random((12, 8, 1)) * 0.5 + np.linspace(0, 0.4, 12)[:, None, None]
    names = tuple(f"_run {i} $x_1$" for i in range(12))
    outcome = compare(tieaware.Results(values, names, tuple("stuvwxyz"), (tieaware.AP,)), values - 0.02, values + 0.02)
    figures = outcome.drawings()
    assert list(figures) == ["verdicts-AP", "differences-AP", "means-AP"]
    flips, adjusted = outcome.resolutions[0].verdict_flips == 1, outcome.adjusted[0]
    ax = figures["differences-AP"].plot()
    named = [tick.get_text() for tick in ax.get_yticklabels()]
    assert len(named) == 36 < len(outcome.first)
    assert sum(text.get_text().endswith("×") for text in ax.texts) == min(flips.sum(), 36)
    # In the square of verdicts, the best run is first. A row has blue cells where its run wins, and orange cells where
    # it loses.
    ax = figures["verdicts-AP"].plot()
    cells = np.asarray(ax.images[0].get_array())
    order = [int(tick.get_text().split()[1]) for tick in ax.get_yticklabels()]
    beaten = outcome.beaten(0)[np.ix_(order, order)]
    levels = (cells.max() - 1) // 2
    np.testing.assert_array_equal((cells >= 2) & (cells < 2 + levels), beaten)
    np.testing.assert_array_equal(cells >= 2 + levels, beaten.T)
    assert (adjusted < 0.05).sum() == beaten.sum() > 0


def test_the_lesser_mean_wins_where_less_is_better():
    values = np.array([[1.0, 2.0, 3.0], [11.0, 12.5, 13.0]])[..., None]
    for measure, expected in ((tieaware.ESL, "a"), (tieaware.DCG, "b")):
        outcome = compare(tieaware.Results(values, ("a", "b"), ("x", "y", "z"), (measure,)))
        assert [row[1] for row in outcome.tables()["wins"].rows if row[6]] == [expected]


def test_bounds_where_less_is_better():
    """A lower expected search length (ESL) is better: the best order of a tie group gives 0, the lowest value."""
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    tied = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0, "b": 1.0}}
    clear = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    (resolved,) = comparison(qrels, {"tied": tied, "clear": clear}, ["ESL"]).resolutions
    assert (resolved.lowest[0], resolved.highest[0]) == (-0.5, 0.5)


@pytest.mark.parametrize(
    ("correction", "correct"),
    [("holm", holm), ("bh", benjamini_hochberg), ("bonferroni", bonferroni), ("none", np.array)],
)
def test_verdicts_follow_the_correction(correction, correct):
    """All tables and figures agree with the p values after the correction, and say which correction that is."""
    results = growing_results(4)
    outcome = compare(results, correction=correction, test="permutation")
    values = results.values[:, :, 0]
    p = correct(paired_test(values[outcome.first], values[outcome.second], "permutation").p)
    np.testing.assert_array_equal(outcome.adjusted[0], p)
    assert outcome.beaten(0).sum() == (p < 0.05).sum() > 0
    name = {"holm": "Holm", "bh": "BH", "bonferroni": "Bonferroni"}.get(correction)
    pairs, counts, wins = (outcome.tables()[name] for name in ("pairs", "verdicts", "wins"))
    assert (pairs.columns[6:8] == ("p", name)) == (name is not None)
    assert pairs.rows[0][4:6] == (None, None)
    assert counts.rows[0][2 + (name is not None)] == (p < 0.05).sum()
    how = {"holm": "Holm-corrected", "bh": "Benjamini–Hochberg-corrected", "bonferroni": "Bonferroni-corrected"}
    corrected = f"{how[correction]} for 6 pairs" if correction in how else "not corrected"
    phrase = f"(paired permutation test, two-sided, p ≤ 0.05, {corrected})"
    captions = [drawing.caption for name, drawing in outcome.drawings().items() if not name.startswith("means")]
    assert [text for text in (counts.notes[0], wins.notes[0], *captions) if phrase not in text] == []


def test_the_randomised_tukey_corrects_for_all_runs():
    results = growing_results(5)
    outcome = compare(results, results.values - 0.01, results.values + 0.01, test="randomised-tukey")
    np.testing.assert_array_equal(
        outcome.adjusted[0], randomised_tukey_hsd(results.values[:, :, 0]).p[outcome.first, outcome.second]
    )


@pytest.mark.parametrize("test", ["t", "tukey", "wilcoxon"])
def test_with_a_baseline_each_run_is_compared_with_it(test):
    results = growing_results(5, 2)
    outcome = compare(results, results.values - 0.01, results.values + 0.01, baseline="r2", test=test)
    assert [results.runs[i] for i in outcome.first] == ["r0", "r1", "r3", "r4"]
    assert set(outcome.second) == {2}
    values = results.values[:, :, 0]
    p = (
        tukey_hsd(values).p[[0, 1, 3, 4], 2]
        if test == "tukey"
        else holm(paired_test(values[[0, 1, 3, 4]], values[2], test).p)
    )
    np.testing.assert_array_equal(outcome.adjusted[0], p)
    table = outcome.tables()["wins"]
    assert [row[1] for row in table.rows] == ["r4", "r3", "r2", "r1", "r0", "r0", "r1", "r2", "r3", "r4"]
    assert table.rows[2][3:] == (None, None, "baseline", None)
    found = {row[1]: row for row in table.rows[:5]}
    means = results.mean()[:, 0]
    for i, run in enumerate(("r0", "r1", "r3", "r4")):
        difference = means[int(run[1])] - means[2]
        verdict = ("better" if difference > 0 else "worse") if p[i] < 0.05 else "not significant"
        assert found[run][3:6] == (pytest.approx(difference), p[i], verdict)
        assert found[run][6] in ("yes", "no", "open")
    # Less is better by the second measure, so the same runs are better by one measure and worse by the other.
    assert [row[5] for row in table.rows][5] == "better"
    assert min((p[2:] < 0.05).sum(), (p[:2] < 0.05).sum()) > 0
    figures = {name: drawing.plot() for name, drawing in outcome.drawings().items()}
    named = {name: [tick.get_text() for tick in ax.get_yticklabels()] for name, ax in figures.items()}
    assert named == {
        "differences-AP": ["r0", "r1", "r3", "r4"], "means-AP": ["r4", "r3", "r2", "r1", "r0"],
        "differences-ESL": ["r0", "r1", "r3", "r4"], "means-ESL": ["r4", "r3", "r2", "r1", "r0"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "short"),
    [
        ({}, "95% interval, Holm-corrected"),
        ({"correction": "bh", "alpha": 0.1}, "90% interval, Benjamini–Hochberg-corrected"),
        ({"correction": "bonferroni", "confidence": 0.5}, "95% interval, Bonferroni-corrected"),
        ({"correction": "none", "alpha": 0.005}, "99.5% interval, not corrected"),
        ({"test": "tukey", "alpha": 0.2, "confidence": 0.99}, "80% interval, for all runs"),
        ({"baseline": "r2", "confidence": 0.9}, "95% interval, Holm-corrected"),
    ],
)
def test_a_line_in_the_figure_of_differences_leaves_out_0_if_and_only_if_its_dot_is_filled(options, short):
    """Lines and dots have one and the same correction, and one level."""
    rng = np.random.default_rng(2)
    values = rng.random((9, 25, 1)) + np.linspace(0, 0.5, 9)[:, None, None]
    results = tieaware.Results(values, tuple(f"r{i}" for i in range(9)), tuple(map(str, range(25))), (tieaware.AP,))
    outcome = compare(results, **options)
    drawing = outcome.drawings()["differences-AP"]
    assert f"line: its {short}, which leaves out 0 if the dot is filled" in drawing.caption
    (ax,) = drawing.figure().axes
    assert short in [text.get_text() for text in ax.get_legend().get_texts()]
    (lines,) = ax.collections
    apart = [segment[0, 1] for segment in lines.get_segments() if segment[:, 0].min() > 0 or segment[:, 0].max() < 0]
    (filled,) = [line for line in ax.lines if line.get_label() == "average, significant"]
    assert sorted(apart) == sorted(filled.get_ydata())
    assert 0 < len(apart) < len(lines.get_segments())
    if options.get("correction") == "bonferroni":
        # An interval of Bonferroni's is that of the t-test at the level alpha divided by the number of pairs.
        exact = paired_test(values[8, :, 0], values[0, :, 0], confidence=1 - 0.05 / 36)
        ends = [segment[:, 0] for segment in lines.get_segments()]
        assert min(np.abs(each - [exact.low, exact.high]).max() for each in ends) < 1e-12


def test_measures_keep_the_names_that_were_requested():
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    runs = {"a": {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}, "b": {"q1": {"d2": 1.0}, "q2": {"d2": 1.0}}}
    names = ["MRR", "HitRate@10"]
    for outcome in (
        tieaware.experiments.comparison(qrels, runs, names),
        tieaware.experiments.compare(tieaware.evaluate(qrels, runs, names)),
    ):
        shown = str(outcome.tables()["wins"])
        assert all(name in shown for name in names)
        assert "MRR" in outcome.verdict()

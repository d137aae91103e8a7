"""The smoothing experiment: its design, its seed, invalid arguments and its command."""

import numpy as np
import pytest

import tieaware
from tieaware.experiments import smoothing
from tieaware.experiments._smoothing import _scores, _taus
from tieaware.inputs.tables.delimited import read_matrix
from tieaware.statistics import kendall_tau, standardize

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")


def some_values(n_systems=12, n_topics=20, seed=1):
    rng = np.random.default_rng(seed)
    return rng.random((n_systems, 1)) / 2 + rng.random((n_systems, n_topics)) / 2


@pytest.mark.parametrize("unit", [1e-14, 1.0, 1e6])
def test_tau_ties_rounding_errors_in_any_unit(unit):
    truth, scores = np.array([4, 3, 2, 1]) * unit, np.array([3, 4, 2, 2 + 1e-15]) * unit
    assert _taus(truth, scores) == pytest.approx(kendall_tau([4, 3, 2, 1], [3, 4, 2, 2]), abs=1e-12)


@pytest.mark.parametrize(("sizes", "n_first"), [((4, 4, 4), 6), ((7, 2, 5), 3), ((1, 9, 10), 10)])
def test_scores_follow_the_design_written_as_loops(sizes, n_first):
    """The scores equal those of loops over the same random draws.

    The prior of a system is its mean on the topics of Qa or Qb. Standardized scores have a prior that is standardized
    over the half of the systems that was measured on these topics.
    """
    values = some_values()
    values[:6, 3] = 0.25
    alphas, repeats = (0.0, 0.3, 1.0), 5
    scores = _scores(values, alphas, sizes, np.random.default_rng(3), repeats, n_first)
    rng = np.random.default_rng(3)
    systems = rng.permuted(np.tile(np.arange(12), (repeats, 1)), axis=1)
    drawn = rng.permuted(np.tile(np.arange(20), (repeats, 1)), axis=1)
    for repeat in range(repeats):
        n_a, n_b, n_c = sizes
        a, b, c = drawn[repeat, :n_a], drawn[repeat, n_a : n_a + n_b], drawn[repeat, n_a + n_b : n_a + n_b + n_c]
        for position, system in enumerate(systems[repeat]):
            half = systems[repeat, :n_first] if position < n_first else systems[repeat, n_first:]
            known = a if position < n_first else b
            priors = {
                0: values[system, known].mean(),
                1: np.nanmean(standardize(values[np.ix_(half, known)])[list(half).index(system)]),
            }
            for kind, of_all in enumerate((values, standardize(values))):
                both = of_all[system, np.concatenate((a, c))]
                assert scores[kind, 0, repeat, system] == pytest.approx(both.mean(), abs=1e-12)
                for i, alpha in enumerate(alphas):
                    expected = alpha * of_all[system, c].mean() + (1 - alpha) * priors[kind]
                    assert scores[kind, 1 + i, repeat, system] == pytest.approx(expected, abs=1e-12)


def test_the_seed_determines_the_numbers_and_is_reported():
    values = some_values()
    first, again, other = (smoothing(values, repeats=50, topics=5, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.taus, again.taus)
    assert (first.taus != other.taus).any()
    assert "seed 1." in " ".join(first.table().notes)


def test_without_noise_every_design_finds_the_order():
    values = np.repeat(np.linspace(0.1, 0.9, 8)[:, None], 12, axis=1) + np.linspace(0, 0.05, 12)
    outcome = smoothing(values, repeats=20, topics=3)
    assert (outcome.taus[0] == 1.0).all()


def test_equal_systems_have_correlation_zero():
    outcome = smoothing(np.full((6, 9), 0.5), repeats=5, topics=3)
    assert (outcome.taus == 0.0).all()


def test_mixing_earlier_and_measured_scores_helps(matrix):
    """With α = 0.5, systems are ordered better than by the earlier or by the measured scores alone."""
    outcome = smoothing(read_matrix(matrix).values, (0.0, 0.5, 0.8, 1.0), repeats=300, topics=16)
    raw, standardized = outcome.taus.mean(axis=2)
    for baseline, prior_only, half, _, measured_only in (raw, standardized):
        assert max(prior_only, measured_only) < half < baseline
    assert standardized[2] > raw[2]


@pytest.mark.parametrize(("n_topics", "size"), [(3, 1), (30, 10), (50, 16), (75, 25), (249, 25)])
def test_the_default_sets_fit_the_topics(n_topics, size):
    values = some_values(6, n_topics)
    outcome = smoothing(values, repeats=4)
    assert outcome.topics == size
    np.testing.assert_array_equal(outcome.taus, smoothing(values, repeats=4, topics=size).taus)


def test_results_of_several_measures_need_a_chosen_measure():
    qrels = {f"q{i}": {f"d{i % 3}": 1} for i in range(9)}
    runs = {f"r{r}": {f"q{i}": {f"d{d}": (r * d + i) % 3 for d in range(3)} for i in range(9)} for r in range(4)}
    both = tieaware.evaluate(qrels, runs, ["RR", "P@1"])
    chosen = smoothing(both, measure="P@1", topics=3, repeats=20)
    alone = smoothing(tieaware.evaluate(qrels, runs, "P@1"), topics=3, repeats=20)
    np.testing.assert_array_equal(chosen.taus, alone.taus)
    assert (chosen.taus != smoothing(both, measure=tieaware.RR, topics=3, repeats=20).taus).any()


def test_the_sizes_of_the_sets_and_the_share_are_reported_and_used():
    """More topics in the third set order the systems better without earlier scores, and one size stands for three."""
    values = some_values(10, 40)
    small, large = (smoothing(values, [1.0], repeats=300, topics=[5, 5, n], share=0.3) for n in (5, 30))
    assert small.taus[0, 1].mean() < large.taus[0, 1].mean() - 0.05
    assert (small.sizes, large.sizes, large.topics, large.n_first) == ((5, 5, 5), (5, 5, 30), 30, 3)
    assert "Parts of 3 and 7 systems; three disjoint sets of 5, 5 and 30 topics" in " ".join(large.table().notes)
    same = smoothing(values, repeats=20, topics=5), smoothing(values, repeats=20, topics=np.array([5, 5, 5]), share=0.5)
    np.testing.assert_array_equal(same[0].taus, same[1].taus)
    assert smoothing(np.tile(values, (10, 1)), repeats=1, topics=5, share=0.29).n_first == 29


def _own_and_earlier():
    """Return results of three runs on two queries, and on three other queries with the runs in another order."""
    rng = np.random.default_rng(7)
    own = tieaware.Results(rng.random((3, 2, 2)), ("a", "b", "c"), ("q1", "q2"), (tieaware.AP, tieaware.RR))
    earlier = tieaware.Results(
        rng.random((4, 3, 2)), ("c", "x", "a", "b"), ("p1", "p2", "p3"), (tieaware.RR, tieaware.AP)
    )
    return own, earlier


def test_own_priors_are_mixed_with_the_values():
    """Earlier results and a dict of their means give the same numbers, in any order of their runs."""
    own, earlier = _own_and_earlier()
    outcome = smoothing(own, (0.0, 0.25, 1.0), measure="AP", priors=earlier)
    rows, values = [2, 3, 0], own.values[:, :, 0]
    priors = earlier.values[rows, :, 1].mean(axis=1)
    for i, alpha in enumerate((0.0, 0.25, 1.0)):
        expected = alpha * values + (1 - alpha) * priors[:, None]
        np.testing.assert_allclose(outcome.values[0, i], expected, atol=1e-15)
        np.testing.assert_allclose(outcome.scores[0, i], expected.mean(axis=1), atol=1e-15)
        order = tuple("abc"[s] for s in np.argsort(-expected.mean(axis=1)))
        assert outcome.order(alpha) == order
        of_earlier = standardize(earlier.values[rows, :, 1]).mean(axis=1)
        of_both = alpha * standardize(values).mean(axis=1) + (1 - alpha) * of_earlier
        np.testing.assert_allclose(outcome.scores[1, i], of_both, atol=1e-15)
    by_name = smoothing(own, (0.0, 0.25, 1.0), measure="AP", priors=dict(zip("abc", priors.tolist(), strict=True)))
    np.testing.assert_array_equal(by_name.values, outcome.values[:1])
    np.testing.assert_array_equal(smoothing(values, (0.0, 0.25, 1.0), priors=priors).values, by_name.values)
    rows = outcome.table().rows
    assert [row[1] for row in rows[:3]] == list(outcome.order(1.0))
    assert [row[-1] for row in rows[:3]] == [1, 2, 3]
    assert set(outcome.drawings()) == {"smoothed", "smoothed-standardized"}
    assert len(outcome.drawings()["smoothed"].figure().axes[0].texts) == 3


def test_equal_scores_share_a_rank_and_a_smaller_value_can_be_better():
    own = tieaware.Results(np.array([[[2.0]], [[1.0]], [[3.0]]]), ("a", "b", "c"), ("q",), (tieaware.ESL,))
    outcome = smoothing(own, [0.5, 1.0], priors={"a": 1.0, "b": 2.0, "c": 5.0, "other": 0.0})
    assert (outcome.order(0.5), outcome.order(1.0)) == (("a", "b", "c"), ("b", "a", "c"))
    ranks = {row[1]: (row[5], row[7]) for row in outcome.table().rows}
    assert ranks == {"a": (1, 2), "b": (1, 1), "c": (3, 3)}

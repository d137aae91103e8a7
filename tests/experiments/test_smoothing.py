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


# The estimated alpha.


def test_the_variances_and_alpha_of_a_small_example():
    """Calculated by hand.

    Without the means of the topics, 3 and 2, the values of the systems are

        -2  0       0  1       2  -1

    Their variances over the topics are 2, 1/2 and 9/2, with the mean 7/3; of the mean over two topics 7/6, times 3/2
    because the means of the topics contain each system: v = 7/4. The means are 3/2, 3 and 3; less the priors, -1/2, 3
    and -2, whose mean is 1/6 and whose squares of the differences from it sum to 79/6. So alpha = 1 - (7/4)/(79/12).
    """
    values = [[1.0, 2.0], [3.0, 3.0], [5.0, 1.0]]
    outcome = smoothing(values, priors=[2.0, 0.0, 5.0])
    assert outcome.variances[0] == pytest.approx((7 / 4, 79 / 12), rel=1e-14)
    assert outcome.alpha == pytest.approx(58 / 79, rel=1e-14)
    assert outcome.alphas == (0.0, outcome.alpha, 1.0)
    assert outcome.topics_for(outcome.alpha) == pytest.approx(2 * 79 / 58, rel=1e-14)
    assert outcome.topics_for(1.0) == pytest.approx(2.0, rel=1e-14)
    # v / (v / 4 + (79/12 - v) / 4) topics for each one.
    assert outcome.topics_for(0.5) == pytest.approx(2 * 1.75 / (79 / 48), rel=1e-14)
    assert outcome.verdict().startswith(
        "With alpha 0.734, which is estimated from the values, 2 topics order the systems about as well as 2 without "
        "priors. At alpha 0.734, the order of the systems is 2, 1, 0."
    )
    assert [row[3] for row in outcome.tables()["orders"].rows] == [outcome.topics_for(a) for a in outcome.alphas]


def test_sets_are_shifted_to_the_mean_of_their_systems():
    """Each set gets the mean of its systems' means, and costs a degree of freedom."""
    rng = np.random.default_rng(3)
    values, priors, sets = rng.random((6, 9)), rng.random(6), ["x", "y", "x", "y", "y", "x"]
    outcome = smoothing(values, priors=priors, sets=sets)
    means, expected = values.mean(axis=1), priors.copy()
    for members in ([0, 2, 5], [1, 3, 4]):
        expected[members] += means[members].mean() - priors[members].mean()
    np.testing.assert_allclose(outcome.priors[0], expected, rtol=1e-14)
    assert outcome.sets == tuple(sets)
    errors = values - values.mean(axis=0)
    of_means = errors.var(axis=1, ddof=1).mean() / 9 * 6 / 5
    of_differences = ((means - expected) ** 2).sum() / (6 - 2)
    assert outcome.variances[0] == pytest.approx((of_means, of_differences), rel=1e-12)
    # Priors that differ by a constant within a set are the same.
    moved = priors + np.where(np.array(sets) == "x", 0.25, -3.0)
    same = smoothing(values, priors=moved, sets=sets)
    np.testing.assert_allclose(same.scores[0, 1], outcome.scores[0, 1], rtol=1e-12)
    notes = " ".join(outcome.table().notes)
    assert "prior: shifted so that the priors of a set have the mean of their systems' means." in notes
    assert outcome.table().columns[:5] == ("values", "system", "set", "mean", "prior")


def test_sets_by_name_and_standardized_values_are_shifted_too():
    own, earlier = _own_and_earlier()
    sets = {"a": "x", "b": "x", "c": "y", "unused": "z"}
    outcome = smoothing(own, [0.5], measure="AP", priors=earlier, sets=sets)
    np.testing.assert_allclose(outcome.priors[:, :2].mean(axis=1), outcome.means[:, :2].mean(axis=1), rtol=1e-14)
    np.testing.assert_allclose(outcome.priors[:, 2], outcome.means[:, 2], rtol=1e-14)


def simulated(rng, n_topics, error, of_topic=0.1, n_systems=60):
    """Return abilities, values on topics of unequal difficulty, and priors whose errors have a standard deviation."""
    ability = rng.normal(0.0, 0.05, n_systems)
    values = ability[:, None] + rng.normal(0, 0.3, n_topics) + rng.normal(0, of_topic, (n_systems, n_topics))
    return ability, values, ability + rng.normal(0, error, n_systems)


@pytest.mark.parametrize(("n_topics", "error"), [(10, 0.03), (25, 0.03), (10, 0.01), (40, 0.05)])
def test_the_estimate_is_near_the_best_alpha_and_tells_the_topics_that_are_saved(n_topics, error):
    """Over many simulations, the order is as good as with the best fixed alpha, and as that of n / alpha topics."""
    rng = np.random.default_rng(n_topics)
    grid = np.linspace(0, 1, 21)
    estimated, fixed, alphas = [], [], []
    for _ in range(60):
        ability, values, priors = simulated(rng, n_topics, error)
        outcome = smoothing(values, priors=priors)
        alphas.append(outcome.alpha)
        mixed = outcome.scores[0, outcome.alphas.index(outcome.alpha)]
        estimated.append(kendall_tau(ability, mixed))
        fixed.append([kendall_tau(ability, a * values.mean(axis=1) + (1 - a) * priors) for a in grid])
    of_means = 0.1**2 / n_topics
    exact = error**2 / (error**2 + of_means)
    assert np.median(alphas) == pytest.approx(exact, abs=0.12)
    assert np.mean(estimated) > np.mean(fixed, axis=0).max() - 0.015
    more = round(n_topics / exact)
    without = [kendall_tau(ability, values.mean(axis=1)) for ability, values, _ in
               (simulated(rng, more, error) for _ in range(60))]  # fmt: skip
    assert np.mean(estimated) == pytest.approx(np.mean(without), abs=0.02)


def test_priors_from_the_topics_of_two_sets_order_best_if_they_are_shifted(data):
    """On TREC-7, half of the runs have priors from 16 topics, the others from 16 other topics; 18 topics are new.

    The estimate is as good as the best fixed alpha in hindsight, to .01 of Kendall's τ.
    """
    values = read_matrix(data / "matrices" / "sigir2019_adhoc7_ap.csv").values
    truth, rng, grid = values.mean(axis=1), np.random.default_rng(0), np.linspace(0, 1, 11)
    estimated, fixed = {False: [], True: []}, {False: [], True: []}
    for _ in range(40):
        systems, topics = rng.permutation(len(values)), rng.permutation(values.shape[1])
        sets = np.where(np.isin(np.arange(len(values)), systems[:51]), "a", "b")
        earlier = [values[:, topics[start : start + 16]].mean(axis=1) for start in (0, 16)]
        priors, new = np.where(sets == "a", *earlier), values[:, topics[32:]]
        for is_shifted in (False, True):
            outcome = smoothing(new, priors=priors, sets=sets if is_shifted else None)
            estimated[is_shifted].append(kendall_tau(truth, outcome.scores[0, outcome.alphas.index(outcome.alpha)]))
            of_sets = outcome.priors[0]
            fixed[is_shifted].append([kendall_tau(truth, a * new.mean(axis=1) + (1 - a) * of_sets) for a in grid])
    for is_shifted in (False, True):
        assert np.mean(estimated[is_shifted]) > np.mean(fixed[is_shifted], axis=0).max() - 0.01
    assert np.mean(estimated[True]) > np.mean(fixed[False], axis=0).max()


@pytest.mark.parametrize("measure", ["ap", "p10", "rr"])
def test_the_difficulty_of_topics_matters_only_for_raw_values(data, measure):
    """For standardized values, the variance of the error of a mean is that of the values; see docs/smoothing.md."""
    values = read_matrix(data / "matrices" / f"sigir2019_adhoc7_{measure}.csv").values
    scores = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    for kind, least, most in ((values, 1.55, 2.45), (standardize(values), 0.98, 1.02), (scores, 0.9902, 0.9904)):
        variances = smoothing(kind, priors=np.arange(float(len(kind)))).variances[0]
        ratio = kind.var(axis=1, ddof=1).mean() / kind.shape[1] / variances.of_means
        assert least < ratio < most
    # If the mean of every topic is 0, only the correction for systems that are part of this mean is left.
    assert ratio == pytest.approx(102 / 103, rel=1e-12)


def test_the_estimate_is_between_0_and_1():
    """Priors that equal the means are trusted, means without error are, and so is the sentence about them."""
    values = np.array([[0.1, 0.5], [0.7, 0.2], [0.4, 0.5]])
    trusted = smoothing(values, priors=values.mean(axis=1))
    assert (trusted.alpha, trusted.alphas, trusted.topics_for(0.0)) == (0.0, (0.0, 1.0), np.inf)
    assert trusted.verdict().startswith(
        "With alpha 0, which is estimated from the values, the priors are worth more topics than can be told: the "
        "means over 2 topics differ from them by no more than the errors of the means. At alpha 0, the order"
    )
    certain = smoothing(np.array([[0.1, 0.3], [0.5, 0.7], [0.4, 0.6]]), priors=[0.9, 0.1, 0.5])
    assert (certain.alpha, certain.alphas, certain.topics_for(1.0)) == (1.0, (0.0, 1.0), 2.0)
    assert certain.topics_for(0.5) == 0.0
    other = smoothing(values, [0.25], priors=[0.9, 0.1, 0.5])
    first, then = other.verdict().split(f" without priors. The estimated best alpha is {other.alpha:.3g}. ")
    assert first.startswith("With alpha 0.25, 2 topics order the systems about as well as ")
    assert then.startswith("At alpha 0.25, the order")


LARGE = np.random.default_rng(0).random((4, 3))


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (LARGE[:, :1], {}, "^alphas: must be given: to estimate the best alpha takes two topics, and more "),
        (LARGE[:1], {}, "^alphas: must be given: "),
        (LARGE, {"sets": ["w", "x", "y", "z"]}, "^alphas: must be given: "),
        (LARGE, {"sets": ["x", "y"]}, "^sets: expected one set for each of 4 systems, found 2$"),
        (LARGE, {"sets": "x"}, "^sets: expected a sequence of names, found 'x'$"),
        (LARGE, {"sets": {"0": "x", "1": "x"}}, "^sets: there is no set of the prior of run '2'$"),
        (np.ones((4, 9)), {"priors": None, "sets": ["x"] * 4}, "^sets: must not be given without priors$"),
    ],
)
def test_arguments_of_sets_that_are_refused(values, options, message):
    with pytest.raises(tieaware.InputError, match=message):
        smoothing(values, **{"priors": np.arange(float(len(values))), **options})


def test_without_an_estimate_the_given_alphas_are_used():
    outcome = smoothing(LARGE[:, :1], [0.5], priors=[0.1, 0.2, 0.3, 0.4])
    assert (outcome.alpha, outcome.topics_for(0.5)) == (None, None)
    assert outcome.verdict().startswith("At alpha 0.5, the order of the systems is ")
    assert outcome.tables()["orders"].rows[0][3] is None

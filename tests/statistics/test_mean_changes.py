"""Changes of means: against the paired t-test, the analysis of variance written out, and simulated repetitions."""

import numpy as np
import pytest

from tieaware.statistics import kept, mean_change, mean_interval, paired_test, ratio_interval, topics_needed

stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_single_runs_have_the_paired_t_test(confidence):
    rng = np.random.default_rng(1)
    for n in (2, 3, 20):
        before, after = rng.random((2, n))
        found = mean_change(before, after, confidence=confidence)
        test = paired_test(after, before, confidence=confidence)
        np.testing.assert_allclose(
            [found.difference, found.low, found.high, found.p], [test.difference, test.low, test.high, test.p],
            rtol=1e-12, atol=1e-14,
        )  # fmt: skip
        assert (found.before, found.after, found.n_topics) == (before.mean(), after.mean(), n)
        np.testing.assert_allclose(found.variance, (after - before).var(ddof=1))


def test_the_variance_of_repeated_runs_is_that_of_the_variance_components():
    """The mean squares, from the definition: sums over single values, pooled over both sides."""
    rng = np.random.default_rng(2)
    n = 7
    before = rng.random((3, n)) + rng.normal(0, 1, (3, 1))
    after = rng.random((4, n)) + rng.normal(0, 1, (4, 1))
    of_runs = of_residuals = 0.0
    for side in (before, after):
        for run in side:
            of_runs += n * (run.mean() - side.mean()) ** 2
            for q in range(n):
                of_residuals += (run[q] - run.mean() - side[:, q].mean() + side.mean()) ** 2
    runs, residuals = of_runs / 5, of_residuals / (5 * (n - 1))
    assert runs > residuals
    of_topics = np.var(after.mean(axis=0) - before.mean(axis=0), ddof=1) / n
    between = (1 / 3 + 1 / 4) / n
    squared = of_topics + between * (runs - residuals)
    degrees = squared**2 / (
        of_topics**2 / (n - 1) + (between * runs) ** 2 / 5 + (between * residuals) ** 2 / (5 * (n - 1))
    )
    # At least those of the runs: the negative term of the residuals may make Satterthwaite's formula less.
    degrees = max(degrees, 5)
    found = mean_change(before, after)
    difference = after.mean() - before.mean()
    np.testing.assert_allclose(found.variance, n * squared, rtol=1e-12)
    np.testing.assert_allclose(found.p, 2 * stats.t.sf(abs(difference) / squared**0.5, degrees), rtol=1e-10)
    reach = stats.t.ppf(0.975, degrees) * squared**0.5
    np.testing.assert_allclose([found.low, found.high], [difference - reach, difference + reach], rtol=1e-10)


def test_two_repetitions_with_noise_of_single_values_have_a_usual_interval():
    """Their means differ as the noise explains: nothing is added, which one degree of freedom would make useless."""
    rng = np.random.default_rng(11)
    base, lengths = rng.random(50), []
    for _ in range(200):
        found = mean_change(base, base + rng.normal(0, 0.1, (2, 50)))
        lengths.append(found.high - found.low)
    assert np.median(lengths) < 0.05
    assert np.mean(np.array(lengths) > 0.1) < 0.1
    # Where whole runs really differ, the degrees of freedom are at least those of the runs.
    found = mean_change(base, base + np.array([[0.0], [0.2]]) + rng.normal(0, 0.01, (2, 50)))
    assert found.runs_differ
    assert found.high - found.low < 2 * 12.8 * 0.2


def test_repetitions_that_agree_count_as_one_run():
    before, after = np.random.default_rng(3).random((2, 9))
    repeated = mean_change(np.tile(before, (3, 1)), np.tile(after, (2, 1)))
    np.testing.assert_allclose(repeated, mean_change(before, after), rtol=1e-12)


@pytest.mark.parametrize(("n_before", "n_after"), [(1, 4), (3, 3)])
def test_repetitions_keep_the_level_where_whole_runs_differ(n_before, n_after):
    """Without the variance between runs, the test rejects far too often; with it, about as often as it should."""
    rng = np.random.default_rng(4)
    n, repeats, rejected, naive = 40, 1500, 0, 0
    for _ in range(repeats):
        of_topics = rng.normal(0, 0.2, n)
        before, after = (
            of_topics + rng.normal(0, 0.05, (runs, 1)) + rng.normal(0, 0.1, (runs, n)) for runs in (n_before, n_after)
        )
        rejected += mean_change(before, after).p <= 0.05
        naive += paired_test(after.mean(axis=0), before.mean(axis=0)).p <= 0.05
    assert naive / repeats > 0.3
    assert 0.01 < rejected / repeats < 0.1


@pytest.mark.parametrize("scale", [1e-90, 1e90, 1e140])
def test_values_of_any_size(scale):
    rng = np.random.default_rng(9)
    before, after = rng.random((2, 3, 8))
    found, scaled = mean_change(before, after), mean_change(before * scale, after * scale)
    assert scaled.p == pytest.approx(found.p, rel=1e-9)
    assert scaled.low == pytest.approx(found.low * scale, rel=1e-9)
    assert kept(before * scale, after * scale)[1:4] == pytest.approx(kept(before, after)[1:4], rel=1e-9)


def test_constant_differences():
    before = np.array([0.1, 0.2, 0.7])
    equal, moved = mean_change(before, before), mean_change(before, before + 0.25)
    assert (equal.difference, equal.low, equal.high, equal.p) == (0.0, 0.0, 0.0, 1.0)
    assert (moved.low, moved.high, moved.p) == (moved.difference, moved.difference, 0.0)
    # 0.1 + 0.2 differs from 0.3 in the last bit.
    assert mean_change([0.1 + 0.2, 0.5], [0.3, 0.5]).p == 1.0


@pytest.mark.parametrize(
    ("differences", "tolerance", "p", "decision"),
    [
        ([-0.2, -0.3, -0.25, -0.2], 0.01, None, "worse"),
        ([-0.2, -0.3, -0.25, -0.2], 0.24, None, "cannot tell"),
        ([-0.2, -0.3, -0.25, -0.2], 0.5, None, "kept"),
        ([-0.2, -0.3, -0.25, -0.2], 0.01, 0.06, "cannot tell"),
        ([0.2, 0.3, 0.25, 0.2], 0.01, None, "better"),
        ([0.2, 0.3, 0.25, 0.2], 0.01, 0.06, "kept"),
        ([0.2, -0.3, 0.25, -0.2], 0.01, None, "cannot tell"),
        ([0.0, 0.0, 0.0, 0.0], 0.0, None, "kept"),
        # The loss equals the tolerance in exact arithmetic, although not in floating point.
        ([-0.1, -0.1, -0.1, -0.1], 0.1, None, "kept"),
    ],
)  # fmt: skip
def test_decisions(differences, tolerance, p, decision):
    before = np.array([0.3, 0.4, 0.5, 0.7])
    assert mean_change(before, before + differences).decision(tolerance, p=p) == decision


@pytest.mark.parametrize("shift", [-0.3, -0.02, 0.0, 0.02])
@pytest.mark.parametrize("spread", [0.01, 0.2])
def test_a_share_is_kept_if_fiellers_interval_is_above_it(shift, spread):
    rng = np.random.default_rng(6)
    base = rng.random(40)
    run = base + shift + rng.normal(0, spread, 40)
    for share in (0.5, 0.9, 0.99, 1.0):
        found, interval = kept(base, run, share), ratio_interval(run, base)
        assert found[1:4] == (interval.estimate, interval.low, interval.high)
        expected = "keeps" if interval.low >= share else "loses" if interval.high < share else "open"
        assert found.decision == expected
        if expected == "open":
            contrast = run - share * base
            assert found.needed == max(topics_needed(contrast.mean(), contrast.var(ddof=1)), 41)
        else:
            assert found.needed is None


def test_a_tolerance_is_kept_if_the_interval_of_the_difference_is_above_it():
    rng = np.random.default_rng(7)
    base = rng.random(40)
    decisions = []
    for shift in (-0.3, -0.02, 0.0):
        run = base + shift + rng.normal(0, 0.05, 40)
        found, interval = kept(base, run, tolerance=0.03, confidence=0.9), mean_interval(run - base, level=0.9)
        assert found[1:4] == (interval.estimate, interval.low, interval.high)
        assert found.decision == ("keeps" if interval.low >= -0.03 else "loses" if interval.high < -0.03 else "open")
        decisions.append(found.decision)
    assert decisions == ["loses", "open", "keeps"]
    # A base of mean 0 has nothing to lose.
    assert kept([0.0, 0.0], [0.0, 0.1])[:2] == ("keeps", np.inf)
    # Equal values are kept, even without a tolerance.
    assert (kept(base, base, 1.0).decision, kept(base, base, tolerance=0.0).decision) == ("keeps", "keeps")

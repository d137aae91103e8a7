"""Numbers that are equal in exact arithmetic are equal wherever they are compared, ranked or counted."""

import itertools

import numpy as np
import pytest

from tieaware import DCG, P, Results, experiments
from tieaware.checks.rounding import merged, ratio, rounding_of, without_rounding
from tieaware.statistics import (
    all_pairs,
    anova,
    bayesian_comparison,
    decisions_by_topics,
    kendall_tau,
    kendall_taus,
    mean_interval,
    paired_test,
    randomised_tukey_hsd,
    rank_intervals,
    ratio_interval,
    rbo,
    replication,
    resolve_ties,
    shares_of_changes,
    standardize,
    tau_ap,
    topic_variance,
    tukey_hsd,
)  # fmt: skip
from tieaware.statistics.letter_display import groups
from tieaware.statistics.procedures import TESTS, checked
from tieaware.statistics.verdicts import resolve

pytest.importorskip("scipy.stats")

FACTORS = (1 / 3, 0.1, 7.0, 0.2, 1e-9 / 7)
SYSTEMS, TOPICS = 7, 12


def test_rounding_is_relative_to_the_numbers_that_differences_are_computed_from():
    differences = np.array([0.6, 0.4, 0.3]) - np.array([0.4, 0.2, 0.1 + 0.2])
    assert len(set(differences.tolist())) == 3
    rounding = rounding_of([0.6, 0.4, 0.3], [0.4, 0.2, 0.3])
    assert rounding == 0.6e-12
    assert len(set(merged(differences, rounding).tolist())) == 2
    assert without_rounding(differences, rounding)[2] == 0.0 != differences[2]
    assert rounding_of([[1.0, -4.0], [0.5, 0.0]], axis=1).tolist() == [4e-12, 0.5e-12]
    assert rounding_of([]) == 0.0


def test_merged_numbers_keep_their_order_and_what_really_differs():
    third = 0.1 + 0.1 + 0.1
    numbers = np.array([third, np.nan, 0.3, 0.1, 1e-13, 1e-14, 0.3 * (1 + 1e-11), -0.3, np.nan])
    found = merged(numbers)
    assert found[0] == found[2] == 0.3 != third
    np.testing.assert_array_equal(np.delete(found, 0), np.delete(numbers, 0))
    whole = np.array([1e15, 1e15 + 1, 3.0])
    assert merged(whole).tolist() == whole.tolist()
    assert merged(np.empty((2, 0)) + 0.5).shape == (2, 0)
    np.testing.assert_array_equal(merged(np.stack([numbers, 2 * numbers])), np.stack([found, 2 * found]))


def test_a_ratio_to_what_is_only_rounding_is_nan():
    np.testing.assert_array_equal(ratio(np.ones(3), np.array([2.0, 0.0, -1e-17]), 1e-12), [0.5, np.nan, np.nan])


def _values(seed):
    """Return whole numbers from 0 to 5, such as hits, of systems: some are equal, or differ by a constant."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, (SYSTEMS, TOPICS)).astype(np.float64)
    values[1] = rng.permutation(values[0])
    values[2] = values[0] + rng.integers(0, 2, TOPICS) * 2.0
    values[3] = values[2]
    values[4] = values[5] + 1.0
    values[:, 3] = 4.0
    return values


FIRST, SECOND = np.triu_indices(SYSTEMS, 1)


def _paired(values, factor):
    for method, alternative in itertools.product(("t", "wilcoxon", "sign", "permutation"), ("two-sided", "less")):
        test = paired_test(values[FIRST], values[SECOND], method, alternative)
        yield test.p, np.sign(test.difference), test.difference / factor
        yield np.where(np.isfinite(test.statistic), test.statistic, 1e9) / (factor if method == "permutation" else 1.0)
        if test.low is not None:
            yield test.low / factor, test.high / factor


def _bayesian(values, factor):
    for rope in (0.0, factor):
        found = bayesian_comparison(values[FIRST], values[SECOND], rope)
        yield found.better, found.equivalent, found.worse, found.low / factor, found.high / factor


def _intervals(values, factor):
    for method in ("t", "percentile", "bca", "bootstrap-t"):
        for samples in (values, values[FIRST] - values[SECOND]):
            yield tuple(field / factor for field in mean_interval(samples, method, resamples=400))
        if method != "bootstrap-t":
            yield tuple(ratio_interval(values[FIRST], values[SECOND] + factor, method, resamples=400))


def _ranks(values, factor):
    for level in (0.5, 0.95):
        found = rank_intervals(values, level=level, resamples=400)
        yield found.low, found.high, found.separated


def _tukey(values, factor):
    for values_of in (values, values[4:6] * np.ones((2, 1)), values[[4, 5, 5]]):
        found = tukey_hsd(values_of)
        yield found.p, np.sign(found.difference), found.low / factor
        yield (randomised_tukey_hsd(values_of, repeats=300).p,)
        of_anova = anova(values_of)
        yield of_anova.systems.p, of_anova.topics.p, np.minimum(of_anova.systems.statistic, 1e9)
        yield tuple(each / factor**2 for each in topic_variance(values_of))


def _verdicts(values, factor):
    """Verdicts under ties: some values can be one or two greater."""
    rng = np.random.default_rng(8)
    more = rng.integers(0, 3, values.shape) * (rng.random(values.shape) < 0.15) * factor
    average = values + more / 2.0
    for test in TESTS:
        procedure = checked(test, None)
        found = procedure.verdicts(average, FIRST, SECOND, 0.3)
        effect = resolve(procedure, found, average, (values, values + more), FIRST, SECOND, 0.3)
        yield found.signs, effect.sign_flips, effect.verdict_flips, effect.lowest / factor
        same = np.zeros((SYSTEMS, SYSTEMS), dtype=bool)
        same[FIRST, SECOND] = found.signs != 0.0
        yield ([str(groups(same, average.mean(axis=1)))],)
    test = paired_test(average[FIRST], average[SECOND])
    yield (resolve_ties(test, values, values + more, FIRST, SECOND, 0.3).verdict_flips,)
    before, after = (all_pairs(each[..., None]) for each in (values, average))
    yield (shares_of_changes(before, after, 0.3),)
    yield tuple(decisions_by_topics(values, [4, TOPICS], repeats=20))


def _correlations(values, factor):
    means, others = values.mean(axis=1), values[::-1].mean(axis=1)
    yield kendall_tau(means, others), kendall_tau(means, others, "a"), kendall_taus(means, values.T)
    yield tau_ap(means, others), tau_ap(means, others, "b"), kendall_taus(means, [means, others])
    yield tuple(rbo(means, others, ties=ties) for ties in "wab")


def _standardized(values, factor):
    yield (np.nan_to_num(standardize(values), nan=9.0),)
    yield (np.nan_to_num(standardize(values[[4, 4, 4]] + np.zeros((3, 1))), nan=9.0),)
    yield tuple(np.nan_to_num(each, nan=9.0) for each in replication(*values[[0, 1, 2, 4]])[:2])
    yield tuple(np.nan_to_num(each, nan=9.0) for each in replication(*values[[0, 2, 0, 1]])[:2])


def _results(values, factor):
    result = Results(values[..., None], tuple("gfedcba"), tuple(f"q{i}" for i in range(TOPICS)), (P @ 5,))
    for sign in (1.0, -1.0):
        table = result.table(groups=True, sort="P@5", test="wilcoxon", correction="none", alpha=0.3)
        yield (["".join(map(str, row[:1])) + row[1].raised + str(row[1].bold) for row in table.rows],)
        yield ([row[:2] for row in result.ranks().rows], list(map("".join, result.groups(alpha=0.3))))
        for ratio_to in (False, True):
            found = result.intervals(method="bca", baseline="e", ratio=ratio_to, resamples=400)
            scale = 1.0 if ratio_to else factor
            yield tuple(np.nan_to_num(each, nan=9.0) / scale for each in (found.low, found.high))
        result = Results(sign * values[::-1, :, None], result.runs, result.queries, result.measures)
        compared = experiments.compare(result, test="wilcoxon", alpha=0.3)
        rows = [(row[1], row[5:8], row[10]) for row in compared.tables()["wins"].rows]
        yield (["".join(map(str, row)) for row in rows], compared.verdict().count("share"))


def _smoothing(values, factor):
    found = experiments.smoothing(values, [0.0, 0.5, 1.0], repeats=20, topics=4)
    yield found.taus, list(found.best.values())
    smoothed = experiments.smoothing(values, [0.25, 1.0], priors=values[::-1].mean(axis=1))
    yield smoothed.order(0.25), smoothed.order(1.0), smoothed._taus(0)


def _experiments(values, factor):
    """All queries have the same labels, so runs whose lists are exchanged have the same mean."""
    rng = np.random.default_rng(6)
    documents = [f"d{i}" for i in range(7)]
    first, second = ({f"q{q}": dict(zip(documents, labels, strict=True)) for q in range(10)}
                     for labels in ([2, 1, 0, 1, 0, 0, 2], [2, 0, 0, 1, 1, 0, 1]))  # fmt: skip
    lists = [{**{each: float(rng.integers(0, 3)) for each in documents}, "last": -1.0} for _ in range(12)]
    runs = {f"r{i}": dict(zip(first, [lists[j] for j in rng.permutation(12)[:10]], strict=True)) for i in range(5)}
    runs["same"] = dict(zip(first, reversed(runs["r0"].values()), strict=True))
    measure = DCG(gains={0: 0.0, 1: factor, 2: 2 * factor}) @ 1
    # A document with a score of its own ends each list, so none is cut inside a tie.
    ties = experiments.tie_prevalence(runs, first, [measure])
    yield ([row[1] for row in ties.tables()["rules"].rows], [row[5:6] + row[7:] for row in ties.tables()["rules"].rows])
    yield ([row[2:] for row in ties.tables()["orderings"].rows], [ties.verdict().count("can swap")])
    coarse = experiments.precision(first, runs, ["bands:2", "significant:1", "decimals:0"], [measure])
    yield coarse.changed, coarse.keeps, coarse.pairs.shares(), *coarse.correlations
    limits = [coarse.coarsest(keep).tables()["limits"].rows for keep in ("verdicts", "order", 0.99)]
    yield [coarse._ends, [row[1:6] for rows in limits for row in rows]]
    moved = experiments.assessors(first, second, runs, [measure])
    yield moved._moved(0).tau, [row[5:] for row in moved.tables()["runs"].rows], moved.swaps().kept


PLACES = (
    _paired, _bayesian, _intervals, _ranks, _tukey, _verdicts, _correlations, _standardized, _results, _smoothing,
    _experiments,
)  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__.strip("_"))
@pytest.mark.parametrize("seed", range(4))
def test_values_times_a_factor_give_the_same_outcome(place, seed):
    """Whole numbers are exact. Their products with a factor tie, and differ, as they do, but for the last bits."""
    values = _values(seed)
    expected = list(place(values, 1.0))
    rng = np.random.default_rng(seed)
    for factor in FACTORS:
        scaled = values * factor * (1.0 + rng.integers(-2, 3, values.shape) * 2.0**-52)
        for found, wanted in zip(place(scaled, factor), expected, strict=True):
            assert len(found) == len(wanted)
            for ours, theirs in zip(found, wanted, strict=True):
                if isinstance(theirs, list | tuple):
                    assert list(ours) == list(theirs), factor
                else:
                    np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9, err_msg=f"{factor}")

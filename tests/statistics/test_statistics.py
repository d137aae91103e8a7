"""Statistics, against SciPy, exact enumeration, and the figures of the papers and the textbook."""

import csv
import math
import operator
import re
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware import InputError
from tieaware.statistics import (
    all_pairs,
    count_ties,
    holm,
    kappa,
    kappa_of_table,
    kendall_tau,
    kendall_taus,
    paired_test,
    rbo,
    rbo_bounds,
    resolve_ties,
    shares_of_changes,
    smooth,
    standardize,
    tau_ap,
)

stats = pytest.importorskip("scipy.stats")
ALTERNATIVES = ("two-sided", "greater", "less")
SCORES = st.lists(st.integers(0, 3), min_size=2, max_size=6)
PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6).map(
    lambda both: tuple(zip(*both, strict=True))
)


# Paired tests.


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_t_is_scipys_for_many_pairs_at_once(alternative):
    rng = np.random.default_rng(1)
    a, b = rng.random((4, 3, 20)), rng.random((3, 20))
    ours, theirs = (
        paired_test(a, b, alternative=alternative),
        stats.ttest_rel(a, b + 0 * a, axis=-1, alternative=alternative),
    )
    interval = theirs.confidence_interval(0.95)
    np.testing.assert_allclose(ours.difference, (a - b).mean(axis=-1), atol=1e-15)
    np.testing.assert_allclose(ours.statistic, theirs.statistic, rtol=1e-12)
    np.testing.assert_allclose(ours.p, theirs.pvalue, rtol=1e-10)
    np.testing.assert_allclose(ours.low, interval.low, rtol=1e-10)
    np.testing.assert_allclose(ours.high, interval.high, rtol=1e-10)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_wilcoxon_is_scipys(alternative):
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 9, (3, 15)) / 8, rng.integers(0, 9, (3, 15)) / 8
    ours = paired_test(a, b, "wilcoxon", alternative)
    for i in range(3):
        theirs = stats.wilcoxon(a[i], b[i], alternative=alternative)
        assert (ours.statistic[i], ours.p[i]) == (theirs.statistic, theirs.pvalue)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sign_is_scipys_binomial_test_without_zeros(alternative):
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 3, (5, 12)), rng.integers(0, 3, (5, 12))
    ours = paired_test(a, b, "sign", alternative)
    for i in range(5):
        positive, n = int((a[i] > b[i]).sum()), int((a[i] != b[i]).sum())
        assert ours.statistic[i] == positive
        assert ours.p[i] == pytest.approx(stats.binomtest(positive, n, 0.5, alternative=alternative).pvalue, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_permutation_with_few_pairs_goes_through_all_signs(alternative):
    differences = np.array([0.5, -0.125, 0.75, 0.25, 0.0, -0.25])
    means = np.array([(differences * signs).mean() for signs in product((1, -1), repeat=6)])
    more, less = (means >= differences.mean()).mean(), (means <= differences.mean()).mean()
    expected = {"two-sided": min(1, 2 * min(more, less)), "greater": more, "less": less}[alternative]
    assert paired_test(differences, 0.0, "permutation", alternative).p == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(
    "decimals",
    [
        "0.1 0.2 -0.3 0.7 -0.7 0.4 -0.4",  # whose mean is 0, but for rounding; SciPy's tolerance is a share of it
        "0.1 0.2 -0.3 0.6 -0.6 0.05 -0.0499",
        "0.3 0.3 -0.1 -0.1 -0.1 0.2 -0.2 0.7",
        "1e10 -1e10 0.1 0.2 -0.3",
    ],
)
def test_permutation_counts_means_that_tie(decimals, alternative):
    """Against sums of fractions."""
    exact = [Fraction(each) for each in decimals.split()]
    sums = [sum(map(operator.mul, exact, signs)) for signs in product((1, -1), repeat=len(exact))]
    more, less = (
        Fraction(sum(compare(each, sum(exact)) for each in sums), len(sums)) for compare in (operator.ge, operator.le)
    )
    expected = {"two-sided": min(1, 2 * min(more, less)), "greater": more, "less": less}[alternative]
    differences = [float(each) for each in exact]
    assert paired_test(differences, np.zeros(len(exact)), "permutation", alternative).p == float(expected)


@pytest.mark.parametrize("n", [6, 20])
@pytest.mark.parametrize("method", ["wilcoxon", "permutation"])
def test_many_samples_at_once_are_tested_as_each_alone(method, n):
    """Although SciPy chooses one distribution for all samples of a call: by the zeros and ties in any of them."""
    rng = np.random.default_rng(9)
    plain, tied = rng.standard_normal((16, n)), rng.integers(1, 9, (16, n)) * rng.choice([-1.0, 1.0], (16, n))
    with_zeros = np.concatenate((plain[:, :-1], np.zeros((16, 1))), axis=1)
    samples = rng.permutation(np.concatenate((plain, tied, with_zeros, tied * (tied > 1), np.zeros((5, n)))))
    together = paired_test(samples.reshape(3, 23, n), 0.0, method, repeats=99)
    for i, place in enumerate(np.ndindex(3, 23)):
        alone = paired_test(samples[i], 0.0, method, repeats=99)
        assert (together.statistic[place], together.p[place]) == (alone.statistic, alone.p)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_permutation_is_scipys(alternative):
    differences = np.random.default_rng(10).random(30) - 0.4
    theirs = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=199, alternative=alternative,
        rng=np.random.default_rng(5),
    )  # fmt: skip
    assert paired_test(differences, 0.0, "permutation", alternative, repeats=199, seed=5).p == theirs.pvalue


def test_permutation_with_many_pairs_is_random_and_reproducible():
    rng = np.random.default_rng(4)
    a, b = rng.random(40) + 0.1, rng.random(40)
    first, again, other = (paired_test(a, b, "permutation", repeats=999, seed=seed).p for seed in (1, 1, 2))
    assert first == again != other
    assert first == pytest.approx(paired_test(a, b).p, abs=0.05)


@pytest.mark.parametrize("method", ["t", "wilcoxon", "sign", "permutation"])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_equal_samples_show_nothing(method, alternative):
    test = paired_test([[0.1, 0.2, 0.3], [1, 2, 3]], [[0.1, 0.2, 0.3], [0.5, 2, 3.5]], method, alternative)
    assert (test.difference[0], test.statistic[0], test.p[0]) == (0.0, 0.0, 1.0)
    assert np.isfinite(test.p).all()


def test_a_constant_difference_is_certain():
    test = paired_test([1.1, 1.2, 1.3], [0.1, 0.2, 0.3], axis=0)
    assert (paired_test([1.5, 2.5], [1.0, 2.0]).statistic, paired_test([1.5, 2.5], [1.0, 2.0]).p) == (math.inf, 0.0)
    assert test.p < 1e-20
    assert paired_test([1.0, 2.0], [1.5, 2.5], alternative="greater").p == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"a": [1.0, math.nan], "b": 0.0}, "a: expected finite numbers, found nan"),
        ({"a": [1.0], "b": [0.0]}, r"a: must have at least two pairs; the differences have shape \(1,\)"),
        ({"a": 1.0, "b": 0.0}, "a: must have at least two pairs"),
        ({"a": [1, 2], "b": 0, "method": "z"}, "method: expected one of t, wilcoxon, sign, permutation, found 'z'"),
        ({"a": [1, 2], "b": 0, "alternative": "more"}, "two-sided, greater, less, found 'more'"),
        ({"a": [1, 2], "b": 0, "confidence": 1.0}, r"confidence: expected a number between 0 and 1, found 1\.0"),
        ({"a": [1, 2], "b": 0, "repeats": 0}, "repeats: expected a whole number from 1 to 1,000,000,000, found 0"),
        ({"a": [1, 2], "b": 0, "seed": -1}, "seed: expected a whole number of at least 0, found -1"),
        ({"a": [1, 2], "b": 0, "axis": 1}, r"axis: expected an axis of an array of shape \(2,\), found 1"),
        ({"a": [1, 2], "b": [0, 1, 2]}, r"a, b: must have shapes that broadcast: \(2,\) and \(3,\) do not"),
        ({"a": ["x", "y"], "b": 0}, "a: must be numbers: could not convert string to float: 'x'"),
        ({"a": [1e308, 0], "b": [-1e308, 0]}, "a, b: expected differences of at most 1e150, found inf"),
    ],
)
def test_a_paired_test_says_what_is_wrong(arguments, message):
    with pytest.raises(InputError, match=message):
        paired_test(**arguments)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_follows_its_definition(p):
    adjusted = holm(p)
    order = sorted(range(len(p)), key=p.__getitem__)
    largest = 0.0
    for step, i in enumerate(order):
        largest = max(largest, min(1.0, p[i] * (len(p) - step)))
        assert adjusted[i] == largest


def test_holm_wants_p_values():
    for p, message in (
        ([0.5, math.nan], "p: expected finite numbers, found nan"),
        ([0.5, 1.5], r"p: expected p values from 0 to 1, found 1\.5"),
    ):
        with pytest.raises(InputError, match=message):
            holm(p)


# Verdicts, and counts of ties.


def test_all_pairs_are_tested_as_each_alone():
    values = np.random.default_rng(3).random((4, 7, 2))
    pairs = all_pairs(values)
    for i, (a, b) in enumerate(combinations(range(4), 2)):
        for m in range(2):
            alone = paired_test(values[a, :, m], values[b, :, m])
            assert pairs.p[m, i] == pytest.approx(float(alone.p), rel=1e-12)
            assert pairs.difference[m, i] == pytest.approx(float(alone.difference), rel=1e-12)
    with pytest.raises(InputError, match=r"values: must have the axes .* the shape is \(4, 7\)"):
        all_pairs(values[..., 0])
    with pytest.raises(InputError, match=r"after: must test the same pairs as before, \(2, 6\); the shape is \(2, 3\)"):
        shares_of_changes(pairs, all_pairs(values[:3]), 0.05)


def test_what_ties_can_do_is_asked_of_pairs_that_fit():
    least, greatest = np.zeros((3, 4)), np.ones((3, 4))
    test = paired_test(least[:2], greatest[1:])
    for arguments, message in (
        ((least, greatest[:2], [0, 1], [1, 2]), r"least, greatest: .* the shapes are \(3, 4\) and \(2, 4\)"),
        ((least, greatest, [0], [1]), r"test, first, second: .* the shapes are \(2,\), \(1,\) and \(1,\)"),
        ((least, greatest, [0, 1], [1, 2], 2.0), r"alpha: expected a number between 0 and 1, found 2\.0"),
    ):
        with pytest.raises(InputError, match=message):
            resolve_ties(test, *arguments)


def test_ties_are_counted_in_lists_that_fit():
    ties = count_ties(np.array([2, 2, 1, 1, 1], dtype=np.int8), [0, 3, 3, 5], [1, 2])
    assert (ties.lists, ties.tied_lists, ties.tied_documents, ties.across) == (3, 2, 4, (2, 0))
    for offsets, cutoffs, message in (
        ([0, 4], [1], r"offsets: must start at 0 and end at 5, the number of scores; found 0 … 4"),
        ([0, 5], [0], r"cutoffs\[0\]: expected a whole number of at least 1, found 0"),
    ):
        with pytest.raises(InputError, match=message):
            count_ties([2, 2, 1, 1, 1], offsets, cutoffs)


# Rank correlation.


def _orders(scores):
    """Every order of the items that the scores allow, best first."""
    return [
        order
        for order in permutations(range(len(scores)))
        if all(scores[i] >= scores[j] for i, j in pairwise(order))
    ]


def _classic_tau_ap(truth, order):
    """Yilmaz, Aslam and Robertson, for two orders without ties."""
    place = {item: i for i, item in enumerate(truth)}
    shares = [Fraction(sum(place[above] < place[item] for above in order[:i]), i) for i, item in enumerate(order) if i]
    return 2 * sum(shares) / len(shares) - 1


def _mean_tau_ap(truth, scores):
    values = [_classic_tau_ap(t, o) for t in _orders(truth) for o in _orders(scores)]
    return float(sum(values) / len(values))


@given(st.permutations(range(5)), st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_tau_ap_a_is_the_mean_over_all_orders(truth, scores):
    assert tau_ap(truth, scores) == pytest.approx(_mean_tau_ap(truth, scores), abs=1e-12)


# Six items that both tie have half a million pairs of orders.
@given(PAIRS.filter(lambda pair: len(pair[0]) <= 4))
def test_tau_ap_a_is_the_mean_over_the_orders_of_the_truth_too(pair):
    assert tau_ap(*pair) == pytest.approx(_mean_tau_ap(*pair), abs=1e-12)


def _tau_ap_b(a, b):
    """Urbano and Marrero, by pairs: (i, j) counts 1/(p_i - 1) if b has j above i, p_i the first rank of i's group."""
    n = len(a)
    below = [i for i in range(n) if b[i] < max(b)]
    if not below:
        return math.nan
    total = Fraction(0)
    for i in below:
        start = 1 + sum(b[j] > b[i] for j in range(n))
        total += sum(Fraction(1, start - 1) for j in range(n) if b[j] > b[i] and a[j] > a[i])
    return float(2 * total / len(below) - 1)


@given(PAIRS)
def test_tau_ap_b_follows_its_definition_in_both_directions(pair):
    a, b = pair
    expected = (_tau_ap_b(a, b) + _tau_ap_b(b, a)) / 2
    assert tau_ap(a, b, ties="b") == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert tau_ap(b, a, ties="b") == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_tau_ap_has_the_values_of_its_authors():
    """The example in the documentation of their R package."""
    x = np.array([0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94])
    y = np.array([0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94])
    tied_x, tied_y = np.round(x * 5) / 5, np.round(y * 5) / 5
    assert round(tau_ap(x, y), 7) == 0.7491182
    assert round(tau_ap(x, tied_y), 7) == 0.6074515
    assert round(tau_ap(tied_x, tied_y, ties="b"), 7) == 0.6269841
    assert round(kendall_tau(x, tied_y, "a"), 7) == 0.7111111
    assert round(kendall_tau(tied_x, tied_y), 7) == 0.75


@given(SCORES)
def test_tau_ap_b_of_a_ranking_with_itself_is_one(scores):
    itself = tau_ap(scores, scores, ties="b")
    assert math.isnan(itself) if len(set(scores)) == 1 else itself == 1.0


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_tau_ap_b_without_ties_is_the_symmetric_one(a, b):
    symmetric = (tau_ap(a, b) + tau_ap(b, a)) / 2
    assert tau_ap(a, b, ties="b") == pytest.approx(symmetric, abs=1e-12)


@given(PAIRS)
def test_kendall_counts_pairs(pair):
    a, b = pair
    pairs = [(i, j) for i in range(len(a)) for j in range(i)]
    signs = [np.sign(a[i] - a[j]) * np.sign(b[i] - b[j]) for i, j in pairs]
    assert kendall_tau(a, b, "a") == pytest.approx(sum(signs) / len(pairs), abs=1e-12)
    untied = [sum(x[i] != x[j] for i, j in pairs) for x in (a, b)]
    expected = sum(signs) / math.sqrt(untied[0] * untied[1]) if all(untied) else math.nan
    assert kendall_tau(a, b) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("function", [kendall_tau, tau_ap])
def test_rank_correlation_says_what_is_wrong(function):
    for a, b in (([1], [1]), ([1, 2], [1]), ([[1, 2]], [[1, 2]])):
        with pytest.raises(InputError, match="a, b: must be scores of the same items"):
            function(a, b)
    with pytest.raises(InputError, match="expected finite numbers, found inf"):
        function([math.inf, 1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="'c'"):
        function([1, 2], [1, 2], "c")


def test_many_taus_at_once_are_kendalls():
    rng = np.random.default_rng(2)
    truth, scores = rng.integers(0, 5, 9) / 4, rng.integers(0, 5, (3, 7, 9)) / 4
    scores[1, 2] = 0.5
    ours = kendall_taus(truth, scores)
    for place in np.ndindex(3, 7):
        assert ours[place] == pytest.approx(kendall_tau(truth, scores[place]), abs=1e-12, nan_ok=True)
    assert np.isnan(ours).sum() == 1
    with pytest.raises(InputError, match=r"must be scores of the same items, .* \(9,\) and \(3, 7, 8\)"):
        kendall_taus(truth, scores[..., 1:])


# Rank-biased overlap.


def _classic_rbo(a, b, p):
    """Webber, Moffat and Zobel: the extrapolated overlap of two orders of the same length."""
    overlaps = [len(set(a[:d]) & set(b[:d])) for d in range(1, len(a) + 1)]
    total = sum(p**d * x / d for d, x in enumerate(overlaps, 1)) * (1 - p) / p
    return total + p ** len(a) * overlaps[-1] / len(a)


RANKINGS = st.dictionaries(st.sampled_from("uvwxyz"), st.integers(0, 3), min_size=4, max_size=4)


@given(RANKINGS, RANKINGS, st.sampled_from([0.5, 0.9]))
def test_rbo_a_is_the_mean_over_all_orders(a, b, p):
    def orders(ranking):
        items = list(ranking)
        return [[items[i] for i in order] for order in _orders([ranking[item] for item in items])]

    values = [_classic_rbo(x, y, p) for x in orders(a) for y in orders(b)]
    assert rbo(a, b, p) == pytest.approx(sum(values) / len(values), abs=1e-12)


def _top(ranking, item):
    return 1 + sum(score > ranking[item] for score in ranking.values())


def _bottom(ranking, item):
    return sum(score >= ranking[item] for score in ranking.values())


@given(RANKINGS, RANKINGS)
def test_rbo_w_and_b_follow_their_definitions(a, b):
    p, w, agreement_b = 0.8, 0.0, 0.0
    for d in range(1, 5):
        sets = [{item for item in r if _top(r, item) <= d} for r in (a, b)]
        shares = [
            {item: min(1, Fraction(d - _top(r, item) + 1, _bottom(r, item) - _top(r, item) + 1)) for item in s}
            for r, s in zip((a, b), sets, strict=True)
        ]
        both = sum(shares[0][item] * shares[1][item] for item in sets[0] & sets[1])
        last_w = 2 * len(sets[0] & sets[1]) / (len(sets[0]) + len(sets[1]))
        last_b = both / math.sqrt(math.prod(sum(x * x for x in share.values()) for share in shares))
        w += p**d * last_w * (1 - p) / p
        agreement_b += p**d * last_b * (1 - p) / p
    assert rbo(a, b, p, "w") == pytest.approx(w + p**4 * last_w, abs=1e-12)
    assert rbo(a, b, p, "b") == pytest.approx(agreement_b + p**4 * last_b, abs=1e-12)
    assert rbo(a, b, p, "b", extrapolate=False) == pytest.approx(agreement_b, abs=1e-12)


@pytest.mark.parametrize("ties", ["w", "b"])
def test_rbo_of_a_ranking_with_itself_is_one(ties):
    ranking = {"a": 2, "b": 2, "c": 1, "d": 0, "e": 0}
    assert rbo(ranking, ranking, ties=ties) == pytest.approx(1.0, abs=1e-15)
    assert rbo([2, 1, 0], [2, 1, 0], ties=ties) == pytest.approx(1.0, abs=1e-15)


def test_rbo_of_long_rankings_reads_no_deeper_than_matters():
    rng = np.random.default_rng(5)
    a, b = rng.random(50_000), rng.random(50_000)
    deep = rbo(a, b, 0.5, depth=100, extrapolate=False)
    assert rbo(a, b, 0.5) == pytest.approx(deep, abs=1e-15)


def _read_ranking(text):
    """Read "red (blue green)", in which tied items stand in brackets."""
    groups = [group.strip("()").split() for group in re.findall(r"\(.*?\)|\S+", text)]
    return {item: -i for i, group in enumerate(groups) for item in group}


PAPER = (Path(__file__).parent / "rbo_of_the_paper.csv").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("row", list(csv.DictReader(PAPER)))
def test_rbo_is_that_of_its_authors(row):
    """Some of the tests of https://github.com/julian-urbano/sigir2024-rbo; most of their rankings differ in length."""
    a, b, p = _read_ranking(row["x"]), _read_ranking(row["y"]), float(row["p"])
    for ties in "wab":
        expected = [float(row[f"{ties}.{score}"]) for score in ("ext", "min", "max", "res")]
        for pair in ((a, b), (b, a)):
            bounds = rbo_bounds(*pair, p, ties)
            assert [*bounds, bounds.residual] == pytest.approx(expected, abs=1e-13)
            assert rbo(*pair, p, ties) == bounds.extrapolated


@pytest.mark.parametrize("ties", ["w", "a", "b"])
@pytest.mark.parametrize(("length", "other"), [(3, 3), (2, 5), (1, 1)])
def test_the_bounds_of_rbo_are_reached_by_longer_rankings(ties, length, other):
    """Which have nothing more in common, or all that is left to them, as soon as can be."""
    a, b = list("uvw")[:length], list("vxuyz")[:other]
    bounds = rbo_bounds(_untied(a), _untied(b), 0.7, ties)
    rest = range(150)
    least = _untied([*a, *(f"a{i}" for i in rest)]), _untied([*b, *(f"b{i}" for i in rest)])
    assert rbo(*least, 0.7, ties, extrapolate=False) == pytest.approx(bounds.least, abs=1e-12)
    missing_of_a, missing_of_b = [x for x in b if x not in a], [x for x in a if x not in b]
    # What one has and the other lacks first, and then the same items in both.
    a, b = a + missing_of_a, b + missing_of_b
    greatest = _untied([*a, *map(str, rest)]), _untied([*b, *map(str, rest)])
    assert rbo(*greatest, 0.7, ties, extrapolate=False) == pytest.approx(bounds.greatest, abs=1e-12)


def _untied(items):
    return {item: -i for i, item in enumerate(items)}


def test_rbo_without_anything_below_is_less_than_the_least_that_it_can_be():
    """Of two rankings that agree on their one item: 0.1, where one common item for ever is worth 0.2558."""
    assert rbo([1], [1], 0.9, extrapolate=False) == pytest.approx(0.1, abs=1e-15)
    assert rbo_bounds([1], [1], 0.9).least == pytest.approx(math.log(10) / 9, abs=1e-15)
    assert rbo_bounds([1], [1], 0.9)[::2] == pytest.approx([1, 1], abs=1e-15)


def test_rbo_down_to_a_rank_sees_nothing_deeper():
    a, b = _untied("uvwxyz"), _untied("vuzq")
    for depth in range(1, 8):
        cut = _untied("uvwxyz"[:depth]), _untied("vuzq"[:depth])
        for options in ({}, {"extrapolate": False}):
            assert rbo(a, b, depth=depth, **options) == rbo(*cut, **options)


def test_rbo_says_what_is_wrong():
    for arguments, message in (
        (({}, {"a": 1}), "a: must have at least one item"),
        (([1, 2], [1]), "they have 2 and 1 scores"),
        (([[1, 2]], [1, 2]), "found 2 dimensions"),
        (({"a": "x"}, {"a": 1}), "a: must be numbers: could not convert string to float: 'x'"),
        (({"a": math.nan}, {"a": 1}), "a: expected finite numbers, found nan"),
        (([1], [1], 1.0), r"p: expected a number between 0 and 1, found 1\.0"),
        (([1], [1], 0.9, "c"), "ties: expected one of w, a, b, found 'c'"),
    ):
        with pytest.raises(InputError, match=message):
            rbo(*arguments)
    with pytest.raises(InputError, match="depth: expected a whole number of at least 1, found 0"):
        rbo([1], [1], depth=0)


# Smoothing and standardising.


def test_the_mean_of_smoothed_values_is_a_mix_of_means():
    """α MAP(Q_c) + (1-α) MAP(Q)."""
    rng = np.random.default_rng(6)
    now, before = rng.random((5, 8)), rng.random((5, 3)).mean(axis=1)
    for alpha in (0.0, 0.25, 1.0):
        expected = alpha * now.mean(axis=1) + (1 - alpha) * before
        np.testing.assert_allclose(smooth(now, before, alpha).mean(axis=1), expected, rtol=1e-14)
    for arguments, message in (
        ((now, before, 1.5), r"alpha: expected a number from 0 to 1, found 1\.5"),
        ((now, before[:4], 0.5), r"prior: must have one value for each system; its shape is \(4,\)"),
    ):
        with pytest.raises(InputError, match=message):
            smooth(*arguments)


def test_standardised_values_are_normal_quantiles():
    rng = np.random.default_rng(7)
    values = rng.random((2, 6, 4))
    values[0, :, 1] = 0.1
    ours = standardize(values)
    z = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, ddof=1, keepdims=True)
    expected = stats.norm.cdf(z)
    assert np.isnan(ours[0, :, 1]).all()
    assert np.isnan(ours).sum() == 6
    np.testing.assert_allclose(ours[1], expected[1], rtol=1e-12)
    with pytest.raises(InputError, match="at least two systems"):
        standardize([[1.0, 2.0]])


# Assessors.

FIRST = [1] * 320 + [0] * 80
SECOND = [1] * 300 + [0] * 20 + [1] * 10 + [0] * 70


@pytest.mark.parametrize(("marginals", "value"), [("pooled", 0.775910), ("separate", 0.776119), ("uniform", 0.85)])
def test_kappa_of_the_textbooks_example(marginals, value):
    outcome = kappa(FIRST, SECOND, marginals=marginals)
    assert round(outcome.value, 6) == value
    assert outcome.meaning == ("good" if value > 0.8 else "fair")
    of_table = kappa_of_table([[300, 20], [10, 70]], marginals)
    assert (round(of_table.value, 6), of_table.meaning) == (value, outcome.meaning)


@pytest.mark.parametrize("marginals", ["pooled", "separate", "uniform"])
def test_kappa_of_labels_is_that_of_their_table(marginals):
    rng = np.random.default_rng(11)
    first, second = rng.integers(0, 4, (2, 90))
    table = np.zeros((4, 4))
    np.add.at(table, (first, second), 1)
    outcome, of_table = kappa(first, second, marginals=marginals), kappa_of_table(table, marginals)
    assert outcome.value == pytest.approx(of_table.value, rel=1e-12)
    np.testing.assert_allclose(outcome.pairs, of_table.pairs, rtol=1e-12)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1, 2], r"table: must have one row and one column for each label; its shape is \(2,\)"),
        ([[1, 2]], r"its shape is \(1, 2\)"),
        ([[1, -2], [0, 1]], "table: must hold counts of at least 0"),
        ([[0, 0], [0, 0]], "one of them must be above 0"),
        (np.zeros((0, 0)), "table: must hold counts of at least 0"),
        ([[1, math.inf], [0, 1]], "table: expected finite numbers, found inf"),
    ],
)
def test_a_table_of_kappa_says_what_is_wrong(table, message):
    with pytest.raises(InputError, match=message):
        kappa_of_table(table)


def test_kappa_with_separate_marginals_is_cohens():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 3, 60), rng.integers(0, 3, 60)
    b[:30] = a[:30]
    assert kappa(a, b, marginals="separate").value == pytest.approx(metrics.cohen_kappa_score(a, b), rel=1e-12)


def test_several_assessors_are_averaged_over_pairs():
    third = SECOND[::-1]
    outcome = kappa(FIRST, SECOND, third)
    pairs = [kappa(FIRST, SECOND).value, kappa(FIRST, third).value, kappa(SECOND, third).value]
    assert outcome.value == pytest.approx(sum(pairs) / 3, rel=1e-14)
    np.testing.assert_array_equal(outcome.pairs, outcome.pairs.T)
    assert outcome.pairs[0, 2] == pairs[1]
    assert outcome.meaning == "dubious"


def test_kappa_is_undefined_where_all_labels_are_equal_and_wants_equal_lengths():
    for outcome in (kappa(["a", "a"], ["a", "a"]), kappa_of_table([[2, 0], [0, 0]])):
        assert math.isnan(outcome.value)
        assert outcome.meaning == "undefined"
    for assessors, message in (
        (([1],), "assessors: expected at least two, found 1"),
        (([1], [1, 2]), r"found \[1, 2\]"),
        (([], []), r"found \[0\]"),
    ):
        with pytest.raises(InputError, match=message):
            kappa(*assessors)
    for function, labels in ((kappa, ([1], [1])), (kappa_of_table, ([[1]],))):
        with pytest.raises(InputError, match="marginals: expected one of pooled, separate, uniform, found 'none'"):
            function(*labels, marginals="none")

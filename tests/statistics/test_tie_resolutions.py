"""The effect of ties on verdicts, compared with an enumeration, for every test and correction."""

from itertools import product

import numpy as np
import pytest

from tieaware.statistics.multiple_comparisons import adjusted
from tieaware.statistics.paired_tests import paired_test
from tieaware.statistics.procedures import TESTS, Procedure
from tieaware.statistics.verdicts import resolve, resolve_ties

pytest.importorskip("scipy.stats")
ALPHA = 0.3


def _resolved(procedure, values, bounds, first, second, alpha=0.05):
    """Return the verdicts on pairs of systems, and the effect of ties within bounds on them."""
    verdicts = procedure.verdicts(values, first, second, alpha)
    return verdicts, resolve(procedure, verdicts, values, bounds, first, second, alpha)


def _verdicts_of_all_ends(procedure, values, least, greatest, first, second, i):
    """Return the verdicts on pair i where each value of its runs is at either end, and all else stays as it is."""
    pair, n = [first[i], second[i]], values.shape[1]
    p = procedure.tested(values, first, second).p
    ends = np.array(list(product((0, 1), repeat=2 * n))).reshape(-1, 2, n)
    changed = np.where(ends, greatest[pair], least[pair])
    if procedure.is_of_all_runs:
        one, other = first[i : i + 1], second[i : i + 1]
        rows = np.repeat(values[None], len(changed), axis=0)
        rows[:, pair] = changed
        tests = [(each, one, other, procedure.tested(each, one, other)) for each in rows]
    else:
        rows, places = np.concatenate((changed[:, 0], changed[:, 1])), np.arange(len(changed))
        one, other = places, places + len(changed)
        tests = [(rows, one, other, procedure.tested(rows, one, other))]
    found = set()
    for each, a, b, test in tests:
        is_significant = [adjusted(np.append(np.delete(p, i), own), procedure.correction)[-1] < ALPHA for own in test.p]
        found |= set(procedure.signs(each, a, b, test, np.array(is_significant)).tolist())
    return found


@pytest.mark.parametrize(
    ("test", "correction"),
    [(test, correction) for test in TESTS for correction in ("holm", "bh", "none") if "tukey" not in test]
    + [("tukey", "none"), ("randomised-tukey", "none")],
)
def test_flips_agree_with_an_enumeration(test, correction):
    """Verdicts that no order changes are the same at all ends, and those that some order changes are not."""
    rng = np.random.default_rng(5)
    procedure, counts = Procedure(test, correction), dict.fromkeys((-1, 0, 1), 0)
    n_topics = {"t": 3, "tukey": 3, "wilcoxon": 3, "randomised-tukey": 3}.get(test, 5)
    first, second = np.triu_indices(3, 1)
    for _ in range({"wilcoxon": 4, "sign": 60}.get(test, 15)):
        least = rng.integers(0, 8, (3, n_topics)) / 8 + rng.integers(0, 5, (3, 1)) / 4
        greatest = least + rng.integers(0, 3, (3, n_topics)) / 16
        values = (least + greatest) / 2.0
        verdicts, effect = _resolved(procedure, values, (least, greatest), first, second, ALPHA)
        i = int(rng.integers(3))
        found = _verdicts_of_all_ends(procedure, values, least, greatest, first, second, i)
        flips = effect.verdict_flips[i]
        counts[int(flips)] += 1
        if flips >= 0:
            assert bool(flips) == bool(found - {verdicts.signs[i]})
    if test not in ("wilcoxon", "tukey", "randomised-tukey"):
        assert counts[-1] == 0
        assert min(counts[0], counts[1]) > 0


def test_values_that_differ_by_rounding_flip_nothing():
    """The sign test would count a difference of 1e-17."""
    values = np.array([[0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5, 0.5, 0.25]])
    bounds = values - 1e-17, values + 1e-16
    procedure, first, second = Procedure("sign", "none"), np.array([0]), np.array([1])
    greatest = bounds[1].copy()
    greatest[1, 5] = 0.375
    _, effect = _resolved(procedure, values, (bounds[0], greatest), first, second)
    assert effect.verdict_flips.tolist() == [0]


@pytest.mark.parametrize("test", ["tukey", "randomised-tukey"])
def test_tukey_decides_most_pairs(test):
    rng = np.random.default_rng(4)
    values = rng.random((6, 30)) + np.arange(6)[:, None] / 4
    least, greatest = values - 0.002, values + 0.002
    first, second = np.triu_indices(6, 1)
    verdicts, effect = _resolved(Procedure(test, "none"), values, (least, greatest), first, second)
    assert 0 < (verdicts.signs != 0).sum() < 15
    assert (effect.verdict_flips == 0).sum() >= 13


def test_the_randomised_tukey_finds_verdicts_that_ties_change():
    """Ties of the third system change two verdicts for certain, and do not change the third."""
    values = np.array([[0.5, 0.51] * 6, [0.9, 0.91] * 6, [0.52, 0.5] * 6])
    least, greatest = values.copy(), values.copy()
    least[2], greatest[2] = 0.48, 0.9
    procedure = Procedure("randomised-tukey", "none")
    verdicts, effect = _resolved(procedure, values, (least, greatest), *np.triu_indices(3, 1))
    assert verdicts.signs.tolist() == [-1.0, 0.0, 1.0]
    assert effect.verdict_flips.tolist() == [0, 1, 1]


def test_the_randomised_tukey_of_two_runs_is_the_permutation_test():
    rng = np.random.default_rng(6)
    least = rng.random((2, 8))
    bounds, first, second = (least, least + rng.random((2, 8))), np.array([0]), np.array([1])
    values = (bounds[0] + bounds[1]) / 2
    found = []
    for test in ("randomised-tukey", "permutation"):
        verdicts, effect = _resolved(Procedure(test, "none"), values, bounds, first, second, 0.3)
        found.append((verdicts.adjusted.item(), verdicts.signs.item(), effect.verdict_flips.item()))
    assert found[0] == found[1]
    assert found[0][2] == 1


def test_wilcoxon_is_decided_where_ties_keep_all_ranks():
    """Ties that change no sign and no rank of a difference change no p value. Other pairs stay open, or flip."""
    values = np.array([[0.9, 0.8, 0.7, 0.6, 0.55], [0.5, 0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5, 0.5]])
    procedure, first, second = Procedure("wilcoxon", "none"), np.array([0, 1]), np.array([1, 2])
    verdicts = procedure.verdicts(values, first, second, 0.1)
    assert verdicts.signs.tolist() == [1.0, 0.0]
    for change, expected in ((0.01, [0, 0]), (0.07, [-1, 0])):
        least, greatest = values.copy(), values.copy()
        least[0], greatest[0] = least[0] - change / 2, greatest[0] + change / 2
        effect = resolve(procedure, verdicts, values, (least, greatest), first, second, 0.1)
        assert effect.verdict_flips.tolist() == expected


def test_flips_of_many_topics_are_those_of_the_best_combinations():
    """Each combination has the attained values nearest to one level, or lower ends up to one topic and upper ends."""
    rng = np.random.default_rng(9)
    counts = dict.fromkeys((-1, 0, 1), 0)
    for _ in range(60):
        least = rng.normal(size=(2, 40)) + np.array([[rng.random() / 2], [0.0]])
        greatest = least + rng.random((2, 40)) * rng.choice([0.0, 0.1, 0.5], (2, 40)) * rng.random()
        average = (least + greatest) / 2.0
        test = paired_test(average[:1], average[1:])
        flips = int(resolve_ties(test, least, greatest, [0], [1], 0.1).verdict_flips[0])
        ends = np.sort(np.stack([x[0] - y[1] for x in (least, greatest) for y in (least, greatest)]), axis=0)
        middles = ((ends[1:] + ends[:-1]) / 2.0).ravel()
        nearest = [np.abs(ends - level).argmin(axis=0) for level in np.concatenate((middles - 1e-9, middles + 1e-9))]
        places = np.argsort(np.argsort(ends[0] + ends[-1]))
        corners = [np.where(places < some, *of) for some in range(41) for of in ((0, 3), (3, 0))]
        combinations = np.array([np.take_along_axis(ends, row[None], axis=0)[0] for row in (*nearest, *corners)])
        outcome = paired_test(combinations, np.zeros_like(combinations))
        found = np.where(outcome.p <= 0.1, np.sign(outcome.difference), 0.0)
        verdict = np.sign(test.difference[0]) if test.p[0] <= 0.1 else 0.0
        assert (flips == 1) == bool((found != verdict).any())
        counts[flips] += 1
    assert min(counts[0], counts[1]) > 5

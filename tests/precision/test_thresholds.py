"""Scales that all lists share: their levels, geometric cuts, and the best cuts against every possible scale."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from support import oracle
from support.scores import coarsen_list

from tieaware import Evaluator, InputError, parse_measure
from tieaware.measures import DEFINITIONS
from tieaware.precision import Thresholds, best_thresholds, geometric_thresholds, parse_precision
from tieaware.precision.thresholds import MOST_CANDIDATES, _best_path

ADDITIVE = [name for name, each in DEFINITIONS.items() if each.additive]
MEASURES = [*ADDITIVE, "AP@3", "nDCG@2", "P@3", "R@3", "Success@2", "ERR(max_rel=2)@3", "RBP(p=0.5)", "AP(rel=2)",
            "AP(judged_only=True)", "P(judged_only=True)@2"]  # fmt: skip


def levels_of(cuts, scores):
    """Return how many cuts each score reaches, one score after the other."""
    return [sum(score >= cut for cut in cuts) for score in scores]


def test_a_score_at_a_cut_is_in_the_level_above():
    scores = [-math.inf, -1.0, 0.0999, 0.1, 0.3, 0.5, 7.0, math.inf]
    assert coarsen_list(Thresholds([0.1, 0.5]), scores).tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    assert coarsen_list(Thresholds([0.0]), [-0.0, math.nan]).tolist()[0] == 1.0
    assert math.isnan(coarsen_list(Thresholds([0.0]), [-0.0, math.nan])[1])


@pytest.mark.parametrize("n", [1, 64, 65, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_few_and_many_cuts_make_the_levels_of_the_definition(n, dtype):
    rng = np.random.default_rng(n)
    cuts = np.unique(rng.normal(size=n).astype(dtype)).astype(np.float64).tolist()
    scores = np.concatenate([rng.normal(size=200), rng.choice(cuts, 50)]).astype(dtype)
    assert Thresholds(cuts).coarsen(scores, np.array([0, 250])).tolist() == levels_of(cuts, scores.astype(float))


def test_float32_scores_are_compared_with_the_cut_itself():
    """0.1 as float32 is above the double 0.1, and 0.7 as float32 is below the double 0.7."""
    scores = np.array([0.1, 0.7], np.float32)
    assert Thresholds([0.1]).coarsen(scores, np.array([0, 2])).tolist() == [1, 1]
    assert Thresholds([0.7]).coarsen(scores, np.array([0, 2])).tolist() == [0, 0]


@pytest.mark.parametrize("cuts", [(0.1, 0.5), (-3.0,), (-1e300, 0.0, 5e-324), tuple(np.linspace(0, 1, 300).tolist())])
def test_the_notation_keeps_every_bit_of_the_cuts(cuts):
    assert parse_precision(str(Thresholds(cuts))).cuts == cuts


def test_cuts_may_be_any_sequence_of_numbers():
    assert Thresholds(np.array([1, 2])) == Thresholds([1.0, 2.0]) == parse_precision("THRESHOLDS: 1,2")
    assert str(Thresholds([-0.0])) == "thresholds:0.0"


# Geometric cuts.


@pytest.mark.parametrize("n", [2, 3, 4, 10])
@pytest.mark.parametrize("length", [16, 1000])
def test_sizes_of_levels_grow_by_a_constant_factor(n, length):
    """The l highest levels hold Q m^(l/n) of all scores, to within one score at each cut."""
    scores = np.random.default_rng(n).normal(size=(40, length))
    scale = geometric_thresholds(scores, n)
    assert len(scale.cuts) == n - 1
    for highest, cut in enumerate(reversed(scale.cuts), start=1):
        assert abs((scores >= cut).sum() - 40 * length ** (highest / n)) <= 1


def test_the_length_of_a_list_follows_from_offsets():
    scores = np.random.default_rng(1).normal(size=600)
    expected = np.quantile(scores, [1 - 20 ** (i / 3) / 20 for i in (2, 1)])
    np.testing.assert_allclose(geometric_thresholds(scores, 3, np.arange(31) * 20).cuts, expected, rtol=1e-14)
    assert geometric_thresholds(scores.reshape(30, 20), 3) == geometric_thresholds(scores, 3, np.arange(31) * 20)
    assert geometric_thresholds(scores, 3) != geometric_thresholds(scores, 3, np.arange(31) * 20)


def test_more_levels_than_scores_and_extreme_scores():
    """Equal cuts are one; infinite scores are left out; differences of scores may overflow."""
    assert geometric_thresholds([2.0, 2.0, 2.0], 9).cuts == (2.0,)
    assert geometric_thresholds([5.0], 4).cuts == (5.0,)
    assert geometric_thresholds([1.0, 2.0, math.inf, -math.inf], 3) == geometric_thresholds([1.0, 2.0], 3)
    wide = geometric_thresholds([-1.7e308, 1.7e308], 2).cuts
    assert len(wide) == 1
    assert np.isfinite(wide[0])


# Best cuts.


def drawn(seed, n_lists=3, depth=5):
    """Return labels from -1 to 2 with a relevant document, and scores of few values, also infinite ones."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 3, (n_lists, depth))
    labels[0, 0] = 2
    scores = rng.choice([-math.inf, -1.5, 0.0, 0.25, 1.0, 2.0, math.inf], (n_lists, depth))
    return labels, scores


def exact_mean(measure, labels, levels):
    """Return the mean over the lists if documents of one level tie, by enumeration in fractions."""
    total = Fraction(0)
    for some, level in zip(labels.tolist(), levels, strict=True):
        total += oracle.exact(measure, level, some, [label for label in some if label >= 0]).mean
    return total / len(labels)


def every_scale(scores, most):
    """Return every set of 1 to `most` finite cuts that divides the scores differently."""
    edges = np.clip(np.unique(np.append(scores, [-math.inf, math.inf])), -1.7e308, 1.7e308).tolist()
    return [cuts for n in range(1, most + 1) for cuts in combinations(edges, n)]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(2))
def test_no_scale_is_better_than_the_best(measure, seed):
    """No scale with cuts anywhere has a higher mean; the means are enumerated over all orders of ties."""
    labels, scores = drawn(seed)
    evaluator = Evaluator(labels, measure)
    for n in (2, 3):
        chosen = best_thresholds(evaluator, scores, n)
        assert 1 <= len(chosen.cuts) < n
        value = exact_mean(measure, labels, [levels_of(chosen.cuts, row) for row in scores])
        best = max(exact_mean(measure, labels, [levels_of(cuts, row) for row in scores])
                   for cuts in every_scale(scores, n - 1))  # fmt: skip
        assert float(value) == pytest.approx(float(best), abs=1e-12)
        assert Evaluator(labels, measure, precision=chosen).mean(scores)[0] == pytest.approx(float(value), abs=1e-12)


@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "RR", "ERR@10"])
def test_longer_paths_and_few_candidates(measure):
    """With as few candidates as are wanted, the scale is the best of all with cuts at these, for up to 6 levels."""
    rng = np.random.default_rng(5)
    labels = (rng.random((6, 60)) < 0.2).astype(int)
    scores = rng.normal(size=labels.shape) + labels
    evaluator = Evaluator(labels, measure)
    cuts, values = evaluator._values_of_cuts(scores, 7)
    assert len(cuts) == 7
    assert set(cuts) <= set(scores[labels > 0])

    def mean(some):
        return Evaluator(labels, measure, precision=Thresholds(sorted(some))).mean(scores)[0]

    for i, j in combinations(range(7), 2):
        assert values[i, j] == pytest.approx(mean(cuts[[i, j]]), abs=1e-12)
    for n in (2, 4, 6):
        best = max(mean(some) for k in range(1, n) for some in combinations(cuts.tolist(), k))
        assert mean(cuts[_best_path(values, n - 1)]) == pytest.approx(best, abs=1e-12)


def test_the_number_of_candidates_is_limited():
    rng = np.random.default_rng(3)
    labels, scores = np.ones(500, int), rng.normal(size=500)
    cuts, _ = Evaluator(labels, "AP")._values_of_cuts(scores, MOST_CANDIDATES)
    assert len(cuts) == MOST_CANDIDATES
    assert (cuts[0], cuts[-1]) == (scores.max(), scores.min())


def test_the_fewest_cuts_are_chosen():
    """If one cut separates the relevant documents from all others, there is no other."""
    scores = np.array([[9.0, 8.0, 7.0, 6.0], [5.0, 5.5, 1.0, 0.5]])
    evaluator = Evaluator([[1, 1, 1, 0], [1, 0, 0, 0]], "AP")
    assert best_thresholds(evaluator, [[9.0, 8.0, 7.0, 1.0], [9.5, 2.0, 1.0, 0.0]], 5).cuts == (7.0,)
    assert len(best_thresholds(evaluator, scores, 5).cuts) > 1


def test_a_scorer_that_is_wrong_is_best_if_all_documents_tie():
    evaluator = Evaluator([0, 0, 1], "AP")
    scale = best_thresholds(evaluator, [3.0, 2.0, 1.0], 4)
    assert scale.cuts == (1.0,)
    assert levels_of(scale.cuts, [3.0, 2.0, 1.0]) == [1, 1, 1]


def test_evaluators_of_catalogues_rows_and_threads_give_the_same_scale():
    import scipy.sparse as sp

    rng = np.random.default_rng(8)
    labels = (rng.random((6, 40)) < 0.2).astype(int)
    seen = (rng.random((6, 40)) < 0.2) & (labels == 0)
    scores = rng.normal(size=labels.shape) + labels
    dense = Evaluator(labels, "AP")
    scale = best_thresholds(dense, scores, 4)
    assert best_thresholds(Evaluator(labels, "AP", threads=2), scores, 4) == scale
    assert best_thresholds(Evaluator.from_sparse(sp.csr_array(labels), "AP"), scores, 4) == scale
    some = best_thresholds(Evaluator(labels[2:5], "AP"), scores[2:5], 4)
    assert best_thresholds(dense.rows(2, 5), scores[2:5], 4) == some

    ranked = Evaluator(labels[~seen], "AP", group=(~seen).sum(axis=1))
    excluding = Evaluator.from_sparse(sp.csr_array(labels), "AP", exclude=sp.csr_array(seen.astype(int)))
    assert best_thresholds(excluding, np.where(seen, math.nan, scores), 4) == best_thresholds(ranked, scores[~seen], 4)
    popular = scores[0]
    assert best_thresholds(excluding, popular, 4) == best_thresholds(ranked, np.tile(popular, (6, 1))[~seen], 4)


def test_counts_may_need_several_batches(monkeypatch):
    from tieaware.engine import cut_values

    labels, scores = drawn(4, 4, 30)
    evaluator = Evaluator(labels, "nDCG")
    whole = evaluator._values_of_cuts(scores, 20)
    monkeypatch.setattr(cut_values, "_AT_ONCE", 200)
    for expected, found in zip(whole, evaluator._values_of_cuts(scores, 20), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_learned_scales_keep_more_than_geometric_ones_on_the_queries_that_they_were_chosen_on():
    rng = np.random.default_rng(2)
    labels = (rng.random((30, 300)) < 0.05).astype(int)
    scores = rng.normal(size=labels.shape) + 1.7 * labels
    evaluator = Evaluator(labels, "AP")
    for n in (2, 4, 8):
        scales = geometric_thresholds(scores, n), best_thresholds(evaluator, scores, n)
        geometric, best = (Evaluator(labels, "AP", precision=scale).mean(scores)[0] for scale in scales)
        assert best > geometric


# Errors.

AVERAGE = Evaluator([[1, 0], [0, 1]], "AP")
SCORES = [[2.0, 1.0], [2.0, 1.0]]
ASCEND = r"^cuts: must ascend; cuts\[1\] is 0\.1, after "
NEEDS = "^precision: thresholds needs ascending cuts, as in thresholds:0.1,0.5$"
LEAST = r"^n: expected a whole number from 2 to 65,536, found "
ERRORS = [
    (Thresholds, ([],), "^cuts: expected at least one, found none$"),
    (Thresholds, ([0.5, 0.1],), f"{ASCEND}0.5$"),
    (Thresholds, ([0.1, 0.1],), f"{ASCEND}0.1$"),
    *((Thresholds, ([0.1, wrong],), r"^cuts\[1\]: expected a number from -1.79769e\+308 to 1.79769e\+308, found ")
      for wrong in (math.nan, math.inf, -math.inf, "1", None, True)),
    (Thresholds, (0.5,), "^cuts: expected a sequence of numbers, found 0.5$"),
    *((parse_precision, (f"thresholds{end}",), NEEDS)
      for end in ("", ":", ":x", ":0.1,", ":0.1;0.5", ":1_0", ":1e999")),
    (parse_precision, ("thresholds:0.5,0.1",), f"{ASCEND}0.5$"),
    *((call, (*first, n), f"{LEAST}{n}$") for n in (1, 0, -3, 2.5, None)
      for call, first in ((geometric_thresholds, (SCORES,)), (best_thresholds, (AVERAGE, SCORES)))),
    *((geometric_thresholds, (scores, 4), "^scores: must have a finite score$") for scores in ([], [math.inf])),
    (geometric_thresholds, ([1.0, math.nan], 4), r"^scores\[1\]: expected a number, found NaN$"),
    (geometric_thresholds, ([1.0, 2.0], 4, [0, 3]), "^offsets: "),
    (best_thresholds, (AVERAGE, [[2.0, 1.0], [math.nan, 1.0]], 4),
     "^scores: expected numbers, found NaN for document 0 of query 1$"),
    (best_thresholds, (AVERAGE, [1.0, 2.0, 3.0], 4), "^scores: "),
    (best_thresholds, (Evaluator([0, 1], ["AP", "RR"]), [1.0, 2.0], 4),
     "^evaluator: must have one measure to choose a scale; it has 2$"),
    (best_thresholds, (Evaluator([0, 1], "AP", precision="levels:4"), [1.0, 2.0], 4),
     "^evaluator: must have no precision, because a scale is one$"),
    (best_thresholds, (Evaluator([0, 1], "AP", precision="bands:2"), [1.0, 2.0], 4),
     "^evaluator: must have no precision, because a scale is one$"),
    (best_thresholds, (Evaluator([0, 1], "AP", ties="run_order"), [1.0, 2.0], 4),
     "^evaluator: must have ties='average' to choose a scale, not 'run_order'$"),
    (best_thresholds, (Evaluator([0, 0], "AP"), [1.0, 2.0], 4),
     "^evaluator: no document counts for AP, so no scale is better than another$"),
    *((best_thresholds, (Evaluator([0, 1], name), [1.0, 2.0], 4),
       f"^evaluator: {name} is no sum over the levels of a scale, so the best scale is not known$")
      for name in ("GMAP", "AUC", "Rprec", "IAP11", "Bpref")),
]  # fmt: skip


@pytest.mark.parametrize(("call", "arguments", "message"), ERRORS)
def test_errors(call, arguments, message):
    with pytest.raises(InputError, match=message) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value)


def test_measures_that_are_not_additive_are_not_marked():
    """Those of which less is better, or whose mean is not a mean of values, cannot be sums to maximise."""
    for name in ADDITIVE:
        definition = parse_measure(name).definition
        assert not definition.less_is_better
        assert definition.summary == "mean"

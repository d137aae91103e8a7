"""Lines of scores: the values between the breaks are those of the evaluator, and choices of t are what they say."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.matrices import Sparse

import tieaware
from tieaware import Evaluator, InputError

MEASURES = ["nDCG@3", "AP", "RR", "P@2", "Bpref", "Judged@3", "ERR", "AP(judged_only=True)", "nDCG(judged_only=True)@2",
            "Q", "RBP(gains='label')", "ESL"]  # fmt: skip
RULES = ("average", "optimistic", "pessimistic")
RELEVANT, SEEN = Sparse([0, 1, 2], [0, 1], [1, 1], (2, 3)), Sparse([0, 1, 2], [1, 2], [1, 1], (2, 3))


def inside(low, high):
    """Return the middle of an interval; if it has no end, a number that is far enough from the other end."""
    if math.isinf(low) or math.isinf(high):
        return 0.0 if low == -high else low + max(1.0, abs(low)) if math.isinf(high) else high - max(1.0, abs(high))
    return low + (high - low) / 2.0


def lines_of(rng, kind):
    """Draw labels, scores and a direction: whole numbers with many ties, real numbers, or reciprocal ranks."""
    shape = rng.integers(1, 5), rng.integers(1, 9)
    labels = rng.integers(-1, 3, shape)
    labels = np.where(labels > 0, labels * (0.7 if kind == "reciprocal" else 1), labels)
    if kind == "whole":
        return labels, rng.integers(0, 5, shape) * 1.0, rng.integers(-2, 3, shape) * 1.0
    if kind == "real":
        return labels, rng.random(shape), rng.standard_normal(shape)
    return labels, 1 / (60.0 + rng.integers(1, 10, shape)), 1 / (60.0 + rng.integers(1, 10, shape))


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("kind", ["whole", "real", "reciprocal"])
@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (-0.7, 1.3), (0.0, np.inf)])
def test_values_between_breaks_are_those_of_the_evaluator(ties, kind, bounds):
    """At a number in the middle of each interval, wherever the interval holds one."""
    rng = np.random.default_rng(5)
    for _ in range(12):
        labels, a, d = lines_of(rng, kind)
        measures = [m for m in MEASURES if kind != "reciprocal" or "@" in m or m.startswith("RBP")]
        measures = [m for m in measures if kind != "reciprocal" or m not in ("P@2",)]
        evaluator = Evaluator(labels, measures, ties=ties)
        line = evaluator.along(a, d, bounds)
        edges = [bounds[0], *line.breaks.tolist(), bounds[1]]
        assert edges == sorted(set(edges))
        for low, high, means in zip(edges[:-1], edges[1:], line.values, strict=True):
            t = inside(low, high)
            # Scores that differ by roundings only may tie at t, although they cross elsewhere.
            if low < t < high and (high - low > 1e-9):
                np.testing.assert_allclose(evaluator.mean(a + t * d), means, rtol=1e-14, atol=1e-15)


def test_breaks_are_crossings_of_documents():
    """Each break is the correctly rounded solution of a_i + t d_i = a_j + t d_j for some pair of documents."""
    rng = np.random.default_rng(7)
    labels, a, d = rng.integers(0, 3, 14), rng.random(14) * 1e3, rng.standard_normal(14)
    line = Evaluator(labels, ["AP"]).along(a, d)
    crossings = {
        float((Fraction(a[j]) - Fraction(a[i])) / (Fraction(d[i]) - Fraction(d[j])))
        for i in range(14) for j in range(14) if i != j
    }  # fmt: skip
    assert len(line.breaks) > 5
    assert set(line.breaks.tolist()) <= crossings


def test_breaks_between_two_systems_do_not_round_their_differences():
    """Each break is the correctly rounded crossing of (1 - t) a + t b, although b - a is no double."""
    rng = np.random.default_rng(17)
    labels, a, b = rng.integers(0, 3, 30), rng.random(30) ** 9, rng.random(30)
    line = Evaluator(labels, ["AP"]).between(a, b)
    starts, ends = [Fraction(score) for score in a.tolist()], [Fraction(score) for score in b.tolist()]
    slopes = [end - start for start, end in zip(starts, ends, strict=True)]
    crossings = {
        float((starts[j] - starts[i]) / (slopes[i] - slopes[j])) for i in range(30) for j in range(30) if i != j
    }
    assert len(line.breaks) > 50
    assert set(line.breaks.tolist()) <= crossings


# Differences of numbers of different sizes have digits that one double cannot hold. Products of tiny numbers underflow.
extremes = st.sampled_from(
    [0.0, 1.0, -3.0, 1e-300, 2.2250738585072e-309, 5e-324, 1.5131102435039101e-178, 8.3e-55, 1e100, -7e119]
)
sizes = st.floats(-1e3, 1e3) | extremes | st.builds(math.ldexp, st.floats(-2, 2), st.integers(-1070, 398))


@given(st.lists(st.tuples(sizes, sizes), min_size=2, max_size=6))
@example([(0.0, 1.5131102435039101e-178), (2.225073858507203e-309, 8.295516911390938e-55)])
@settings(max_examples=500, deadline=None)
def test_crossings_are_rounded_correctly(documents):
    a, d = (np.array(column) for column in zip(*documents, strict=True))
    line = Evaluator([1] + [0] * (len(a) - 1), ["RR"]).along(a, d)
    quotients = [
        (Fraction(a[j]) - Fraction(a[0])) / (Fraction(d[0]) - Fraction(d[j])) for j in range(1, len(a)) if d[0] != d[j]
    ]
    # Crossings beyond all finite numbers are never reached.
    exact = {float(t) + 0.0 for t in quotients if abs(t) < Fraction(1.79e308)}
    assert {t + 0.0 for t in line.breaks.tolist()} <= exact


def test_cross_validation_does_not_see_the_fold():
    rng = np.random.default_rng(10)
    labels, a, b = rng.integers(0, 2, (30, 10)), rng.random((30, 10)), rng.random((30, 10))
    line = Evaluator(labels, ["AP"]).between(a, b)
    result = line.cross_validated(folds=30, seed=1)
    fold = np.random.default_rng(1).permutation(30) % 30
    for i in range(30):
        others = fold != i
        rest = Evaluator(labels[others], ["AP"]).between(a[others], b[others])
        assert result.t[i] == rest.best().t
        left_out = Evaluator(labels[fold == i], ["AP"])
        assert result.values[fold == i] == left_out((a + result.t[i] * (b - a))[fold == i])
    assert result.mean <= line.best().value
    assert result.standard_error == pytest.approx(result.values.std(ddof=1) / np.sqrt(30))


def test_standard_errors_and_the_plateau():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(11)
    labels = rng.integers(0, 2, (25, 12))
    a, b = rng.random((25, 12)), labels * 0.8 + rng.random((25, 12))
    evaluator = Evaluator(labels, ["AP", "RR"])
    line = evaluator.between(a, b)
    errors = line.standard_errors()
    best, plateau = line.best("AP"), line.plateau("AP")
    at_best = evaluator(a + best.t * (b - a))[:, 0]
    assert plateau.low < best.t < plateau.high
    for i in range(0, len(line.breaks) - 1, 7):
        t = inside(line.breaks[i], line.breaks[i + 1])
        values = evaluator(a + t * (b - a))
        np.testing.assert_allclose(errors[i + 1], values.std(axis=0, ddof=1) / 5, rtol=1e-9, atol=1e-8)
        differ = values[:, 0] - at_best
        if plateau.low < t < plateau.high and differ.any():
            assert stats.ttest_1samp(differ, 0.0).pvalue > 0.05
    just_below = inside(*line.breaks[np.searchsorted(line.breaks, plateau.low) - 1 :][:2])
    if plateau.low > 0.0:
        assert stats.ttest_1samp(evaluator(a + just_below * (b - a))[:, 0] - at_best, 0.0).pvalue <= 0.05


def test_a_flat_line_is_said_to_be_flat():
    line = Evaluator([0, 0], ["AP"]).between([0.0, 1.0], [1.0, 0.0])
    with pytest.warns(UserWarning, match=r"^AP is the same for every t from 0 to 1$"):
        best = line.best()
    assert (best.value, best.interval) == (0.0, (0.0, 1.0))
    two = Evaluator([[0, 0], [0, 0]], ["AP"]).between([[0.0, 1.0]] * 2, [[1.0, 0.0]] * 2)
    with pytest.warns(UserWarning, match=r"^AP is the same for every t from 0 to 1$"):
        two.cross_validated(folds=2)


def test_undefined_queries_are_left_out():
    labels, a, b = [[1, 0], [0, 0]], [[0.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]
    line = Evaluator(labels, ["RR"], undefined=np.nan).between(a, b)
    assert line.values.ravel().tolist() == [0.5, 1.0]
    assert np.isnan(line.by_query().value[1])
    assert line.cross_validated(folds=2).values[0] in (0.5, 0.75, 1.0)


def test_arrays_of_a_line_outlive_it():
    line = Evaluator([1, 0], ["RR"]).between([0.0, 1.0], [1.0, 0.0])
    breaks, values = line.breaks, line.values
    del line
    assert (breaks.tolist(), values.tolist()) == ([0.5], [[0.5], [1.0]])
    with pytest.raises(ValueError, match="read-only"):
        breaks[0] = 1.0


def test_weighted_sums_in_blocks():
    rng = np.random.default_rng(12)
    labels, features, weights = rng.integers(0, 2, (7, 9)), rng.random((63, 4)), rng.random((20, 4))
    weights[0] = [0.0, 0.0, 1.0, 0.0]
    evaluator = Evaluator(labels, ["AP", "nDCG@5"])
    values = evaluator.combinations(features, weights)
    np.testing.assert_allclose(values, evaluator.many((features @ weights.T).T), rtol=1e-13)
    np.testing.assert_array_equal(values[0], evaluator.mean(features[:, 2]))
    assert evaluator.combinations(features, np.empty((0, 4))).shape == (0, 2)


# Evaluators without lines.
WITHOUT_LINES = (
    ({"measures": "RR", "precision": "decimals:1"}, "^precision: rounds the scores of every t, so they form no lines"),
    ({"measures": "RR", "ties": "run_order"}, "^ties: 'run_order' orders tied documents one by one; lines need 'av"),
    ({"measures": "GMAP"}, "^GMAP: has a geometric mean, which lines lack$"),
    ({"measures": "AUC@1", "ties": "optimistic"}, "^ties: 'optimistic' needs measures whose best order is by"),
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.along([1.0], [0.0, 1.0]), r"^scores: expected .* found shape \(1,\)"),
        (lambda e: e.along([1.0, 2.0], [0.0, 1.0, 2.0]), r"^direction: expected .* found shape \(3,\)"),
        (lambda e: e.along([1.0, np.nan], [0.0, 1.0]), r"^scores\[1\]: expected a finite number .*, found nan$"),
        (lambda e: e.along([1.0, 2.0], [np.inf, 1.0]), r"^direction\[0\]: expected a finite number .*, found inf$"),
        (lambda e: e.along([1.0, 2.0], [0.0, 1.0], (1.0, 1.0)), r"^bounds: must be a smaller and a larger number"),
        (lambda e: e.along([1.0, 2.0], [0.0, 1.0], (2.0, 1.0)), r"^bounds: must be a smaller and a larger number"),
        (lambda e: e.along([1.0, 2.0], [0.0, 1.0], 3.0), r"^bounds: expected a pair of numbers, found 3.0$"),
        (lambda e: e.between([1.0, 2.0], [0.0, 1.0]).best("AP"), r"^measure: AP is not among the evaluator's: RR$"),
        (lambda e: e.between([1.0, 2.0], [0.0, 1.0]).cross_validated(), r"^folds: must be at most the number of"),
        (lambda e: e.between([1.0, 2.0], [0.0, 1.0]).plateau(), r"^plateau: needs at least two queries"),
        (lambda e: e.between([1.0, 2.0], [0.0, 1e6], precision="float16"), r"^b as float16\[1\]: .* found inf$"),
        (lambda e: e.along([1.0, 2.0], [0.0, 1.0], (np.nan, 1.0)), r"^bounds\[0\]: expected a number .*, found nan$"),
        (lambda e: e.along([1.0, 2.0], [0.0, 1.0], (0.0, np.nan)), r"^bounds\[1\]: expected a number .*, found nan$"),
        (lambda e: e.along([1.0, 2.0], [0.0, 1.0]).at(np.inf), r"^t: expected a number .*, found inf$"),
        (lambda e: Evaluator(np.empty((0, 3), int), "AP").along(np.empty((0, 3)), np.empty((0, 3))),
         r"^line: needs at least one query$"),
        (lambda e: Evaluator([1, 0], "RR AP").between([1.0, 2.0], [0.0, 1.0]).best(), r"^measure: name one of RR, AP$"),
        (lambda e: e.between([0.0, 1.0], [1.0, 0.0], precision="gap:0.1"),
         r"^precision: gap:0\.1.* does not round single scores, so lines cannot"),
        (lambda e: e.between([0.0, 1.0], [1.0, 0.0], precision="bands:2"),
         r"^precision: bands:2.* does not round single scores, so lines cannot"),
        (lambda e: Evaluator.from_sparse(RELEVANT, ["RR"], exclude=SEEN).along(np.zeros((2, 3)), np.ones((2, 3))),
         r"^exclude: lines cannot leave out items; drop them from the lists$"),
        *((lambda e, options=options: Evaluator([1, 0], **options).along([0.0, 1.0], [1.0, 0.0]), message)
          for options, message in WITHOUT_LINES),
        (lambda e: e.combinations([[1.0], [2.0]], [[1.0, 2.0]]), r"^weights: expected shape \(n, 1\)"),
        (lambda e: e.combinations([[1.0]], [[1.0]]), r"^features: expected shape \(2, n\), with n_docs = 2"),
        (lambda e: e.combinations([[1.0], [np.nan]], [[1.0]]), r"^features: must be finite numbers$"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call(Evaluator([1, 0], ["RR"]))


@pytest.mark.parametrize("precision", ["decimals:1", "significant:1", "float16", "bfloat16", "levels:4"])
@pytest.mark.parametrize("ties", RULES)
def test_rounded_scores_of_two_systems(precision, ties):
    """Each system alone has the value of an evaluator with the precision; sums of both are not rounded."""
    rng = np.random.default_rng(15)
    labels, a, b = rng.integers(0, 3, (9, 14)), rng.random((9, 14)), rng.random((9, 14))
    measures = ["AP", "nDCG@5"]
    evaluator = Evaluator(labels, measures, ties=ties)
    rounding = Evaluator(labels, measures, ties=ties, precision=precision)
    line = evaluator.between(a, b, precision=precision)
    np.testing.assert_array_equal(line.at(0.0), rounding.mean(a))
    np.testing.assert_array_equal(evaluator.between(b, a, precision=precision).at(0.0), rounding.mean(b))
    parsed = tieaware.precision.parse_precision(precision)
    offsets = np.arange(0, 9 * 14 + 1, 14)
    coarse = [parsed.coarsen(scores.ravel(), offsets).astype(float) for scores in (a, b)]
    np.testing.assert_array_equal(line.values, evaluator.between(*coarse).values)


def test_a_line_of_several_measures():
    line = Evaluator([1, 0], ["RR", "AP"]).between([0.0, 1.0], [1.0, 0.0])
    assert repr(line) == "Line(1 breaks, t: 0 … 1, measures: RR AP)"
    assert line.best("map") == line.best("RR")


def test_rows_of_an_evaluator_have_lines():
    rng = np.random.default_rng(13)
    labels, a, b = rng.integers(0, 2, (6, 8)), rng.random((6, 8)), rng.random((6, 8))
    rows = pickle.loads(pickle.dumps(Evaluator(labels, ["AP"]))).rows(2, 5).between(a[2:5], b[2:5])
    np.testing.assert_array_equal(rows.values, Evaluator(labels[2:5], ["AP"]).between(a[2:5], b[2:5]).values)


def test_the_figure():
    pytest.importorskip("matplotlib").use("agg")
    rng = np.random.default_rng(14)
    labels, a, b = rng.integers(0, 2, (9, 8)), rng.random((9, 8)), rng.random((9, 8))
    ax = tieaware.Evaluator(labels, ["AP"]).along(a, b - a).plot()
    assert ax.get_ylabel() == "AP"
    assert len(ax.get_legend().get_texts()) == 3


@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (-0.7, 1.3), (0.0, np.inf), (-np.inf, 2.0)])
@pytest.mark.parametrize("kind", ["real", "one decimal", "of two scales"])
def test_documents_below_every_cut_off_change_nothing(kind, bounds):
    """AP looks at all ranks, so beside it no document is left out."""
    rng = np.random.default_rng(8)
    shape = 5, 300
    a, d = rng.random(shape), rng.standard_normal(shape) / 4
    if kind == "one decimal":
        a, d = a.round(1), d.round(1)
    elif kind == "of two scales":
        a, d = a * np.where(rng.random(shape) < 0.1, 1.0, 1e-3), d * np.where(rng.random(shape) < 0.1, 1.0, 1e-3)
    labels = rng.integers(0, 4, shape) * (rng.random(shape) < 0.3)
    both = ["nDCG@5", "AP"]
    alone, beside = (Evaluator(labels, measures).along(a, d, bounds=bounds) for measures in (both[0], both))
    assert alone._pencil.n_pairs < beside._pencil.n_pairs
    edges = [max(bounds[0], -50.0), *beside.breaks[np.abs(beside.breaks) < 50.0], min(bounds[1], 50.0)]
    for low, high in itertools.pairwise(edges):
        t = (low + high) / 2
        found, expected = (line.values[np.searchsorted(line.breaks, t), 0] for line in (alone, beside))
        assert found == pytest.approx(expected, abs=1e-13)
    assert alone.best().value == pytest.approx(beside.best("nDCG@5").value, abs=1e-13)

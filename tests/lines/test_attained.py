"""Every value of a line is that of a t, and none is missing: compared with exact arithmetic, on scores of all kinds."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest

from tieaware import Evaluator
from tieaware.lines.choice import points

pytestmark = pytest.mark.filterwarnings("ignore:.* is the same for every t:UserWarning")

# The line's own rule: narrower intervals do not count.
NARROW = Fraction(1, 10**9)
KINDS = {
    "whole": lambda rng, shape: rng.integers(-3, 4, shape) * 1.0,
    "halves": lambda rng, shape: rng.integers(-4, 5, shape) / 2,
    "one decimal": lambda rng, shape: rng.integers(0, 11, shape) / 10,
    "two decimals": lambda rng, shape: rng.integers(0, 101, shape) / 100,
    "reciprocal ranks": lambda rng, shape: 1 / (60.0 + rng.integers(1, 10, shape)),
    "float32": lambda rng, shape: rng.random(shape, dtype=np.float32).astype(float),
    "equal": lambda rng, shape: np.full(shape, 0.3),
    "of two scales": lambda rng, shape: np.where(rng.random(shape) < 0.5, 0.1, 1.0) * rng.integers(-3, 11, shape),
    "real": lambda rng, shape: rng.random(shape),
}
MEASURES = ("AP", "RR", "P@2", "nDCG@3", "ESL")
RULES = ("average", "average", "optimistic", "pessimistic")


def forms(a, b, t, between):
    """Return the scores at t as they are usually computed; t may be a column, with one number for each list."""
    return ((1 - t) * a + t * b, a + t * (b - a)) if between else (a + t * b,)


def exact_intervals(a, b, between):
    """Yield the ends of the intervals of one list, and the ranks of its documents there, in exact arithmetic."""
    starts = [Fraction(score) for score in a.tolist()]
    ends = [Fraction(score) for score in b.tolist()]
    slopes = [end - start for start, end in zip(starts, ends, strict=True)] if between else ends
    crossings = {
        (starts[j] - starts[i]) / (slopes[i] - slopes[j])
        for i, j in itertools.combinations(range(len(starts)), 2) if slopes[i] != slopes[j]
    }  # fmt: skip
    if between:
        edges = [Fraction(0), *sorted(t for t in crossings if 0 < t < 1), Fraction(1)]
    else:
        far = max(map(abs, crossings), default=Fraction(0)) + 1
        edges = [-2 * far, *sorted(crossings), 2 * far]
    for low, high in itertools.pairwise(edges):
        if high - low > (NARROW if between else NARROW * max(1, min(abs(low), abs(high)))):
            scores = [start + (low + high) / 2 * slope for start, slope in zip(starts, slopes, strict=True)]
            rank = {score: i for i, score in enumerate(sorted(set(scores)))}
            yield low, high, [rank[score] for score in scores]


def draw(rng, kind, n_lists):
    """Draw labels and two arrays of scores for lists of 1 to 8 documents, a measure and a tie rule."""
    shape = n_lists, int(rng.integers(1, 9))
    labels = rng.integers(0, rng.choice([2, 4]), shape)
    return labels, KINDS[kind](rng, shape), KINDS[kind](rng, shape), rng.choice(MEASURES), rng.choice(RULES)


def check_queries(rng, kind, between, n_lists):
    """The best value of a list is that of its best exact interval, or of an end of the line; at t, the list has it."""
    labels, a, b, measure, ties = draw(rng, kind, n_lists)
    evaluator = Evaluator(labels, measure, ties=ties)
    own = (evaluator.between(a, b) if between else evaluator.along(a, b)).by_query()
    found = [(i, ranks) for i in range(n_lists) for _, _, ranks in exact_intervals(a[i], b[i], between)]
    lists, ranks = (list(column) for column in zip(*found, strict=True))
    sign = -1 if measure == "ESL" else 1
    expected = np.full(n_lists, -np.inf)
    np.maximum.at(expected, lists, sign * Evaluator(labels[lists], measure, ties=ties)(np.array(ranks))[:, 0])
    if between:
        expected = np.maximum(expected, np.maximum(sign * evaluator(a)[:, 0], sign * evaluator(b)[:, 0]))
    np.testing.assert_allclose(sign * own.value, expected, atol=1e-12)
    at_end = own.low == own.high
    for scores in forms(a, b, own.t[:, None], between):
        np.testing.assert_array_equal(evaluator(scores)[~at_end, 0], own.value[~at_end])
    assert (at_end | (own.low < own.t) & (own.t < own.high)).all()


def check_line(rng, kind, between):
    """The values of a line of 1 to 3 lists, its best t, the t of all folds, and the plateau."""
    labels, a, b, measure, ties = draw(rng, kind, int(rng.integers(1, 4)))
    evaluator = Evaluator(labels, measure, ties=ties)
    line = evaluator.between(a, b) if between else evaluator.along(a, b)
    sign = -1 if measure == "ESL" else 1
    # Lists in a row, far apart, cross as the lists alone do; then each exact interval has the values of all lists.
    intervals = list(common_intervals(a, b, between))
    exact = np.array([evaluator(ranks)[:, 0] for _, _, ranks in intervals])
    ends = np.array([evaluator(a)[:, 0], evaluator(b)[:, 0]]) if between else np.empty((0, len(labels)))
    edges = [line.bounds[0], *line.breaks.tolist(), line.bounds[1]]
    assert edges == sorted(set(edges))
    for (low, high, _), values in zip(intervals, exact, strict=True):
        place = int(np.searchsorted(line.breaks, float((low + high) / 2)))
        assert line.values[place, 0] == pytest.approx(values.mean(), abs=1e-12)
    assert len(line.values) <= len(intervals)
    best = line.best()
    of_all = sign * np.concatenate((exact, ends))
    assert sign * best.value == pytest.approx(of_all.mean(axis=1).max(), abs=1e-12)
    if best.interval[0] < best.interval[1]:
        assert best.interval[0] < best.t < best.interval[1]
        assert {evaluator.score(scores) for scores in forms(a, b, best.t, between)} == {best.value}
    assert best.at_break is None or sign * best.at_break.value > sign * best.value
    if len(labels) > 1:
        folds = len(labels)
        found = line.cross_validated(folds=folds, seed=1)
        fold = np.random.default_rng(1).permutation(len(labels)) % folds
        for i in range(folds):
            others = fold != i
            chosen = sign * evaluator(forms(a, b, found.t[i], between)[0])[others, 0].mean()
            assert chosen == pytest.approx(of_all[:, others].mean(axis=1).max(), abs=1e-12)
        assert line.plateau().low <= best.t <= line.plateau().high


def common_intervals(a, b, between):
    """Yield the intervals of several lists together, with the ranks in all of them."""
    edges = sorted({end for i in range(len(a)) for low, high, _ in exact_intervals(a[i], b[i], between)
                    for end in (low, high)})  # fmt: skip
    for low, high in itertools.pairwise(edges):
        if high - low > (NARROW if between else NARROW * max(1, min(abs(low), abs(high)))):
            ranks = []
            for starts, ends in zip(a.tolist(), b.tolist(), strict=True):
                t = (low + high) / 2
                scores = [
                    (1 - t) * Fraction(x) + t * Fraction(y) if between else Fraction(x) + t * Fraction(y)
                    for x, y in zip(starts, ends, strict=True)
                ]
                rank = {score: i for i, score in enumerate(sorted(set(scores)))}
                ranks.append([rank[score] for score in scores])
            yield low, high, np.array(ranks)


@pytest.mark.parametrize(("seed", "n_batches", "n_lists", "n_lines"), [
    (1, 6, 12, 25), pytest.param(2, 18, 100, 30, marks=pytest.mark.slow, id="thirty thousand in all"),
])  # fmt: skip
@pytest.mark.parametrize("between", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_lines_against_exact_arithmetic(kind, between, seed, n_batches, n_lists, n_lines):
    rng = np.random.default_rng(seed)
    for _ in range(n_batches):
        check_queries(rng, kind, between, n_lists)
    for _ in range(n_lines):
        check_line(rng, kind, between)


@pytest.mark.parametrize("between", [True, False])
def test_scores_whose_rounding_decides_have_values_that_a_t_has(between):
    """Multiples of the smallest number: sums of them are rounded to such multiples, so most tie at most t."""
    rng = np.random.default_rng(3)
    confused = 0
    for _ in range(25):
        shape = 2, int(rng.integers(2, 9))
        labels, a, b = rng.integers(0, 2, shape), *(rng.integers(0, 9, (2, *shape)) * 5e-324)
        evaluator = Evaluator(labels, "AP")
        line = evaluator.between(a, b) if between else evaluator.along(a, b)
        confused += line.steps.n_blurred > 0
        edges = [line.bounds[0], *line.breaks.tolist(), line.bounds[1]]
        for (low, high), mean in zip(itertools.pairwise(edges), line.values[:, 0].tolist(), strict=True):
            inside = [*points(low, high), *np.linspace(max(low, -99), min(high, 99), 300)[1:-1]]
            found = [[evaluator.score(scores) for scores in forms(a, b, t, between)] for t in inside]
            assert any(max(abs(value - mean) for value in values) < 1e-12 for values in found)
        best, own = line.best(), line.by_query()
        assert evaluator.score(forms(a, b, best.t, between)[0]) == best.value
        np.testing.assert_array_equal(evaluator(forms(a, b, own.t[:, None], between)[0])[:, 0], own.value)
    assert confused > 20


def test_a_hidden_tie_in_the_middle_is_avoided():
    """Two documents tie at 0.25, in the middle of an interval on whose both sides the mean is the same."""
    evaluator = Evaluator([[1, 0, 0], [1, 1, 0]], ["RR"])
    line = evaluator.between([[1.0, 0, -9], [1, -1, 0]], [[0.0, 1, -9], [-3, 3, 0]])
    assert line.best() == (0.2, 1.0, (0.0, 0.5))
    assert line.at(0.25)[0] < 1.0


def test_coarse_scores_raise_no_error():
    line = Evaluator([1, 1, 0], ["RR"]).between([1.0, 0.0, 0.5], [0.0, 1.0, 0.5])
    with pytest.warns(UserWarning, match=r"^RR is the same for every t from 0 to 1, except perhaps where"):
        line.best()
    assert line.best() == (0.4, 1.0, (0.0, 1.0))
    assert line.at(0.5)[0] == pytest.approx(5 / 6)
    assert Evaluator([1, 1, 1, 0], ["P@2"]).along([3, 0, 0, 0], [3, 0, 2, 1]).best() == (1.0, 1.0, (-1.5, np.inf))


def test_an_end_of_the_line_may_be_best():
    """The second system alone ties two documents, and each weighted sum puts the wrong one first."""
    own = Evaluator([1, 1, 0, 1], ["nDCG@3"]).between([0.3, 0.1, 0.2, 0.1], [0.1, 0.4, 0.4, 0.5]).by_query()
    assert (own.t.item(), own.low.item(), own.high.item()) == (1.0, 1.0, 1.0)
    assert own.value.item() == pytest.approx(0.7346394)


def test_crossings_that_coincide_in_decimals_are_one_break():
    """Three documents meet at 0.5; rounding of 0.1, 0.3 and so on parts their crossings."""
    a, b = [0.1, 0.2, 0.3, 0.7], [0.9, 0.8, 0.7, 0.3]
    line = Evaluator([1, 0, 0, 2], ["nDCG"]).between(a, b)
    assert line.breaks == pytest.approx([0.5], abs=1e-15)


def test_the_best_break():
    """Where three documents meet, the value may be above both sides; the interval is the sounder advice."""
    line = Evaluator([1, 0, 0], ["P@1"]).along([0.0, 1.0, -1.0], [0.0, -1.0, 1.0])
    best = line.best()
    assert best.value == 0.0
    assert best.at_break == (1.0, pytest.approx(1 / 3))
    assert pickle.loads(pickle.dumps(best)) == best
    assert Evaluator([1, 0], ["RR"]).between([0.0, 1.0], [1.0, 0.0]).best().at_break is None


def test_breaks_of_small_whole_scores_that_exceed_every_interval():
    """The best break is the best of all crossings, if one is above all intervals, and t has its value."""
    rng = np.random.default_rng(4)
    exceeding = 0
    for _ in range(150):
        labels, a, d = rng.integers(0, 2, (1, 6)), *(rng.integers(-2, 3, (2, 1, 6)) * 1.0)
        evaluator = Evaluator(labels, ["P@1"])
        line = evaluator.along(a, d)
        crossings = {
            Fraction(int(a[0, j] - a[0, i]), int(d[0, i] - d[0, j]))
            for i, j in itertools.combinations(range(6), 2) if d[0, i] != d[0, j]
        }  # fmt: skip
        # Elsewhere, rounding decides which documents tie.
        exact = [float(t) for t in crossings if t.denominator in (1, 2, 4)]
        highest = max((evaluator.score(a + t * d) for t in exact), default=0.0)
        best = line.best()
        if highest > best.value + 1e-12:
            exceeding += 1
            assert best.at_break.value >= highest - 1e-12
            assert evaluator.score(a + best.at_break.t * d) == best.at_break.value
    assert exceeding >= 5


@pytest.mark.parametrize(
    ("low", "high", "t"),
    [(0.619, 0.621, 0.62), (0.6193, 0.6199, 0.6196), (0.0, 1.0, 0.5), (0.5, 1.0, 0.7), (-3.0, -2.0, -2.5),
     (2.0, np.inf, 4.0), (-np.inf, -0.5, -2.0), (-np.inf, np.inf, 0.0), (1e-300, 3e-300, 2e-300),
     (1.7e308, np.inf, 1.74e308)],
)  # fmt: skip
def test_numbers_inside_an_interval_are_short_decimals(low, high, t):
    found = list(points(low, high))
    assert found[0] == t
    assert len(set(found)) >= len(found) - 1
    assert all(low < each < high for each in found)

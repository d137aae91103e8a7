"""Measures with uncertain labels, compared with all labels and orders, with the evaluator, and with simulation."""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from support import oracle
from support.errors import message_of
from support.queries import MEASURES as ALL_MEASURES

import tieaware
from tieaware import statistics
from tieaware.measures import parse_measure
from tieaware.statistics.uncertain_labels import label_uncertainty
from tieaware.statistics.uncertain_labels.label_uncertainty import by_formula
from tieaware.statistics.uncertain_labels.uncertain_lists import UncertainList, count_distribution

MEASURES = [each for each in ALL_MEASURES if "GMAP" not in each and "max_rel=7" not in each]
# The measures that always have a formula for short lists.
WITH_FORMULA = {"P", "R", "F1", "F", "Recall_cap", "AP", "AP_cap", "RR", "nDCG", "MSnDCG", "DCG", "RBP", "Success",
                "Hits", "ERR", "SDCG", "INSQ", "SetP", "SetR", "SetF", "NumRelRet", "Judged"}  # fmt: skip


def drawn(rng, longest=4, n_grades=3, certain=0.3, most_unretrieved=1):
    """Draw scores with ties and probabilities with certain, uncertain and unjudged documents; all are exact."""
    n = rng.randint(1, longest)
    scores = [float(rng.randrange(3)) for _ in range(n)]
    rows = [_row(rng, n_grades, certain) for _ in range(n + rng.randint(0, most_unretrieved))]
    judged = [row for row in rows[n:] if row[0] == row[0]]
    return scores, rows[:n], judged


def _row(rng, n_grades, certain):
    if rng.random() < 0.15:
        return [np.nan] * n_grades
    row = [0.0] * n_grades
    if rng.random() < certain:
        row[rng.randrange(n_grades)] = 1.0
        return row
    for _ in range(8):
        row[rng.randrange(n_grades)] += 0.125
    return row


def enumerated(measure, scores, rows, unretrieved):
    """Return the mean, the variance of labels and the variance of ties over all labels and orders, as fractions."""
    every = rows + unretrieved
    choices = [
        [(-1, Fraction(1))] if row[0] != row[0] else [(g, Fraction(p)) for g, p in enumerate(row) if p] for row in every
    ]
    mean = square = of_ties = Fraction(0)
    for assignment in product(*choices):
        labels = [label for label, _ in assignment]
        weight = Fraction(1)
        for _, p in assignment:
            weight *= p
        found = oracle.exact(measure, scores, labels[: len(scores)], labels)
        mean += weight * found.mean
        square += weight * found.mean**2
        of_ties += weight * found.variance
    return float(mean), float(square - mean**2), float(of_ties)


def with_labels(scores, rows, unretrieved, measures, **options):
    """Call the function for one list."""
    missed = (np.reshape(unretrieved, (len(unretrieved), len(rows[0]))), [0, len(unretrieved)])
    return statistics.with_uncertain_labels(scores, rows, measures, unretrieved=missed, **options)


@pytest.mark.parametrize("seed", range(48))
def test_all_labels_and_orders(seed):
    """Every measure, with certain, uncertain, unjudged and unretrieved documents."""
    rng = random.Random(seed)
    scores, rows, unretrieved = drawn(rng)
    some = MEASURES[seed % 8 :: 8]
    found = with_labels(scores, rows, unretrieved, some)
    for j, measure in enumerate(some):
        mean, of_labels, of_ties = enumerated(measure, scores, rows, unretrieved)
        assert found.mean[0, j] == pytest.approx(mean, abs=1e-13, rel=1e-13), measure
        assert found.std_of_labels[0, j] ** 2 == pytest.approx(of_labels, abs=1e-14, rel=1e-12), measure
        assert found.std_of_ties[0, j] ** 2 == pytest.approx(of_ties, abs=1e-14, rel=1e-12), measure
        assert found.std[0, j] ** 2 == pytest.approx(of_labels + of_ties, abs=1e-14, rel=1e-12), measure
        exact = parse_measure(measure).name in WITH_FORMULA
        assert found.method[0, j] == ("formula" if exact else "enumeration"), measure
    assert not found.error.any()


LARGE = ["P@10", "R@20", "F1@7", "AP", "AP@30", "RR", "RR@5", "Success@5", "nDCG", "nDCG@10", "nDCG(dcg='exp-log2')@20",
         "DCG", "RBP", "ERR@20", "ERR", "SDCG@10", "Recall_cap@10", "SetF", "nDCG(judged_only=True)@5"]  # fmt: skip


@pytest.mark.parametrize("levels", [1, 3, 10, 1000])
def test_certain_labels_have_the_values_of_the_evaluator(levels):
    rng = np.random.default_rng(levels)
    labels, scores = rng.choice([-1, 0, 0, 0, 1, 2], (5, 60)), rng.integers(0, levels, (5, 60)).astype(float)
    chances = np.where(labels[..., None] < 0, np.nan, labels[..., None] == np.arange(3))
    found = statistics.with_uncertain_labels(scores, chances, LARGE)
    spread = tieaware.Evaluator(labels, LARGE).spread(scores)
    np.testing.assert_allclose(found.mean, spread.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.std_of_ties, spread.std, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.std, spread.std, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.std_of_labels, 0.0, rtol=0, atol=1e-12)
    assert (found.method == "formula").all()


def test_certain_labels_of_a_measure_without_a_formula_have_the_bits_of_the_evaluator():
    labels, scores = [2, 0, 1, 0, 1], [3.0, 2.0, 2.0, 2.0, 1.0]
    found = statistics.with_uncertain_labels(scores, np.eye(3)[labels], ["Q", "Bpref", "nERR@3"])
    spread = tieaware.Evaluator(labels, ["Q", "Bpref", "nERR@3"]).spread(scores)
    assert (found.mean == spread.mean).all()
    np.testing.assert_allclose(found.std, spread.std, rtol=1e-14)
    assert (found.method == "enumeration").all()
    assert not found.std_of_labels.any()


@pytest.mark.parametrize("levels", [1, 4, 100])
def test_formulas_agree_with_simulated_labels(levels):
    """The sampled labels have exact values under ties, so that both parts of the variance can be compared."""
    rng = np.random.default_rng(levels)
    chances = rng.dirichlet([2.0, 1.0, 0.5], 40)
    chances[rng.random(40) < 0.2] = 0.0
    scores = rng.integers(0, levels, 40).astype(float)
    listed = UncertainList.ranked(scores, chances, rng.dirichlet([1.0, 1.0, 1.0], 3), np.arange(3.0))
    measures = tuple(parse_measure(name) for name in LARGE)
    samples = 1500
    for measure, simulated in zip(
        measures, label_uncertainty.sampled(listed, measures, samples, [levels]), strict=True
    ):
        exact = by_formula(listed, measure)
        assert exact.mean == pytest.approx(simulated.mean, abs=5 * simulated.error + 1e-12), measure
        assert exact.of_labels == pytest.approx(simulated.of_labels, rel=0.25, abs=1e-6), measure
        assert exact.of_ties == pytest.approx(simulated.of_ties, rel=0.1, abs=1e-6), measure


def test_sampling_reports_its_error():
    """Q has no formula. The mean of nDCG by sampling is within its errors of the exact one."""
    rng = np.random.default_rng(5)
    scores, chances = rng.integers(0, 5, 30).astype(float), rng.dirichlet([1.0] * 3, 30)
    found = statistics.with_uncertain_labels(scores, chances, ["Q", "nDCG"], samples=1000)
    assert found.method.tolist() == [["sampling", "formula"]]
    assert found.error[0, 0] == pytest.approx(found.std_of_labels[0, 0] / np.sqrt(1000))
    assert found.error[0, 1] == 0.0
    again = statistics.with_uncertain_labels(scores, chances, ["Q", "nDCG"], samples=1000)
    other = statistics.with_uncertain_labels(scores, chances, ["Q", "nDCG"], samples=1000, seed=1)
    assert (again.mean == found.mean).all()
    assert other.mean[0, 0] != found.mean[0, 0]
    assert other.mean[0, 0] == pytest.approx(found.mean[0, 0], abs=5 * (found.error[0, 0] + other.error[0, 0]))
    assert "sampled" in str(found.table())


def test_many_grades_without_a_cut_off_are_sampled():
    rng = np.random.default_rng(6)
    chances = rng.dirichlet([1.0] * 11, 60)
    found = statistics.with_uncertain_labels(np.arange(60.0), chances, ["nDCG", "DCG"], samples=200)
    assert found.method.tolist() == [["sampling", "formula"]]


def test_the_order_of_documents_changes_no_bit():
    rng = np.random.default_rng(7)
    scores, chances = rng.integers(0, 4, 25).astype(float), rng.dirichlet([1.0] * 3, 25)
    order = rng.permutation(25)
    found = statistics.with_uncertain_labels(scores, chances, [*LARGE, "Q"], samples=50)
    moved = statistics.with_uncertain_labels(scores[order], chances[order], [*LARGE, "Q"], samples=50)
    assert (found.mean == moved.mean).all()
    assert (found.std == moved.std).all()


def test_thousands_of_uncertain_documents_underflow_to_no_nan():
    chances = np.tile([0.25, 0.75], (3000, 1))
    found = statistics.with_uncertain_labels(np.arange(3000.0) // 3, chances, ["RR", "AP", "R@100", "Success@3"])
    assert np.isfinite(found.mean).all()
    assert found.mean[0, 2] == pytest.approx(100 / 3000, rel=1e-9)
    assert found.mean[0, 3] == pytest.approx(1 - 0.25**3, rel=1e-12)


def test_counts_have_the_binomial_distribution():
    import scipy.stats

    expected = scipy.stats.binom.pmf(np.arange(51), 50, 0.3)
    np.testing.assert_allclose(count_distribution(np.full(50, 0.3)), expected, rtol=1e-12)


def test_arrays_of_several_queries_and_unretrieved_documents():
    rng = np.random.default_rng(8)
    scores, chances = rng.integers(0, 3, (3, 5)).astype(float), rng.dirichlet([1.0, 1.0], (3, 5))
    missed = rng.dirichlet([1.0, 1.0], 4)
    together = statistics.with_uncertain_labels(scores, chances, "AP", unretrieved=(missed, [0, 1, 1, 4]))
    flat = statistics.with_uncertain_labels(
        scores.ravel(), chances.reshape(-1, 2), "AP", offsets=[0, 5, 10, 15], unretrieved=(missed, [0, 1, 1, 4])
    )
    assert (together.mean == flat.mean).all()
    last = with_labels(scores[2].tolist(), chances[2].tolist(), missed[1:].tolist(), "AP")
    assert last.mean[0, 0] == together.mean[2, 0]
    assert together.queries == (0, 1, 2)


def test_grades_may_be_real_numbers():
    scores, chances = [2.0, 1.0, 1.0], [[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]]
    found = statistics.with_uncertain_labels(scores, chances, ["DCG", "nDCG", "Q(rel=0.5)"], grades=[0.0, 0.7])
    whole = statistics.with_uncertain_labels(scores, chances, ["DCG", "nDCG"])
    assert found.mean[0, 0] == pytest.approx(0.7 * whole.mean[0, 0])
    assert found.mean[0, 1] == pytest.approx(whole.mean[0, 1])
    assert found.method[0, 2] == "enumeration"


def test_dicts_have_the_values_of_arrays():
    run = {"q1": {"d1": 3, "d2": 2, "d3": 2}, "q2": {"d1": 1.0}}
    chances = {
        "q1": {"d1": {0: 0.5, 2: 0.5}, "d2": {1: 1.0}, "d4": {0: 0.75, 1: 0.25}},
        "q2": {"d1": {1: 0.5, 0: 0.5}},
        "q3": {"d1": {1: 1}},
    }
    found = statistics.with_uncertain_labels(run, chances, ["nDCG", "R@2", "Bpref"])
    rows = [[0.5, 0, 0.5], [0, 1, 0], [np.nan] * 3, [0.5, 0.5, 0]]
    missed = ([[0.75, 0.25, 0], [0, 1, 0]], [0, 1, 1, 2])
    arrays = statistics.with_uncertain_labels(
        [3.0, 2, 2, 1], rows, ["nDCG", "R@2", "Bpref"], offsets=[0, 3, 4, 4], unretrieved=missed
    )
    assert found.queries == ("q1", "q2", "q3")
    assert (found.mean == arrays.mean).all()
    assert (found.std == arrays.std).all()
    assert not found.mean[2].any()


def test_the_mean_over_queries_has_the_variance_of_independent_queries():
    found = statistics.with_uncertain_labels([[2.0, 1.0]] * 4, [[[0.5, 0.5], [0.5, 0.5]]] * 4, "P@1")
    (row,) = found.table().rows
    assert row[:5] == ("P@1", 0.5, pytest.approx(0.25), pytest.approx(0.25), 0.0)
    assert repr(found) == "UncertainValues(P@1: 0.500 ± 0.250)"


def test_without_lists_there_is_no_mean():
    found = statistics.with_uncertain_labels([], np.zeros((0, 2)), "AP", offsets=[0])
    assert found.mean.shape == (0, 1)
    assert found.table().rows[0][1] is None
    assert repr(found) == "UncertainValues(no queries)"


HALF = [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1.0], [[0.5, 0.4]], "AP"), {}, "probabilities[0]: the probabilities must add up to 1; they add up to 0.9"),
        (([1.0], [[1.5, -0.5]], "AP"), {}, "probabilities[0, 0]: expected a probability from 0 to 1, found 1.5"),
        (([1.0], [[-0.5, 1.0]], "AP"), {}, "probabilities[0, 0]: expected a probability from 0 to 1, found -0.5"),
        (([1.0], [[np.nan, 1.0]], "AP"), {},
         "probabilities[0, 0]: is NaN, but other grades of the document are not"),
        (([1.0, 2.0], HALF, "AP"), {},
         "probabilities: must have the shape (2, n_grades), one column for each grade; found (1, 2)"),
        (([1.0], [["a", "b"]], "AP"), {}, "probabilities: must be numbers, not an array of object"),
        (([np.nan], HALF, "AP"), {}, "scores[0]: expected a number, found NaN"),
        (([[[1.0]]], HALF, "AP"), {}, "scores: expected one or two dimensions, found shape (1, 1, 1)"),
        (([1.0], HALF, "GMAP"), {}, "measures: GMAP has a geometric mean; write AP"),
        (([1.0], HALF, "alpha_nDCG@5"), {}, "measures: alpha_nDCG@5 needs subtopics, whose labels cannot be uncertain"),
        (([1.0], HALF, "AP"), {"grades": [0]}, "grades: must have 2 labels, one for each column; found shape (1,)"),
        (([1.0], HALF, "AP"), {"grades": [1, 1]}, "grades: must be different"),
        (([1.0], HALF, "AP"), {"grades": [-1, 1]},
         "grades: must be labels from 0 to 2147483647; for an unjudged document, write a row of NaN"),
        (([1.0], HALF, "ERR"), {"grades": [0, 9]}, "ERR: labels: expected at most max_rel=4, found 9"),
        (([1.0], HALF, "AP"), {"unretrieved": 3}, "unretrieved: expected a pair (probabilities, offsets), found 3"),
        (([1.0], HALF, "AP"), {"unretrieved": ([[1.0]], [0, 1])},
         "unretrieved: must have 2 columns, one for each grade; found shape (1, 1)"),
        (([1.0], HALF, "AP"), {"unretrieved": (HALF, [0, 0, 1])},
         "unretrieved: must have 1 queries, as the scores; found 2"),
        (([[1.0]], [HALF], "AP"), {"offsets": [0, 1]},
         "offsets: must not be given with two-dimensional scores: each row is already one list"),
        (([1.0], HALF, "AP"), {"samples": 1}, "samples: expected a whole number from 2 to 1,000,000, found 1"),
        (({"q": {"d": 1}}, {"q": {"d": {0: 0.5}}}, "AP"), {},
         "probabilities['q']['d']: the probabilities must add up to 1; they add up to 0.5"),
        (({"q": {"d": 1}}, {"q": {"d": {0: -0.5}}}, "AP"), {},
         "probabilities['q']['d'][0]: expected a number from 0 to 1, found -0.5"),
        (({"q": {"d": 1}}, {"q": {"d": {"good": 1}}}, "AP"), {},
         "a grade of probabilities['q']['d']: expected a number from 0 to 2.14748e+09, found 'good'"),
        (({"q": {"d": 1}}, {"q": {"d": 1}}, "AP"), {},
         "probabilities['q']['d']: expected {grade: probability}, found 1"),
        (({"q": {"d": 1}}, {"q": 1}, "AP"), {},
         "probabilities['q']: expected {document: {grade: probability}}, found 1"),
        (({"q": {"d": 1}}, {"q": {"d": {0: 1}}}, "AP"), {"grades": [0]},
         "grades: must not be given with a dict of probabilities, which already says it"),
        (({"a": {"q": {"d": 1}}, "b": {"q": {"d": 1}}}, {"q": {"d": {0: 1}}}, "AP"), {},
         "scores: must be one run; found 2"),
        (({"q": {"d": float("nan")}}, {"q": {"d": {0: 1}}}, "AP"), {}, "run['q']['d']: expected a number, found NaN"),
    ],
)  # fmt: skip
def test_errors_have_one_line(arguments, options, message):
    assert message_of(statistics.with_uncertain_labels, *arguments, **options) == message

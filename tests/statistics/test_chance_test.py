"""The test against chance, compared with all assignments of labels, the hypergeometric distribution and simulation."""

import random
from itertools import pairwise, permutations, product

import numpy as np
import pytest
import scipy.stats
from support.queries import MEASURES as ALL_MEASURES

import tieaware
from tieaware import reference, statistics
from tieaware.lists.grades import Grades
from tieaware.lists.judgments import Judgments
from tieaware.measures import parse_measure
from tieaware.statistics.random_orders import Distribution, LabelledList, placements, sum_of

MEASURES = [each for each in ALL_MEASURES if "GMAP" not in each] + ["infAP"]


def collection(rng, n_queries=1, longest=6, labels=(0, 0, 1, 2)):
    """Draw judgments and a run with ties. Some judged documents are not retrieved, some retrieved ones not judged."""
    qrels, run = {}, {}
    for q in range(n_queries):
        n = rng.randint(2, longest)
        qrels[f"q{q}"] = {f"d{i}": rng.choice(labels) for i in range(rng.randint(1, n))} | {"missing": 1}
        run[f"q{q}"] = {f"d{i}": float(rng.randrange(3)) for i in range(n)}
    return qrels, run


def assignments(judged, run):
    """Return the labels of the documents of a run, None if unjudged, in all distinct orders, with their numbers."""
    labels = [judged.get(document) for document in run]
    return list(permutations(labels))


def values_of(measure, judged, run, orders):
    return [reference.evaluate(measure, list(run.values()), list(order), list(judged.values())) for order in orders]


def at_least(measure, values, observed):
    less = parse_measure(measure).definition.less_is_better
    return np.mean([v <= observed + 1e-12 if less else v >= observed - 1e-12 for v in values])


@pytest.mark.parametrize("seed", range(12))
def test_p_of_a_query_is_the_share_of_all_assignments(seed):
    """Every measure, with ties, unjudged and unretrieved documents; the lists are short, so all p are exact."""
    rng = random.Random(seed)
    qrels, run = collection(rng, longest=5)
    judged, scores = qrels["q0"], run["q0"]
    some = MEASURES[seed % 3 :: 3]
    test = statistics.better_than_chance(qrels, run, some)
    orders = assignments(judged, scores)
    for j, measure in enumerate(some):
        values = values_of(measure, judged, scores, orders)
        assert test.exact_by_query[0, 0, j], measure
        assert test.p_by_query[0, 0, j] == pytest.approx(at_least(measure, values, values[0]), abs=1e-12), measure
        assert test.p[0, j] == pytest.approx(test.p_by_query[0, 0, j], abs=1e-12)
        assert test.error[0, j] == 0


@pytest.mark.parametrize("seed", range(4))
def test_p_of_the_mean_is_the_share_of_all_pairs_of_assignments(seed):
    rng = random.Random(seed)
    qrels, run = collection(rng, n_queries=2, longest=4)
    measures = ["AP", "RR", "P@2", "nDCG@2", "ESL", "R@3"]
    test = statistics.better_than_chance(qrels, run, measures)
    for j, measure in enumerate(measures):
        both = [values_of(measure, qrels[q], run[q], assignments(qrels[q], run[q])) for q in qrels]
        sums = [one + other for one, other in product(*both)]
        assert test.p[0, j] == pytest.approx(at_least(measure, sums, sums[0]), abs=1e-12), measure
    assert test.exact.all()


def test_hits_are_hypergeometric():
    """Without ties, P@k, R@k and Rprec count hits; also where the list has many relevant documents."""
    rng = np.random.default_rng(1)
    n, relevant, k = 500, 60, 20
    order = rng.permutation(n)
    qrels = {"q": {f"d{i}": 1 for i in range(relevant)}}
    run = {"q": {f"d{d}": float(-rank) for rank, d in enumerate(order)}}
    test = statistics.better_than_chance(qrels, run, [f"P@{k}", f"R@{k}", f"F1@{k}"])
    hits = np.count_nonzero(order[:k] < relevant)
    expected = scipy.stats.hypergeom(n, relevant, k).sf(hits - 1)
    np.testing.assert_allclose(test.p, expected, rtol=1e-10)
    first = int(np.flatnonzero(order < relevant)[0])
    test = statistics.better_than_chance(qrels, run, ["RR", "Success@5"])
    assert test.p[0, 0] == pytest.approx(1 - scipy.stats.hypergeom(n, relevant, first + 1).pmf(0), rel=1e-10)
    assert test.exact.all()


def test_the_mean_of_hits_over_queries_is_exact():
    """The sum of hypergeometric numbers of 40 queries, convolved as integers."""
    rng = np.random.default_rng(2)
    qrels, run, total, pmf = {}, {}, 0, np.ones(1)
    for q in range(40):
        n, relevant = int(rng.integers(20, 60)), int(rng.integers(1, 15))
        order = rng.permutation(n)
        qrels[f"q{q}"] = {f"d{i}": 1 for i in range(relevant)}
        run[f"q{q}"] = {f"d{d}": float(-rank) for rank, d in enumerate(order)}
        total += np.count_nonzero(order[:10] < relevant)
        pmf = np.convolve(pmf, scipy.stats.hypergeom(n, relevant, 10).pmf(np.arange(11)))
    test = statistics.better_than_chance(qrels, run, "P@10")
    assert test.exact.all()
    assert test.p.item() == pytest.approx(pmf[total:].sum(), rel=1e-9)


def test_simulated_p_values_agree_with_exact_ones(monkeypatch):
    rng = random.Random(5)
    qrels, run = collection(rng, n_queries=6, longest=7)
    measures = ["AP", "nDCG", "RR", "P@3", "ESL", "Bpref", "AP(judged_only=True)"]
    exact = statistics.better_than_chance(qrels, run, measures)
    assert exact.exact.all()
    monkeypatch.setattr("tieaware.statistics.random_orders.MOST_PLACEMENTS", 0)
    drawn = statistics.better_than_chance(qrels, run, measures, samples=40_000)
    assert not drawn.exact.any()
    assert (np.abs(drawn.p - exact.p) < 4.5 * drawn.error + 1e-4).all()
    assert (np.abs(drawn.p_by_query - exact.p_by_query) < 0.013).all()
    again = statistics.better_than_chance(qrels, run, measures, samples=40_000)
    np.testing.assert_array_equal(again.p, drawn.p)
    other = statistics.better_than_chance(qrels, run, measures, samples=40_000, seed=1)
    assert (other.p != drawn.p).any()


def test_long_lists_are_sampled():
    """Too many placements: p is simulated, and its standard error is known. Good, random and reversed runs."""
    rng = np.random.default_rng(6)
    qrels = {f"q{q}": {f"d{i}": int(i < 8) for i in range(30)} for q in range(5)}
    good = {q: {f"d{i}": float(-i) for i in range(300)} for q in qrels}
    bad = {q: {d: -score for d, score in documents.items()} for q, documents in good.items()}
    chance = {q: {f"d{i}": float(rng.random()) for i in range(300)} for q in qrels}
    runs = {"good": good, "bad": bad, "chance": chance}
    test = statistics.better_than_chance(qrels, runs, ["AP", "nDCG"], samples=999)
    assert not test.exact.any()
    np.testing.assert_array_equal(test.p[0], [0.001, 0.001])
    np.testing.assert_array_equal(test.p[1], [1.0, 1.0])
    assert (test.p[2] > 0.001).all()
    assert test.error[0] == pytest.approx(np.sqrt(0.001 * 0.999 / 999), rel=1e-12)


@pytest.mark.parametrize("measure", ["P@3", "AP", "RR"])
def test_p_values_of_random_runs_are_uniform_or_greater(measure):
    """The level of the test: under random labels, p ≤ α has a probability of at most α. Here with ties in the run."""
    rng = random.Random(7)
    found = []
    for _ in range(400):
        scores = {f"d{i}": float(rng.randrange(3)) for i in range(6)}
        qrels = {q: dict.fromkeys(rng.sample(sorted(scores), 2), 1) for q in ("q1", "q2")}
        found.append(statistics.better_than_chance(qrels, {"q1": scores, "q2": scores}, measure).p.item())
    for alpha in (0.05, 0.2, 0.5):
        assert np.mean(np.array(found) <= alpha) <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / 400)


def test_unanswered_queries_and_constant_runs_decide_nothing():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"z": 1}}
    runs = {"flat": {"q1": {"a": 1.0, "b": 1.0}, "q3": {"a": 2.0, "b": 1.0}}}
    test = statistics.better_than_chance(qrels, runs, ["AP", "P@1", "NumRel"])
    np.testing.assert_array_equal(test.p, 1.0)
    np.testing.assert_array_equal(test.p_by_query, 1.0)
    assert test.queries == ("q1", "q2", "q3")
    assert test.exact_by_query.all()
    assert repr(test) == "ChanceTest(flat AP: p=1, flat P@1: p=1, flat NumRel: p=1)"


def test_the_table_says_how_p_was_computed():
    qrels = {"q": {f"d{i}": 1 for i in range(20)}}
    run = {"bm25": {"q": {f"d{i}": float(-i) for i in range(200)}}}
    table = statistics.better_than_chance(qrels, run, ["map", "P_5"], samples=99).table()
    assert table.rows[0][:3] == ("bm25", "map", 0.01)
    assert table.rows[0][4] == "simulated"
    assert table.rows[1][3:] == (None, "exact")


def test_placements_are_all_assignments():
    """The shares of the placements add up to 1, and there is one for each way of filling the classes."""
    for sizes, counts in (((2, 3, 1), (2,)), ((1, 1, 4), (3, 1)), ((5,), (2, 2)), ((2, 2), ()), ((1,) * 6, (1, 1, 2))):
        found, shares = placements(sizes, counts, tieaware.AP)
        assert shares.sum() == pytest.approx(1.0, rel=1e-12)
        distinct = {tuple(sorted(placement)) for placement in map(tuple, found)}
        assert len(distinct) == len(found)
        # By brute force: each distinct filling of the classes by kinds.
        kinds = [kind for kind, count in enumerate(counts) for _ in range(count)] + [-1] * (sum(sizes) - sum(counts))
        ends = np.cumsum((0, *sizes))
        fillings = {
            tuple(tuple(sorted(order[a:b])) for a, b in pairwise(ends))
            for order in set(permutations(kinds))
        }
        assert len(fillings) == len(found)


def test_sums_with_too_many_values_are_not_exact():
    rng = np.random.default_rng(8)
    wide = [Distribution.of(rng.random(300), np.full(300, 1 / 300)) for _ in range(3)]
    assert sum_of(wide) is None
    assert len(sum_of(wide[:1]).values) == 300
    narrow = sum_of([Distribution.of(np.array([0.1, 0.2, 0.3]), np.full(3, 1 / 3))] * 30)
    # Sums of equal numbers in other orders count as one.
    assert len(narrow.values) == 61
    assert narrow.probabilities.sum() == pytest.approx(1.0)


def test_labels_may_be_real_numbers():
    """Their distribution is that of all assignments, and samples agree with it."""
    labels, scores = np.array([0.7, 0.0, 0.25, 0.7]), np.array([2.0, 2.0, 1.0, 0.0, 0.0])
    grades = Grades.of(labels)
    numbers = grades.numbers(labels)
    judgments = Judgments(numbers, np.array([0, 4]), None, grades)
    listed = LabelledList(scores, np.arange(4), numbers, judgments, 0, grades)
    measure = parse_measure("nDCG@3")
    values = tieaware.Evaluator(list(permutations([0.7, 0.0, 0.25, 0.7, -1.0])), measure)(np.tile(scores, (120, 1)))
    expected = Distribution.of(values[:, 0], np.full(120, 1 / 120))
    found = listed.distribution(measure)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-12)
    np.testing.assert_allclose(found.probabilities, expected.probabilities, rtol=1e-12)
    drawn = listed.samples((measure,), 20_000, np.random.default_rng(9))
    assert drawn.mean() == pytest.approx(values.mean(), abs=0.01)

"""Bounds of measures for nearly known scores, compared with all possible orders in exact fractions, and the spread."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracle import value
from support.queries import MEASURES, Query, evaluator, offsets_of, queries, scores_of

from tieaware import Evaluator, InputError, reference
from tieaware.measures import DEFINITIONS, parse_measure

GRADED = (
    "nDCG", "nDCG@3", "nDCG(dcg='exp-log2')@4", "DCG", "DCG@2", "DCG(gains={0: 0.25, 1: 0.3, 2: 0.7, 3: 0.7})",
    "nDCG(gains={0: 0, 1: 1, 2: 3.5, 3: 3.5})@3", "nDCG(discount='log',base=3.0)@4", "RBP(gains='label')",
    "RBP(p=0.5,gains={0: 0, 1: 0.1, 2: 0.2, 3: 0.7})@3", "SDCG@3", "SDCG(dcg='exp-log2',max_rel=3)", "INSQ", "INSQ@3",
    "MSnDCG@3", "nDCG(judged_only=True)@3", "DCG(judged_only=True)",
)  # fmt: skip
# No sums of gains, but their values never fall if, at each rank, more documents have each label.
INCREASING = (
    "ERR", "ERR@2", "ERR(max_rel=3)@3", "ERR(judged_only=True)", "nERR", "nERR@3", "nERR(max_rel=3,judged_only=True)@2",
    "iRBU", "iRBU(p=0.5)@4", "Compat", "Compat(p=0.5)", "Compat(normalize=False)",
)  # fmt: skip
# With labels 0 and 1 and unjudged documents, these know three kinds of documents.
THREE_KINDS = ("Q(beta=100.0,rel=0)", "O(rel=0)")
BINARY = tuple(each for each in MEASURES if each not in THREE_KINDS)


def draw(seed: int, grades: tuple[int, ...]) -> tuple[Query, list[float]]:
    """Draw a list of five documents and an error for each; several are equal, none or infinite."""
    rng = random.Random(seed)
    labels = tuple(rng.choice(grades) for _ in range(5))
    scores = tuple(rng.choice((0.1, 0.2, 0.3, 0.5, 0.7, np.inf, -np.inf, rng.random())) for _ in labels)
    errors = [rng.choice((0.0, 0.1, 0.1, 0.2, 0.2, np.inf, rng.random() / 3)) for _ in labels]
    return Query(scores, labels, (*labels, *rng.choices(grades, k=rng.choice((0, 2))))), errors


def possible_orders(query: Query, errors: list[float]) -> Iterator[tuple[int, ...]]:
    """Yield the labels of each order in which no document stands before another whose whole interval is above."""
    low = [-np.inf if e == np.inf else s - e for s, e in zip(query.scores, errors, strict=True)]
    high = [np.inf if e == np.inf else s + e for s, e in zip(query.scores, errors, strict=True)]
    n = len(low)
    for order in permutations(range(n)):
        if not any(low[order[j]] > high[order[i]] for i in range(n) for j in range(i + 1, n)):
            yield tuple(query.labels[i] for i in order)


def extremes(measure: str, query: Query, errors: list[float]) -> tuple[Fraction, Fraction]:
    values = [value(parse_measure(measure), order, query.judged) for order in set(possible_orders(query, errors))]
    return min(values), max(values)


@pytest.mark.parametrize("seed", range(12))
def test_two_weights_are_exact(seed):
    """The bounds of every measure are the extremes over all possible orders of documents of two kinds."""
    query, errors = draw(seed, (0, 1) if seed % 2 else (-2, -1, 0, 1, 1))
    bounds = evaluator([query], BINARY).bounds(scores_of([query]), errors)
    assert bounds.exact[["gains={0: 0.25" not in each for each in BINARY]].all()
    for i, measure in enumerate(BINARY):
        if bounds.exact[i]:
            found = bounds.min[0, i], bounds.max[0, i]
            expected = [float(each) for each in extremes(measure, query, errors)]
            assert found == pytest.approx(expected, rel=1e-13, abs=1e-15), measure


@pytest.mark.parametrize("measure", ["IPrec@0.4", "IAP11", "MaxF@4", "MaxF(beta=2.0)", "PRR", "PRR(i=2)"])
@pytest.mark.parametrize("seed", range(40, 46))
def test_measures_that_other_tests_define_are_exact(seed, measure):
    """The bounds are the extremes of the values of all possible orders, each evaluated without ties."""
    query, errors = draw(seed, (0, 1, 1))
    bounds = evaluator([query], [measure]).bounds(scores_of([query]), errors)
    orders = [Query((5.0, 4.0, 3.0, 2.0, 1.0), order, query.judged) for order in possible_orders(query, errors)]
    values = evaluator(orders, [measure])(scores_of(orders))
    assert bounds.min.item() == pytest.approx(values.min(), rel=1e-14)
    assert bounds.max.item() == pytest.approx(values.max(), rel=1e-14)


@pytest.mark.parametrize("measure", ["P(rel=2)@2", "AP(rel=2)", "RR(rel=3)", "RBP(rel=2)", "F1(rel=2)@3", "AUC(rel=2)"])
@pytest.mark.parametrize("seed", range(20, 26))
def test_measures_with_rel_are_exact_for_grades(seed, measure):
    query, errors = draw(seed, (-1, 0, 1, 2, 3))
    bounds = evaluator([query], [measure]).bounds(scores_of([query]), errors)
    expected = [float(each) for each in extremes(measure, query, errors)]
    assert (bounds.exact.all(), bounds.min.item(), bounds.max.item()) == (True, *map(pytest.approx, expected))


@pytest.mark.parametrize(("measures", "share"), [(GRADED, 0.85), (INCREASING, 0.8)])
def test_grades_are_bounded_and_mostly_tight(measures, share):
    """No possible order has a value outside of the bounds, to the last bit; most bounds are attained."""
    tight, total = 0, 0
    for seed in range(40):
        query, errors = draw(seed, (-2, -1, 0, 0, 1, 2, 3))
        lists = evaluator([query], measures)
        bounds = lists.bounds(scores_of([query]), errors)
        ideal = lists.chance().ideal
        for i, measure in enumerate(measures):
            least, greatest = extremes(measure, query, errors)
            # Only exact bounds are not rounded outwards; and no bound is above the computed value of the best order.
            rounding = 1e-15 if bounds.exact[i] else 0.0
            assert bounds.min[0, i] - rounding <= float(least), (seed, measure)
            assert float(greatest) <= bounds.max[0, i] + (rounding or (bounds.max[0, i] == ideal[0, i]) * 1e-15)
            assert bounds.max[0, i] <= ideal[0, i] or bounds.exact[i]
            ends = [float(least), float(greatest)]
            tight += int(np.isclose((bounds.min[0, i], bounds.max[0, i]), ends, rtol=1e-12, atol=1e-15).sum())
            total += 2
    assert total == 80 * len(measures)
    assert share * total < tight < total


def test_documents_of_a_higher_label_take_different_ranks():
    """The bound is the value of one order of the labels, in which no two documents have the same rank.

    The best order of labels 1 and 2 has them at the ranks 1, 2, 3, 5 and 6, that of label 2 alone at 3 and 4. Rank 3 is
    the last of the others' that is not below either, so the documents take the ranks 2 and 3. In the worst orders, the
    ranks are 1, 2, 4, 5, 6, and 3 and 4. Rank 4 is the first one that is not above either: they take 4 and 5.
    """
    best = Query((4.0, 5.0, 3.0, 4.0, 5.0, 1.0), (1, 0, 2, 1, 1, 2), (1, 0, 2, 1, 1, 2))
    worst = Query((2.0, 6.0, 1.0, 4.0, 2.0, 5.0), (0, 2, 1, 2, 1, 1), (0, 2, 1, 2, 1, 1))
    for query, errors, order, end in (
        (best, [4.0, 0.0, 0.0, 4.0, 0.0, 0.0], (1, 2, 2, 0, 1, 1), 1),
        (worst, [0.0, 0.0, 0.0, 0.0, 4.0, 4.0], (1, 1, 0, 2, 2, 1), 0),
    ):
        bounds = evaluator([query], INCREASING).bounds(scores_of([query]), errors)
        for i, measure in enumerate(INCREASING):
            least, greatest = extremes(measure, query, errors)
            assert bounds.min[0, i] <= float(least) <= float(greatest) <= bounds.max[0, i], measure
            expected = value(parse_measure(measure), order, query.judged)
            assert bounds[end][0, i] == pytest.approx(float(expected), rel=1e-13), measure


@settings(max_examples=60, deadline=None)
@given(st.lists(queries(), min_size=1, max_size=3), st.sampled_from((np.float64, np.float32)))
def test_no_error_gives_the_bits_of_the_spread(some, dtype):
    lists, scores = evaluator(some, undefined=float("nan")), scores_of(some, dtype)
    spread = lists.spread(scores)
    for error in (0, 0.0, np.zeros(len(scores))):
        bounds = lists.bounds(scores, error)
        np.testing.assert_array_equal(bounds, (spread.min, spread.max))
        assert bounds.exact.all()


@settings(max_examples=40, deadline=None)
@given(st.lists(queries(), min_size=2, max_size=3))
def test_lists_without_error_have_the_bits_of_the_spread(some):
    """Exact bounds of a list whose scores are known do not depend on the errors of other lists."""
    measures = [each for each in MEASURES if "rel" in parse_measure(each).parameters and "gains" not in each]
    measures = [each for each in measures if parse_measure(each).name not in ("Bpref", "Q", "O")]
    lists, scores = evaluator(some, measures), scores_of(some)
    errors = np.zeros(len(scores))
    errors[offsets_of([query.labels for query in some])[-2] :] = 1.5
    bounds, spread = lists.bounds(scores, errors), lists.spread(scores)
    np.testing.assert_array_equal(bounds.min[:-1], spread.min[:-1])
    np.testing.assert_array_equal(bounds.max[:-1], spread.max[:-1])
    # If all orders have one value, the mean may differ from it in the last bits, and the spread includes its mean.
    assert (bounds.min <= spread.min * (1 + 1e-15)).all()
    assert (spread.max <= bounds.max * (1 + 1e-15)).all()


def test_more_error_never_narrows_the_bounds():
    rng = np.random.default_rng(5)
    labels, scores = rng.integers(0, 4, (20, 60)), rng.normal(size=(20, 60))
    lists = Evaluator(labels, ["AP(rel=2)", "nDCG@10", "RR", "ESL(i=3)"])
    found = [lists.bounds(scores, error) for error in (0.0, 0.01, 0.1, 1.0, np.inf)]
    for narrow, wide in pairwise(found):
        assert (wide.min <= narrow.min).all()
        assert (wide.max >= narrow.max).all()
    tied = lists.spread(np.zeros((20, 60)))
    np.testing.assert_allclose(found[-1], (tied.min, tied.max), rtol=1e-13)
    assert (found[2].min < found[1].min).any()


def test_no_relevant_document_gives_the_undefined_value():
    lists = Evaluator([[0, 0, 0], [2, 1, 0]], ["nDCG", "RR"], undefined=7.0)
    bounds = lists.bounds([[3.0, 2.0, 1.0]] * 2, 0.5)
    assert bounds.min[0].tolist() == bounds.max[0].tolist() == [7.0, 7.0]
    assert bounds.max[1].tolist() == [1.0, 1.0]


def test_intervals_that_share_their_end_may_be_swapped():
    """0.25 + 0.25 is 0.75 - 0.25. The ends are rounded: 0.1 + 0.7 is below 0.8, but 0.8 in exact arithmetic."""
    assert Evaluator([1, 0], "RR").bounds([0.25, 0.75], 0.25).max.item() == 1.0
    assert Evaluator([1, 0], "RR").bounds([0.25, 0.7500000000000001], 0.25).max.item() == 0.5


def test_rounding_never_parts_intervals_that_meet():
    """If exact intervals of float64 numbers share a point, so do the rounded ones."""
    rng = np.random.default_rng(11)
    a, b, e, f = (rng.integers(1, 2**53, 2000) * 2.0**-53 for _ in range(4))
    meets = [Fraction(y) - Fraction(d) <= Fraction(x) + Fraction(c) for x, y, c, d in zip(a, b, e, f, strict=True)]
    labels, scores = np.tile([1, 0], 2000), np.stack((a, b), axis=1).ravel()
    lists = Evaluator(labels, "RR", offsets=np.arange(2001) * 2)
    assert (lists.bounds(scores, np.stack((e, f), axis=1).ravel()).max[np.array(meets), 0] == 1.0).all()
    # Exactly at the edge: the second interval begins where the first ends, up to the rounding of its own ends.
    edges = np.stack((a, np.minimum(a + e + f, 4.0)), axis=1).ravel()
    found = lists.bounds(edges, np.stack((e, f), axis=1).ravel()).max[:, 0]
    exact = [Fraction(y) - Fraction(d) <= Fraction(x) + Fraction(c)
             for x, y, c, d in zip(a, edges[1::2], e, f, strict=True)]  # fmt: skip
    assert (found[np.array(exact)] == 1.0).all()
    assert 0 < sum(exact) < 2000


@pytest.mark.parametrize("n", [1, 3])
def test_rows_threads_and_types(n):
    rng = np.random.default_rng(8)
    labels, scores = rng.integers(-1, 3, (40, 700)), rng.normal(size=(40, 700)).astype(np.float32)
    errors = rng.random((40, 700)) / 50
    labels[8], errors[9] = np.minimum(labels[8], 0), np.inf
    measures = ["AP", "AP(rel=2)", "nDCG@10", "DCG", "ESL", "P(judged_only=True)@5", "nERR@9", "ERR(judged_only=True)"]
    whole = Evaluator(labels, measures, threads=n, undefined=2.0)
    bounds = whole.bounds(scores, errors)
    assert bounds.exact.tolist() == [True, True, False, False, True, True, False, False]
    flat = Evaluator(labels.ravel(), measures, offsets=np.arange(41) * 700, undefined=2.0)
    np.testing.assert_array_equal(flat.bounds(scores.ravel().astype(float), errors.ravel()), bounds)
    some = flat.rows(7, 10).bounds(scores[7:10].ravel(), errors[7:10].ravel())
    np.testing.assert_array_equal(some, np.stack(bounds)[:, 7:10])
    assert (np.stack(bounds)[:, 8] == 2.0).all()
    np.testing.assert_array_equal(bounds.max[9, :4], whole.chance().ideal[9, :4])
    assert bounds.max[9, 6] == 1.0
    constant = whole.bounds(scores, 0.01)
    np.testing.assert_array_equal(whole.bounds(scores, np.full((40, 700), 0.01)), constant)


def test_sparse_lists_share_scores_and_errors(monkeypatch):
    """Scores of the items, an error of each score, and the reverse, with items that are not ranked."""
    relevance = sp.csr_array(np.array([[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 1]]))
    seen = sp.csr_array(np.array([[0, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]))
    lists = Evaluator.from_sparse(relevance, ["AP", "nDCG@2", "ERR"], exclude=seen)
    items, errors = np.array([0.9, 0.8, 0.5, 0.1]), np.array([0.1, 0.0, 0.2, 0.5])
    full = lists.bounds(np.tile(items, (3, 1)), np.tile(errors, (3, 1)))
    assert (full.min < full.max).any()
    for size in (1, 1 << 22):
        monkeypatch.setattr("tieaware.engine.bounds.COPIED_BYTES", size)
        np.testing.assert_array_equal(lists.bounds(items, errors), full)
    np.testing.assert_array_equal(lists.bounds(items, np.tile(errors, (3, 1))), full)
    np.testing.assert_array_equal(lists.bounds(np.tile(items, (3, 1)), errors), full)
    ranked = Evaluator([[1, 0, 2], [0, 1, 1]], ["AP", "nDCG@2", "ERR"])
    left = ranked.bounds([[0.9, 0.5, 0.1], [0.8, 0.5, 0.1]], [[0.1, 0.2, 0.5], [0.0, 0.2, 0.5]])
    np.testing.assert_array_equal(np.stack(full)[:, [0, 2], :2], np.stack(left)[..., :2])
    # How far the bounds of ERR are rounded outwards depends on the length of the longest list.
    np.testing.assert_allclose(np.stack(full)[:, [0, 2]], left, rtol=1e-14)
    scores = np.array([[0.9, np.nan, 0.5, 0.1], items, [np.nan, 0.8, 0.5, 0.1]])
    np.testing.assert_array_equal(lists.bounds(scores, errors), full)


@pytest.mark.parametrize("labels", [[1, 0, 0], [1, 0, 2]])
def test_a_precision_that_rounds_each_score_rounds_the_ends(labels):
    lists, plain = (Evaluator(labels, ["RR", "AP", "ERR"], precision=each) for each in ("decimals:0", None))
    scores, error = np.array([5.2, 5.8, 6.3]), 0.4
    low, high = np.round(scores - error), np.round(scores + error)
    expected = plain.bounds((low + high) / 2, (high - low) / 2)
    np.testing.assert_array_equal(lists.bounds(scores, error), expected)
    exact = plain.bounds(scores, error)
    assert (expected.max[0, 0], exact.max[0, 0]) == (1.0, 1.0 if labels[2] else 0.5)
    assert expected.max[0, 2] - expected.min[0, 2] > exact.max[0, 2] - exact.min[0, 2]


@pytest.mark.parametrize("seed", range(30))
def test_the_reference_agrees(seed):
    query, errors = draw(seed, (-1, 0, 1) if seed % 3 else (-1, 0, 1, 2, 3))
    for measure in ("AP", "RR", "P(rel=2)@2", "AUC", "ERR", "Rprec", "ESL", *GRADED):
        if "judged_only" in measure or "{0: 0.25" in measure or (measure == "ERR" and max(query.labels) > 1):
            continue
        bounds = evaluator([query], [measure]).bounds(scores_of([query]), errors)
        expected = reference.bounds(measure, query.scores, query.labels, errors, query.judged)
        assert (bounds.min.item(), bounds.max.item()) == pytest.approx(expected, rel=1e-13), measure


ONE, GRADES, TWO = [0, 1, 0], [0, 1, 2], [[1.0, 2.0, 3.0]]
REFUSED = {
    "negative": (ONE, "AP", {}, -0.1, "error: expected a number from 0 to inf, found -0.1"),
    "NaN": (ONE, "AP", {}, float("nan"), "error: expected a number from 0 to inf, found nan"),
    "text": (ONE, "AP", {}, "0.1", "error: expected a number from 0 to inf, found '0.1'"),
    "one negative": (ONE, "AP", {}, [0.0, 0.1, -0.5], "error[2]: expected a number of at least 0, found -0.5"),
    "one NaN": (ONE, "AP", {}, [0.0, np.nan, 0.5], "error[1]: expected a number of at least 0, found nan"),
    "shape": (ONE, "AP", {}, [0.0, 0.1], "error: expected shape (3,), found shape (2,)"),
    "AUC@2": (ONE, "AUC@2", {}, 0.1, "AUC@2: has no known bounds: a better order above a document can lower its value"),
    "INST": (ONE, "INST", {}, 0.1, "INST: has no known bounds: a better order above a document can lower its value"),
    "infAP": (ONE, "infAP", {}, 0.1, "infAP: has no known bounds: a better order above a document can lower its value"),
    "Q": (GRADES, "Q", {}, 0.1, "Q: labels: give documents more than two weights, and a better document that moves up "
          "can then lower the value"),
    "gain of 0": (GRADES, "DCG(gains={0: 1, 1: 2, 2: 3},judged_only=True)", {}, 0.1,
                  "DCG(gains={0: 1, 1: 2, 2: 3},judged_only=True): has no known bounds if label 0 has a gain and "
                  "unjudged documents are removed"),
    "levels": (ONE, "AP", {"precision": "levels:4"}, 0.1,
               "precision=levels:4: depends on all scores of a list, so bounds are not known"),
    "bands": (ONE, "AP", {"precision": "bands:2"}, 0.1,
              "precision=bands:2: depends on all scores of a list, so bounds are not known"),
    "ties": (ONE, "AP", {"ties": "run_order"}, 0.1,
             "ties: 'run_order' gives tied documents one order; a spread requires 'average'"),
    "real labels": (np.arange(1, 301) / 7.0, "nDCG", {}, 0.1,
                    "nDCG: labels: have 300 different values, but at most 255 are possible; round the labels"),
}  # fmt: skip


def test_the_page_lists_what_is_known():
    """The table in docs/precision.md names every family whose bounds for grades are not exact."""
    found: dict[str, set[str]] = {"outer bounds": set(), "refused": set()}
    for name, definition in DEFINITIONS.items():
        if definition.needs_subtopics:
            assert definition.own_extremes(parse_measure(name))
            continue
        try:
            exact = Evaluator(GRADES, name).bounds([3.0, 2.0, 1.0], 0.1).exact.item()
        except InputError:
            found["refused"].add(name)
        else:
            if not exact:
                found["outer bounds"].add(name)
    page = (Path(__file__).parents[2] / "docs/precision.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    for kind, names in found.items():
        of_kind = [row[0] for row in rows if len(row) == 3 and row[2].startswith(kind)]
        named = {each for row in of_kind for each in re.findall(r"\w+", row) if each in DEFINITIONS}
        assert named - {"RBP", "AUC"} == names


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    labels, measure, options, error, message = REFUSED[case]
    lists = Evaluator(labels, measure, **options)
    with pytest.raises(InputError) as raised:
        lists.bounds(np.arange(float(len(labels))), error)
    assert str(raised.value) == message


@pytest.mark.parametrize(("labels", "measure"), [(ONE, "AP"), (GRADES, "ERR")])
def test_nan_among_the_scores_is_an_error(labels, measure):
    with pytest.raises(InputError, match=r"^scores: expected numbers, found NaN for document 1 of query 0$"):
        Evaluator(labels, measure).bounds([0.0, np.nan, 1.0], np.inf)


def test_real_labels_are_bounded_by_steps():
    lists = Evaluator([0.25, 0.0, 0.75], ["nDCG", "AP(rel=0.5)", "ERR"])
    bounds = lists.bounds([1.0, 2.0, 3.0], 0.5)
    assert bounds.exact.tolist() == [False, True, False]
    values = [lists(np.array(order))[0] for order in ([1, 2, 3], [2, 1, 3], [1, 3, 2])]
    assert bounds.min[0] == pytest.approx(np.min(values, axis=0))
    assert bounds.max[0] == pytest.approx(np.max(values, axis=0))

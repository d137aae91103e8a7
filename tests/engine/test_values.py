"""The Evaluator's values, compared with the readable reference; and changes of the input that must not affect them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.queries import MEASURES, Query, evaluator, flat, offsets_of, queries, random_query, scores_of

from tieaware import reference
from tieaware.engine.means import means
from tieaware.evaluator import Evaluator
from tieaware.ties import RULES as TIE_RULES

TOLERANCE = 1e-12
EXTREMES = ("average", "optimistic", "pessimistic")
BY_DOCUMENT = tuple(name for name, rule in TIE_RULES.items() if rule.by_document)
RULES = (*EXTREMES, "run_order", *BY_DOCUMENT)


def assert_close(values: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(values, expected, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.fixture(scope="module")
def together(sweep: list[Query]) -> np.ndarray:
    """Return the values of all measures, computed together."""
    return evaluator(sweep)(scores_of(sweep))


@pytest.mark.parametrize("measure", MEASURES)
def test_a_measure_alone_is_the_measure_among_others(sweep, together, measure):
    """Computing other measures in the same call does not change a bit of a measure."""
    alone = evaluator(sweep, [measure])(scores_of(sweep))
    np.testing.assert_array_equal(alone, together[:, [MEASURES.index(measure)]])


def test_judged_documents_of_the_lists_are_the_default(sweep):
    """Without judgments, the number of relevant documents and the ideal gain are those of the lists."""
    known = [query._replace(judged=query.labels) for query in sweep]
    labels = [query.labels for query in sweep]
    alone = Evaluator(flat(labels, np.int64), MEASURES, offsets=offsets_of(labels))
    np.testing.assert_array_equal(alone(scores_of(sweep)), evaluator(known)(scores_of(sweep)))


@pytest.mark.parametrize("ties", RULES)
def test_float32_ties(ties):
    """Scores that differ in float64 but not in float32 tie if they are given as float32."""
    scores = np.array([1.0, 1.0 + 1e-12, 0.5])
    labels, docids = [1, 0, 0], ["c", "b", "a"]
    evaluate = Evaluator(labels, ["RR"], ties=ties, docids=docids if ties in BY_DOCUMENT else None)
    for each in (scores, scores.astype(np.float32)):
        assert evaluate(each).item() == reference.evaluate("RR", each.tolist(), labels, labels, ties, docids)
    assert evaluate(scores).item() == 0.5


# Lists too long to enumerate, compared with the reference.


def long_lists(seed: int) -> list[Query]:
    """Draw lists of hundreds of documents: few and many relevant ones, few and many distinct scores."""
    rng = np.random.default_rng(seed)
    drawn = []
    for n, share, distinct in [
        (40, 0.5, 3),
        (300, 1.0, 1),
        (700, 0.02, 5),
        (700, 0.5, 40),
        (700, 0.9, 300),
        (2500, 0.01, 2500),
        (2500, 0.3, 60),
    ]:
        labels = np.where(rng.random(n) < share, rng.integers(1, 5, n), rng.integers(-1, 1, n))
        scores = np.float32(rng.integers(0, distinct, n) / 7)
        judged = (*labels.tolist(), *rng.integers(-1, 5, 20).tolist())
        drawn.append(Query(tuple(scores.tolist()), tuple(labels.tolist()), judged))
    return drawn


LONG_MEASURES = (
    "P", "P@20", "R(rel=2)@200", "F1@100", "AP", "AP@100", "AP(rel=2)@1000", "AP(rel=0)", "RR", "RR@10",
    "RR(rel=4)", "nDCG", "nDCG@50", "nDCG(dcg='exp-log2')@10000", "DCG@30", "RBP(p=0.95)", "RBP(p=0.5)@40",
    "Success@5", "Success(rel=4)@2", "Rprec", "Rprec(rel=3)", "NumRet", "NumRel", "NumRelRet(rel=2)",
)  # fmt: skip


@pytest.fixture(scope="module")
def long_queries() -> list[Query]:
    return long_lists(3)


def ids_of(some: list[Query], seed: int) -> list[list[str]]:
    """Draw document ids whose order as text differs from their order as numbers."""
    rng = random.Random(seed)
    return [[f"d{i}" for i in rng.sample(range(10 * len(q.labels)), len(q.labels))] for q in some]


@pytest.mark.parametrize("ties", RULES)
def test_long_lists(long_queries, ties):
    """Kernels and the readable reference agree on long lists under every tie rule. The scores are exact in float32."""
    ids = ids_of(long_queries, 4)
    docids = [d for some in ids for d in some] if ties in BY_DOCUMENT else None
    evaluate = evaluator(long_queries, LONG_MEASURES, ties=ties, docids=docids)
    expected = [
        [reference.evaluate(m, q.scores, q.labels, q.judged, ties, d) for m in LONG_MEASURES]
        for q, d in zip(long_queries, ids, strict=True)
    ]
    for dtype in (np.float64, np.float32):
        assert_close(evaluate(scores_of(long_queries, dtype)), np.array(expected))


@pytest.mark.parametrize("ties", RULES)
def test_any_number_of_threads_gives_the_same_bits(ties):
    """1, 2 and 8 threads give the same bits in a call, in `many` and in `columns`."""
    rng = random.Random(8)
    some = [random_query(rng, 30) for _ in range(200)] + long_lists(9) + [random_query(rng, 5)]
    docids = [d for ids in ids_of(some, 10) for d in ids] if ties in BY_DOCUMENT else None
    scores = scores_of(some)
    coarse = np.arctan(scores)
    candidates = np.stack([scores, -scores, np.round(coarse), np.floor(coarse * 7)] * 5)
    bits = set()
    for threads in (1, 2, 8):
        evaluate = evaluator(some, ties=ties, docids=docids, threads=threads)
        values = evaluate(scores)
        many = evaluate.many(candidates)
        np.testing.assert_array_equal(evaluate.columns(candidates.T), many)
        np.testing.assert_array_equal(many[0], evaluate.mean(scores))
        np.testing.assert_allclose(many[0], means(values, evaluate.measures), rtol=1e-13)
        spread = np.stack(evaluate.spread(scores)) if ties == "average" else values
        bits.add(values.tobytes() + many.tobytes() + spread.tobytes())
    assert len(bits) == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_and_the_order_of_the_input_change_no_bit_of_other_measures(dtype):
    """These measures are tested apart, because some tie rules or long lists refuse them."""
    rng = random.Random(13)
    some = [random_query(rng, 25) for _ in range(150)]
    names = ("infAP", "infAP(rel=2)", "IPrec@0.0", "IPrec@0.4", "IAP11", "AUC@3", "AUC(judged_only=True)@7")
    turned = []
    for query in some:
        order = rng.sample(range(len(query.labels)), len(query.labels))
        turned.append(Query(tuple(query.scores[i] for i in order), tuple(query.labels[i] for i in order), query.judged))
    bits = {
        evaluator(lists, names, threads=threads)(scores_of(lists, dtype)).tobytes()
        for lists in (some, turned)
        for threads in (1, 2, 8)
    }
    assert len(bits) == 1


# Changes of the input that must not change the values.


@given(query=queries(longest=12), seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=100)
def test_order_of_the_input(query, seed):
    """The order of the input changes no bit, except under run order."""
    order = random.Random(seed).sample(range(len(query.labels)), len(query.labels))
    docids = [f"{i:x}" for i in range(len(order))]
    turned = Query(tuple(query.scores[i] for i in order), tuple(query.labels[i] for i in order), query.judged[::-1])
    both = [query, turned]
    for ties in (*EXTREMES, *BY_DOCUMENT):
        ids = [*docids, *(docids[i] for i in order)] if ties in BY_DOCUMENT else None
        values, again = evaluator(both, ties=ties, docids=ids)(scores_of(both))
        np.testing.assert_array_equal(values, again)


@pytest.mark.parametrize("ties", RULES[:4])
@given(
    documents=st.lists(st.tuples(st.integers(-3, 3), st.integers(-1, 4)), max_size=12),
    transform=st.sampled_from([np.exp, np.cbrt, np.arctan, lambda x: x**3 + 7.0, lambda x: x * 2.0**-1073]),
)
@settings(deadline=None, max_examples=30)
def test_monotone_transforms(ties, documents, transform):
    """Only the order and the ties of the scores matter."""
    scores = np.array([float(score) for score, _ in documents])
    evaluate = Evaluator(np.array([label for _, label in documents], dtype=int), MEASURES, ties=ties)
    np.testing.assert_array_equal(evaluate(transform(scores)), evaluate(scores))


def test_without_ties_every_rule_is_the_classic_measure():
    """Without ties, every tie rule gives the value of the measure's definition for the ranking."""
    rng = random.Random(11)
    some = [random_query(rng, 30) for _ in range(40)]
    some = [q._replace(scores=tuple(rng.sample(range(1000), len(q.scores)))) for q in some]
    docids = [d for ids in ids_of(some, 12) for d in ids]
    expected = np.array([[reference.evaluate(m, *q, ties="run_order") for m in MEASURES] for q in some])
    for ties in RULES:
        evaluate = evaluator(some, ties=ties, docids=docids if ties in BY_DOCUMENT else None)
        assert_close(evaluate(scores_of(some)), expected)

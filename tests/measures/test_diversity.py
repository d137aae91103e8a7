"""Measures of diversity agree with enumeration, the reference, and ndeval."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from support import diversity_values, oracle

import tieaware
from tieaware import InputError, Qrels, evaluate, reference
from tieaware.measures import parse_measure

MEASURES = (
    "alpha_DCG", "alpha_DCG@1", "alpha_DCG@3", "alpha_DCG(alpha=0.0)@4", "alpha_DCG(alpha=1.0)", "alpha_DCG(rel=2)@2",
    "alpha_DCG(judged_only=True)@2", "alpha_DCG(alpha=0.3,rel=0)@5",
    "alpha_nDCG", "alpha_nDCG@1", "alpha_nDCG@3", "alpha_nDCG(alpha=0.9)@10", "alpha_nDCG(judged_only=True)@2",
    "ERR_IA", "ERR_IA@1", "ERR_IA@3", "ERR_IA(alpha=0.2,rel=2)@4", "nERR_IA", "nERR_IA@2", "nERR_IA(rel=0)@3",
    "NRBP", "NRBP(alpha=0.2,beta=0.8)", "NRBP(rel=2)", "nNRBP", "nNRBP(alpha=1.0,beta=0.3)",
    "P_IA", "P_IA@1", "P_IA@3", "P_IA@10", "P_IA(rel=2)@2", "P_IA(judged_only=True)@2",
    "AP_IA", "AP_IA(rel=2)", "AP_IA(judged_only=True)", "AP_IA(rel=0)",
    "StRecall", "StRecall@1", "StRecall@2", "StRecall@3", "StRecall(rel=2)@2", "StRecall(rel=0)@2",
)  # fmt: skip

Document = tuple[int, ...]


class Query(NamedTuple):
    """A list of documents with a score and a label for each subtopic, judged documents that are not in it, weights."""

    scores: tuple[float, ...]
    documents: tuple[Document, ...]
    others: tuple[Document, ...]
    weights: tuple[int, ...]


def random_query(rng: random.Random, longest: int = 6) -> Query:
    """Draw a list with few distinct scores and few distinct documents."""
    n_subtopics = rng.randint(1, 3)
    kinds = [tuple(rng.choice((-1, 0, 1, 1, 2)) for _ in range(n_subtopics)) for _ in range(rng.randint(1, 4))]
    kinds.append((-1,) * n_subtopics)
    n = rng.randint(1, longest)
    return Query(
        tuple(float(rng.randint(0, 2)) for _ in range(n)),
        tuple(rng.choice(kinds) for _ in range(n)),
        tuple(rng.choice(kinds) for _ in range(rng.randint(0, 3))),
        tuple(rng.randint(1, 4) for _ in range(n_subtopics)),
    )


def arguments(queries: Sequence[Query]) -> tuple[dict, dict, dict]:
    """Return the judgments, the run and the weights of queries as dicts.

    Identifiers descend with the position, so that ndeval's ideal prefers earlier documents.
    """
    qrels: dict = {}
    run: dict = {}
    weights: dict = {}
    for q, query in enumerate(queries):
        listed = [*query.documents, *query.others]
        names = [f"d{len(listed) - i:03}" for i in range(len(listed))]
        run[f"q{q}"] = dict(zip(names, query.scores, strict=False))
        qrels[f"q{q}"] = {
            f"s{i}": {name: document[i] for name, document in zip(names, listed, strict=True) if document[i] >= 0}
            for i in range(len(query.weights))
        }
        # A subtopic that no document is judged for does not exist.
        weights[f"q{q}"] = {f"s{i}": weight for i, weight in enumerate(query.weights)}
    return qrels, run, weights


def exact(measure: str, query: Query, weighted: bool = False) -> tuple[float, float, float, float]:
    """Return the mean, standard deviation, minimum and maximum over all orders."""
    parsed = parse_measure(measure)
    judged = [d for d in (*query.documents, *query.others) if max(d) >= 0]
    weights = [Fraction(w) for w in query.weights] if weighted else None
    found = [
        (diversity_values.value(parsed, order, judged, weights), times)
        for order, times in oracle.enumerate_orders(query.scores, query.documents).items()
    ]
    n = sum(times for _, times in found)
    mean = sum((value * times for value, times in found), Fraction(0)) / n
    variance = sum(((value - mean) ** 2 * times for value, times in found), Fraction(0)) / n
    return float(mean), float(variance) ** 0.5, float(min(v for v, _ in found)), float(max(v for v, _ in found))


QUERIES = [random_query(random.Random(f"diversity {i}")) for i in range(60)]


# The ideal of each has two documents whose gains are equal, but not their doubles: 0.1 · 10 and 1 for alpha 0.9.
EQUAL_GAINS = {
    "alpha_nDCG(alpha=0.9)@10": Query(
        (1.0, 0.0), ((0, 0, 1, 1), (0, 0, 0, 0)),
        ((0, 1, 0, 1), (1, 0, 1, 0), (0, 0, 1, 1), (0, 1, 0, 1)), (1, 9, 2, 10),
    ),
    "alpha_nDCG(alpha=0.8)@10": Query(
        (1.0, 0.0), ((0, 1, 1, 1), (0, 1, 0, 1)),
        ((1, 1, 0, 0), (0, 1, 0, 1), (0, 0, 0, 1), (0, 0, 0, 1), (1, 0, 1, 0), (0, 0, 0, 1)), (2, 9, 3, 10),
    ),
    "nERR_IA(alpha=0.9)@9": Query(
        (1.0, 0.0), ((0, 1, 1, 0), (1, 1, 0, 0)),
        ((0, 0, 1, 0), (1, 0, 1, 0), (0, 1, 1, 0), (1, 0, 1, 0), (1, 1, 0, 0), (1, 0, 0, 1)), (2, 10, 10, 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("measure", EQUAL_GAINS)
def test_equal_gains_of_an_ideal_do_not_depend_on_rounding(measure):
    query = EQUAL_GAINS[measure]
    qrels, run, weights = arguments([query])
    expected = pytest.approx(exact(measure, query, weighted=True)[0], rel=1e-12)
    assert evaluate(Qrels.from_dict(qrels).with_intents(weights), run, measure).values.item() == expected
    parsed = parse_measure(measure)
    by_name = reference.MEASURES[parsed.name][0]
    judged, alpha, k = (*query.documents, *query.others), parsed["alpha"], parsed.cutoff
    assert by_name(query.documents, judged, alpha=alpha, k=k, weights=query.weights) == expected


@pytest.mark.parametrize("measure", MEASURES)
def test_reference_agrees_with_enumeration(measure):
    """The reference has the mean and the variance over all orders."""
    for query in QUERIES[:30]:
        judged = [d for d in (*query.documents, *query.others) if max(d) >= 0]
        given = measure, query.scores, query.documents, judged
        mean, std, _, _ = exact(measure, query)
        assert reference.evaluate(*given) == pytest.approx(mean, rel=1e-12, abs=1e-14)
        assert reference.variance(*given) == pytest.approx(std**2, rel=1e-9, abs=1e-14)


NDEVAL = {
    "alpha-DCG@5": "alpha_DCG@5", "alpha-nDCG@1": "alpha_nDCG@1", "alpha-nDCG@10": "alpha_nDCG@10",
    "ERR-IA@5": "ERR_IA@5", "nERR-IA@20": "nERR_IA@20", "NRBP": "NRBP", "nNRBP": "nNRBP", "MAP-IA": "AP_IA",
    "P-IA@10": "P_IA@10", "strec@5": "StRecall@5",
}  # fmt: skip


@pytest.mark.parametrize(("alpha", "rel"), [(0.5, 1), (0.25, 2), (0.9, 1)])
def test_ndeval_agrees_without_ties(alpha, rel):
    """Without ties, all values are those of ndeval, which takes alpha for ERR-IA too."""
    pyndeval = pytest.importorskip("pyndeval")
    rng = random.Random(f"ndeval {alpha} {rel}")
    qrels, run = {}, {}
    for q in range(40):
        documents = [f"d{rng.randrange(10**6)}" for _ in range(30)]
        qrels[f"q{q}"] = {
            f"s{i}": {d: rng.choice((0, 0, 1, 2)) for d in rng.sample(documents, 12)} for i in range(rng.randint(1, 5))
        }
        run[f"q{q}"] = {d: float(i) for i, d in enumerate(rng.sample(documents, 25))}
    rows = [(q, s, d, label) for q, subtopics in qrels.items() for s, j in subtopics.items() for d, label in j.items()]
    judged = pyndeval.RelevanceEvaluator(rows, list(NDEVAL), rel, alpha, 0.5)
    theirs = judged.evaluate([(q, d, score) for q, scores in run.items() for d, score in scores.items()])
    names = [_with(name, alpha, rel) for name in NDEVAL.values()]
    ours = evaluate(qrels, run, names)
    for q, query in enumerate(ours.queries):
        expected = [theirs[query][name] for name in NDEVAL]
        np.testing.assert_allclose(ours.values[0, q], expected, rtol=1e-12, atol=1e-14, err_msg=str(query))


def _with(name: str, alpha: float, rel: int) -> tieaware.Measure:
    measure = parse_measure(name)
    return measure(rel=rel, alpha=alpha) if "alpha" in measure.parameters else measure(rel=rel)


def test_ordinary_measures_use_the_highest_label():
    """With judgments of subtopics, the label of a document for other measures is the highest of its labels."""
    qrels, run, _ = arguments(QUERIES)
    plain: dict = {}
    for query, subtopics in qrels.items():
        plain[query] = {}
        for judged in subtopics.values():
            for document, label in judged.items():
                plain[query][document] = max(label, plain[query].get(document, -1))
    ordinary = [
        "nDCG@3", "AP", "ERR(max_rel=3)@4", "nERR", "Q", "Bpref", "RBP(gains='label')", "P(rel=0)@2", "iRBU", "INST",
        "Compat", "O", "PPlus", "MeanRank", "Judged(pool=True)@2", "Hole@3", "infAP",
    ]  # fmt: skip
    for options in ({}, {"ties": "optimistic"}, {"ties": "trec_eval"}, {"spread": True}):
        ours, theirs = (evaluate(each, run, ordinary, **options) for each in (qrels, plain))
        np.testing.assert_array_equal(ours.values, theirs.values)
        if options.get("spread"):
            np.testing.assert_array_equal(ours.max, theirs.max)
            np.testing.assert_array_equal(ours.std, theirs.std)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("measure", MEASURES)
def test_values_and_spread_agree_with_enumeration(measure, weighted):
    """Mean, standard deviation, minimum and maximum are those over all orders, with and without weights of intents.

    The tie rules give the largest and the smallest value.
    """
    qrels, run, weights = arguments(QUERIES)
    judged = Qrels.from_dict(qrels).with_intents(weights) if weighted else Qrels.from_dict(qrels)
    result = evaluate(judged, run, measure, spread=True)
    for rule, cube in (("optimistic", result.max), ("pessimistic", result.min)):
        np.testing.assert_array_equal(evaluate(judged, run, measure, ties=rule).values, cube)
    means = [exact(measure, query, weighted)[0] for query in QUERIES]
    np.testing.assert_allclose(evaluate(judged, run, measure).values[0, :, 0], means, rtol=1e-12, atol=1e-14)
    for q, query in enumerate(QUERIES):
        found = [float(cube[0, q, 0]) for cube in (result.values, result.std, result.min, result.max)]
        np.testing.assert_allclose(found, exact(measure, query, weighted), rtol=1e-11, atol=1e-14, err_msg=str(query))


def test_ir_measures_install_serves_them():
    """Through ir_measures, values are those of pyndeval without ties, and averaged with ties."""
    tool = pytest.importorskip("ir_measures")
    pytest.importorskip("pyndeval")
    from tieaware.integrations import ir_measures as ours

    rng = random.Random("ir_measures")
    rows = [
        tool.Qrel(f"q{q}", f"d{d}", rng.randint(0, 2), f"s{s}")
        for q in range(5) for s in range(3) for d in rng.sample(range(20), 8)
    ]  # fmt: skip
    run = {f"q{q}": {f"d{d}": float(i) for i, d in enumerate(rng.sample(range(20), 15))} for q in range(5)}
    measures = [
        tool.alpha_nDCG @ 10, tool.alpha_DCG(alpha=0.3) @ 5, tool.ERR_IA @ 20, tool.nERR_IA @ 3, tool.NRBP,
        tool.nNRBP(beta=0.8), tool.AP_IA, tool.P_IA(rel=2) @ 5, tool.StRecall @ 2, tool.nDCG @ 3,
    ]  # fmt: skip
    # With several measures, pyndeval's provider reads the run only once.
    theirs = [value for measure in measures for value in tool.iter_calc([measure], rows, run)]
    found = list(ours.provider().iter_calc(measures, rows, run))
    assert {(m.query_id, str(m.measure)): m.value for m in found} == pytest.approx(
        {(m.query_id, str(m.measure)): m.value for m in theirs}, rel=1e-12, abs=1e-15
    )
    tied = {"q0": dict.fromkeys(run["q0"], 1.0)}
    value = ours.provider().calc_aggregate([tool.StRecall @ 1], [row for row in rows if row.query_id == "q0"], tied)
    relevant = {(row.doc_id, row.iteration) for row in rows if row.query_id == "q0" and row.relevance > 0}
    hits = sum(document in run["q0"] for document, _ in relevant)
    assert value[tool.StRecall @ 1] == pytest.approx(hits / len(run["q0"]) / len({s for _, s in relevant}))


def one_tie(n, *subtopics):
    """Return judgments and a run of n documents that all tie; each subtopic is a list of document numbers."""
    qrels = {"q": {f"s{i}": {f"d{d}": 1 for d in documents} for i, documents in enumerate(subtopics)}}
    return qrels, {"q": {f"d{d}": 1.0 for d in range(n)}}


def test_large_ties():
    """In a tie of 20,000 documents, means follow from the chances of single slots."""
    n = 20_000
    qrels, run = one_tie(n, range(1000), range(500, 1500), [3])
    result = evaluate(qrels, run, ["P_IA@10", "StRecall@1", "alpha_DCG(alpha=0.0)@5", "ERR_IA@10"])
    share = (1000 + 1000 + 1) / (3 * n)
    np.testing.assert_allclose(result.values[0, 0, :3], [share, share, share], rtol=1e-12)
    chance = 0.0
    weights = math.fsum(0.5**j / (j + 1) for j in range(10))
    for r in (1000, 1000, 1):
        # The mean of (1 - alpha)^H over the documents before a slot, as a product over the relevant documents.
        for x in range(10):
            terms = [0.0] * (x + 1)
            terms[0] = 1.0
            for y in range(x):
                for h in range(y, -1, -1):
                    hit = max(r - 1 - h, 0) / (n - 1 - y)
                    terms[h + 1] += terms[h] * hit
                    terms[h] *= 1.0 - hit
            chance += r / n / (x + 1) * math.fsum(0.5**h * each for h, each in enumerate(terms)) / 3
    assert result.values[0, 0, 3] == pytest.approx(chance / weights, rel=1e-12)


def test_values_do_not_depend_on_the_number_of_threads_or_the_order_of_documents():
    """All outputs have the same bits for one thread and three, and for a shuffled run."""
    qrels, run, _ = arguments(QUERIES)
    rng = random.Random("shuffled")
    shuffled = {q: dict(rng.sample(list(scores.items()), len(scores))) for q, scores in run.items()}
    first = evaluate(qrels, run, list(MEASURES), spread=True, threads=1)
    for other in (evaluate(qrels, run, list(MEASURES), spread=True, threads=3),
                  evaluate(qrels, shuffled, list(MEASURES), spread=True)):  # fmt: skip
        for name in ("values", "std", "min", "max"):
            np.testing.assert_array_equal(getattr(first, name), getattr(other, name))


@pytest.mark.parametrize("measure", ["alpha_nDCG", "AP_IA", "NRBP", "StRecall@20"])
def test_spreads_that_take_too_long_are_refused(measure):
    """The extremes of a tie with many combinations of subtopics need a search that is too large; the mean does not."""
    subtopics = [[d for d in range(60) if d >> i & 1 or d == i + 30] for i in range(6)] + [[d] for d in range(40, 60)]
    qrels, run = one_tie(100, *subtopics)
    assert 0.0 < evaluate(qrels, run, measure).values[0, 0, 0] <= 1.0
    for options in ({"spread": True}, {"ties": "optimistic"}):
        with pytest.raises(InputError, match=r"the exact value for this query takes too much time or memory"):
            evaluate(qrels, run, measure, **options)


def test_queries_without_a_relevant_document_are_undefined():
    """The value is 0, or what `undefined` says, if no document is relevant to a subtopic with a weight."""
    qrels = Qrels.from_dict({"q": {"a": {"d1": 0}}, "p": {"a": {"d1": 1}, "b": {"d2": 0}}})
    run = {"q": {"d1": 1.0}, "p": {"d1": 1.0, "d2": 1.0}}
    for measure in ("alpha_nDCG@5", "ERR_IA@5", "NRBP", "P_IA@1", "AP_IA", "StRecall@1"):
        assert evaluate(qrels, run, measure, undefined=-1.0).values[0, 0, 0] == -1.0
        assert evaluate(qrels, run, measure).values[0, 0, 0] == 0.0
    weighted = qrels.with_intents({"q": {"a": 1}, "p": {"a": 0, "b": 1}})
    assert evaluate(weighted, run, "StRecall@1", undefined=-1.0).values[0, 1, 0] == -1.0

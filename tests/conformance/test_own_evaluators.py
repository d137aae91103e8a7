"""tieaware's own entry points give the exact values of the conformance set, under every tie rule."""

import re

import numpy as np
import pytest

import tieaware
from tieaware import conformance, reference
from tieaware.integrations import link_prediction
from tieaware.integrations import pytrec_eval as pytrec_eval_face
from tieaware.precision import Float32
from tieaware.ties import RULES

# A run without judged documents gives a warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*no document of this run is judged")

CASES = conformance.cases()
MEASURES = tuple(CASES[0].values)
# The measures that every case has.
ALL_LABELS = tuple(measure for measure in MEASURES if all(measure in case.values for case in CASES))
WHOLE = [case for case in CASES if "real-labels" not in case.tags]
BOTH = [(WHOLE, MEASURES), (CASES, ALL_LABELS)]
BY_DOCUMENT = ("trec_eval", "docid_ascending")
TOLERANCE = 1e-13


def expected(cases, measures, column):
    return np.array([[float(getattr(case.values[each], column)) for each in measures] for case in cases])


def columns(case):
    """Return the documents, scores and labels of the list, and the labels of all judged documents."""
    run, judged = case.run[case.id], case.qrels[case.id]
    return list(run), list(run.values()), [judged.get(document, -1) for document in run], list(judged.values())


def arrays(cases):
    """Return the documents, scores, labels and judged labels of all cases, and the offsets of both kinds of lists."""
    listed = [columns(case) for case in cases]
    documents, scores, labels, judged = ([x for each in listed for x in each[i]] for i in range(4))
    ends = [np.cumsum([0, *(len(each[i]) for each in listed)]) for i in (0, 3)]
    return documents, np.array(scores, float), np.array(labels), np.array(judged), *ends


@pytest.mark.parametrize(("cases", "measures"), BOTH, ids=["whole", "all"])
@pytest.mark.parametrize("rule", RULES)
def test_evaluator(cases, measures, rule):
    documents, scores, labels, judged, offsets, judged_offsets = arrays(cases)
    prepared = tieaware.Evaluator(
        labels, measures, offsets=offsets, judgments=(judged, judged_offsets), ties=rule,
        docids=documents if rule in BY_DOCUMENT else None,
    )  # fmt: skip
    np.testing.assert_allclose(prepared(scores), expected(cases, measures, rule), rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize(("cases", "measures"), BOTH, ids=["whole", "all"])
def test_spread(cases, measures):
    _, scores, labels, judged, offsets, judged_offsets = arrays(cases)
    prepared = tieaware.Evaluator(labels, measures, offsets=offsets, judgments=(judged, judged_offsets))
    spread = prepared.spread(scores)
    for found, column in ((spread.mean, "average"), (spread.min, "minimum"), (spread.max, "maximum")):
        np.testing.assert_allclose(found, expected(cases, measures, column), rtol=TOLERANCE, atol=TOLERANCE)
    variances = expected(cases, measures, "variance")
    np.testing.assert_allclose(spread.std, np.sqrt(variances), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("cases", "measures"), BOTH, ids=["whole", "all"])
@pytest.mark.parametrize("rule", RULES)
def test_evaluate(cases, measures, rule):
    qrels = {query: labels for case in cases for query, labels in case.qrels.items()}
    run = {query: scores for case in cases for query, scores in case.run.items()}
    result = tieaware.evaluate(qrels, run, measures, ties=rule)
    assert result.queries == tuple(case.id for case in cases)
    np.testing.assert_allclose(result.values[0], expected(cases, measures, rule), rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("rule", RULES)
def test_reference(rule):
    """The reference averages, or evaluates one order. The best and worst orders are those by label."""
    for case in CASES:
        documents, scores, labels, judged = columns(case)
        for measure, exact in case.values.items():
            if rule == "average":
                found = reference.evaluate(measure, scores, labels, judged)
            else:
                ranked = reference.rank(scores, labels, rule, documents)
                found = reference.evaluate(measure, range(len(ranked), 0, -1), ranked, judged)
            assert found == pytest.approx(float(getattr(exact, rule)), rel=1e-12, abs=1e-12), (case.id, measure)


# pytrec_eval's names, of measures that pytrec_eval defines as the set does.
TREC_EVAL = {
    "P@1": "P_1", "P@3": "P_3", "P@5": "P_5", "R@1": "recall_1", "R@3": "recall_3", "R@5": "recall_5",
    "Success@1": "success_1", "Success@3": "success_3", "RR": "recip_rank", "AP": "map", "AP@3": "map_cut_3",
    "Rprec": "Rprec", "Bpref": "bpref", "nDCG": "ndcg", "nDCG@3": "ndcg_cut_3",
}  # fmt: skip
SINGLE = ("double", "subnormal", "infinities")


@pytest.mark.parametrize("rule", RULES)
def test_pytrec_eval_face(rule):
    """Under the rule trec_eval, it rounds scores to single precision, which makes further ties."""
    cases = [case for case in WHOLE if not (rule == "trec_eval" and {*SINGLE} & {*case.tags})]
    names = [re.sub(r"_(\d+)$", r".\1", name) for name in TREC_EVAL.values()]

    def evaluated(qrels, run):
        values = pytrec_eval_face.RelevanceEvaluator(qrels, names, ties=rule).evaluate(run)
        return [next(iter(values.values()))[name] for name in TREC_EVAL.values()]

    report = conformance.check(evaluated, list(TREC_EVAL), among=cases)
    assert rule in report.followed(), report.differences[:3]
    assert report.differences == ()


def test_pytrec_eval_face_rounds_as_float32():
    for case in (case for case in WHOLE if {*SINGLE} & {*case.tags}):
        names = {"map", "recip_rank"}
        found = pytrec_eval_face.RelevanceEvaluator(case.qrels, names).evaluate(case.run)[case.id]
        exact = tieaware.evaluate(case.qrels, case.run, ["AP", "RR"], ties="trec_eval", precision=Float32())
        assert [found["map"], found["recip_rank"]] == pytest.approx(exact.values[0, 0].tolist())


@pytest.mark.parametrize("rule", RULES)
def test_ir_measures_face(rule):
    ir_measures = pytest.importorskip("ir_measures")
    from tieaware.integrations import ir_measures as face

    provider = face.provider(rule)
    theirs = {
        measure: eval(measure, {**vars(ir_measures)})
        for measure in MEASURES
        if measure.partition("@")[0].partition("(")[0] in ir_measures.measures.registry
    }
    supported = {name: measure for name, measure in theirs.items() if provider.supports(measure)}
    assert len(supported) > 15

    def evaluated(qrels, run):
        values = provider.calc_aggregate(list(supported.values()), qrels, run)
        return [values[measure] for measure in supported.values()]

    report = conformance.check(evaluated, list(supported), among=WHOLE, rules=[rule])
    assert report.followed() == (rule,), report.differences[:3]


@pytest.mark.parametrize("rule", RULES)
def test_beir_face(rule):
    """It rounds values to five decimals, and leaves out queries that the run does not answer."""
    pytest.importorskip("beir.retrieval.evaluation")
    from tieaware.integrations import beir

    def evaluated(qrels, run):
        ndcg, average, recall, precision = beir.evaluate(qrels, run, [3], ties=rule)
        return [ndcg["NDCG@3"], average["MAP@3"], recall["Recall@3"], precision["P@3"]]

    fits = [case for case in CASES if "empty" not in case.tags]
    report = conformance.check(evaluated, ["nDCG@3", "AP@3", "R@3", "P@3"], among=fits, rules=[rule], tolerance=6e-6)
    assert report.followed() == (rule,), [str(each) for each in report.differences[:3]]


# ---- faces that see scores and labels alone --------------------------------------------------------


def seen_whole(case):
    """Return whether scores and labels alone describe a case: every document of the list is judged, and no other."""
    return case.run[case.id].keys() == case.qrels[case.id].keys() and "infinities" not in case.tags


def one_relevant(case):
    """Return whether the one relevant document of a case is retrieved, and so is another document."""
    labels = columns(case)[2]
    return sorted(case.qrels[case.id].values())[-2:] in ([1], [0, 1]) and 1 in labels and len(labels) > 1


def by_link_prediction(rule, measures):
    def evaluated(scores, labels):
        return link_prediction.evaluate(scores[labels == 1], [scores[labels != 1]], measures, ties=rule)[0]

    return evaluated


def by_lightgbm(rule, measures):
    pytest.importorskip("lightgbm")
    from tieaware.integrations import lightgbm

    metric = lightgbm.metric(measures, ties=rule)
    return lambda scores, labels: [value for _, value, _ in metric(labels, scores, None, np.array([len(labels)]))]


def by_xgboost(rule, measures):
    tool = pytest.importorskip("xgboost")
    from tieaware.integrations import xgboost

    metric = xgboost.metric(measures, ties=rule)

    def evaluated(scores, labels):
        data = tool.DMatrix(np.zeros((len(labels), 1)), labels, group=[len(labels)])
        return [value for _, value in metric(scores.astype(np.float32), data)]

    return evaluated


def by_scikit_learn(rule, measures):
    sklearn = pytest.importorskip("sklearn")
    from sklearn.base import BaseEstimator, RegressorMixin

    from tieaware.integrations.sklearn import scorer

    class AsGiven(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return X[:, 0]

    def evaluated(scores, labels):
        X, qid = scores[:, None], np.zeros(len(scores), int)
        with sklearn.config_context(enable_metadata_routing=True):
            return [scorer(each, ties=rule)(AsGiven(), X, labels, qid=qid) for each in measures]

    return evaluated


GRADED = ["AP", "nDCG@3", "nDCG", "RR"]
# Each face: a function that returns an evaluator of scores and labels, its measures, and its cases.
FACES = {
    "link_prediction": (
        by_link_prediction, ["RR", "Success@1", "Success@3", "nDCG@3"], list(filter(one_relevant, WHOLE)),
    ),
    "lightgbm": (by_lightgbm, GRADED, list(filter(seen_whole, CASES))),
    # XGBoost gives the metric scores in single precision.
    "xgboost": (by_xgboost, GRADED, [case for case in WHOLE if seen_whole(case) and not {*SINGLE} & {*case.tags}]),
    "scikit-learn": (by_scikit_learn, ["AP", "nDCG@3"], list(filter(seen_whole, CASES))),
}  # fmt: skip
FACES_AND_RULES = [
    *((name, rule) for name in FACES for rule in ("average", "optimistic", "pessimistic")),
    # Link prediction has no order of the input.
    *((name, "run_order") for name in FACES if name != "link_prediction"),
]


@pytest.mark.parametrize(("name", "rule"), FACES_AND_RULES)
def test_faces_of_scores_and_labels(name, rule):
    face, measures, cases = FACES[name]
    assert len(cases) > (20 if name == "link_prediction" else 60)
    evaluated = face(rule, measures)

    def as_lists(qrels, run):
        ((query, scores),) = run.items()
        labels = np.array([qrels[query].get(document, 0) for document in scores])
        return evaluated(np.array(list(scores.values()), float), labels)

    report = conformance.check(as_lists, measures, among=cases)
    assert rule in report.followed(), report.differences[:3]

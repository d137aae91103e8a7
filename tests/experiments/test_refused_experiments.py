"""Arguments that experiments refuse, and the sentences that say so."""

import numpy as np
import pytest
from support.errors import message_of

from tieaware import AP, RR, Qrels, Results, Run, experiments, retrieval, samples

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

QRELS = {"q1": {"d1": 1, "d4": 1, "z": 1}, "q2": {"d2": 1}}
LIST = {"d1": 3.25, "d2": 2.75, "d3": 1.0, "d4": 0.5}
RUN = dict.fromkeys(QRELS, LIST)
RUNS = {"a": RUN, "b": {q: {d: -s for d, s in LIST.items()} for q in QRELS}}
OF_TEXT, OF_NUMBERS = Qrels.from_columns(["1"], ["d"], [1]), Qrels.from_columns([1], ["d"], [1])
BOTH_KINDS = "make both text, or both integers"
POOLED = [Run.from_columns(["q"], [7], [1.0], name="a"), Run.from_columns(["q"], ["7"], [1.0], name="b")]
VALUES = np.random.default_rng(0).random((2, 3, 1))
RESULTS = Results(VALUES, ("a", "b"), ("x", "y", "z"), (AP,))
LIKE_VALUES = "expected an array of shape (2, 3, 1), as the values of the results, found"
THREE = Results(np.random.default_rng(7).random((3, 2, 2)), ("a", "b", "c"), ("q1", "q2"), (AP, RR))
OF_RR = Results(np.zeros((3, 1, 1)), ("a", "b", "c"), ("p",), (RR,))
COLLECTION = samples.generate_texts(n_documents=50, n_topics=2)
INDEX = retrieval.Index.build(COLLECTION.documents.items())
CHAMPIONS = retrieval.Champions(r=1)
SAME_NAMES = [retrieval.Champions(r=lambda df: df), retrieval.Champions(r=lambda df: 2 * df)]
NAMED = "expected a name such as Champions(r=100)"


def assessors(first=QRELS, second=QRELS, **options):
    return experiments.assessors(first, second, RUN, **options)


def comparison(runs=RUNS, measures="AP", **options):
    return experiments.comparison(QRELS, runs, measures, **options)


def curves(*kind, **options):
    return experiments.curves(QRELS, RUN, *kind, **options)


def fusion(qrels=QRELS, runs=RUNS, measure="AP", **options):
    return experiments.fusion(qrels, runs, measure, **{"folds": 2, **options})


def inexact(*methods):
    return experiments.inexact(INDEX, COLLECTION.topics, COLLECTION.qrels, list(methods))


def precision(*precisions, **options):
    return experiments.precision(QRELS, RUNS, list(precisions), **options)


def smoothing(*shape, **options):
    return experiments.smoothing(np.zeros(shape), **options)


def smoothed(priors, measure="AP"):
    return experiments.smoothing(THREE, measure=measure, priors=priors)


# A call, and a part of the message.
REFUSED = (
    (lambda: assessors(names=("A", "A")), "names: must be two different texts, not ('A', 'A')"),
    (lambda: assessors(names=("A", "B", "C")), "names: must be two different texts, not ('A', 'B', 'C')"),
    (lambda: assessors(alpha=1.5), "alpha: expected a number between 0 and 1, found 1.5"),
    (lambda: assessors(rel=-1), "rel: expected a number from 0 to "),
    (lambda: assessors(test="z"), "test: expected one of t, wilcoxon"),
    (lambda: assessors(second={"r": {"d": 1}}), "qrels_a, qrels_b: no query is judged by both A and B"),
    (lambda: assessors(OF_NUMBERS, OF_TEXT), f"B: has text such as '1', but A has integers such as 1: {BOTH_KINDS}"),
    (lambda: comparison(alpha=0.0), "alpha: expected a number between 0 and 1, found 0.0"),
    (lambda: comparison(confidence=1.0), "confidence: expected a number between 0 and 1, found 1.0"),
    (lambda: comparison({"q1": {"d1": 1.0}}), "results: a comparison needs at least two runs and two queries"),
    (lambda: comparison(measures="infAP"), "measures: infAP cannot be compared: its best and worst orders are unknown"),
    (lambda: experiments.comparison(np.eye(3, dtype=int), {"a": np.eye(3)}, "AP"), "qrels: must be judgments"),
    (lambda: experiments.compare(RESULTS, "AP", RR), f"least: {LIKE_VALUES} 'AP'"),
    (lambda: experiments.compare(RESULTS, VALUES), "greatest: least is given without greatest; pass both or neither"),
    (lambda: experiments.compare(RESULTS, None, VALUES), "least: greatest is given without least; pass both or"),
    (lambda: experiments.compare(RESULTS, 5), f"least: {LIKE_VALUES} 5"),
    (lambda: experiments.compare(RESULTS, VALUES, np.zeros(3)), f"greatest: {LIKE_VALUES} an array of shape (3,)"),
    (lambda: curves("bow"), "kind: expected one of precision-recall, interpolated, roc, found 'bow'"),
    (lambda: curves(collection_size=3), "collection_size: is only for the kind 'roc', not for 'precision-recall'"),
    (lambda: curves("roc", collection_size=0), "collection_size: expected a whole number from 1 to "),
    (lambda: curves("roc", collection_size=4), "4 is too small: run retrieves 4 documents and misses 1 relevant one"),
    (lambda: fusion(measure=["AP", "RR"]), "measure: must be one measure, because it chooses the weights; found 2"),
    (lambda: fusion(folds=3), "folds: must be at most the number of queries, 2; found 3"),
    (lambda: fusion(folds=1), "folds: expected a whole number from 2 to 2,147,483,648, found 1"),
    (lambda: fusion(level=1.0), "level: expected a number between 0 and 1, found 1.0"),
    (lambda: fusion(restarts=-1), "restarts: expected a whole number from 0 to 1,000,000, found -1"),
    (lambda: fusion(runs={"a": RUN}), "runs: must be at least two runs to fuse"),
    (lambda: fusion(runs={"a": RUN, "b": {"x": {"d1": 1.0}}}), "runs: have no query in common: a has 'q1' and b has"),
    (lambda: fusion(normalise="theoretical-min-max", minimum=[0, 0, 0]), "minimum: must have one number for each of"),
    (lambda: fusion({q: {"d1": 0} for q in QRELS}), "qrels: has no query with a relevant document, so no weight is"),
    (lambda: fusion(missing="unjudged"), "missing: expected 'least', 'zero' or a number, found 'unjudged'"),
    (lambda: inexact(), "methods: expected at least one, found none"),
    (lambda: inexact("Champions"), "methods[0]: expected a method"),
    (lambda: inexact(CHAMPIONS, CHAMPIONS), "methods[1]: each method must be given only once"),
    (lambda: inexact(*SAME_NAMES), "methods[1]: has the same name as another method, Champions(r=<lambda>); give the"),
    (lambda: inexact(CHAMPIONS, retrieval.Exact()), "and must not be the baseline"),
    (lambda: retrieval.parse_method("Champion(r=1)"), "did you mean Champions"),
    (lambda: retrieval.parse_method("Champions(s=1)"), "no parameter 's'; its parameters are weighting, r, share,"),
    (lambda: retrieval.parse_method("Champions(r=0)"), "r of Champions(r=0): expected a whole number"),
    (lambda: retrieval.parse_method("Champions(r=open('x'))"), "parameters must be numbers or text in quotes"),
    (lambda: retrieval.parse_method("Champions(1)"), NAMED),
    (lambda: retrieval.parse_method("1 + 1"), NAMED),
    (lambda: retrieval.parse_method("Method"), "unknown method 'Method'; the methods are AtLeast, "),
    (lambda: retrieval.parse_method("(" * 10_000), NAMED),
    (lambda: retrieval.parse_method("Champions(weighting='xyz')"), "weighting of Champions(weighting='xyz'): expected"),
    (lambda: retrieval.Exact().search(INDEX, ["tie"]), "queries: expected a mapping"),
    (lambda: retrieval.Exact().search(INDEX, {1: "a", "1": "b"}), "queries: the id '1' appears twice"),
    (lambda: experiments.overhead("AP", n_queries=19), "n_queries: expected a whole number from 20 to 100,000,000"),
    (lambda: experiments.overhead("AP", rounds=0), "rounds: expected a whole number of at least 1, found 0"),
    (lambda: experiments.overhead("AP", run=RUN), "qrels: run is given without qrels; pass both or neither"),
    (lambda: experiments.overhead("AP", qrels=QRELS), "run: qrels is given without run; pass both or neither"),
    (lambda: experiments.overhead("AP", qrels=QRELS, run=RUNS), "run: must be one run; found 2"),
    (lambda: experiments.overhead("AP", qrels={"x": {"d1": 1}}, run=RUN), "run: no query of this run is judged in q"),
    (lambda: experiments.pooling(RUN, 0), "depth: expected a whole number from 1 to 2,147,483,648, found 0"),
    (lambda: experiments.pooling(RUN, rel=-1), "rel: expected a number from 0 to "),
    (lambda: experiments.pooling(POOLED), f"b: has text such as '7', but a has integers such as 7: {BOTH_KINDS}"),
    (lambda: precision(), "precisions: expected at least one, such as 'decimals:2', found none"),
    (lambda: precision("bands:0.5"), "rho: expected a number from 1 to 2^62"),
    (lambda: precision("float32", alpha=1.0), "alpha: expected a number between 0 and 1, found 1.0"),
    (lambda: precision("float32", keep=0), "keep: expected 'verdicts', 'order' or a share such as 99% or 0.99"),
    (lambda: precision("float32", correction="holms"), "did you mean holm"),
    (lambda: precision("float32", baseline="A"), "baseline: there is no run 'A'; did you mean a?"),
    (lambda: experiments.banding({"q1": {"d1": 1}}, RUN), "qrels: expected at least 2 queries to compare over, found"),
    (lambda: smoothing(4, 2), "values: three sets of 1 topic need at least 3 topics, found 2"),
    (lambda: smoothing(4), "values: expected two dimensions, systems × topics, found 1"),
    (lambda: smoothing(3, 9, topics=3), "values: two halves of systems need at least 4 systems, found 3"),
    (lambda: smoothing(4, 8, topics=3), "values: three sets of 3 topics need at least 9 topics, found 8"),
    (lambda: smoothing(4, 9, topics=3, alphas=()), "alphas: expected at least one, found none"),
    (lambda: smoothing(4, 9, topics=3, alphas=(2,)), "alphas[0]: expected a number from 0 to 1, found 2"),
    (lambda: smoothing(4, 9, topics=0), "topics: expected a whole number from 1 to 1,000,000,000, found 0"),
    (lambda: smoothing(4, 9, topics=[3, 3]), "topics: expected a size, or the sizes of three sets, found 2 of them"),
    (lambda: smoothing(4, 9, topics=[3, 0, 3]), "topics[1]: expected a whole number from 1 to 1,000,000,000, found 0"),
    (lambda: smoothing(4, 9, topics=(3, 5, 2)), "three sets of 3, 5 and 2 topics need at least 10 topics, found 9"),
    (lambda: smoothing(9, 9, topics=3, share=1.0), "share: expected a number between 0 and 1, found 1.0"),
    (lambda: smoothing(9, 9, topics=3, share=0.2), "share: both parts need at least 2 systems; 0.2 of 9 makes 1 and 8"),
    (lambda: smoothing(4, 9, priors=np.zeros(4), topics=3), "topics: must not be given with priors"),
    (lambda: smoothing(4, 9, priors=np.zeros(4), share=0.3), "share: must not be given with priors"),
    (lambda: smoothing(4, 9, priors=np.zeros(3)), "priors: expected one earlier mean for each of 4 systems, found"),
    (lambda: smoothing(4, 9, priors={"a": 1.0}), "priors: must be an array of earlier means"),
    (lambda: smoothing(4, 0, priors=np.zeros(4)), "values: expected at least one system and one topic"),
    (lambda: smoothing(4, 9, topics=3, repeats=0), "repeats: expected a whole number from 1 to 1,000,000,000, found 0"),
    (lambda: smoothing(4, 9, topics=3, seed=-1), "seed: expected a whole number of at least 0, found -1"),
    (lambda: smoothing(4, 9, measure="AP"), "measure: must not be given with an array, found 'AP'"),
    (lambda: experiments.smoothing(np.full((4, 9), np.nan), topics=3), "values: expected finite numbers, found nan"),
    (lambda: experiments.smoothing([["x"] * 9] * 4, topics=3), "values: must be numbers: could not convert"),
    (lambda: smoothed(THREE, None), "values: the results have several measures (AP, RR): choose one"),
    (lambda: smoothed(THREE, "P@1"), "measure: expected one of the results' measures, AP, RR, found P@1"),
    (lambda: smoothed(THREE, "XY"), "measure: unknown measure 'XY'; the measures are"),
    (lambda: smoothed({"a": 0.5}), "priors: there is no prior of run 'b', nor of 1 other"),
    (lambda: smoothed({"a": 0.5, "b": "x", "c": 1}), "priors['b']: expected a number"),
    (lambda: smoothed({"a": 0.5, "b": np.nan, "c": 1}), "priors['b']: expected a number"),
    (lambda: smoothed([0.1, 0.2, 0.3]), "priors: expected earlier Results, or a dict of names and means, found list"),
    (lambda: smoothed(OF_RR), "measure: expected one of the results' measures, RR, found AP"),
    (lambda: smoothed(THREE).order(0.55), "alpha: expected one of "),
    (lambda: smoothed({"a": 1, "b": 2, "c": 3}).order(1.0, standardized=True), "standardized: needs priors that are"),
    (lambda: experiments.tie_prevalence(RUN, cutoffs=[0]), "cutoffs[0]: expected a whole number of at least 1, found"),
)


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_wrong_arguments_are_refused_in_one_line(call, message):
    assert message in message_of(call)

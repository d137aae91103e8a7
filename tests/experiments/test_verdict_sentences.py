"""The verdicts of experiments on small runs, in common cases and in special ones."""

from dataclasses import replace

import numpy as np
import pytest
from made_runs import ranked_by_quality

from tieaware import AP, ESL, RR, Results, experiments, retrieval, samples
from tieaware.experiments import assessors, compare, comparison, curves, precision, smoothing, tie_prevalence

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

# The lists of the small runs below are complete, but experiments cannot know it.
pytestmark = pytest.mark.filterwarnings("ignore:.* inside a tie at the common length:UserWarning")

# Relevant documents are near the top of run a and near the end of run b, so a loses and b gains in a tie.
QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 2, "d1": 1}}
LIST = {"d1": 3.25, "d2": 2.75, "d3": 1.0, "d4": 0.5}
RUNS = {"a": dict.fromkeys(QRELS, LIST), "b": {q: {d: -s for d, s in LIST.items()} for q in QRELS}}


def runs_that_tie(*ties):
    """Return a run for each number: in as many of 20 queries, its scores differ by 0.01 only."""
    return {
        f"run {r}": {f"q{i}": {"d1": 0.9, "d2": 0.89 if i < n else 0.1} for i in range(20)} for r, n in enumerate(ties)
    }


TWENTY = {f"q{i}": {"d1": 1} for i in range(20)}
# In run 0, half of the queries gain and half lose, so the mean hides both; a single query of 20 is not significant.
HIDDEN = runs_that_tie(20, 1)
HIDDEN["run 0"] |= {f"q{i}": {"d1": 0.89, "d2": 0.9} for i in range(0, 20, 2)}
HIDDEN["run 1"]["q0"] = {"d1": 0.895, "d2": 0.89}
# Run a is better in five queries; in two of them, both runs tie at one decimal, so that their difference vanishes.
VANISHING = {
    "a": {q: {"d1": 0.51, "d2": 0.5} if i < 2 else {"d1": 0.9, "d2": 0.8} for i, q in enumerate(TWENTY)},
    "b": {
        q: {"d1": 0.5, "d2": 0.51} if i < 2 else {"d1": 0.8, "d2": 0.9} if i < 5 else {"d1": 0.9, "d2": 0.8}
        for i, q in enumerate(TWENTY)
    },
}
UNEVEN = {"x": {q: {"a": 0.9, "b": 0.8} for q in ("q1", "q2")}}
UNEVEN["y"] = {"q1": {"a": 0.9, "b": 0.8}, "q2": {"a": 0.9, "b": 0.1}}


def of_precision(runs, precisions, measures, qrels=QRELS, **options):
    return precision(qrels, runs, precisions, measures, **options)


PRECISION = (
    (lambda: of_precision(RUNS["a"], ["bands:1", "decimals:9"], ["AP"]),
     "^No value of AP changes with bands:1 and decimals:9, which says nothing about coarser scores; try another kind "
     "of precision.$"),
    (lambda: of_precision(RUNS, ["bands:1"], ["AP", "RR"]), "^No value of AP or RR changes with bands:1, which "),
    (lambda: of_precision(RUNS["a"], ["levels:1"], ["RR"]),
     "^levels:1 is not known to keep 99% of the run (RR; it is open: 11 queries would decide). "
     "With levels:1, RR loses 0.245 on average (p = 0.233, uncorrected paired t-test); "
     "the largest loss of a query is 0.479 (query q1).$"),
    (lambda: of_precision(RUNS["b"], ["levels:1"], ["RR"]),
     "^The run is known to keep 99% with levels:1. "
     "With levels:1, RR gains 0.227 on average (p = 0.0112, uncorrected paired t-test); no query loses.$"),
    # Less is better for ESL, so a greater value is a loss.
    (lambda: of_precision(RUNS["a"], ["levels:1"], ["ESL"]),
     "With levels:1, ESL loses 0.889 on average (p = 0.103,", "the largest loss of a query is 1.50 (query q1).$"),
    (lambda: of_precision(RUNS["b"], ["levels:1", "bands:3"], ["RR"]),
     "^bands:3 is not known to keep 99% of the run (RR; it is open: 26 queries would decide). The run is known to keep "
     "99% with levels:1. With levels:1, which changes values most, RR gains 0.227 on average"),
    (lambda: of_precision(RUNS["a"], ["levels:1"], ["RR", "AP"]),
     "^levels:1 is not known to keep 99% of the run (RR, AP; by RR, it is open:",
     # AP loses as much, but the sentence is about one measure.
     "RR loses 0.245 on average (p = 0.233, uncorrected paired t-test); the largest loss of a query is 0.479 (query "),
    (lambda: of_precision(HIDDEN, ["decimals:1"], ["RR"], TWENTY),
     "^No verdict changes with decimals:1. With decimals:1, RR loses 0.00625 on average (significantly in 0 of 2 runs, "
     "uncorrected paired t-test); the largest loss of a query is 0.250.$"),
    (lambda: of_precision(HIDDEN, ["levels:1", "decimals:1"], ["RR"], TWENTY),
     "^levels:1 changes verdicts (RR). No verdict changes with decimals:1. With levels:1, which changes values most, "),
    (lambda: of_precision(VANISHING, ["levels:1", "decimals:1"], ["P@2", "RR"], TWENTY),
     "^levels:1 changes verdicts (RR). decimals:1 changes verdicts (RR). ",
     "RR loses 0.188 on average (significantly in 2 of 2 runs, "),
    (lambda: of_precision(runs_that_tie(3), ["levels:1", "decimals:1"], ["RR"], TWENTY, keep=0.9999),
     "^levels:1 is not known to keep 99.99% of the run (RR; it loses more). "
     "decimals:1 is not known to keep 99.99% of the run (RR; it is open: 50 queries would decide). "),
    (lambda: of_precision(UNEVEN, ["decimals:0", "decimals:1"], ["RR"], {"q1": {"b": 1}, "q2": {"a": 1}}),
     "^No verdict changes with decimals:1 to decimals:0. ", "the largest loss of a query is 0.250 (x, query q2).$"),
)  # fmt: skip


def compared(*values, measure=AP, ties=None, **options):
    """Compare runs by their values on up to four queries, which ties may move by a number in both directions."""
    array = np.array(values)[..., None]
    results = Results(array, tuple("abcd"[: len(values)]), tuple("wxyz"[: array.shape[1]]), (measure,))
    return compare(results, *(() if ties is None else (array - ties, array + ties)), **options)


GOOD, BAD, OTHER = [0.5, 0.61, 0.7], [0.1, 0.2, 0.3], [0.2, 0.1, 0.3]
NEAR = [0.5, 0.4, 0.6], [0.4, 0.5, 0.59]
UNKNOWN = [0.5, 1.0, 0.1, 0.9], [0.3, 0.4, 0.8, 0.4], [0.5, 0.0, 0.8, 0.5]
REACH = ", as far as the lists reach. The difference"
FOUR = {f"q{i}": {"d1": 1} for i in range(4)}
AHEAD, BEHIND = ({query: {"d1": 1.5, "d2": score} for query in FOUR} for score in (1.0, 2.0))
TIED = {query: {"d1": 1.0, "d2": 1.0} for query in FOUR}

COMPARISON = (
    (lambda: compared(GOOD, BAD),
     "^a has the highest mean AP, 0.603 (95% interval 0.355 to 0.852), and is significantly better than the other run; "
     "the effect of ties is unknown: the results have no spread. The difference of 0.403 has Holm's p = 6.83e-05.$"),
    (lambda: compared(GOOD, BAD, ties=0.0, measure=ESL), "^b has the lowest mean ESL, 0.200 (95% interval"),
    (lambda: compared(GOOD, BAD, ties=0.0),
     f"than the other run; no order of the tied documents reverses the difference or changes the verdict{REACH} of"),
    (lambda: compared(GOOD, BAD, ties=0.3),
     f"than the other run; orders of the tied documents can reverse the difference or change the verdict{REACH} of"),
    (lambda: compared(GOOD, BAD, ties=0.19),
     f"than the other run; orders of the tied documents can make it not significant{REACH} of"),
    (lambda: compared(GOOD, [0.4, 0.5, 0.7], ties=0.03),
     f"than the other run; orders of the tied documents can make it significant{REACH} of"),
    (lambda: compared(GOOD, GOOD, BAD, ties=0.0),
     "^2 of 3 runs share the highest mean AP, 0.603; no order of the tied documents changes a sign or a verdict, as "
     "far as the lists reach. 2 of 3 pairs of runs"),
    (lambda: compared([0.5, 0.1, 0.9], [0.1, 0.5, 0.8], [0.2, 0.9, 0.1], ties=0.0),
     "is not significantly better than any of the other 2 runs; no order"),
    # The first sentence is about the best run, the second also about the others, which are equal but for their ties.
    (lambda: compared(GOOD, BAD, OTHER, ties=0.0),
     "is significantly better than both other runs; no order of the tied documents changes a sign or a verdict, as far "
     "as the lists reach. 2 of 3 pairs of runs differ significantly (Holm's p below 0.05).$"),
    (lambda: compared(GOOD, BAD, OTHER, ties=0.002),
     "runs; orders of the tied documents can reverse 1 difference, but change no verdict, as far as the lists reach. 2 "
     "of 3 pairs of runs differ significantly (Holm's p below 0.05).$"),
    (lambda: compared(GOOD, BAD, OTHER, ties=0.03),
     "can reverse 1 difference and change the verdict of 1 pair (a and c), as far"),
    (lambda: compared(GOOD, BAD, OTHER, ties=0.3),
     "can reverse 3 differences and change the verdict of 3 pairs (a and b, a and c, b and c), as far"),
    (lambda: compared(*UNKNOWN, ties=0.1, test="wilcoxon", alpha=0.3, correction="none"),
     "change the verdict of 1 pair (b and c); for 2 pairs, it is not known whether ties can change the verdict, as"),
    (lambda: compared([0.5] * 4, [0.5] * 4, [0.5] * 4, baseline="b"),
     "^By AP, none of 2 runs differs significantly from b (Holm's p below 0.05); the effect of ties is unknown: the "
     "results have no spread. a, b and c have the highest mean AP, 0.500.$"),
    (lambda: compared([0.5, 0.6, 0.7], [0.1, 0.2, 0.3], [0.3, 0.4, 0.5001], [0.3, 0.5, 0.4], baseline="c"),
     "^By AP, 1 of 3 runs (a) is significantly better than c, and 1 (b) is significantly worse (Holm's p below 0.05);"),
    (lambda: compared(*UNKNOWN, test="sign"),
     "0 of 3 pairs of runs differ significantly (Holm's p below 0.05)",
     "With 4 queries for 3 pairs, p is at least 0.38: choose another test, because this one cannot find a significant "
     "difference.$"),
    # Ties may reverse a difference without changing a verdict; for Wilcoxon's test, the effect may be unknown.
    (lambda: compared(*NEAR, ties=0.01),
     f"; an order of the tied documents can reverse the difference, but none changes the verdict{REACH}"),
    (lambda: compared(*NEAR, ties=0.01, test="wilcoxon"), f"but none changes the verdict{REACH}"),
    (lambda: compared(*NEAR, ties=0.01, test="wilcoxon", alpha=0.3),
     f"but it is not known whether one can change the verdict{REACH}"),
    (lambda: comparison(FOUR, {"a": AHEAD, "b": BEHIND}, ["RR", "P@1"], baseline="a"),
     " b is significantly worse than a by P@1: -1 (1 → 0, Holm's p = 0)"),
    (lambda: comparison(FOUR, {"a": TIED, "b": TIED}, ["RR"]),
     "^Both runs share the highest mean RR, 0.750; the two runs",
     "the two runs have the same documents and scores."),
)  # fmt: skip


JUDGED, FIVE = ranked_by_quality(5)
SAME = {name: FIVE[name] for name in ("run 0", "run 1")}
SINGLE = {"q": {"a": 1}}, {"r": {"q": {"a": 1.0}}}

CURVES = (
    (lambda: curves(JUDGED, FIVE), "^Among 5 runs, run 4 has the largest area under its curve, "),
    (lambda: curves(JUDGED, SAME, "roc"),
     "^2 of 2 runs share the largest area under the curve, 0.",
     ". Within the first 10 ranks run 0 has 13.3 % of its relevant and 18.3 % of its nonrelevant documents.$"),
    (lambda: curves(JUDGED, FIVE["run 4"], "roc", collection_size=90),
     "Within the first 10 ranks its recall is 50 %, with 0 % of all nonrelevant documents.$"),
    (lambda: curves(*SINGLE),
     "^The area under the curve of r is 1. Within the first rank its precision is 1 and its recall 1. Its break-even "
     "point is 1, and its greatest F1 1, at rank 1.$"),
    (lambda: curves(*SINGLE, "interpolated"), " At recall 0.1 its precision is 1, and at 0.5 1.$"),
    (lambda: curves(JUDGED, {name: FIVE[name] for name in ("run 0", "run 4")}), "; the other has 0."),
)  # fmt: skip

# Query q1 has tie groups of 1, 3 and 2 documents. The scores of q2 are distinct. q3 has one document.
WITH_TIES = {
    "q1": {"a": 5.0, "b": 4.0, "c": 4.0, "d": 4.0, "e": 1.0, "f": 1.0},
    "q2": {"a": 1.0, "b": 0.75, "c": 0.5},
    "q3": {"a": 1.0},
}
# The possible values of RR on the only query: 1/2, 1/3 or 1/4 for the run "tied"; 1 or 1/2 for the run "ahead"; 1/3 for
# the run "inside".
THREE = {
    "tied": WITH_TIES, "ahead": {"q1": {"b": 1.0, "a": 1.0}}, "inside": {"q1": {"a": 3.0, "c": 2.0, "b": 1.0}}
}  # fmt: skip
OF_ALL = "1 of 3 lists has a tie (33.3 %), and 50 % of all documents tie with another."
OF_THREE = (
    "^Report the average over ties: the order of tied documents moves the mean RR of 2 of 3 runs from the average over "
    "all orders, by up to 0.250 (ahead); 1 of 3 pairs of runs can swap places by RR."
)
COUNTED = " 2 of 5 lists have a tie (40 %), and 46.7 % of all documents tie with another; ahead has the most, 100 %."
PAIR, OTHER_PAIR, BEST = ({"q": {"a": a, "b": b}} for a, b in ((1.0, 1.0), (2.0, 2.0), (2.0, 1.0)))

TIES = (
    (lambda: tie_prevalence({"q1": {"a": 2.0, "b": 1.0}}, {"q1": {"a": 1}}),
     "^Any tie rule will do: no two documents tie in 1 list of 1 run. The order of ties can change no value.$"),
    (lambda: tie_prevalence(WITH_TIES, cutoffs=[2]),
     f"^Report averages over ties: {OF_ALL} A cut-off at 2 divides a group of tied documents in 1 list.$"),
    (lambda: tie_prevalence(WITH_TIES, cutoffs=[]),
     f"^Report averages over ties: {OF_ALL} The largest group of equal scores has 3 documents.$"),
    (lambda: tie_prevalence(WITH_TIES, {"q1": {"a": 1}}, ["RR"]),
     f"^Any tie rule will do: the order of tied documents changes no run's mean RR. {OF_ALL}$"),
    (lambda: tie_prevalence(THREE, {"q1": {"b": 1, "f": 1}}, ["RR"]), f"{OF_THREE}{COUNTED}$"),
    (lambda: tie_prevalence(THREE, {"q1": {"b": 1, "f": 1}}, ["RR", "R@1", "NumRet"]),
     f"{OF_THREE} It moves the mean R@1 of 1 of 3 runs, by up to 0.250 (ahead); ",
     " of 3 pairs of runs can swap places by R@1. It changes no run's mean NumRet."),
    (lambda: tie_prevalence(THREE, {"q1": {"b": 1, "f": 1}}, ["NumRet", "RR"]),
     "^Report the average over ties: the order of tied documents changes no run's mean NumRet. It moves the mean RR "),
    (lambda: tie_prevalence({"a": WITH_TIES, "b": WITH_TIES}),
     "and 50 % of all documents tie with another; a and 1 other run have the most, 50 %."),
    (lambda: tie_prevalence({"x": PAIR, "y": BEST}, {"q": {"a": 1}}, ["RR"]),
     "the two runs cannot swap places by RR"),
    (lambda: tie_prevalence({"x": PAIR, "y": OTHER_PAIR}, {"q": {"a": 1}}, ["RR"]),
     "the two runs can swap places by RR"),
)  # fmt: skip

# Half of the variance is noise, so more topics help.
DRAWN = np.random.default_rng(0)
NOISY = DRAWN.random((20, 1)) / 2 + DRAWN.random((20, 30)) / 2
OWN = Results(np.array([[[2.0]], [[1.0]], [[3.0]]]), ("a", "b", "c"), ("q",), (ESL,))

SMOOTHING = (
    (lambda: smoothing(NOISY, [0, 0.5, 1], repeats=200, topics=5),
     "^Earlier scores from other topics help: the order of the systems is best at alpha 0.5 (the best of 3 tried), "
     "where its mean Kendall's τ with the order on all topics is 0.",
     " without earlier scores (alpha 1) and 0.",
     " if all systems are measured on both sets of topics. With standardized values it is best at alpha "),
    (lambda: smoothing(NOISY, [0, 0.5], repeats=20, topics=5),
     "^The order of the systems is best at alpha 0.5 (the best of 2 tried), where "),
    (lambda: smoothing(NOISY, [1], repeats=20, topics=5),
     "^Earlier scores from other topics do not help: the order of the systems is best at alpha"),
    (lambda: smoothing(OWN, [0.5, 1.0], priors={"a": 1.0, "b": 2.0, "c": 5.0, "other": 0.0}),
     "^At alpha 0.5, the order of the systems is a, b, c. Kendall's τ with their order"),
)  # fmt: skip

# RR is 1 for all weights but 0.5, at which three documents tie.
TWO = ("q1", "q2")
FUSED = {
    "a": {query: {"x": 1.0, "y": 0.0, "z": 0.5} for query in TWO},
    "b": {query: {"x": 0.0, "y": 1.0, "z": 0.5} for query in TWO},
}
FUSION = (
    (lambda: experiments.fusion({query: {"x": 1, "y": 1} for query in TWO}, FUSED, "RR", folds=2),
     "^Any weights will do: RR is 1 for all weights of a and b, except perhaps single weights at which documents "
     "tie.$"),
    (lambda: experiments.fusion(SAMPLE.qrels, AGREED),
     "The optimum is noise: chosen weights earn no more than RRF."),
    (lambda: experiments.fusion(FOUR, OF_NOISE, "RR", folds=3),
     "no paired t-test separates any weight from the best one"),
    (lambda: experiments.fusion(TWENTY, COMPLETING, "RR", normalise="none"), "significantly better than"),
    (lambda: experiments.fusion(JUDGED, dict.fromkeys("ab", FIVE["run 4"]), folds=3),
     "^Any weights will do: nDCG@10 is 1 for all weights of a and b.$"),
    (lambda: experiments.fusion(JUDGED, dict.fromkeys("abc", FIVE["run 4"]), folds=3),
     " for all weights of a, b and c.$"),
)  # fmt: skip

SAMPLE = samples.load()
AGREED = {"int8": SAMPLE.runs["int8-dot"], "grader": SAMPLE.runs["grader-0-10"]}
NOISE = np.random.default_rng(1)
OF_NOISE = {name: {q: {f"d{d}": NOISE.random() for d in range(5)} for q in FOUR} for name in "ab"}
# Each run ranks half of the queries well, and says by its scores which.
COMPLETING = {
    name: {
        q: {f"d{d}": NOISE.random() * (0.2 if i % 2 == r else 1.0) + (d == 1) * (i % 2 == r) * 3 for d in range(8)}
        for i, q in enumerate(TWENTY)
    }
    for r, name in enumerate("ab")
}

MINE = {f"q{i}": {f"d{j}": int((i + j) % 3 == 0) for j in range(6)} for i in range(4)}
ASSESSORS = (
    (lambda: assessors(MINE, MINE, {"x": MINE, "y": MINE}, names=("me", "me again")),
     "^me and me again give 100 % of 24 documents the same label (kappa 1, good). With the labels of me again "
     "instead of me, the mean AP of every run stays the same.$"),
    (lambda: assessors({"q": {"a": 1}}, {"q": {"b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, "RR"),
     "^No document is judged by both A and B. With the labels of B instead of A, the mean RR of run moves by 0.500, "
     "from 1 to 0.500.$"),
)  # fmt: skip

TEXTS = samples.generate_texts(n_documents=400, n_topics=12)
METHODS = [*(retrieval.Champions(r=r) for r in (1, 5, 400)), retrieval.Exact(weighting="bm25")]


@pytest.fixture(scope="module")
def searched():
    index = retrieval.Index.build(TEXTS.documents.items(), quality=TEXTS.quality)
    return experiments.inexact(index, TEXTS.topics, TEXTS.qrels, METHODS, ["AP", "nDCG@10"], k=20)


@pytest.mark.parametrize(
    ("seconds", "parts"),
    [
        ((1.0, 0.2, 0.3, 0.96, 1.0),
         ("^No faster method keeps 99 % of the mean AP of Exact(), 0.",
          ": the best, Champions(r=5), takes 30 % of the time, reads ")),
        ((2.0, 0.2, 0.6, 1.8, 1.5),
         ("^2 of 4 methods are faster and keep 99 % of the mean AP of Exact(), 0.",
          ": Exact(weighting='bm25') takes 75 % of the time, reads 100 % of the postings, and ")),
        ((2.0, 0.2, 0.6, 1.8, 2.5), ("^1 of 4 methods is faster and keeps 99 % of the mean AP of Exact",)),
        ((1.0,) * 5,
         ("^None of 4 methods is faster than Exact(): the best, ",
          " 1 of 4 loses significantly (paired t-test, Holm's p below 0.05).$")),
    ],
)  # fmt: skip
def test_the_verdict_on_inexact_retrieval(searched, seconds, parts):
    """Times are set, because measured ones differ from call to call."""
    text = f"^{replace(searched, seconds=np.array(seconds)).verdict()}$"
    assert [part for part in parts if part not in text] == []


@pytest.mark.parametrize("case", [*PRECISION, *COMPARISON, *CURVES, *TIES, *SMOOTHING, *FUSION, *ASSESSORS])
def test_verdicts(case):
    """A case is a call and parts of its verdict, whose beginning is marked by ^ and whose end by $."""
    call, *parts = case
    text = f"^{call().verdict()}$"
    assert [part for part in parts if part not in text] == [], text


def test_the_verdict_counts_the_runs_that_change_significantly_by_each_measure():
    """P@1 and RR change, P@2 does not. The precision that changes most is the one with the largest |change|."""
    outcome = precision(
        TWENTY, runs_that_tie(0, 3, 10, 20), ["decimals:1", "levels:1", "decimals:2"], ["P@2", "RR", "P@1"]
    )
    assert (outcome.changed < 0.05).sum(axis=1).tolist() == [[0, 2, 2], [0, 4, 4], [0, 0, 0]]
    assert outcome.verdict() == (
        "decimals:2 is the coarsest precision that changes no verdict; decimals:1 is the first that does (RR: 5 of 6 "
        "pairs, P@1: 5). No verdict changes with levels:1. No value of run 0 changes with decimals:2 to decimals:1, so "
        "the answer rests on the other 3 runs. With levels:1, which changes values most, P@1 loses 0.500 on average "
        "(significantly in 4 of 4 runs, uncorrected paired t-test); the largest loss of a query is 0.500."
    )
    # The quantity by which the precision was chosen is a column of the table, one cell for each measure.
    table = outcome.table()
    changes = zip(table["precision"], table["mean |change|"], strict=True)
    assert [change for name, change in changes if name == "levels:1"] == [0.0, 0.25, 0.5]


@pytest.mark.parametrize("design", [{}, {"baseline": "a"}])
def test_each_measure_has_a_sentence_on_ties(design):
    """The effect of ties was once in the verdict for the first measure only."""
    values = np.array([GOOD, BAD, [0.3, 0.1, 0.2]])[..., None].repeat(2, axis=2)
    spread = np.array([0.0, 0.3])
    results = Results(values, ("a", "b", "c"), ("x", "y", "z"), (AP, RR))
    first, second = compare(results, values - spread, values + spread, **design).verdict().split("By RR, ")
    assert "no order of the tied documents changes a sign or a verdict, as far as the lists reach." in first
    assert "; orders of the tied documents can reverse" in second

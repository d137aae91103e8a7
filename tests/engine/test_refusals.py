"""Calls that an evaluator and its kernels refuse, and the error of each, which is one line."""

from dataclasses import replace

import numpy as np
import pytest

import tieaware
import tieaware.experiments
from tieaware import Evaluator, InputError
from tieaware.kernels import _labels, _means, _resamples
from tieaware.measures import DEFINITIONS, Measure

ONE_ORDER = r"^ties: '{}' gives tied documents one order; a spread requires 'average'$"
WHOLE = r"^precision={}: cannot be used with judged_only, because it coarsens .*$"
CONDENSED = Evaluator([1, 0], "AP(judged_only=True)", precision="bands:2")
ONE_QUERY = {"q": {"d": 1}}, {"q": {"d": 1.0}}
COLLECTION = r"docs=4.*must be the size of the collection, but a query has 5 retrieved or"

ARGUMENTS = [
    (lambda: Evaluator([1, 0], "RR").spread([1.0, np.nan]), "NaN for document 1 of query 0"),
    (lambda: tieaware.evaluate(*ONE_QUERY, "RR").mean_std(), "mean_std: the results have no spread"),
    (lambda: Evaluator([1, 0], "RR").spread([1.0]), r"scores: expected shape \(2,\)"),
    *((lambda ties=ties: Evaluator([1, 0], "RR", ties=ties).spread([1.0, 2.0]), ONE_ORDER.format(ties))
      for ties in ("run_order", "optimistic")),
    *((lambda ties=ties: tieaware.evaluate(*ONE_QUERY, "RR", ties=ties, spread=True),
       ONE_ORDER.format(ties)) for ties in ("run_order", "optimistic")),
    *((lambda ties=ties: Evaluator([1, 0], ["AUC@1"], ties=ties)([1.0, np.nan]), "NaN for document 1")
      for ties in ("optimistic", "pessimistic")),
    (
        lambda: Evaluator([[0, 1, 0], [1, 0, 0]], "RR")([3.0, 2.0, 1.0]),
        r"^scores: expected shape \(6,\) or \(2, 3\), found shape \(3,\)$",
    ),
    (
        lambda: Evaluator([1, 0], "AP(judged_only=True)", ties="optimistic", precision="bands:2"),
        WHOLE.format("bands:2"),
    ),
    (lambda: Evaluator([1, 0], "AP(judged_only=True)", precision="levels:3"), WHOLE.format("levels:3")),
    (lambda: CONDENSED.spread([2.0, 1.0]), WHOLE.format("bands:2")),
]  # fmt: skip
LABELS = [
    (lambda: Evaluator([0.4, 0.1], "AP@5"), r"^AP@5: labels: are all below rel=1, .* \(the highest is 0\.4\)"),
    (lambda: Evaluator([0.7, 0.1], "AP@5"), r"write for example AP\(rel=0\.5\)@5"),
    (lambda: Evaluator(np.linspace(0.01, 3.5, 300), "ERR"), r"^ERR: labels: have 300 different values, but at most"),
    (lambda: Evaluator([[52, 52, 52]], "nDCG(dcg='exp-log2')"), r"labels: the gains add up to 2\^53 or more"),
    (lambda: Evaluator([4.5, 1.0], "ERR"), r"^ERR: labels: expected at most max_rel=4, found 4\.5$"),
    (lambda: Evaluator([np.nan, 1.0, 0.5], "nDCG"), r"^labels\[0\]: is NaN; pass missing='unjudged'"),
    (lambda: Evaluator([0, 1, 2, 2], "DCG(gains={1: 1})"), r"labels: the table of gains has no label 2$"),
    (lambda: Evaluator([256, 1], "Compat"), r"^Compat: labels: expected at most 255, found 256$"),
    (
        lambda: Evaluator(np.linspace(0.01, 3.0, 300), "Compat"),
        r"^Compat: labels: have 300 different values, but at most 255 are possible",
    ),
    (
        lambda: Evaluator(np.arange(1.0, 301.0) / 100.0, "NERR10")(np.zeros(300)),
        r"^NERR10: labels: have 300 different values, but at most 255 are possible",
    ),
    *((lambda name=name: Evaluator([0.25, 2], name), f"^{name}: labels: must be whole numbers")
      for name in ("BPM", "PPlus")),
    *((lambda name=name: Evaluator([1, 0, 0, 0, 0], name), COLLECTION)
      for name in ("Accuracy(docs=4)", "Specificity(docs=4)@2", "FallOut(docs=4)@2")),
]  # fmt: skip


QRELS, RUN = {"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": {"d1": 1.5, "d2": 1.5}, "q2": {"d2": 0.5}}
LISTS, SCORES = [[0, 1], [1, 0]], [[0.5, 0.5], [0.2, 0.1]]
EVALUATOR = Evaluator(LISTS, "AP")
RESULT = tieaware.evaluate(QRELS, RUN, "AP")
NO_DICT = "^measures: must be a list of names such as 'nDCG@10', not a dict$"
NO_NAME = "^measure: expected a name such as 'nDCG@10', or a tieaware.Measure, found "
# Arguments in another order, and judgments or runs in place of arrays.
MISPLACED = [
    (lambda: tieaware.evaluate("AP", QRELS, RUN), NO_DICT),
    (lambda: tieaware.evaluate(["AP", "nDCG@10"], QRELS, RUN), NO_DICT),
    (lambda: tieaware.evaluate(QRELS, "AP", RUN), NO_DICT),
    (lambda: tieaware.evaluate(QRELS, RUN, {"AP": 1}), NO_DICT),
    *((lambda first=first: tieaware.evaluate(first, "qrels.txt", "bm25.run"), "^measure: unknown measure 'bm25.run'; ")
      for first in (tieaware.AP, "AP")),
    (lambda: tieaware.evaluate(QRELS, RUN, "ndgc"), r"^measure: unknown measure 'ndgc'; did you mean nDCG\?$"),
    *((lambda form=form: tieaware.evaluate(form(LISTS), form(SCORES), "AP"), "^qrels: must be judgments ")
      for form in (list, np.array)),
    *((lambda out=out: EVALUATOR(LISTS, out), r"^out: expected float64\[2, 1\], found ")
      for out in (SCORES, np.array(SCORES), [[0.5, 0.5], [0.2]], 5)),
    *((lambda read=read: read(QRELS), "^path: must be a path, not a dict; write Qrels.from_dict or Run.from_dict$")
      for read in (tieaware.read_qrels, tieaware.read_run)),
    (lambda: Evaluator(SCORES, LISTS), NO_NAME), (lambda: Evaluator(np.array(LISTS), np.array(SCORES)), NO_NAME),
    (lambda: Evaluator("AP", LISTS), NO_NAME), (lambda: Evaluator(LISTS, [10]), NO_NAME),
    (lambda: Evaluator(SCORES, "AP"), r"^AP: labels: are all below rel=1, .* write for example AP\(rel=0.5\)"),
    *((lambda labels=labels: Evaluator(labels, "AP"), r"^labels(\[0\])?: expected a number from .*, found ")
      for labels in (QRELS, tieaware.Qrels.from_dict(QRELS), "qrels.txt")),
    *((lambda call=call: call({"a": SCORES}), r"^scores\[0\]: expected a number, found 'a'$")
      for call in (EVALUATOR, EVALUATOR.mean, EVALUATOR.score)),
    *((lambda scores=scores: EVALUATOR(scores), r"^scores(\[0\])?: expected a number, found ")
      for scores in (RUN, tieaware.Run.from_dict(RUN), "bm25.run")),
    (lambda: EVALUATOR.results({"a": RUN}), r"^scores\['a'\]\[0\]: expected a number, found 'q1'$"),
    (lambda: Evaluator(LISTS, ["AP", "RR"]).score(SCORES), r"^score\(\): needs an evaluator of one measure; .* has 2"),
    (
        lambda: tieaware.experiments.compare(QRELS, RUN, "AP"),
        r"^results: must be Results, not dict; for judgments and runs call comparison\(qrels, runs, measures\)$",
    ),
    (lambda: RESULT.table(spread="std"), "^spread: the results have no spread; evaluate with spread=True$"),
    (lambda: RESULT.table(spread=True), "^spread: expected one of std, range, interval, found True$"),
    (
        lambda: RESULT.plot("map"),
        r"^plot: the first argument is matplotlib axes; type plot\(measure='map'\)$",
    ),
    (
        lambda: RESULT.plot("means.png"),
        r"^plot: the first argument is matplotlib axes; type plot\(\).figure.savefig\('means.png'\)$",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), [*ARGUMENTS, *LABELS, *MISPLACED])
def test_wrong_arguments_and_labels(call, message):
    with pytest.raises(InputError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


PLACES, SAMPLES, SPACE, FOUND = np.zeros((2, 2), np.int64), np.zeros((2, 3)), np.empty(6), np.empty((2, 4))
VALUES, PARTS, COUNTS = np.zeros(2), np.zeros((2, 2)), np.zeros(2, np.int64)
GEOMETRIC = np.zeros(2, bool)
MISSPELT = Measure(replace(DEFINITIONS["P"], kernel="hit"))


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        (Evaluator, ([1, 0], [MISSPELT]), r"^unknown kernel 'hit'; the kernels are .*hits.*$"),
        *((_resamples.neighbours, (SAMPLES, wrong, SPACE, FOUND), "two places for each sample")
          for wrong in (PLACES[:1], PLACES[:, :1].copy())),
        *((_resamples.neighbours, (SAMPLES, PLACES, SPACE, wrong), "four numbers for each sample")
          for wrong in (FOUND[:1], FOUND[:, :2].copy())),
        (_resamples.neighbours, (SAMPLES, PLACES, SPACE[:5], FOUND), "space must hold two samples"),
        *((_resamples.neighbours, (SAMPLES, np.array([[0, 0], [0, place]]), SPACE, FOUND), "a place is outside the")
          for place in (-1, 3)),
        (_resamples.count_draws, (np.zeros((2, 3), np.int64), np.zeros((1, 3))), "a row for each resample"),
        *((_resamples.count_draws, (np.array([[0, topic]]), np.zeros((1, 3))), "a draw is not a topic")
          for topic in (-1, 3)),
        *((_means.sums, (VALUES, np.array(groups), GEOMETRIC), r"groups.*: expected")
          for groups in ([0], [0, 2], [0, -1])),
        *((_means.merged, (*wrong, 1), r"(parts|groups): expected")
          for wrong in ((PARTS, COUNTS[:1], COUNTS), (PARTS[:, :1].copy(), COUNTS, COUNTS),
                        (PARTS, COUNTS, COUNTS[:1]))),
        (_means.of_sums, (PARTS, COUNTS[:1], GEOMETRIC), r"parts: expected"),
        (_labels.weighted, (np.array([0, 2]), np.arange(2), np.array([1, 3], np.int32), -2, np.ones((1, 5))),
         "beyond the last column"),
        (_means.means, (np.zeros((2, 3, 4)), np.zeros(3, bool)), "expected shape"),
    ],
)  # fmt: skip
def test_unknown_kernels_and_arrays_that_do_not_fit(call, arguments, message):
    with pytest.raises(ValueError, match=message):
        call(*arguments)

"""Arguments that the searches for weights and the gradients refuse, and the sentences that say so."""

import numpy as np
import pytest
from support.errors import message_of

from tieaware import Evaluator, WeightedFusion, fuse
from tieaware.optimise import Lambdas, coordinate_ascent

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}}
RUNS = {"a": {"q1": {"d1": 1.0, "d2": 0.5}}, "b": {"q2": {"d1": 1.0, "d2": 0.5}, "q1": {"d2": 2.0}}}
FUSION = WeightedFusion(QRELS, RUNS, "AP")


def ascent(features=((1.0, 2.0), (3.0, 1.0)), **options):
    return coordinate_ascent(Evaluator([[1, 0]], ["AP"]), features, **options)


TRIED = coordinate_ascent(Evaluator([[1, 0], [1, 0], [0, 1]], ["AP"]), np.arange(12.0).reshape(6, 2), folds=3)

# A call, and a part of the message.
REFUSED = (
    (lambda: ascent([[1.0]]), "features: expected shape (2, n_features), found shape (1, 1)"),
    (lambda: ascent(start=[0.0, 0.0]), "start: must be finite weights that are not all 0"),
    (lambda: ascent(start=[1.0]), "start: expected 2 numbers, one for each feature, found shape (1,)"),
    (lambda: ascent(start=[1.0, -1.0], nonnegative=True), "start: must not have negative weights if nonnegative"),
    (lambda: ascent(nonnegative=1), "nonnegative: expected True or False, found 1"),
    (lambda: ascent(measure="RR"), "measure: RR is not among the evaluator's: AP"),
    (lambda: ascent(restarts=-1), "restarts: expected a whole number from 0 "),
    (lambda: ascent(folds=1), "folds: expected a whole number from 2 "),
    (lambda: ascent(folds=2), "folds: must be at most the number of queries, 1; found 2"),
    (lambda: ascent([[1.0], [2.0]], folds=2), "folds: must be left out with a single feature, whose weight does not"),
    (lambda: ascent().verdict(), "verdict: needs queries that do not choose the weights; search with folds=10"),
    (lambda: TRIED.verdict(["a"]), "names: must be one for each of the 2 features; found 1"),
    (lambda: Lambdas([1, 0], "ERR"), "measure: ERR cannot be trained by swaps of two documents; write one of nDCG"),
    (lambda: Lambdas([1, 0], "GMAP"), "measure: GMAP cannot be trained"),
    (lambda: Lambdas([1, 0], "P"), "measure: P is the same for every order of the documents; write a cut-off"),
    (lambda: Lambdas([1, 0], "Judged@3"), "measure: Judged@3 does not depend on relevance"),
    (lambda: Lambdas([1, 0], "nDCG(judged_only=True)"), "ranks judged documents only; write it without"),
    (lambda: Lambdas([1, 0], "nDCH"), "measure: unknown measure 'nDCH'"),
    (lambda: Lambdas([1, 0], "AP", truncation=0), "truncation: expected a whole number from 1"),
    (lambda: Lambdas([1, 0], "AP", sigma=0), "sigma: expected a number from 1e-09 to 1e"),
    (lambda: Lambdas([1, 0], "AP", normalise=1), "normalise: expected True or False"),
    (lambda: Lambdas([1, 0], "AP", weights=[1, 2, 3]), "weights: expected one for each of 2 documents"),
    (lambda: Lambdas([1, 0], "AP", weights=[1, -2]), "weights[1]: expected a finite number of at least 0"),
    (lambda: Lambdas([1, 0], "AP")([1.0, np.nan]), "scores[1]: expected a finite number, found nan"),
    (lambda: Lambdas([[1], [0]], "AP")([[1.0], [-np.inf]]), "scores[1, 0]: expected a finite number"),
    (lambda: Lambdas([1, 0], "AP")([1.0]), "scores: expected shape (2,), found shape (1,)"),
    (lambda: FUSION([1, 2, 3]), "weights: must have one weight for each of the 2 runs; found 3"),
    (lambda: WeightedFusion(QRELS, {"a": RUNS["a"]}, "AP"), "runs: must be at least two runs to fuse"),
    (lambda: WeightedFusion(QRELS, RUNS, "nDGC"), "unknown measure 'nDGC'"),
    (lambda: WeightedFusion({"1": {"d1": 1}}, RUNS, "AP"), "no query of this run is judged in qrels: the run has 'q1'"),
    (lambda: WeightedFusion([0, 1, 1], RUNS, "AP"), "must be judgments"),
    (lambda: fuse(RUNS, depth=0), "depth: expected a whole number of at least 1, found 0"),
    (lambda: fuse(RUNS, weights=[[0.5, 0.5], [0.1, 0.9]]), "weights: must be one list of weights per call"),
    (lambda: fuse(RUNS, weights=np.ones((5, 3))), "weights: must be one list of weights per call"),
)


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_wrong_arguments_are_refused_in_one_line(call, message):
    assert message in message_of(call)

"""Arguments in another order, and judgments or runs in place of arrays: the error says what to write."""

from pathlib import Path

import numpy as np
import pytest

import tieaware
from tieaware import Evaluator, InputError, evaluate, experiments

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}}
RUN = {"q1": {"d1": 1.5, "d2": 1.5}, "q2": {"d2": 0.5}}
LABELS = [[0, 1], [1, 0]]
SCORES = [[0.5, 0.5], [0.2, 0.1]]
EVALUATOR = Evaluator(LABELS, "AP")
RESULT = evaluate(QRELS, RUN, "AP")

FROM_DICT = "path: must be a path, not a dict; write Qrels.from_dict or Run.from_dict"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evaluate(QRELS, RUN, {"AP": 1}), "measures: must be a list of names such as 'nDCG@10', not a dict"),
        (lambda: EVALUATOR(LABELS, np.array(SCORES)), "out: expected float64[2, 1], found float64[2, 2]"),
        (lambda: EVALUATOR(LABELS, [[0.5, 0.5], [0.2]]), "out: expected float64[2, 1], found list"),
        (lambda: EVALUATOR(SCORES, 5), "out: expected float64[2, 1], found int"),
        (lambda: tieaware.read_qrels(QRELS), FROM_DICT),
        (lambda: tieaware.read_run(RUN), FROM_DICT),
        (
            lambda: Evaluator(SCORES, "AP"),
            "AP: labels: are all below rel=1, so no document is relevant (the highest is 0.5); write for example "
            "AP(rel=0.5)",
        ),
        (
            lambda: Evaluator(LABELS, ["AP", "RR"]).score(SCORES),
            "score(): needs an evaluator of one measure; this one has 2: use mean(scores), or Evaluator(..., 'AP')",
        ),
        (
            lambda: experiments.compare(QRELS, RUN, "AP"),
            "results: must be Results, not dict; for judgments and runs call comparison(qrels, runs, measures)",
        ),
        (lambda: RESULT.table(spread="std"), "spread: the results have no spread; evaluate with spread=True"),
        (lambda: RESULT.table(spread=True), "spread: expected one of std, range, interval, found True"),
        (lambda: RESULT.plot("map"), "plot: the first argument is matplotlib axes; type plot(measure='map')"),
        (
            lambda: RESULT.plot("means.png"),
            "plot: the first argument is matplotlib axes; type plot().figure.savefig('means.png')",
        ),
    ],
)
def test_the_error_says_what_to_write(call, message):
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message


def test_a_wrong_measure_is_not_an_order_of_arguments(tmp_path, monkeypatch):
    """A file may have a name that is no measure, and an unknown measure keeps its own error."""
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 d1 1\n")
    with pytest.raises(InputError, match=r"^measure: unknown measure 'ndgc'; did you mean nDCG\?$"):
        evaluate("qrels.txt", RUN, "ndgc")
    with pytest.raises(InputError, match=r"^labels\[1\]: is NaN; pass missing=.*$"):
        Evaluator([0.0, np.nan], "AP")
    assert tieaware.Evaluator(np.array([0.0, 1.0]), "AP")([2.0, 1.0]).item() == 0.5

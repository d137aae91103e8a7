"""Errors about measures, their judgments, or a number that they do not have; each error has one line."""

from __future__ import annotations

import numpy as np
import pytest

import tieaware
from tieaware import Evaluator, InputError, documents_viewed, evaluate, parse_measure, worst_case

OBJECT = r"^measure: expected a name such as 'nDCG@10', or a tieaware\.Measure, found"
ACCURACY = "has several meanings; write Accuracy@k for .*, Success@k as in beir, .*, or AUC@k as in ir_measures$"
REAL = {"q": {"a": {"d1": 0.7}, "b": {"d1": 0.2}}}
RUN = {"q": {"d1": 1.0}}
NO_SUBTOPICS = r"^alpha_nDCG@10: judgments: have no subtopics; pass \{query: \{subtopic:"

CALLS = [
    *((parse_measure, (given,), OBJECT)
      for given in (3, None, {"AP": 1}, np.array(3), type("Odd", (), {"__module__": "no package"})())),
    *((parse_measure, (name,), ACCURACY) for name in (
        "acc", "ACC@1", "accuracy_at_10", "Accuracy_at_10", "Accuracy_10", "top_k_accuracy", "top_1_accuracy",
        "top5_acc", "cosine_accuracy@10", "accuracy_score",
    )),
    (lambda: tieaware.nDCG(k=10), (), r"^nDCG: unknown parameter 'k'; write nDCG@10$"),
    (Evaluator, ([1, 0], []), r"^measures: must include at least one measure, such as 'nDCG@10'$"),
    (evaluate, ({"q": {"d": 1}}, {"q": {"d": 1.0}}, "alpha_nDCG@10"), NO_SUBTOPICS),
]  # fmt: skip
WORST_CASES = [
    (("Bpref", 2), r"^measure: the worst case of Bpref is not known; it is known for P@k, R@k, Recall_cap@k, "),
    (("P", 2), "^measure: the worst case of P is not known"),
    (("DCG(gains={1: 2})", 2), r"^measure: the worst case of DCG\(gains=\{1: 2\}\) is not known"),
    (("Rprec", 2, 0), "depth: expected a whole number from 1 to 100,000, found 0"),
    (("Q@10", 2, 2001), "^depth: expected a whole number from 1 to 2,000, found 2001"),
    (("AP", "0.5"), r"rho: expected a number from 1 to 2\^62 of at most 100 digits, .*, found '0.5'"),
    (("AP", 2, 0), "depth: expected a whole number from 1 to 100,000, found 0"),
]
VIEWED = [
    ("INST", r"^measure: INST has users who look at the gain; use one of P, RBP, SDCG, INSQ$"),
    ("AP@10", r"^measure: AP@10 has users who look at the gain"),
    ("P", r"^measure: P needs a cut-off, such as P@10$"),
    ("SDCG", r"^measure: SDCG needs a cut-off, such as SDCG@10$"),
    ("SDCG@2000000", r"^cut-off of SDCG@2000000: must be at most 1,000,000$"),
]


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        *CALLS, *((worst_case, arguments, message) for arguments, message in WORST_CASES),
        *((documents_viewed, (measure,), message) for measure, message in VIEWED),
    ],
)  # fmt: skip
def test_what_cannot_be_evaluated(call, arguments, message):
    with pytest.raises(InputError, match=message) as error:
        call(*arguments)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "measure",
    ["alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "P_IA@3", "AP_IA", "StRecall@3"],
)
@pytest.mark.parametrize(
    "call",
    [lambda name: evaluate(REAL, RUN, name), lambda name: Evaluator([[0.7, 0.2]], name, subtopics=True)],
    ids=["judgments", "arrays"],
)
def test_labels_of_subtopics_below_the_threshold(call, measure):
    family = measure.partition("@")[0]
    message = rf"^{family}.*: labels: are all below rel=1, .* \(the highest is 0\.7\); write for example .*rel=0\.5"
    with pytest.raises(InputError, match=message):
        call(measure)

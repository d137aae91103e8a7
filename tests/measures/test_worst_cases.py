"""The worst changes that banding can cause: compared with corrected published tables and with enumeration."""

import json
import re
from itertools import product

import numpy as np
import pytest

from tieaware import Evaluator
from tieaware.commands.worst_case_command import table
from tieaware.measures.worst_cases import measures_with_worst_cases, worst_case

RHOS = ["1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "2.0"]
LOSSES = {
    "RR": [0.003788, 0.011905, 0.025000, 0.041667, 0.041667, 0.083333, 0.083333, 0.083333, 0.083333, 0.083333],
    "RBP(p=0.5)": [0.000163, 0.005244, 0.021456, 0.042919, 0.046678, 0.094452, 0.094471, 0.101339, 0.101595, 0.101595],
    "RBP(p=0.6)": [0.000758, 0.009919, 0.028854, 0.048148, 0.053751, 0.092140, 0.092270, 0.102945, 0.104147, 0.104154],
    "RBP(p=0.8)": [0.006237, 0.021095, 0.038149, 0.049309, 0.057601, 0.078643, 0.080922, 0.094441, 0.099131, 0.099787],
    "RBP(p=0.85)": [0.008730, 0.023129, 0.038390, 0.048202, 0.056750, 0.073962, 0.077734, 0.089702, 0.095838, 0.097131],
    "RBP(p=0.95)": [0.012736, 0.024438, 0.035833, 0.044986, 0.053557, 0.064054, 0.070951, 0.078800, 0.086190, 0.090635],
    "AP": [0.015807, 0.030211, 0.046250, 0.059817, 0.069531, 0.103882, 0.103882, 0.117655, 0.121084, 0.121831],
}
AP_GAINS = [0.015450, 0.028910, 0.043640, 0.056198, 0.063150, 0.094444, 0.094444, 0.102579, 0.103813, 0.103813]
NDCG_LOSSES = [0.0063, 0.0134, 0.0233, 0.0347, 0.0385, 0.0655, 0.0655, 0.0732, 0.0736, 0.0736]
P_LOSSES = [0, 0.05, 0, 0.075, 0.075, 0.08, 0.08, 0.1714, 0.1875, 0.1875]


@pytest.mark.parametrize("measure", LOSSES)
def test_losses_agree_with_the_published_tables(measure):
    values = [worst_case(measure, rho).value for rho in RHOS]
    np.testing.assert_allclose(values, LOSSES[measure], rtol=0, atol=5.1e-7)


def test_gains_and_other_losses_agree_with_the_published_tables():
    for measure, gain, expected, digits in (
        ("AP", True, AP_GAINS, 6), ("nDCG@1000", False, NDCG_LOSSES, 4), ("P@10", False, P_LOSSES, 4),
    ):  # fmt: skip
        values = [worst_case(measure, rho, gain=gain).value for rho in RHOS]
        np.testing.assert_allclose(values, expected, rtol=0, atol=0.51 * 10.0**-digits)
    assert worst_case("nDCG@10", 2).value == pytest.approx(0.2656, abs=5e-5)
    assert worst_case("nDCG(discount='1/rank')@10", 2).value > 0.0
    assert [round(worst_case("RR", rho).value, 4) for rho in ("2.5", 3, 4, 5)] == [0.25, 0.25, 0.3889, 0.4792]


MEASURES = [
    *("RR", "RR@3", "RR@6", "RBP(p=0.5)", "RBP(p=0.9)", "RBP(p=0.8)@4", "AP", "AP@3", "AP@4", "AP@6", "AP@12"),
    *("nDCG", "nDCG@4", "nDCG@20", "DCG", "DCG@3", "DCG(dcg='exp-log2')@6", "P@3", "P@4", "P@12", "R@3", "R@8"),
    *("Recall_cap@2", "Recall_cap@3", "Recall_cap@8", "F1@1", "F1@3", "F1@6", "Success@1", "Success@4", "Hits@3"),
    *("Rprec", "ERR", "ERR@4", "ERR(max_rel=1)", "ERR(max_rel=1)@6", "Q", "Q(beta=0.3)", "Q(beta=100.0)@5"),
]


@pytest.mark.parametrize("depth", [1, 2, 7, 11])
@pytest.mark.parametrize("rho", ["1", "1.3", "1.5", "2", "2.6", "4", "100"])
def test_no_ranking_is_worse(rho, depth):
    """The worst case is compared with the enumeration of all relevance vectors of a short ranking."""
    every = np.array(list(product([0, 1], repeat=depth)))
    scores = np.tile(-np.arange(depth, dtype=float), (len(every), 1))
    loss = Evaluator(every, MEASURES)(scores) - Evaluator(every, MEASURES, precision=f"bands:{rho}")(scores)
    for i, measure in enumerate(MEASURES):
        for gain, worst in ((False, loss[:, i].max()), (True, -loss[:, i].min())):
            found = worst_case(measure, rho, depth, gain)
            assert found.value == pytest.approx(worst, abs=1e-12), (measure, gain)


@pytest.mark.parametrize("gain", [False, True])
@pytest.mark.parametrize("rho", ["1.1", "1.5", "2", "7"])
def test_the_ranking_attains_the_value(rho, gain):
    scores = -np.arange(300.0)
    for measure in MEASURES:
        found = worst_case(measure, rho, 300, gain)
        ranked = Evaluator(found.labels, [measure])(scores)
        banded = Evaluator(found.labels, [measure], precision=f"bands:{rho}")(scores)
        difference = (banded - ranked if gain else ranked - banded).item()
        assert difference == pytest.approx(found.value, abs=1e-12), measure


def test_a_rho_of_1_costs_nothing():
    for measure in MEASURES:
        found = worst_case(measure, 1, 50)
        assert (found.value, found.labels.sum()) == (0.0, 0)


def test_the_docstring_lists_the_measures_whose_worst_case_is_known():
    """The parameter `measure` of `worst_case` lists the same measures as the definitions."""
    listed = worst_case.__doc__.partition("measure : str or Measure\n")[2].partition(". A document")[0]
    assert set(re.split(r",\s+| or ", listed.strip())) == set(measures_with_worst_cases())


def test_the_command_prints_the_table(printed, refused):
    found = printed("worst-case --rho 1.5 --rho 2 -m AP -m P@10 --gain")
    sentence, _, rest = found.partition("\n\n")
    bands = "0.0750 (P@10) by bands that grow by 1.5, or 0.188 (P@10) by bands that grow by 2"
    assert " ".join(sentence.split()) == f"No ranking loses more than {bands}."
    assert rest == f"{table(['AP', 'P@10'], ['1.5', '2'], gain=True)}\n"
    (losses,) = json.loads(printed("worst-case --format json -m RR --rho 2"))["tables"].values()
    assert losses["rows"] == [{"rho": "2", "RR": worst_case("RR", 2).value}]
    assert printed("worst-case --format csv -m RR --rho 2") == f"rho,RR\n2,{worst_case('RR', 2).value!r}\n"
    assert printed("worst-case --format markdown").count("\n") == 15
    assert "the worst case of Bpref is not known" in refused("worst-case -m Bpref")

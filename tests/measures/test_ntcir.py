"""Measures of NTCIR, compared with NTCIREVAL.

The values are recorded from pyNTCIREVAL 0.0.3, which is not maintained and therefore not a dependency.
"""

from __future__ import annotations

import numpy as np
import pytest

import tieaware

# The labels of a ranking and of all judged documents; -1 is unjudged.
LISTS = [
    ([-1, -1, 1, 0, 0, 0, 1, 2, 2, 0, 0, 2], [0] * 8 + [1, 1, 2, 2, 2, 3]),
    ([1, -1, -1, -1, 0, 3, -1, 1, 2, 0, 0, 0], [0] * 5 + [1, 1, 1, 2, 2, 2, 2, 2, 3]),
    ([0, 0, 2, 0, 3, 1, 1, -1, 1, 3, 1, -1], [0] * 4 + [1, 1, 1, 1, 1, 1, 2, 2, 3, 3]),
]
# NTCIREVAL takes a gain for each label: 1, 3 and 7 for nERR and MSnDCG(dcg='exp-log2'), otherwise 1, 2 and 3.
VALUES = {
    "nERR(max_rel=3)@3": [0.045878136200716846, 0.13763440860215054, 0.13417190775681342],
    "nERR(max_rel=3)@10": [0.12374848287781991, 0.28175266384524017, 0.26004180446085157],
    "MSnDCG@3": [0.09502344167898358, 0.19004688335796716, 0.16969892452572993],
    "MSnDCG@10": [0.3009381062043084, 0.3488830848045683, 0.45996789541041305],
    "MSnDCG(dcg='exp-log2')@3": [0.04811027987356989, 0.09622055974713978, 0.11613045631714863],
    "MSnDCG(dcg='exp-log2')@10": [0.21587094354149078, 0.31701157005562164, 0.4460639249191275],
    "O": [0.2, 0.5, 0.2727272727272727],
    "O(beta=0.3)": [0.25490196078431376, 0.6842105263157895, 0.2962962962962963],
    "O(beta=10.0)": [0.1506849315068493, 0.3548387096774194, 0.25301204819277107],
    "PPlus": [0.26354775828460036, 0.40789473684210525, 0.35511363636363635],
    "PPlus(beta=0.3)": [0.2930035203931789, 0.5037214247740563, 0.358991521642124],
    "PPlus(beta=10.0)": [0.23437529973401808, 0.33183111954459205, 0.35259298061812466],
}  # fmt: skip


OF_Q = [
    ("Q", *LISTS[0], 0.30931011102635814), ("Q(beta=0.3)", *LISTS[1], 0.2010524261172621),
    (
        "Q(beta=10.0)", [1, 0, 2, 0, 3, 1, 1, -1, 1, 3, 1, -1], [0] * 4 + [1, 1, 1, 1, 1, 1, 2, 2, 3, 3],
        0.46537964611093285,
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "labels", "judged", "value"),
    [*((name, *given, value) for name in VALUES for given, value in zip(LISTS, VALUES[name], strict=True)), *OF_Q],
)
def test_values_agree_with_ntcireval(measure, labels, judged, value):
    evaluator = tieaware.Evaluator(labels, [measure], judgments=(judged, [0, len(judged)]))
    assert evaluator(-np.arange(12.0))[0, 0] == pytest.approx(value, rel=1e-14)


def test_the_ideal_ranking_has_the_value_1():
    """Also if documents of equal labels tie, and if rounding would lift the value above 1."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        labels = np.sort(rng.integers(0, 5, 30))[::-1]
        evaluator = tieaware.Evaluator(labels, ["nERR", "nERR@7", "MSnDCG@7"])
        for scores in (-np.arange(30.0), labels.astype(np.float64)):
            values = evaluator(scores)[0]
            assert (values <= 1.0).all()
            np.testing.assert_allclose(values, 1.0, rtol=1e-14)
        assert evaluator(-np.arange(30.0))[0, :2].tolist() == [1.0, 1.0]


def test_irbu_in_long_lists():
    """The utilities of deep ranks come from a table that grows with the list."""
    n = 10_000
    labels = np.zeros(n, dtype=np.int32)
    labels[-1] = 4
    value = tieaware.Evaluator(labels, ["iRBU(p=0.9999)"])(-np.arange(n, dtype=np.float64))[0, 0]
    assert value == pytest.approx(0.9375 * 0.9999**n, rel=1e-12)

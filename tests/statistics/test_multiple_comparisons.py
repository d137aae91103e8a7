"""Corrections for multiple comparisons, against their definitions, a published example and SciPy."""


import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware.statistics import benjamini_hochberg, bonferroni, holm
from tieaware.statistics.multiple_comparisons import adjusted, levels

CORRECTIONS = {"holm": holm, "bh": benjamini_hochberg, "bonferroni": bonferroni}
P_VALUES = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.02, 0.05]), max_size=8)

# The 15 p values of a clinical trial in section 4 of Benjamini and Hochberg (1995). By their method the 4 smallest are
# significant at 0.05, by Bonferroni's the 3 smallest.
PUBLISHED = (
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0,
)  # fmt: skip
# The adjusted values by statsmodels 0.15.0: multipletests(PUBLISHED, method=...)[1], methods holm, fdr_bh, bonferroni.
BY_STATSMODELS = {
    "holm": [0.0015, 0.0056, 0.0247, 0.114, 0.2211, 0.278, 0.278, 0.278, 0.3213, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    "bh": [
        0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.063857, 0.063857, 0.0645, 0.0765, 0.486, 0.581182, 0.714875,
        0.753231, 0.813214, 1.0,
    ],
    "bonferroni": [0.0015, 0.006, 0.0285, 0.1425, 0.3015, 0.417, 0.447, 0.516, 0.6885, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
}  # fmt: skip


def test_the_example_of_benjamini_and_hochberg():
    assert [(correct(PUBLISHED) <= 0.05).sum() for correct in (benjamini_hochberg, bonferroni)] == [4, 3]
    for name, expected in BY_STATSMODELS.items():
        np.testing.assert_allclose(CORRECTIONS[name](PUBLISHED), expected, atol=5e-7)


@given(P_VALUES)
def test_holm_follows_its_definition(p):
    adjusted = holm(p)
    order = sorted(range(len(p)), key=p.__getitem__)
    largest = 0.0
    for step, i in enumerate(order):
        largest = max(largest, min(1.0, p[i] * (len(p) - step)))
        assert adjusted[i] == largest


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_benjamini_hochberg_agrees_with_scipy(p):
    stats = pytest.importorskip("scipy.stats")
    np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p, method="bh"), rtol=1e-14)


@given(P_VALUES)
def test_the_corrections_have_an_order(p):
    """Benjamini–Hochberg never exceeds Holm, which never exceeds Bonferroni; shapes and ranks are kept."""
    least, middle, most = benjamini_hochberg(p), holm(p), bonferroni(p)
    assert (least <= middle * (1 + 1e-15)).all()
    assert (middle <= most).all()
    assert (np.asarray(p) <= least * (1 + 1e-15)).all()
    for correct in CORRECTIONS.values():
        square = correct(np.reshape(p, (1, -1)))
        assert square.shape == (1, len(p))
        assert (np.diff(square[0, np.argsort(p, kind="stable")]) >= 0.0).all()


@pytest.mark.parametrize("correction", [*CORRECTIONS, "none"])
def test_levels_tell_which_p_value_would_be_significant(correction):
    """Replace one p value by another: it is significant after the correction if and only if it is at most the level."""
    rng = np.random.default_rng(6)
    significant = 0
    for _ in range(50):
        p = rng.choice([1e-4, 1e-3, 0.004, 0.007, 0.011, 0.02, 0.03, 0.06, 0.4], rng.integers(1, 9))
        limits = levels(p, 0.05, correction)
        assert limits.shape == p.shape
        for i in range(len(p)):
            for value in (p[i] + 1e-9, *rng.random(5) * 0.06):
                changed = p.copy()
                changed[i] = value
                assert (adjusted(changed, correction)[i] <= 0.05) == (value <= limits[i])
                significant += value <= limits[i]
    assert significant > 100

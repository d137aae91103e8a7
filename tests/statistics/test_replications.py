"""Agreement of a replication with the original: repro_eval's values, the definitions, undefined ratios, bad shapes."""

import math

import numpy as np
import pytest

from tieaware.statistics import replication


@pytest.fixture
def experiments():
    """Return the values of a baseline and an advanced system in two experiments: float64[4, 25]."""
    rng = np.random.default_rng(12)
    return rng.random((4, 25)) + np.array([[0.0], [0.25], [0.0], [0.125]])


def test_the_definitions(experiments):
    """Each measure by a loop over the topics."""
    base, advanced, new_base, new_advanced = experiments.tolist()
    found = replication(*experiments)
    effect = math.fsum(a - b for a, b in zip(advanced, base, strict=True)) / 25
    new_effect = math.fsum(a - b for a, b in zip(new_advanced, new_base, strict=True)) / 25
    assert found.effect_ratio == pytest.approx(new_effect / effect, rel=1e-12)
    improvements = effect / (math.fsum(base) / 25), new_effect / (math.fsum(new_base) / 25)
    assert found.delta_relative_improvement == pytest.approx(improvements[0] - improvements[1], rel=1e-12)
    for rmse, old, new in ((found.rmse_base, base, new_base), (found.rmse_advanced, advanced, new_advanced)):
        assert rmse == pytest.approx(math.dist(old, new) / 5, rel=1e-12)


def test_the_values_of_repro_eval(experiments):
    overall_effects = pytest.importorskip("repro_eval.measure.overall_effects")
    effectiveness = pytest.importorskip("repro_eval.measure.effectiveness")
    base, advanced, new_base, new_advanced = (
        {str(topic): {"map": value} for topic, value in enumerate(each.tolist())} for each in experiments
    )
    found = replication(*experiments)
    given = {"orig_score_b": base, "orig_score_a": advanced, "rep_score_b": new_base, "rep_score_a": new_advanced}
    assert found.effect_ratio == pytest.approx(overall_effects.ER(**given)["map"], rel=1e-12)
    assert found.delta_relative_improvement == pytest.approx(overall_effects.DRI(**given)["map"], rel=1e-12)
    assert found.rmse_base == pytest.approx(effectiveness.RMSE(base, new_base)["map"], rel=1e-12)
    assert found.rmse_advanced == pytest.approx(effectiveness.RMSE(advanced, new_advanced)["map"], rel=1e-12)


def test_many_measures_at_once(experiments):
    """The leading axes are measures, or pairs of systems."""
    several = experiments.reshape(4, 5, 5)
    found = replication(*several)
    for i in range(5):
        assert [each[i] for each in found] == pytest.approx([float(each) for each in replication(*several[:, i])])


def test_other_topics_have_no_errors(experiments):
    found = replication(*experiments[:2], *experiments[2:, :10], same_topics=False)
    assert found.rmse_base is found.rmse_advanced is None
    expected = (experiments[3, :10].mean() - experiments[2, :10].mean()) / (experiments[1] - experiments[0]).mean()
    assert found.effect_ratio == pytest.approx(expected, rel=1e-12)


def test_undefined_ratios_are_nan():
    assert np.isnan(replication([0.5], [0.5], [0.5], [0.75]).effect_ratio)
    found = replication([0.0, 0.0], [0.5, 0.0], [0.5, 0.5], [0.75, 0.5])
    assert found.effect_ratio == 0.5
    assert np.isnan(found.delta_relative_improvement)

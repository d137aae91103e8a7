"""The overhead experiment: ratios of times, checks of the values, and its command."""

import pytest

from tieaware.experiments import overhead

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")


def test_ratios_are_positive_and_plain_python_is_slower():
    outcome = overhead(["AP", "RR"], n_queries=50, rounds=3)
    assert outcome.ratios.shape == (2, 3)
    assert (outcome.ratios > 0.0).all()
    # Plain Python is so much slower that noise in the times cannot reverse the comparison.
    assert (outcome.ratios[:, 2] > 3.0).all()
    assert [row[0] for row in outcome.table().rows] == ["AP", "RR"]


def test_values_are_checked_before_they_are_timed(monkeypatch):
    from tieaware import reference

    monkeypatch.setattr(reference, "evaluate", lambda *_, **__: 0.5)
    with pytest.raises(AssertionError):
        overhead(["AP"], n_queries=20, rounds=1)

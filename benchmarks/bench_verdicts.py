"""The verdicts that ties can turn, for many queries, compared with the same comparison without ties."""

from functools import partial

import numpy as np
import pytest

from tieaware import Results
from tieaware.experiments import compare as compare_runs
from tieaware.measures import parse_measures

pytest.importorskip("scipy.stats")


def test_verdicts_under_ties(compare, small):
    """Three runs, of which the first ties throughout, so that each of its values has a range."""
    n_queries = 50 if small else 20_000
    rng = np.random.default_rng(41)
    measures = parse_measures(["nDCG@10", "AP", "RR"])
    values = rng.random((3, n_queries, len(measures)))
    reach = rng.random(values.shape) * np.array([0.5, 0.01, 0.01])[:, None, None]
    queries = tuple(f"q{i}" for i in range(n_queries))
    results = Results(values, ("equal scores", "first", "second"), queries, measures)
    bounds = values - reach, values + reach

    def check():
        outcome = compare_runs(results, *bounds)
        for tested, effect in zip(outcome.tests, outcome.resolutions, strict=True):
            assert effect.verdict_flips[:2].tolist() == [1, 1]
            assert ((effect.lowest <= tested.difference) & (tested.difference <= effect.highest)).all()

    compare(
        "Verdicts", f"3 runs × {n_queries:,} queries × 3 measures, one run tied throughout", check=check,
        contender=partial(compare_runs, results, *bounds), of="with ties", baseline=partial(compare_runs, results),
        to="without", at_most=200,
    )  # fmt: skip

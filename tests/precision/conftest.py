"""Lists with tied scores, which the tests of precisions share."""

import numpy as np
import pytest


@pytest.fixture(scope="package")
def lists():
    """Draw lists of several sizes. Return the sizes, the labels (some -1, for unjudged) and the scores."""
    rng = np.random.default_rng(11)
    sizes = np.array([0, 1, 3, 40, 200, 7, 90])
    labels = rng.integers(-1, 3, sizes.sum())
    return sizes, labels, rng.normal(size=sizes.sum()).round(1) + rng.normal(size=sizes.sum()).round(2)

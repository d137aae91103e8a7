"""Fairness of exposure: the attention that documents, and groups of documents, get from rankings with ties."""

from tieaware.fairness.expected import ExpectedExposure, expected_exposure, target_exposure
from tieaware.fairness.exposures import exposure
from tieaware.fairness.group_sums import GroupExposure, gini, group_exposure

__all__ = [
    "ExpectedExposure", "GroupExposure", "expected_exposure", "exposure", "gini", "group_exposure", "target_exposure",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__

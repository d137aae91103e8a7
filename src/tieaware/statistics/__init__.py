"""Comparing systems: paired tests, rank correlation, smoothing, agreement of assessors. Needs `tieaware[analysis]`.

SciPy does what SciPy has. Where two samples are equal, its tests have no answer, and these have: nothing was shown,
p = 1.
"""

from tieaware.statistics.agreement import Kappa, kappa, kappa_of_table
from tieaware.statistics.paired_tests import PairedTest, holm, paired_test
from tieaware.statistics.rank_correlation import kendall_tau, rbo, tau_ap
from tieaware.statistics.scores import smooth, standardize

__all__ = [
    "Kappa",
    "PairedTest",
    "holm",
    "kappa",
    "kappa_of_table",
    "kendall_tau",
    "paired_test",
    "rbo",
    "smooth",
    "standardize",
    "tau_ap",
]

"""Statistics for comparing systems and assessors; most functions need `tieaware[analysis]`.

The package has paired tests, corrections for multiple comparisons, rank correlation, smoothing and standardising of
scores, agreement of assessors, and counts of ties. SciPy computes most distributions. For two equal samples SciPy's
paired tests return NaN; the tests here return p = 1, because such samples show no difference.
"""

import sys
from typing import TYPE_CHECKING, Any

from tieaware.errors import missing
from tieaware.statistics.agreement import Kappa, kappa, kappa_of_table
from tieaware.statistics.chance_test import ChanceTest, better_than_chance
from tieaware.statistics.intervals import Interval, mean_interval, ratio_interval
from tieaware.statistics.letter_display import groups, letters
from tieaware.statistics.mean_changes import Kept, MeanChange, kept, mean_change
from tieaware.statistics.multiple_comparisons import benjamini_hochberg, bonferroni, holm
from tieaware.statistics.paired_tests import BayesianComparison, PairedTest, bayesian_comparison, paired_test
from tieaware.statistics.planning import (
    TopicVariance,
    detectable_difference,
    power,
    topic_variance,
    topics_needed,
)
from tieaware.statistics.rank_changes import RankChange, p_mrr
from tieaware.statistics.rank_correlation import (
    OverlapBounds,
    OverlapSpread,
    kendall_tau,
    kendall_taus,
    rbo,
    rbo_bounds,
    rbo_spread,
    tau_ap,
)
from tieaware.statistics.ranks_of_systems import RankIntervals, rank_intervals
from tieaware.statistics.replications import Replication, replication
from tieaware.statistics.run_overlap import RunOverlap, rbo_by_query
from tieaware.statistics.scores import smooth, standardize
from tieaware.statistics.tie_counts import Ties, count_ties
from tieaware.statistics.topic_samples import Decisions, decisions_by_topics
from tieaware.statistics.tukey import randomised_tukey_hsd, tukey_hsd
from tieaware.statistics.uncertain_labels.label_uncertainty import UncertainValues, with_uncertain_labels
from tieaware.statistics.variance_analysis import Anova, Effect, anova
from tieaware.statistics.verdicts import PairTests, Resolutions, all_pairs, resolve_ties, shares_of_changes

__all__ = [
    "Anova",
    "BayesianComparison",
    "ChanceTest",
    "Decisions",
    "Effect",
    "Interval",
    "Kappa",
    "Kept",
    "MeanChange",
    "OverlapBounds",
    "OverlapSpread",
    "PairTests",
    "PairedTest",
    "RankChange",
    "RankIntervals",
    "Replication",
    "Resolutions",
    "RunOverlap",
    "Ties",
    "TopicVariance",
    "UncertainValues",
    "all_pairs",
    "anova",
    "bayesian_comparison",
    "benjamini_hochberg",
    "better_than_chance",
    "bonferroni",
    "count_ties",
    "decisions_by_topics",
    "detectable_difference",
    "groups",
    "holm",
    "kappa",
    "kappa_of_table",
    "kendall_tau",
    "kendall_taus",
    "kept",
    "letters",
    "mean_change",
    "mean_interval",
    "p_mrr",
    "paired_test",
    "power",
    "randomised_tukey_hsd",
    "rank_intervals",
    "ratio_interval",
    "rbo",
    "rbo_bounds",
    "rbo_by_query",
    "rbo_spread",
    "replication",
    "resolve_ties",
    "shares_of_changes",
    "smooth",
    "standardize",
    "tau_ap",
    "topic_variance",
    "topics_needed",
    "tukey_hsd",
    "with_uncertain_labels",
]


def __dir__() -> list[str]:
    return __all__


# Type checkers do not read this function, so that they find misspelled names.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise missing(__name__, name, sys.modules[__name__])

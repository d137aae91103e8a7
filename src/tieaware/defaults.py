"""Default arguments of experiments and commands."""

from __future__ import annotations

# The growth factors of bands in the experiments `precision` and `banding`. With the factor 1, each band is a single
# rank, so that the run's own order is kept.
RHOS = tuple(f"{1 + i / 10:.1f}" for i in range(11))
PRECISION_MEASURES = ("RR", "RBP(p=0.5)", "RBP(p=0.85)", "AP", "nDCG@10")

# The numbers of levels of the experiment `scales`, its measure, and the number of parts of the queries.
SCALE_SIZES = (4, 8, 16)
SCALE_MEASURE = "AP"
SCALE_FOLDS = 2

TIE_MEASURES = ("AP", "nDCG@10", "RR", "P@10")
TIE_CUTOFFS = (10, 100, 1000)

COMPARISON_MEASURES = ("AP",)

GATE_MEASURES = ("nDCG@10",)

FUSION_MEASURES = ("nDCG@10",)
FUSION_FOLDS = 10
FUSION_METHODS = ("sum", "mnz", "max", "min", "med", "rrf", "isr", "borda")

NOISE_MEASURES = ("nDCG@10",)
# In standard deviations of the scores of a list.
NOISE_SIZES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)

INEXACT_MEASURES = ("AP", "nDCG@10")
INEXACT_METHODS = (
    "MaxScore()", "HighIdf(share=0.5)", "AtLeast(m=2)", "Champions(r=10)", "Champions(r=100)",
    "Tiers(quantiles=(0.9,))", "ImpactOrdered(postings=0.1)", "ImpactOrdered(postings=0.5)",
    "ClusterPruning(b1=1, b2=1)", "ClusterPruning(b1=2, b2=5)", "Exact(weighting='impact:8')",
    "Exact(weighting='impact:2')",
)  # fmt: skip

SMOOTHING_MEASURES = ("AP",)
SMOOTHING_ALPHAS = (0.0, 0.5, 0.8, 1.0)
# The number of topics in each of the three sets of the experiment `smoothing`, if there are enough topics.
LARGEST_SET = 25

POOL_DEPTH = 100

ASSESSOR_MEASURES = ("AP", "nDCG@10", "P@10")

OVERHEAD_MEASURES = ("P@10", "R@100", "F1@10", "RR", "AP", "nDCG", "nDCG@10", "RBP", "Success@10", "Rprec")

WORST_CASE_MEASURES = (
    "RR", "RBP(p=0.5)", "RBP(p=0.6)", "RBP(p=0.8)", "RBP(p=0.85)", "RBP(p=0.95)", "AP", "nDCG@1000", "P@10",
)  # fmt: skip

# The default measures of trec_eval, except interpolated precision, whose average over ties may take too long.
EVAL_MEASURES = (
    "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank", "ndcg", "ndcg_cut_10",
    "P_5", "P_10", "P_15", "P_20", "P_30", "P_100", "P_200", "P_500", "P_1000",
)  # fmt: skip

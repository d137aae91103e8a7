"""Arguments that the functions of `tieaware.statistics` refuse, and the sentences that say so."""

import math
from functools import partial

import numpy as np
import pytest
from support.errors import message_of

from tieaware import Run, statistics
from tieaware.statistics.procedures import checked, pairs_of

A = [0.5, 0.25, 0.75, 0.0, 1.0]
SYSTEMS = np.random.default_rng(4).random((5, 30))
RUN = {"q": {"d": 1.0}}
OF_TWO = "values: must have at least two systems and two topics; the shape is"
PER_TOPIC = "must have a value each for the same topics; the shapes are"
ONE_TEST = "corrects for the number of runs itself; leave out the correction"
THIRTY_PAIRS = np.zeros((60, 60), dtype=bool)
THIRTY_PAIRS[np.arange(30) * 2, np.arange(30) * 2 + 1] = True  # 2^30 groups
SEVERAL_TESTS = statistics.all_pairs(SYSTEMS[:4, :, None])
LEAST, GREATEST = np.zeros((3, 4)), np.ones((3, 4))
RESOLVED = partial(statistics.resolve_ties, statistics.paired_test(LEAST[:2], GREATEST[1:]))

# The function, its arguments and keywords, and a part of the message.
REFUSED = (
    (statistics.kappa_of_table, ([1, 2],), {}, "table: must have one row and one column for each label; its shape is"),
    (statistics.kappa_of_table, ([[1, 2]],), {}, "its shape is (1, 2)"),
    (statistics.kappa_of_table, ([[1, -2], [0, 1]],), {}, "table: must hold counts of at least 0"),
    (statistics.kappa_of_table, ([[0, 0], [0, 0]],), {}, "one of them must be above 0"),
    (statistics.kappa_of_table, (np.zeros((0, 0)),), {}, "table: must hold counts of at least 0"),
    (statistics.kappa_of_table, ([[1, math.inf], [0, 1]],), {}, "table: expected finite numbers, found inf"),
    (statistics.kappa_of_table, ([[1]], "none"), {}, "marginals: expected one of pooled, separate, uniform, found"),
    (statistics.kappa, ([1],), {}, "assessors: expected at least two, found 1"),
    (statistics.kappa, ([1], [1, 2]), {}, "found [1, 2]"),
    (statistics.kappa, ([], []), {}, "found [0]"),
    (statistics.kappa, ([1], [1]), {"marginals": "none"}, "marginals: expected one of pooled, separate, uniform"),
    (statistics.bayesian_comparison, (A, A), {"rope": -0.1}, "rope: expected a number from 0 to 1e+150, found -0.1"),
    (statistics.bayesian_comparison, (A, A), {"confidence": 1}, "confidence: expected a number between 0 and 1"),
    (statistics.bayesian_comparison, (A, A), {"correlation": 1}, "correlation: expected a number less than 1, found 1"),
    (statistics.bayesian_comparison, (A, [0.5, 0.25]), {}, "a, b: must have shapes that broadcast: (5,) and (2,) do"),
    (statistics.bayesian_comparison, (A, [0.5, 0.25, np.nan, 0, 0]), {}, "b: expected finite numbers, found nan"),
    (statistics.bayesian_comparison, (A, A), {"axis": 1}, "axis: expected an axis of an array of shape (5,), found 1"),
    (statistics.better_than_chance, ({"q": {"d": 1}}, RUN, "GMAP"), {}, "measures: GMAP has a geometric mean, which"),
    (statistics.better_than_chance, ({"q": {"d": 1}}, RUN, "nonsense"), {}, "measure: unknown measure"),
    (statistics.better_than_chance, ({"q": {"d": 1}}, RUN, "AP"), {"samples": 0}, "samples: "),
    (statistics.better_than_chance, ({"q": {"d": 1}}, RUN, "AP"), {"seed": -1}, "seed: "),
    (statistics.better_than_chance, ({"q": {"d": 1}}, {"a": {"q": {"d": math.nan}}}, "AP"), {}, "a"),
    (statistics.mean_interval, ([1.0],), {}, "values: must have at least two topics; the shape is (1,)"),
    (statistics.mean_interval, (1.0,), {}, "axis: expected an axis of an array of shape (), found -1"),
    (statistics.mean_interval, ([1.0, np.nan],), {}, "values: expected finite numbers, found nan"),
    (statistics.mean_interval, ([1.0, 1e200],), {}, "values: expected numbers of at most 1e150, found 1e+200"),
    (statistics.mean_interval, ([1.0, 2.0], "z"), {}, "method: "),
    (statistics.mean_interval, ([1.0, 2.0],), {"level": 1.0}, "level: "),
    (statistics.mean_interval, ([1.0, 2.0], "bca"), {"resamples": 10}, "resamples: "),
    (statistics.ratio_interval, ([1.0, 2.0], [1.0, -1.0]), {}, "b: a mean is 0, so the ratio is not defined"),
    (statistics.ratio_interval, ([1.0, 2.0], [1.0, 2.0, 3.0]), {}, "a, b: must have the same shape; found (2,) and"),
    (statistics.ratio_interval, ([1.0, 2.0], [0.0, 1.0], "bca"), {}, "b: the mean of a resample is 0"),
    (statistics.ratio_interval, ([1.0, 2.0], [1.0, 1.0], "bootstrap-t"), {}, "method: bootstrap-t is for means"),
    (statistics.with_uncertain_labels, ([1.0], [[0.5, 0.5]], "nDGC"), {}, "nDGC"),
    (statistics.groups, (THIRTY_PAIRS, np.zeros(60)), {}, "groups: there are more than 10,000 sets; compare fewer"),
    (statistics.groups, (np.zeros((1, 1), np.int64), [0.0]), {}, "separated: must be bool[n, n] for n means;"),
    (statistics.groups, (np.zeros((1, 1), bool), [np.nan]), {}, "means: expected finite numbers, found nan"),
    (statistics.letters, ([(0, 1)], 2**31), {}, "n_systems: expected a whole number from 0 to 1,000,000, found 2147"),
    (statistics.letters, ([(0, 1)], 1.5), {}, "n_systems: expected a whole number"),
    (statistics.letters, ([(0,), (0, 3)], 3), {}, "found[1][1]: expected a whole number from 0 to 2, found 3"),
    (statistics.letters, ([(0,), 1], 3), {}, "found[1]: expected a sequence of whole numbers, found 1"),
    *(
        (correct, (p,), {}, message)
        for correct in (statistics.holm, statistics.benjamini_hochberg, statistics.bonferroni)
        for p, message in (([0.5, math.nan], "p: expected finite numbers"), ([0.5, 1.5], "p: expected p values from 0"))
    ),
    (statistics.paired_test, ([1.0, math.nan], 0.0), {}, "a: expected finite numbers, found nan"),
    (statistics.paired_test, ([1.0], [0.0]), {}, "a: must have at least two pairs; the differences have shape (1,)"),
    (statistics.paired_test, (1.0, 0.0), {}, "a: must have at least two pairs"),
    (statistics.paired_test, ([1, 2], 0, "z"), {}, "method: expected one of t, wilcoxon, sign, permutation, found 'z'"),
    (statistics.paired_test, ([1, 2], 0, "t", "more"), {}, "two-sided, greater, less, found 'more'"),
    (statistics.paired_test, ([1, 2], 0), {"confidence": 1.0}, "confidence: expected a number between 0 and 1"),
    (statistics.paired_test, ([1, 2], 0), {"repeats": 0}, "repeats: expected a whole number from 1 to 1,000,000,000"),
    (statistics.paired_test, ([1, 2], 0), {"seed": -1}, "seed: expected a whole number of at least 0, found -1"),
    (statistics.paired_test, ([1, 2], 0), {"axis": 1}, "axis: expected an axis of an array of shape (2,), found 1"),
    (statistics.paired_test, ([1, 2], [0, 1, 2]), {}, "a, b: must have shapes that broadcast: (2,) and (3,) do not"),
    (statistics.paired_test, (["x", "y"], 0), {}, "a: must be numbers: could not convert string to float: 'x'"),
    (statistics.paired_test, ([1e308, 0], [-1e308, 0]), {}, "a, b: expected differences of at most 1e150, found inf"),
    (statistics.power, (2, 0.1, 0.04), {}, "n_topics: must be whole numbers from 3 to 1,000,000,000; found 2"),
    (statistics.power, ([50, 10.5], 0.1, 0.04), {}, "n_topics: must be whole numbers from 3 to 1,000,000,000;"),
    (statistics.power, (50, 0.0, 0.04), {}, "difference: must not be 0: no test finds a difference that does not"),
    (statistics.power, (50, 0.1, [0.04, -1]), {}, "variance: must be above 0; found -1"),
    (statistics.power, (50, [0.1] * 2, [0.1] * 3), {}, "difference, variance: must have shapes that broadcast:"),
    (statistics.power, ([50] * 2, [0.1] * 3, 1), {}, "n_topics, difference: must have shapes that broadcast: (2,) and"),
    (statistics.power, (50, 0.1, 0.04), {"n_systems": 1}, "n_systems: expected a whole number from 2 to 1,000,000"),
    (statistics.power, (50, 0.1, 0.04), {"alpha": 0}, "alpha: expected a number from 1e-09 to 0.999, found 0"),
    (statistics.topics_needed, (0.1, 0.04), {"power": 0.05}, "power: must be above alpha, 0.05; found 0.05"),
    (statistics.topics_needed, (0.1, 0.04), {"power": 1}, "power: expected a number from 0 to 0.999999, found 1"),
    (statistics.topics_needed, ([0.1], 0.04), {}, "difference: expected a number from -1e+150 to 1e+150, found [0.1]"),
    (statistics.topics_needed, (1e-9, 0.04), {}, "difference: is too small to be found with 1,000,000,000 topics"),
    (statistics.detectable_difference, (2, 0.04), {}, "n_topics: expected a whole number from 3 to 1,000,000,000"),
    (statistics.detectable_difference, (50, 0.0), {}, "variance: must be above 0; found 0"),
    (statistics.topic_variance, (), {}, "values: must have at least one experiment"),
    (statistics.topic_variance, ([[0.5, 0.5]],), {}, f"{OF_TWO} (1, 2)"),
    (checked, ("hsd", None), {}, "test: expected one of t, wilcoxon, sign, permutation, tukey, randomised-tukey,"),
    (checked, ("t", "fdr"), {}, "correction: expected one of holm, bh, bonferroni, none, found 'fdr'"),
    (checked, ("tukey", "holm"), {}, f"correction: the test 'tukey' {ONE_TEST}"),
    (checked, ("randomised-tukey", "bh"), {}, f"correction: the test 'randomised-tukey' {ONE_TEST}"),
    (pairs_of, (("a", "b"), "bm25"), {}, "baseline: there is no run 'bm25'; there are a, b"),
    (pairs_of, (tuple("abcdef"), "bm25"), {}, "baseline: there is no run 'bm25'; there are a, b, c, d, …"),
    (statistics.randomised_tukey_hsd, ([0.1, 0.2],), {}, f"{OF_TWO} (2,)"),
    (statistics.randomised_tukey_hsd, ([[0.1, np.nan], [0.2, 0.3]],), {}, "values: expected finite numbers, found nan"),
    (statistics.randomised_tukey_hsd, ([[0.1, 1e200], [0.2, 0.3]],), {}, "values: expected numbers of at most 1e150"),
    (statistics.randomised_tukey_hsd, (SYSTEMS,), {"repeats": 0}, "repeats: expected a whole number from 1 to 10,000"),
    (statistics.randomised_tukey_hsd, (SYSTEMS,), {"seed": -1}, "seed: expected a whole number of at least 0,"),
    (statistics.p_mrr, (RUN, RUN, {}), {}, "documents: expected a dict"),
    (statistics.p_mrr, (RUN, RUN, {"q": []}), {}, "documents['q']: must have at least one document"),
    (statistics.p_mrr, (RUN, RUN, {"q": "d"}), {}, "documents['q']: expected a list of documents, found 'd'"),
    (statistics.p_mrr, (RUN | {"r": {"d": 1.0}}, RUN, {"r": ["d"]}), {}, "changed: has no documents for the query 'r'"),
    *(
        (function, arguments, {}, message)
        for function in (statistics.kendall_tau, statistics.tau_ap)
        for arguments, message in (
            (([1], [1]), "a, b: must be scores of the same items"),
            (([1, 2], [1]), "a, b: must be scores of the same items"),
            (([[1, 2]], [[1, 2]]), "a, b: must be scores of the same items"),
            (([math.inf, 1.0], [1.0, 2.0]), "expected finite numbers, found inf"),
            (([1, 2], [1, 2], "c"), "'c'"),
        )
    ),
    (statistics.kendall_taus, ([1, 2], [[1, 2, 3]]), {}, "must be scores of the same items, at least two; their"),
    (statistics.rbo, ({}, {"a": 1}), {}, "a: must have at least one item"),
    (statistics.rbo, ([1, 2], [1]), {}, "they have 2 and 1 scores"),
    (statistics.rbo, ([[1, 2]], [1, 2]), {}, "found 2 dimensions"),
    (statistics.rbo, ({"a": "x"}, {"a": 1}), {}, "a: must be numbers: could not convert string to float: 'x'"),
    (statistics.rbo, ({"a": math.nan}, {"a": 1}), {}, "a: expected finite numbers, found nan"),
    (statistics.rbo, ([1], [1], 1.0), {}, "p: expected a number between 0 and 1, found 1.0"),
    (statistics.rbo, ([1], [1], 0.9, "c"), {}, "ties: expected one of w, a, b, found 'c'"),
    (statistics.rbo, ([1], [1]), {"depth": 0}, "depth: expected a whole number of at least 1, found 0"),
    (statistics.rbo_spread, ([1, 2], [1, 2]), {"depth": 0}, "depth: expected"),
    (statistics.rbo_spread, ({}, {"x": 1}), {}, "must have at least one item"),
    (statistics.rbo_by_query, (RUN, {"r": {"x": 1.0}}), {}, "a, b: the runs have no query in common"),
    (statistics.rbo_by_query, (RUN, RUN), {"p": 1.0}, "p: expected"),
    (
        statistics.rbo_by_query, (Run.from_columns(["q"], ["x"], [1.0]), Run.from_columns([1], [2], [1.0])), {},
        "a.query: has text",
    ),
    (statistics.rank_intervals, ([1.0, 2.0],), {}, "values: must have a system and at least two topics; the"),
    (statistics.rank_intervals, ([[1.0], [2.0]],), {}, "values: must have a system and at least two topics; the shape"),
    (statistics.rank_intervals, ([[1.0, np.inf]],), {}, "values: expected finite numbers, found inf"),
    (statistics.rank_intervals, ([[1.0, 1e160]],), {}, "values: must be numbers of at most 1e150, found 1e+160"),
    (statistics.rank_intervals, ([[1.0, 2.0]],), {"level": 0.0}, "level: "),
    (statistics.rank_intervals, ([[1.0, 2.0]],), {"resamples": 3}, "resamples: "),
    (statistics.replication, ([0.5], [0.5, 0.5], [0.5], [0.5]), {}, "original_base, original_advanced:"),
    (statistics.replication, ([0.5], [0.5], [], []), {}, f"replicated_base, replicated_advanced: {PER_TOPIC} (0,) and"),
    (statistics.replication, ([0.5], [0.5], [0.5] * 2, [0.5] * 2), {}, "with other topics, pass"),
    (
        statistics.replication, ([0.5], [0.5], [[0.5]] * 2, [[0.5]] * 2), {"same_topics": False},
        "replicated_base: must have as many values as the original; the shapes are () and (2,)",
    ),
    (statistics.replication, ([0.5], [math.nan], [0.5], [0.5]), {}, "original_advanced: expected finite numbers"),
    (statistics.smooth, (SYSTEMS, A, 1.5), {}, "alpha: expected a number from 0 to 1, found 1.5"),
    (statistics.smooth, (SYSTEMS, A[:4], 0.5), {}, "prior: must have one value for each system; its shape is (4,)"),
    (statistics.standardize, ([[1.0, 2.0]],), {}, "at least two systems"),
    (statistics.count_ties, ([2, 2, 1, 1, 1], [0, 4], [1]), {}, "offsets: must start at 0 and end at 5, the number of"),
    (statistics.count_ties, ([2, 2, 1, 1, 1], [0, 5], [0]), {}, "cutoffs[0]: expected a whole number of at least 1"),
    (statistics.count_ties, ([2.0, 1.0], None, 10), {}, "cutoffs: must be a sequence of numbers; write cutoffs=[10]"),
    (statistics.count_ties, ([[2.0, 1.0]], None, np.int64(10)), {}, "cutoffs: must be a sequence of numbers;"),
    (statistics.count_ties, ([[2.0, 1.0]], 10), {}, "for a cut-off write cutoffs=[10]"),
    (statistics.count_ties, ([[1, 2]], [0, 2]), {}, "offsets: must not be given with two-dimensional scores: each row"),
    (statistics.count_ties, (3.0,), {}, "scores: expected one or two dimensions, found shape ()"),
    (statistics.count_ties, ([[[1.0]]],), {}, "scores: expected one or two dimensions, found shape (1, 1, 1)"),
    (statistics.count_ties, ([[1.0, "x"]],), {}, "scores[0, 1]: expected a number, found 'x'"),
    (statistics.count_ties, ({"float32": np.eye(2)},), {}, "not a dict; call count_ties once for each matrix"),
    (statistics.count_ties, (RUN,), {}, "not a run; write run = Run.from_dict"),
    (statistics.decisions_by_topics, (SYSTEMS, [31]), {}, "sizes[0]: expected a whole number from 2 to 30, found 31"),
    (statistics.decisions_by_topics, (SYSTEMS, 5), {}, "sizes: expected a sequence of whole numbers, found 5"),
    (statistics.decisions_by_topics, (SYSTEMS, [5]), {"repeats": 0}, "repeats: expected a whole number from 1 to"),
    (statistics.decisions_by_topics, (SYSTEMS, [5]), {"correction": "fdr"}, "found 'fdr'"),
    (statistics.decisions_by_topics, (SYSTEMS, [5]), {"weight": 0.5}, "prior, weight: must be given together: a prior"),
    (statistics.decisions_by_topics, (SYSTEMS, [5]), {"prior": A}, "prior, weight: must be given together: a prior"),
    (
        statistics.decisions_by_topics, (SYSTEMS, [5]), {"prior": [0.5], "weight": 0.5},
        "prior: must have one value for each system; its shape is (1,), that of values (5, 30)",
    ),
    (statistics.decisions_by_topics, ([[0.5, 0.5]], [5]), {}, f"{OF_TWO} (1, 2)"),
    (statistics.tukey_hsd, ([0.1, 0.2],), {}, f"{OF_TWO} (2,)"),
    (statistics.tukey_hsd, ([[0.1, 0.2]],), {}, f"{OF_TWO} (1, 2)"),
    (statistics.tukey_hsd, ([[0.1], [0.2]],), {}, f"{OF_TWO} (2, 1)"),
    (statistics.tukey_hsd, ([[0.1, np.nan], [0.2, 0.3]],), {}, "values: expected finite numbers, found nan"),
    (statistics.tukey_hsd, (SYSTEMS,), {"confidence": 1}, "confidence: expected a number between 0 and 1, found 1"),
    (statistics.anova, ([[0.1, 0.2]],), {}, f"{OF_TWO} (1, 2)"),
    (statistics.anova, ([[0.1, np.inf], [0.2, 0.3]],), {}, "values: expected finite numbers, found inf"),
    (statistics.anova, ([[0.1, -1e151], [0.2, 0.3]],), {}, "values: expected numbers of at most 1e150, found 1e+151"),
    (statistics.all_pairs, (SYSTEMS,), {}, "values: must have the axes systems, topics and measures"),
    (
        statistics.shares_of_changes, (SEVERAL_TESTS, statistics.all_pairs(SYSTEMS[:3, :, None]), 0.05), {},
        "after: must test the same pairs as before, (1, 6); the shape is (1, 3)",
    ),
    (statistics.mean_change, ([1.0], [1.0]), {}, "before: must have at least two topics; there is one"),
    (statistics.mean_change, ([1.0, 2.0], [1.0]), {}, "after: must have the topics of before, 2; there are 1"),
    (statistics.mean_change, ([1.0, np.nan], [1.0, 2.0]), {}, "before: expected finite numbers, found nan"),
    (
        statistics.mean_change, (np.ones((0, 3)), np.ones(3)), {},
        "before: must have the shape (n_topics,) or (n_runs, n_topics); it is (0, 3)",
    ),
    (statistics.mean_change, ([1.0, 1e151], [1.0, 2.0]), {}, "before: expected numbers of at most 1e150, found 1e+151"),
    (statistics.mean_change, (A, A), {"confidence": 1.0}, "confidence: expected a number between 0 and 1, found 1.0"),
    (statistics.mean_change(A, A).decision, (-0.1,), {}, "tolerance: expected a number from 0 to 1e+150, found -0.1"),
    (statistics.kept, (A, A, 0.0), {}, "share: expected a share such as 99% or 0.99, found 0.0"),
    (statistics.kept, (A, A, 1.5), {}, "share: expected a share such as 99% or 0.99, found 1.5"),
    (
        statistics.kept, ([-1.0, 0.5], [-1.0, 0.5]), {},
        "base: must not have a mean below 0 if share is given; pass a tolerance",
    ),
    (RESOLVED, (LEAST, GREATEST[:2], [0, 1], [1, 2]), {}, "the shapes are (3, 4) and (2, 4)"),
    (RESOLVED, (LEAST, GREATEST, [0], [1]), {}, "the shapes are (2,), (1,) and (1,)"),
    (RESOLVED, (LEAST, GREATEST, [0, 1], [1, 2], 2.0), {}, "alpha: expected a number between 0 and 1, found 2.0"),
)  # fmt: skip


@pytest.mark.parametrize(("function", "arguments", "options", "message"), REFUSED)
def test_wrong_arguments_are_refused_in_one_line(function, arguments, options, message):
    assert message in message_of(function, *arguments, **options)

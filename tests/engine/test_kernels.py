"""Edge cases of the kernels: large groups, and exhausted memory."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tieaware
from tieaware.measures import DEFINITIONS, Measure
from tieaware.measures.formulas import nonrelevant_of_relevant
from tieaware.reference.cascade import mean_of_expected_reciprocal_rank


def test_a_measure_may_have_a_query_number_and_a_lookup_array():
    """A kernel that reads only the query number, or only the lookup array, works if both are given."""
    labels, scores = [0, 3, 1, 0, 2, 1], [2.0, 2.0, 1.0, 1.0, 1.0, 0.0]
    q = DEFINITIONS["Q"]
    with_a_number = Measure(replace(q, inputs=replace(q.inputs, query_number=nonrelevant_of_relevant)))
    evaluator = tieaware.Evaluator(labels * 2, ["Q", with_a_number], group=[6, 6])
    for values in (evaluator(scores * 2), *evaluator.spread(scores * 2)):
        assert values[:, 0].tobytes() == values[:, 1].tobytes()


# The process may allocate 16 MB more, and each kernel needs at least 32 MB.
SHORT_OF_MEMORY = """
import resource
import numpy as np
import tieaware

def evaluate(measure, n_docs, n_relevant, precision, call):
    labels = np.zeros(n_docs, dtype=np.int32)
    labels[:n_relevant] = 1
    evaluator = tieaware.Evaluator(labels, [measure, "AP"], precision=precision)
    scores, out = np.zeros(n_docs), np.empty((1, 2))
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**24, resource.RLIM_INFINITY))
    try:
        print("a number:", call(evaluator, scores, out))
    except Exception as error:
        print(type(error).__name__)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="how much memory is used is read from /proc")
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer reserves all addresses")
@pytest.mark.parametrize(
    ("call", "precision"),
    [
        ("evaluator(scores, out=out)", None),
        ("evaluator.mean(scores)", None),
        ("evaluator.spread(scores)", None),
        ("evaluator(scores, out=out)", "bands:100000000"),
    ],
    ids=["call", "mean", "spread", "bands"],
)
@pytest.mark.parametrize(("measure", "n_docs", "n_relevant"), [("IPrec@0.0", 1_900_000, 1), ("ERR", 4_000_000, 1)])
def test_exhausted_memory_is_an_error(call, precision, measure, n_docs, n_relevant):
    arguments = f"{measure!r}, {n_docs}, {n_relevant}, {precision!r}, lambda evaluator, scores, out: {call}"
    code = f"{SHORT_OF_MEMORY}\nevaluate({arguments})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "MemoryError\n"


def test_the_largest_groups_of_err_have_a_spread():
    """ERR needs memory for n² numbers, where n is the number of tied documents above the cut-off."""
    labels = np.zeros(5_000, dtype=np.int32)
    labels[::100] = 1
    tied = np.where(np.arange(5_000) < 2_001, 0.0, -1.0 - np.arange(5_000))
    for measure, scores in (("ERR", -1.0 * (np.arange(5_000) // 2)), ("ERR@2000", tied)):
        assert 0.0 < tieaware.Evaluator(labels, [measure]).spread(scores).std.item() < 1.0


@given(
    st.lists(st.tuples(st.sampled_from([0, 0, 0, 1, 2, 50]), st.integers(0, 2)), min_size=1, max_size=60),
    st.integers(1, 60),
    st.sampled_from([4, 49, 50]),
)
def test_err_is_never_negative(documents, k, max_rel):
    """Rounding must not make ERR negative, even if the probability of stopping is tiny.

    It is 0 if no graded document is above the cut-off.
    """
    groups = [[min(label, max_rel) for label, score in documents if score == level] for level in (2, 1, 0)]
    labels = [label for group in groups for label in group]
    scores = [-float(g) for g, group in enumerate(groups) for _ in group]
    value = tieaware.Evaluator(labels, [f"ERR(max_rel={max_rel})@{k}"])(scores)[0, 0]
    assert value >= 0.0
    assert value == pytest.approx(mean_of_expected_reciprocal_rank(groups, labels, k, max_rel), rel=1e-12, abs=1e-15)
    first = next((g for g, group in enumerate(groups) if any(group)), len(groups))
    if sum(map(len, groups[:first])) >= k:
        assert value == 0.0


GROUPS = (
    (100_000, [1]), (2_000, [1, 1, 1, 2]), (300, [1] * 150 + [2] * 20), (40, [1] * 40), (30, [1, 2, 3]), (2, [1, 4]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("n", "graded", "max_rel"),
    [
        *((n, graded, max_rel) for n, graded in GROUPS for max_rel in (4, 20, 30, 50)),
        # Few and many relevant documents tie, or none does.
        *((n, graded, m) for m in range(1, 51)
          for n, graded in ((60, [1] * 7), (60, [m]), (25, [m, max(1, m // 2), 1]), (1, [m]))),
    ],
)  # fmt: skip
def test_err_keeps_its_digits_for_every_highest_label_and_if_users_seldom_stop(n, graded, max_rel):
    """The probability of a stop at a slot is not a difference of numbers near 1."""
    labels = np.zeros(n, dtype=int)
    labels[: len(graded)] = graded
    with mpmath.workdps(60):
        unit = mpmath.mpf(2) ** -max_rel
        if len(graded) == 1:
            exact = (2 ** graded[0] - 1) * unit * mpmath.fsum(mpmath.mpf(1) / x for x in range(1, n + 1)) / n
        else:
            # The mean product of the probabilities to go on over x documents, for 0, 1 … n documents.
            goes_on = [mpmath.mpf(1)] * (n + 1)
            for i, label in enumerate(graded, n - len(graded) + 1):
                q = 1 - (2**label - 1) * unit
                goes_on[1:] = [((i - x) * goes_on[x] + x * q * goes_on[x - 1]) / i for x in range(1, i + 1)]
                goes_on += [mpmath.mpf(0)] * (n - i)
            exact = mpmath.fsum((goes_on[x - 1] - goes_on[x]) / x for x in range(1, n + 1))
        found = tieaware.Evaluator(labels, [f"ERR(max_rel={max_rel})"])(np.zeros(n))[0, 0]
        assert float(abs(found - exact) / exact) < 2e-13


def test_a_large_group_is_cut_off_where_almost_no_user_is_left():
    """The kernel stops where almost no user reads on."""
    labels = np.arange(100_000, dtype=np.int32) % 4 + 1
    spread = tieaware.Evaluator(labels, ["ERR"]).spread(np.zeros(100_000))
    assert 0.0 < spread.std[0, 0] < spread.mean[0, 0] < spread.max[0, 0]
    # The expectation assumes sampling with replacement, which changes it by a part in 100,000.
    stop = (2.0 ** np.arange(1, 5) - 1.0).mean() / 16.0
    expected = (stop * (1.0 - stop) ** np.arange(500) / np.arange(1, 501)).sum()
    assert spread.mean[0, 0] == pytest.approx(expected, rel=1e-4)


def test_a_large_group_of_one_grade_has_a_spread():
    """All orders of a group of one grade have the same value, so its spread is 0."""
    graded = np.ones(3_000, dtype=np.int32)
    assert tieaware.Evaluator(graded, ["ERR"]).spread(np.zeros(3_000)).std[0, 0] == 0.0

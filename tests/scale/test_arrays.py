"""Arrays of a hundred million documents and more, compared with closed forms or with smaller evaluations."""

from __future__ import annotations

import math

import pytest
from measuring import measured

N = 10**8

ONE_LIST = """
n, levels = int(sys.argv[1]), 1000
# Document i has the score i mod 1000, and every 7th document is relevant: 1000 tie groups of equal size.
scores = (np.arange(n, dtype=np.int32) % levels).astype(np.float32)
labels = np.zeros(n, np.int8)
labels[::7] = 1
evaluator = tieaware.Evaluator(labels, sys.argv[2].split(","))
values = evaluator(scores)
result = values[0].tolist()
"""


def groups(n, levels=1000):
    """Return the size and the number of relevant documents of each tie group of ONE_LIST, the highest score first."""
    relevant = [0] * levels
    period = 7 * levels
    for i in range(0, period, 7):
        relevant[i % levels] += n // period
    for i in range(n // period * period, n):
        relevant[i % levels] += i % 7 == 0
    sizes = [n // levels + (level < n % levels) for level in range(levels)]
    return list(zip(reversed(sizes), reversed(relevant), strict=True))


def test_one_list_of_a_hundred_million_documents():
    """AUC and measures with a cut-off need no array over all ranks; AP and nDCG need one, with 16 bytes per rank."""
    found = measured("10^8 documents in one list, AUC, P@1000, R@10^6", ONE_LIST, N, "AUC,P@1000,R@1000000")
    tie_groups = groups(N)
    n_relevant = sum(r for _, r in tie_groups)
    above = better = 0
    for size, relevant in tie_groups:
        # Pairs of a relevant and a nonrelevant document in the right order; half of the tied pairs are.
        better += (size - relevant) * (above + relevant / 2)
        above += relevant
    auc = better / (n_relevant * (N - n_relevant))
    first_size, first_relevant = tie_groups[0]
    recalled = sum(r for _, r in tie_groups[:10]) / n_relevant
    assert first_size == N // 1000
    assert found.result == pytest.approx([auc, first_relevant / first_size, recalled], rel=1e-9)
    assert found.gigabytes < 4

    found = measured("10^8 documents in one list, AP and nDCG", ONE_LIST, N, "AP,nDCG")
    ap = dcg = 0.0
    before = rank = 0
    for size, relevant in tie_groups:
        share = relevant / size
        # Sums (before + 1 + (k - rank - 1) (relevant - 1) / (size - 1)) / k over the ranks k of the group.
        slope = (relevant - 1) / (size - 1)
        harmonic = _harmonic(rank + size) - _harmonic(rank)
        ap += share * (slope * size + (before + 1 - slope * (rank + 1)) * harmonic)
        dcg += share * (_discounts(rank + size) - _discounts(rank))
        before += relevant
        rank += size
    assert found.result == pytest.approx([ap / n_relevant, dcg / _discounts(n_relevant)], rel=1e-8)
    assert found.gigabytes < 8


def test_bands_of_more_ranks_than_32_bits_count_are_refused():
    """The kernel counts the documents of a bucket of ranks with 32 bits."""
    program = """
    labels = np.zeros(2**31, np.int8)
    labels[5] = 1
    try:
        tieaware.Evaluator(labels, ["P@5"], precision="bands:2")(np.zeros(len(labels), np.float32))
    except tieaware.InputError as error:
        result = str(error)
    """
    message = measured("2^31 documents in bands", program).result
    assert message == "depth: expected a whole number from 0 to 2,147,483,647, found 2147483648"


def _harmonic(n):
    return math.log(n) + 0.57721566490153286 + 1 / (2 * n) - 1 / (12 * n**2) if n else 0.0


def _discounts(n, exact=10**4):
    """Sum 1 / log2(1 + k) over k = 1 … n: exactly for small k, then by the Euler-Maclaurin formula."""
    total = math.fsum(1 / math.log2(1 + k) for k in range(1, min(n, exact) + 1))
    if n <= exact:
        return total
    f = lambda x: 1 / math.log2(1 + x)  # noqa: E731
    slope = lambda x: -math.log(2) / ((1 + x) * math.log(1 + x) ** 2)  # noqa: E731
    # Simpson's rule gives the integral, after substituting the logarithm of x.
    low, high, steps = math.log(exact), math.log(n), 20000
    width = (high - low) / steps
    at = [f(math.exp(low + i * width)) * math.exp(low + i * width) for i in range(steps + 1)]
    integral = width / 3 * (at[0] + at[-1] + 4 * math.fsum(at[1::2]) + 2 * math.fsum(at[2:-1:2]))
    return total + integral + (f(n) - f(exact)) / 2 + (slope(n) - slope(exact)) / 12


def test_a_hundred_thousand_lists():
    program = """
    rows, depth = 10**5, 1000
    rng = np.random.default_rng(1)
    one, labels_of_one = rng.integers(0, 50, (10, depth)).astype(np.float32), rng.integers(-1, 3, (10, depth), np.int8)
    measures = ["AP", "nDCG@10", "AUC", "RR", "P@20"]
    right = tieaware.Evaluator(labels_of_one, measures)(one)
    labels, scores = np.tile(labels_of_one, (rows // 10, 1)), np.tile(one, (rows // 10, 1))
    evaluator = tieaware.Evaluator(labels, measures, threads=2)
    result = bool((evaluator(scores) == np.tile(right, (rows // 10, 1))).all())
    """
    found = measured("10^8 documents in 10^5 lists, five measures", program)
    assert found.result is True
    assert found.gigabytes < 8


def test_a_list_with_more_documents_than_32_bit_integers_count():
    """np.zeros takes memory only for the pages that are written, so the test needs little."""
    program = """
    n = 2**31 + 10
    labels, scores = np.zeros(n, np.int8), np.zeros(n, np.float32)
    labels[[5, n - 1]] = 1
    scores[[n - 1, 7, 5]] = 2, 3, 1
    evaluator = tieaware.Evaluator(labels, ["nDCG@10", "AUC", "P@5", "ESL"])
    before = evaluator(scores)[0].tolist()
    scores[5] = 0
    after = evaluator(scores)[0].tolist()
    try:
        tieaware.Evaluator(labels, ["AP"])
    except MemoryError as error:
        result = before, after, str(error)
    """
    before, after, message = measured("2^31 + 10 documents in one list", program).result
    log3 = math.log2(3)
    assert before == pytest.approx([(1 / log3 + 1 / 2) / (1 + 1 / log3), 1.0, 0.4, 1.0], rel=1e-8)
    # One relevant document is in second place; the other ties with all documents of score 0.
    assert after == pytest.approx([1 / log3 / (1 + 1 / log3), 0.75, 0.2, 1.0], rel=1e-8)
    assert message.startswith("Unable to allocate 32.0 GiB")


@pytest.mark.parametrize(("n", "most", "gigabytes"), [(10**6, 20, 2), (10**7, 6, 8)])
def test_millions_of_queries(n, most, gigabytes):
    program = """
    rng = np.random.default_rng(2)
    n = int(sys.argv[1])
    sizes = rng.integers(0, int(sys.argv[2]), n)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    labels, scores = rng.integers(-1, 3, offsets[-1]), rng.integers(0, 5, offsets[-1]) / 4
    measures = ["AP", "nDCG", "RR@10"]
    values = tieaware.Evaluator(labels, measures, offsets=offsets, threads=2)(scores)
    chosen = rng.integers(0, n, 2000)
    right = []
    for q in chosen:
        query = slice(offsets[q], offsets[q + 1])
        right.append(tieaware.Evaluator(labels[query], measures)(scores[query])[0])
    result = bool((values[chosen] == right).all())
    """
    found = measured(f"{n:,} queries in arrays", program, n, most)
    assert found.result is True
    assert found.gigabytes < gigabytes


def test_ten_thousand_measures():
    program = """
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, (3, 5000))
    scores = np.tile(np.arange(5000.0, 0, -1), (3, 1))
    measures = [f"P@{k}" for k in range(1, 5001)] + [f"R@{k}" for k in range(1, 5001)]
    values = tieaware.Evaluator(labels, measures)(scores)
    found = labels.cumsum(axis=1)
    right = np.concatenate([found / np.arange(1, 5001), found / found[:, -1:]], axis=1)
    result = float(np.abs(values - right).max())
    """
    found = measured("10^4 measures", program)
    assert found.result < 1e-14
    assert found.gigabytes < 2

"""Measures of diversity, compared with ERR of the same lists."""

from functools import partial

import numpy as np

from benchmarks.workloads import labels
from tieaware import Evaluator, reference

N_SUBTOPICS = 10


def test_alpha_ndcg(compare, small):
    """Each of ten subtopics has three relevant documents of its own draw; ERR has the documents of any subtopic."""
    n, m = (20, 50) if small else (1000, 1000)
    scores = np.random.default_rng(2034).random((n, m)).round(1)
    of_subtopics = np.stack([labels(n, m, 3, seed=2035 + i) for i in range(N_SUBTOPICS)], axis=-1)
    alpha = Evaluator(of_subtopics, "alpha_nDCG@10", subtopics=True)
    plain = Evaluator(of_subtopics.max(axis=-1), "ERR@10")

    def check():
        values = alpha(scores)[:2, 0]
        pairs = [(scores[i].tolist(), list(map(tuple, of_subtopics[i].tolist()))) for i in range(2)]
        expected = [reference.evaluate("alpha_nDCG@10", *pair) for pair in pairs]
        np.testing.assert_allclose(values, expected, rtol=1e-12)

    compare(
        "Diversity, one thread: scores of one decimal",
        f"{n:,} lists of {m:,} documents, {N_SUBTOPICS} subtopics: alpha_nDCG@10", check=check,
        contender=partial(alpha, scores), baseline=partial(plain, scores), to="ERR@10", at_most=10.0,
    )  # fmt: skip

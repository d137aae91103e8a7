"""Search that skips postings and gives the result of exact search, or its bands: WAND, block-max WAND and BandSafe."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from benchmarks.bench_retrieval import Words
from tieaware.precision import Bands
from tieaware.retrieval import WAND, BandSafe, BlockMaxWAND, Exact, Index, MaxScore, Method

SECTION = "Safe search: 200,000 documents of 60 words, 100 queries of 2 to 6 words, BM25, one thread"


@pytest.fixture(scope="module")
def words(small) -> Words:
    return Words(2_000, 500) if small else Words(200_000, 40_000)


@pytest.fixture(scope="module")
def index(words) -> Index:
    # The index takes ownership of its arguments.
    tokens = words.tokens.copy(), words.offsets.copy()
    return Index.from_tokens(tokens, map(str, range(words.n_terms)), positions=False)


@pytest.mark.parametrize("k", [10, 1000])
@pytest.mark.parametrize("to", [Exact(weighting="bm25"), MaxScore(weighting="bm25")])
@pytest.mark.parametrize("of", [each(weighting="bm25") for each in (WAND, BlockMaxWAND, partial(BandSafe, rho=1))])
def test_exact_results(compare, index, words, of: Method, to: Method, k: int) -> None:
    def check() -> None:
        run, costs = of.counted(index, words.queries, k, threads=1)
        expected, all_costs = Exact(weighting="bm25").counted(index, words.queries, k, threads=1)
        assert run.documents == expected.documents
        assert run.scores.tobytes() == expected.scores.tobytes()
        assert costs.postings.sum() < all_costs.postings.sum()

    compare(
        SECTION, f"top {k:,}",
        check=check, contender=partial(of.search, index, words.queries, k, threads=1), of=type(of).__name__,
        baseline=partial(to.search, index, words.queries, k, threads=1), to=type(to).__name__, budget=3,
    )  # fmt: skip


@pytest.mark.parametrize("k", [10, 1000])
@pytest.mark.parametrize("rho", [1.5, 3])
def test_bands(compare, index, words, rho: float, k: int) -> None:
    method, one = BandSafe(rho=rho, weighting="bm25"), BandSafe(rho=1, weighting="bm25")

    def check() -> None:
        (run, costs), (exact, more) = (each.counted(index, words.queries, k, threads=1) for each in (method, one))
        assert run.scores.tobytes() == Bands(rho).coarsen(exact.scores, exact.offsets).tobytes()
        for a, b in zip(run.offsets[:-1], run.offsets[1:], strict=True):
            rows = np.arange(a, b)
            assert set(run.documents.take(rows)) == set(exact.documents.take(rows))
        assert costs.postings.sum() <= more.postings.sum()

    compare(
        SECTION, f"bands, top {k:,}",
        check=check, contender=partial(method.search, index, words.queries, k, threads=1), of=f"BandSafe, ρ = {rho}",
        baseline=partial(one.search, index, words.queries, k, threads=1), to="ρ = 1", budget=3,
    )  # fmt: skip

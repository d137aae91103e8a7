"""Search in a million documents whose word frequencies follow Zipf's law."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from tieaware import Run
from tieaware.retrieval import Exact, ImpactOrdered, Index, MaxScore, Method, Query
from tieaware.retrieval.accumulators import DenseLists
from tieaware.retrieval.method import posting_weights

SECTION = "Retrieval: 10⁶ documents of 60 words, 100 queries of 2 to 6 words, one thread"
THREADS = "Two threads"


class Words:
    """Documents of 20 to 100 words. The probability of the r-th most frequent word is proportional to r^-1.1."""

    def __init__(self, n_documents: int, n_terms: int) -> None:
        rng = np.random.default_rng(2008)
        self.n_terms = n_terms
        self.offsets = np.append(0, np.cumsum(rng.integers(20, 101, n_documents)))
        # A lookup array from uniform random numbers to words, long enough that the rarest word occurs in it.
        shares = np.cumsum(np.arange(1, n_terms + 1) ** -1.1)
        words = np.searchsorted(shares, np.linspace(0, shares[-1], 1 << 24, endpoint=False)).astype(np.int32)
        self.tokens = np.empty(self.offsets[-1], np.int32)
        for chunk in np.array_split(self.tokens, max(1, len(self.tokens) >> 22)):
            np.take(words, rng.integers(0, len(words), len(chunk), dtype=np.int32), out=chunk)
        self.queries: dict[int, Query] = {}
        for query in range(100):
            document = rng.integers(n_documents)
            distinct = np.unique(self.tokens[self.offsets[document] : self.offsets[document + 1]])
            some = rng.choice(distinct, min(len(distinct), rng.integers(2, 7)), replace=False)
            self.queries[query] = Query(np.sort(some).astype(np.int64), np.ones(len(some), np.int64))


class Peer:
    """bm25s with its numba backend, searching tieaware's weights.

    Computing its own takes minutes, and gives the same in the same layout (tests/retrieval/test_weighting.py).
    """

    def __init__(self, index: Index, queries: dict[int, Query]) -> None:
        postings = index.postings
        self._peer = pytest.importorskip("bm25s").BM25(method="lucene", backend="numba")
        self._peer.scores = {
            "data": posting_weights(index, "bm25"), "indices": postings.documents, "indptr": postings.starts,
            "num_docs": len(index),
        }  # fmt: skip
        self._peer.vocab_dict, self._peer.nonoccurrence_array = {}, None
        self._peer.unique_token_ids_set = set(range(postings.n_terms))
        self._queries = [query.terms.tolist() for query in queries.values()]

    def scores(self, k: int) -> np.ndarray:
        """Search, and return the scores of the top k: one row for each query."""
        return self._peer.retrieve(self._queries, k=k, n_threads=1, show_progress=False).scores


@pytest.fixture(scope="module")
def words(small) -> Words:
    return Words(2_000, 500) if small else Words(1_000_000, 200_000)


@pytest.fixture(scope="module")
def index(words) -> Index:
    # The index takes ownership of its arguments.
    tokens = words.tokens.copy(), words.offsets.copy()
    return Index.from_tokens(tokens, map(str, range(words.n_terms)), positions=False)


@pytest.fixture(scope="module")
def peer(index, words) -> Peer:
    return Peer(index, words.queries)


def search(method: Method, index: Index, words: Words, k: int, threads: int = 1) -> Run:
    return method.search(index, words.queries, k, threads=threads)


@pytest.mark.parametrize(("method", "at_most"), [(Exact(weighting="bm25"), 0.5), (MaxScore(weighting="bm25"), 0.5)])
@pytest.mark.parametrize("k", [10, 1000])
def test_exact_search(compare, index, words, peer, method, at_most, k):
    def check() -> None:
        # bm25s sums in float32, and adds documents with score 0 until there are k.
        run, expected = search(method, index, words, k), peer.scores(k)
        for query, (a, b) in enumerate(zip(run.offsets[:-1], run.offsets[1:], strict=True)):
            np.testing.assert_allclose(run.scores[a:b], expected[query, : b - a], rtol=1e-6)
            assert not expected[query, b - a :].any()

    compare(
        SECTION, f"BM25, top {k:,}",
        check=check, contender=partial(search, method, index, words, k), of=type(method).__name__,
        baseline=partial(peer.scores, k), to="bm25s", at_most=at_most, budget=8,
    )  # fmt: skip


@pytest.mark.parametrize("to", ["bm25", "impact:8"])
@pytest.mark.parametrize("k", [10, 1000])
def test_a_tenth_of_the_postings(compare, index, words, k, to):
    """Compare with exact search by BM25 (as compared with bm25s above), and by the same impacts."""
    weighting = "impact:8"
    exact, tenth = Exact(weighting=weighting), ImpactOrdered(postings=0.1, weighting=weighting)

    def check() -> None:
        run = search(exact, index, words, k)
        all_read = search(ImpactOrdered(postings=10**12, weighting=weighting), index, words, k)
        assert all_read.documents == run.documents
        assert all_read.scores.tobytes() == run.scores.tobytes()
        read, all_of_them = (each.counted(index, words.queries, k)[1].postings for each in (tenth, exact))
        assert (read == np.ceil(all_of_them / 10)).all()

    compare(
        SECTION, f"8-bit impacts, a tenth of the postings, top {k:,}",
        check=check, contender=partial(search, tenth, index, words, k), of="ImpactOrdered",
        baseline=partial(search, Exact(weighting=to), index, words, k), to=f"Exact, {to}", at_most=0.2, budget=8,
    )  # fmt: skip


@pytest.mark.parametrize("given", ["lists", "arrays"])
def test_building(compare, words, given):
    bm25s = pytest.importorskip("bm25s")
    n = min(50_000, len(words.offsets) - 1)
    stop = words.offsets[n]
    terms = [str(i) for i in range(words.n_terms)]
    lists = [each.tolist() for each in np.split(words.tokens[:stop], words.offsets[1:n])]

    def build() -> Index:
        # Compute the weights too, because indexing by bm25s includes them.
        arrays = words.tokens[:stop].copy(), words.offsets[: n + 1].copy()
        index = Index.from_tokens(lists if given == "lists" else arrays, terms, positions=False)
        posting_weights(index, "bm25")
        return index

    def build_theirs() -> Any:
        peer = bm25s.BM25(method="lucene", backend="numba")
        peer.index((lists, {term: i for i, term in enumerate(terms)}), show_progress=False)
        return peer

    def check() -> None:
        ours, theirs = build(), build_theirs().scores
        assert (theirs["indices"] == ours.postings.documents).all()
        np.testing.assert_allclose(theirs["data"], posting_weights(ours, "bm25"), rtol=1e-5)

    compare(
        SECTION, f"index and BM25 weights of 50,000 documents, token ids as {given}",
        check=check, contender=build, of="Index.from_tokens", baseline=build_theirs, to="bm25s", at_most=0.5, budget=8,
    )  # fmt: skip


def test_two_threads(compare, index, words):
    method = Exact(weighting="bm25")

    def check() -> None:
        one, two = (search(method, index, words, 1000, threads) for threads in (1, 2))
        assert one.documents == two.documents
        assert one.scores.tobytes() == two.scores.tobytes()

    compare(
        THREADS, "Exact, BM25, 10⁶ documents, 100 queries, top 1,000",
        check=check, contender=partial(search, method, index, words, 1000, 2), of="two threads",
        baseline=partial(search, method, index, words, 1000), to="one", budget=8,
    )  # fmt: skip


def test_memory(index):
    postings = index.postings
    arrays = postings.starts, postings.documents, postings.frequencies, postings.lengths
    # Document numbers and frequencies take 8 bytes per posting; the arrays per term and per document are small.
    assert sum(each.nbytes for each in arrays[1:3]) == 8 * len(postings)
    # Prepared weights take 4 bytes per posting, or 1 as 8-bit impacts.
    assert posting_weights(index, "bm25").nbytes == 4 * len(postings)
    assert posting_weights(index, "impact:8").nbytes == len(postings)
    # The longest posting lists exist as dense rows, too: less than 2 bytes per posting.
    assert DenseLists.of(postings, posting_weights(index, "bm25")).weights.nbytes < 2 * len(postings)

"""Accumulators and the selection of the top k against plain Python, for chunks of any size."""

import math
from collections import Counter
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import pytest

from tieaware.kernels import _query_terms
from tieaware.retrieval import accumulators
from tieaware.retrieval.accumulators import Bitmaps, DenseLists, Found, posting_lists, top
from tieaware.retrieval.postings import Postings, ranges

CHUNK_SIZES = (1, 7, 200, 4096, 1 << 14)


class TermLists(NamedTuple):
    """The lists of a query as arrays: list i has the postings from starts[i] to stops[i]."""

    starts: np.ndarray
    stops: np.ndarray
    query_weights: np.ndarray
    documents: np.ndarray
    weights: np.ndarray
    dense: DenseLists | None = None
    bitmaps: Bitmaps | None = None

    def made(self) -> accumulators.TermLists:
        """Return the lists as the functions take them."""
        lists = posting_lists(self.starts, self.stops, self.documents, self.weights, self.dense, self.bitmaps)
        return accumulators.TermLists(lists, np.arange(len(self.starts)), self.query_weights)


def accumulate(lists, *arguments, **options) -> Found:
    return accumulators.accumulate(lists.made(), *arguments, **options)


def score(candidates, lists, *arguments, **options) -> Found:
    return accumulators.score(candidates, lists.made(), *arguments, **options)


def score_union(starts, stops, documents, lists, *arguments, **options) -> Found | None:
    candidates = posting_lists(starts, stops, documents, np.zeros(len(documents), np.uint8))
    return union(candidates, np.arange(len(starts)), lists.made(), *arguments, **options)


def union(candidates, which, lists, *arguments, **options) -> Found | None:
    """Score the union of some lists for a single query."""
    edges, offsets = np.array([0, len(which)]), np.array([0, len(lists.terms)])
    found = accumulators.score_unions(candidates, which, edges, lists, offsets, *arguments, **options).of_query(0)
    return None if found.n_postings < 0 else found


def drawn(seed, n_documents, shares, dtype):
    """Draw lists that contain these shares of the documents, with few distinct weights, so that scores tie."""
    rng = np.random.default_rng(seed)
    documents = [np.flatnonzero(rng.random(n_documents) < share).astype(np.int32) for share in shares]
    starts = np.cumsum([0, *map(len, documents)])
    weights = rng.integers(0, 4, starts[-1]).astype(dtype)
    if dtype == np.float32:
        weights /= np.float32(3)
    query_weights = rng.integers(1, 3, len(shares)) / (1 if dtype != np.float32 else 7)
    rows = np.concatenate([np.empty(0, np.int32), *documents])
    return TermLists(starts[:-1], starts[1:], query_weights, rows, weights)


def plain(lists, base=None, at_least=1):
    """Return the scores of all documents, summed in the order of the lists."""
    sums, occurrences = {}, {}
    for a, b, q in zip(lists.starts.tolist(), lists.stops.tolist(), lists.query_weights.tolist(), strict=True):
        for d, w in zip(lists.documents[a:b].tolist(), lists.weights[a:b].tolist(), strict=True):
            sums[d] = sums.get(d, 0.0) + q * w
            occurrences[d] = occurrences.get(d, 0) + 1
    kept = {d: s + (0.0 if base is None else base[d]) for d, s in sums.items() if occurrences[d] >= at_least}
    return kept if base is not None else {d: s for d, s in kept.items() if s > 0}


def postings_of(lists, n):
    """Return the lists as postings of terms, for n documents."""
    starts = np.append(lists.starts, len(lists.documents))
    return Postings(starts, lists.documents, lists.documents, np.zeros(n, np.int32))


def with_bitmaps(lists, n):
    """Return the lists with bitmaps of those that are long enough."""
    bitmaps = Bitmaps.of(postings_of(lists, n)) if len(lists.starts) else None
    return lists._replace(bitmaps=bitmaps)


def ranked(scores, k, whole_ties):
    order = sorted(scores.items(), key=lambda each: (-each[1], each[0]))
    return order[:k] + [each for each in order[k:] if whole_ties and each[1] == order[k - 1][1]]


def pairs(found):
    return list(zip(found.documents.tolist(), found.scores.tolist(), strict=True))


CASES = [
    (1, (1.0,), 1), (9, (), 3), (9, (0.0, 0.5), 2), (70, (0.9, 0.1, 0.5), 10), (1000, (0.7, 0.02, 0.002), 10),
    (1000, (0.03, 0.01, 0.02), 100), (5000, (0.9, 0.004, 0.03, 0.3), 5), (5000, (0.001, 0.002), 2000),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.uint16])
@pytest.mark.parametrize(("n", "shares", "k"), CASES)
def test_results_equal_plain_python_for_any_chunk_size(n, shares, k, dtype):
    lists = drawn(n + k, n, shares, dtype)
    base = np.random.default_rng(n).integers(-1, 3, n) / 3
    own = np.array([q * lists.weights[a:b].max(initial=0) for a, b, q in zip(*lists[:3], strict=True)], np.float64)
    dense, counted = DenseLists.of(postings_of(lists, n), lists.weights), with_bitmaps(lists, n)
    assert len(dense.weights) == (sum(4 * share > 1 for share in shares) if n == 5000 else 0)
    counts = set()
    for whole_ties in (False, True):
        expected = ranked(plain(lists), k, whole_ties)
        for chunk_size, each in product(CHUNK_SIZES, (lists, lists._replace(dense=dense))):
            options = {"whole_ties": whole_ties, "chunk_size": chunk_size}
            found = accumulate(each, n, k, **options)
            assert pairs(found) == expected
            counts.add((found.n_postings, found.n_documents, found.n_comparisons))
            assert pairs(accumulate(each, n, k, **options, heap_of_all=True)) == expected
            least = expected[k - 1][1] if len(expected) >= k else 0.0
            for floor, bounds in product((0.0, least / 2, least), (None, own)):
                bounded = accumulate(each, n, k, **options, bounds=bounds, floor=floor)
                assert pairs(bounded) == expected
                assert bounded.n_postings <= found.n_postings
            for at_least, added in ((2, None), (1, base), (2, base)):
                expected_among = ranked(plain(lists, added, at_least), k, whole_ties)
                for one in (each, counted):
                    found_among = accumulate(one, n, k, **options, at_least=at_least, base=added)
                    assert pairs(found_among) == expected_among
                    assert found_among.n_documents == len(plain(lists, added, at_least))
                if at_least == 1:
                    highest = added.max(initial=-1.0)
                    bounded = accumulate(each, n, k, **options, base=added, bounds=own, highest=highest)
                    assert pairs(bounded) == expected_among
    # The costs do not depend on the size of the chunks. Only the number of comparisons depends on `whole_ties`.
    assert {each[:2] for each in counts} == {(len(lists.documents), len(plain(lists)))}
    assert len(counts) <= 2


def test_documents_need_not_ascend_in_a_single_chunk():
    lists = drawn(3, 500, (0.5, 0.1), np.uint8)
    order = np.random.default_rng(0).permutation(lists.stops[0])
    mixed = lists._replace(
        documents=np.append(lists.documents[order], lists.documents[lists.starts[1] :]),
        weights=np.append(lists.weights[order], lists.weights[lists.starts[1] :]),
    )
    assert pairs(accumulate(mixed, 500, 20, chunk_size=500)) == ranked(plain(lists), 20, False)


def test_bounds_skip_postings_and_documents():
    rng = np.random.default_rng(5)
    n = 40_000
    rare, common = np.sort(rng.choice(n, 400, replace=False)), np.arange(n)
    documents = np.concatenate([rare, common]).astype(np.int32)
    weights = np.concatenate([rng.random(400) + 1, rng.random(n) * 0.1]).astype(np.float32)
    lists = TermLists(np.array([0, 400]), np.array([400, n + 400]), np.ones(2), documents, weights)
    everything = accumulate(lists, n, 10, chunk_size=1024)
    found = accumulate(lists, n, 10, chunk_size=1024, bounds=np.array([2.0, 0.1]))
    assert pairs(found) == pairs(everything)
    assert everything[2:4] == (n + 400, n)
    assert found.n_postings < everything.n_postings / 5
    assert found.n_documents < everything.n_documents / 5
    base = -rng.random(n) * 0.05
    everything = accumulate(lists, n, 10, chunk_size=1024, base=base)
    found = accumulate(lists, n, 10, chunk_size=1024, base=base, bounds=np.array([2.0, 0.1]), highest=base.max())
    assert pairs(found) == pairs(everything)
    assert found.n_postings < everything.n_postings / 5


@pytest.mark.parametrize("j", [1, 2, 3, 100, 1000, 1023, 1024])
def test_comparisons_stay_within_the_textbook_limits(j):
    documents, starts = np.arange(j, dtype=np.int32), np.array([0])
    for weights in (np.arange(1, j + 1), np.arange(j, 0, -1), np.ones(j), np.random.default_rng(j).permutation(j) + 1):
        lists = TermLists(starts, np.array([j]), np.ones(1), documents, weights.astype(np.float32))
        ks = sorted({k for k in (1, 2, 10, j // 2, j) if 1 <= k <= j})
        counts = [accumulate(lists, j, k, heap_of_all=True).n_comparisons for k in ks]
        # Building a heap of J documents takes at most 2J comparisons, and drawing one document from it at most 2 log2
        # J.
        draw = 2 * int(math.log2(j)) if j > 1 else 0
        assert counts[0] <= 2 * j + draw
        for (k, count), (next_k, next_count) in pairwise(zip(ks, counts, strict=True)):
            assert next_count - count <= (next_k - k) * draw
        # Each document is compared with a bound, and kept if it may be among the best k. When about 2k documents are
        # kept, half of them are dropped.
        for k in ks:
            found = accumulate(lists, j, k)
            assert found.n_documents == j
            room = 2 * k + 64
            assert min(j, k) - 1 <= found.n_comparisons <= j + 6 * room * (1 + j / (k + 64)) + 3 * k * math.log2(2 * k)


def test_documents_that_cannot_enter_the_top_are_compared_once():
    counts = {}
    for j in (300, 1300):
        documents, weights = np.arange(j, dtype=np.int32), np.arange(2000, 2000 - j, -1, dtype=np.float32)
        lists = TermLists(np.array([0]), np.array([j]), np.ones(1), documents, weights)
        for k, floor in product((1, 100), (0.0, 1901.0)):
            counts[j, k, floor] = accumulate(lists, j, k, floor=floor).n_comparisons
    for k, floor in product((1, 100), (0.0, 1901.0)):
        assert counts[1300, k, floor] == counts[300, k, floor] + 1000


def test_the_worst_order_of_documents_takes_few_comparisons():
    # In this order, the pivot, a median of three, is always the second of the remaining documents.
    n = 600
    at, ranks, start = list(range(n)), {}, 0
    while n - start > 12:
        middle = (start + n) // 2
        ranks[at[start]], ranks[at[middle]] = len(ranks), len(ranks) + 1
        at[middle], at[-1] = at[-1], at[middle]
        for i in range(start + 1, n - 1):
            at[i], at[start + 1] = at[start + 1], at[i]
        at[-1], at[start + 1] = at[start + 1], at[-1]
        start += 2
    scores = np.array([-ranks.get(i, n) for i in range(n)], np.float64)
    found = top(np.arange(n, dtype=np.int32), scores, 0, n, whole_ties=False)
    assert pairs(found) == ranked(dict(enumerate(scores.tolist())), n, False)
    assert 20 * n < found.n_comparisons < 60 * n


@pytest.mark.parametrize("seed", range(20))
def test_candidates_have_the_same_scores_as_among_all_documents(seed):
    rng = np.random.default_rng(seed)
    n = 300
    lists = drawn(seed, n, (0.9, 0.3, 0.01), np.float32)
    candidates = np.flatnonzero(rng.random(n) < (0.02, 0.5, 1.0)[seed % 3]).astype(np.int32)
    base = rng.integers(0, 3, n) / 3
    chosen = set(candidates.tolist())
    scores = {d: s for d, s in plain(lists).items() if d in chosen}
    for whole_ties in (False, True):
        found = score(candidates, lists, n, 9, whole_ties=whole_ties)
        assert pairs(found) == ranked(scores, 9, whole_ties)
        assert found.n_postings == np.isin(lists.documents, candidates).sum()
        with_base = {d: scores.get(d, 0.0) + base[d] for d in chosen}
        found = score(candidates, lists, n, 9, base=base, whole_ties=whole_ties)
        assert pairs(found) == ranked(with_base, 9, whole_ties)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.uint16])
@pytest.mark.parametrize("shares", [(0.001,), (0.003, 0.001, 0.01), (0.2, 0.1), (0.001,) * 20, (1.0, 0.3)])
def test_unions_of_lists_are_scored_by_all_terms(shares, dtype):
    """Short lists are merged, long or many lists united in a bitmap; terms are long, short or empty.

    If there are fewer lists than a document must be in, it must be in all of them.
    """
    n = 5000
    lists = with_bitmaps(drawn(7, n, (0.9, 0.0, 0.1, 0.004, 0.02, 0.01), dtype), n)
    assert 0 < (lists.bitmaps.rows >= 0).sum() < len(lists.starts)
    candidates = drawn(len(shares), n, shares, dtype)
    base = np.random.default_rng(n).integers(-1, 3, n) / 3
    times = Counter(candidates.documents.tolist())
    both = lists, lists._replace(bitmaps=None)
    for at_least, whole_ties, added, one in product((1, 2, 3), (False, True), (None, base), both):
        chosen = {d for d in times if times[d] >= min(at_least, len(shares))}
        sums = plain(lists, np.zeros(n))
        scores = {d: sums.get(d, 0.0) + (0.0 if added is None else base[d]) for d in chosen}
        scores = {d: s for d, s in scores.items() if added is not None or s > 0}
        given = candidates.starts, candidates.stops, candidates.documents, one, n, 9
        options = {"at_least": at_least, "base": added, "whole_ties": whole_ties}
        found = score_union(*given, **options, fewest=len(chosen))
        assert pairs(found) == ranked(scores, 9, whole_ties)
        assert found.n_documents == len(scores)
        assert found.n_postings == len(candidates.documents) + np.isin(lists.documents, list(chosen)).sum()
        assert score_union(*given, **options, fewest=len(chosen) + 1) is None


def test_documents_are_read_in_descending_order_of_their_base():
    """The search stops where no further document can enter the top, and ties go to the lowest number."""
    rng = np.random.default_rng(4)
    n, k = 5000, 10
    lists = with_bitmaps(drawn(1, n, (0.5, 0.03, 0.2), np.float32), n)
    base = np.sort(np.round(rng.random(n) * 3, 1))[::-1].copy()
    order = rng.permutation(n).astype(np.int32)
    rest = float(sum(q * lists.weights[a:b].max() for a, b, q in zip(*lists[:3], strict=True)))
    for until, whole_ties, one in product((0, 100, 1000, n), (False, True), (lists, TermLists(*lists[:5]))):
        scores = {int(order[d]): s for d, s in plain(lists, base).items() if d < until}
        options = {"base": base, "order": order, "until": until, "whole_ties": whole_ties}
        found = accumulate(one, n, k, **options, rest=rest)
        assert pairs(found) == ranked(scores, k, whole_ties)
        everything = accumulate(one, n, k, **options, rest=10.0)
        assert pairs(everything) == pairs(found)
        assert everything.n_documents == len(scores)
        assert (found.n_postings < everything.n_postings) == (until >= 1000)


@pytest.mark.parametrize("seed", range(20))
def test_the_top_of_documents_in_any_order(seed):
    rng = np.random.default_rng(seed)
    documents = rng.permutation(50).astype(np.int32)
    scores = rng.choice([-np.inf, -1.5, -0.0, 0.0, 1e-300, 2.5, np.inf], 50)
    values = {d: s for d, s in zip(documents.tolist(), scores.tolist(), strict=True) if s > -np.inf}
    for k in (1, 7, 49, 10**30):
        for whole_ties in (False, True):
            expected = ranked(values, k, whole_ties)
            assert pairs(top(documents, scores, 0, k, whole_ties=whole_ties)) == expected


def test_invalid_postings_do_not_access_memory_outside_the_arrays():
    rng = np.random.default_rng(1)
    for n in (1, 63, 64, 1000):
        documents = rng.integers(-(2**31), 2**31 - 1, 2000).astype(np.int32)
        documents[::3] = rng.integers(-5, n + 5, len(documents[::3]))
        weights = rng.random(2000).astype(np.float32)
        weights[::50] = np.nan
        lists = TermLists(np.array([0, 500]), np.array([700, 2000]), np.ones(2), documents, weights)
        for more in ({}, {"bounds": np.array([0.1, 0.2])}, {"at_least": 2}, {"base": np.zeros(n)}):
            for chunk_size in (10, 64, n):
                found = accumulate(lists, n, 50, chunk_size=chunk_size, whole_ties=True, **more).documents
                assert ((found >= 0) & (found < n)).all()
        score(np.arange(n, dtype=np.int32), lists, n, 5)
        rows = rng.integers(0, 2**63, (1, -(-n // 64)), np.uint64)
        wrong = Bitmaps(np.zeros(2, np.int64), rows, rng.integers(0, 2**32, rows.shape, np.uint32))
        for each in (lists, lists._replace(bitmaps=wrong)):
            accumulate(each, n, 50, at_least=2)
            for stop in (10, 2000):
                found = score_union(np.array([0]), np.array([stop]), documents, each, n, 50, base=np.zeros(n))
                assert found is not None
                assert ((found.documents >= 0) & (found.documents < n)).all()


DENSE = np.arange(6, dtype=np.float32).reshape(2, 3)
ONE = TermLists(np.array([0]), np.array([3]), np.ones(1), np.arange(3, dtype=np.int32), np.ones(3, np.float32))
WORDS, RANKS = np.ones((1, 1), np.uint64), np.zeros((1, 1), np.uint32)
GOOD = ONE._replace(bitmaps=Bitmaps(np.array([0]), WORDS, RANKS))


def with_dense(rows, weights=DENSE):
    return lambda: accumulate(ONE._replace(dense=DenseLists(np.array(rows), weights)), 3, 1)


def united(lists=GOOD, start=(0,), stop=(3,), **options):
    return lambda: score_union(np.array(start), np.array(stop), ONE.documents, lists, 3, 5, **options)


def with_bitmap(*arrays):
    return united(ONE._replace(bitmaps=Bitmaps(*arrays)))


OFFSETS = ([0, 6], [-1, 5], [3, 2])
OUTSIDE = (
    {"starts": np.array([-1])}, {"stops": np.array([4])}, {"starts": np.array([4])}, {"stops": np.array([1, 2])},
    {"query_weights": np.ones(2)}, {"weights": np.ones(2, np.float32)}, {"weights": np.ones(3)},
)  # fmt: skip


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *((with_dense([0], wrong), "dense_weights")
          for wrong in (DENSE.astype(np.float64), DENSE[:, :2], DENSE.T, DENSE[0], DENSE[::-1])),
        *((with_dense(rows), "row") for rows in ([2], [-2], [0, 0])),
        *((with_bitmap(*wrong), "row|bitmaps") for wrong in (
            (np.array([1]), WORDS, RANKS), (np.array([0, 0]), WORDS, RANKS), (np.array([0]), WORDS, RANKS[:0]),
            (np.array([0]), WORDS[:, :0], RANKS[:, :0]),
        )),
        *((united(ONE, start, stop), "list")
          for start, stop in (([-1], [3]), ([0], [4]), ([2], [1]), ([0], [1, 2]))),
        (united(base=np.ones(2)), "base"), (united(at_least=0), "at_least"),
        *((lambda wrong=wrong: accumulate(ONE._replace(**wrong), 3, 1), "list|weight") for wrong in OUTSIDE),
        *((lambda wrong=wrong: score(ONE.documents, ONE._replace(**wrong), 3, 1), "list|weight") for wrong in OUTSIDE),
        *((lambda number=number: accumulators.accumulate(ONE.made()._replace(terms=np.array([number])), 3, 1),
           "no list") for number in (-1, 1)),
        (lambda: accumulate(ONE, 3, 1, order=ONE.documents), "order"),
        (lambda: accumulate(ONE, 3, 1, order=ONE.documents[1:], base=np.ones(3)), "order"),
        (lambda: accumulate(ONE, 3, 1, until=4), "until"),
        *((lambda wrong=wrong: _query_terms.sums(np.ones(5), np.array(wrong)), "offsets") for wrong in OFFSETS),
        *((lambda wrong=wrong: _query_terms.largest_products(np.ones(5), np.ones(5), np.array(wrong)), "offsets")
          for wrong in OFFSETS),
        (lambda: _query_terms.largest_products(np.ones(4), np.ones(5), np.array([0, 5])), "weight"),
    ],
)  # fmt: skip
def test_arrays_that_do_not_fit_are_refused(call, message):
    assert len(united()().documents) == 1
    with pytest.raises(ValueError, match=message):
        call()


def test_lists_that_change_after_the_check_are_checked_again():
    stops = np.array([2])
    one = TermLists(np.array([0]), stops, np.ones(1), np.arange(3, dtype=np.int32), np.ones(3, np.float32)).made()
    assert accumulators.accumulate(one, 3, 1).n_postings == 2
    stops[0] = 4
    with pytest.raises(ValueError, match="outside the postings"):
        accumulators.accumulate(one, 3, 1)


def test_bounds_of_entries_are_checked_and_invalid_documents_are_skipped():
    rng = np.random.default_rng(2)
    n, terms, own = 1000, np.arange(2), np.ones(2)
    documents = np.where(rng.random(600) < 0.3, rng.integers(-(2**31), 2**31 - 1, 600), rng.integers(0, n, 600))
    weights = rng.random(600).astype(np.float32)
    weights[::50] = np.nan
    lists = posting_lists(np.array([0, 300]), np.array([300, 600]), documents.astype(np.int32), weights)
    given = accumulators.TermLists(lists, terms, own)
    bounds = accumulators.EntryBounds(np.ones(2), np.zeros(2), np.array([0.9, 0.8]))
    bases = bounds._replace(bases=np.full(600, 0.5), most_base=0.5)
    for each, base in ((bounds, None), (bases, np.full(n, 0.5)), (bases._replace(is_with_base=True), np.full(n, 0.5))):
        found = union(lists, terms, given, n, 5, base=base, bounds=each, whole_ties=True)
        assert found is not None
        assert ((found.documents >= 0) & (found.documents < n)).all()
    for wrong, base, problem in (
        (bounds._replace(largest=np.ones(1)), None, "its bounds"),
        (bounds._replace(missing=np.ones(3)), None, "its bounds"),
        (bounds, np.zeros(n), "bases"), (bases, None, "bases"),
        (bases._replace(bases=np.zeros(599)), np.zeros(n), "base of each entry"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=problem):
            union(lists, terms, given, n, 5, base=base, bounds=wrong)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.uint16])
@pytest.mark.parametrize(
    ("n", "size", "times"), [(500, 6, 1), (200_000, 40, 1), (200_000, 30, 2), (5_000, 2_000, 1), (60_000, 20, 6)]
)
def test_only_postings_up_to_the_cuts_count(n, size, times, dtype):
    """Candidates in any order, some of them twice or invalid, are scored by the postings that count."""
    lists = drawn(4, n, (0.5, 0.02, 0.005) * times, dtype)
    rng, n_lists = np.random.default_rng(n), 3 * times
    candidates = rng.integers(-3, n + 3, n_lists * size).astype(np.int32)
    candidates[size:] = np.where(rng.random((n_lists - 1) * size) < 0.1, candidates[:-size], candidates[size:])
    starts = np.arange(n_lists) * size
    each = posting_lists(starts, starts + size, candidates, np.zeros(n_lists * size, dtype))
    for own_lists in (lists, with_bitmaps(lists, n)):
        made = own_lists.made()
        for cut_weights in ([-np.inf, -np.inf, np.inf], [lists.weights[0], lists.weights[-1], 0.0], [np.inf] * 3):
            cuts = accumulators.Cuts(
                np.array(cut_weights * times, np.float64), np.array([n // 2, n // 3, n] * times, np.int32),
                np.zeros(n_lists, np.int64),
            )  # fmt: skip
            cut_weights = cuts.weights
            expected = Counter()
            for i, q in enumerate(lists.query_weights):
                own = slice(lists.starts[i], lists.stops[i])
                for d, w in zip(lists.documents[own].tolist(), lists.weights[own].tolist(), strict=True):
                    if w > cut_weights[i] or (w == cut_weights[i] and d <= cuts.documents[i]):
                        expected[d] += q * w
            scores = {d: expected[d] for d in set(candidates.tolist()) if expected[d] > 0}
            found = union(each, np.arange(n_lists), made, n, 10, whole_ties=True, cuts=cuts)
            assert pairs(found) == ranked(scores, 10, True)


def test_cuts_are_checked():
    lists = drawn(4, 100, (0.5, 0.2), np.float32)
    candidates = posting_lists(lists.starts, lists.stops, lists.documents, lists.weights)
    cuts = accumulators.Cuts(np.zeros(2), np.zeros(2, np.int32), np.zeros(2, np.int64))
    assert union(candidates, np.arange(2), lists.made(), 100, 5, cuts=cuts) is not None
    for which, wrong, options in (
        (np.arange(2), cuts._replace(weights=np.zeros(1)), {}),
        (np.arange(2), cuts._replace(documents=np.zeros(3, np.int32)), {}),
        (np.arange(2), cuts._replace(filters=np.zeros(3, np.int64)), {}),
        (np.arange(2), cuts._replace(filters=None), {}),
        (np.array([1, 0]), cuts, {}), (np.arange(1), cuts, {}), (np.arange(2), cuts, {"at_least": 2}),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"cut|lists"):
            union(candidates, which, lists.made(), 100, 5, cuts=wrong, **options)


def test_filters_with_wrong_numbers_or_words_are_not_used():
    """A number out of range, or words that are not those of a filter, must not lead to a read outside the array."""
    lists = drawn(4, 5000, (0.5, 0.2), np.float32)
    terms, made = np.arange(2), lists.made()
    candidates = posting_lists(lists.starts, lists.stops, lists.documents, lists.weights)
    bounds = accumulators.EntryBounds(np.ones(2), np.ones(2), np.full(2, 1e-6))
    expected = union(candidates, terms, made, 5000, 5)
    for starts, numbers in (
        ([0, 0, 4], [-1, 10**12]), ([0, 2**62, -4], [0, 1]), ([0, 3, 8], [0, 0]), ([-8, 0, 8], [0, 2]), ([0], [0, 0]),
    ):  # fmt: skip
        filters = bounds._replace(filter_starts=np.array(starts), filter_words=np.zeros(8, np.uint64))
        cuts = accumulators.Cuts(np.full(2, -np.inf), np.zeros(2, np.int32), np.array(numbers))
        found = union(candidates, terms, made, 5000, 5, bounds=filters, cuts=cuts)
        assert pairs(found) == pairs(expected)
    filters = bounds._replace(filter_starts=np.empty(0, np.int64), filter_words=np.zeros(8, np.uint64))
    with pytest.raises(ValueError, match="must have a filter"):
        union(candidates, terms, made, 5000, 5, bounds=filters, cuts=cuts)


def test_sums_and_largest_products_of_queries():
    values, offsets = np.array([0.1, 0.2, 0.3, -5.0, 2.0]), np.array([0, 3, 3, 5])
    assert _query_terms.sums(values, offsets).tolist() == [0.1 + 0.2 + 0.3, 0, -3]
    assert _query_terms.largest_products(np.ones(5), values, offsets).tolist() == [0.3, 0, 2]
    assert _query_terms.largest_products(values, np.ones(5), offsets).tolist() == [0.3, 0, 0]
    assert _query_terms.largest_products(np.full(5, np.nan), values, offsets).tolist() == [0, 0, 0]


def test_lists_of_found_documents_are_replaced():
    first = [([4, 2], (1, 2, 3)), ([], (4, 5, 6)), ([9], (7, 8, 9))]
    second = [([1, 0, 3], (10, 20, 30)), ([5], (1, 1, 1))]
    lists = [
        accumulators.FoundLists.of([Found(np.array(d, np.int32), np.array(d, float), *costs) for d, costs in each])
        for each in (first, second)
    ]
    replaced = lists[0].replaced(np.array([1, 2]), lists[1])
    assert replaced.offsets.tolist() == [0, 2, 5, 6]
    assert replaced.documents.tolist() == replaced.scores.tolist() == [4, 2, 1, 0, 3, 5]
    assert replaced.costs.tolist() == [[1, 2, 3], [14, 25, 36], [8, 9, 10]]
    assert lists[0].costs.tolist()[1] == [4, 5, 6]


def test_ranges():
    assert ranges(np.array([3, -2, 9]), np.array([2, 0, 1])).tolist() == [3, 4, 9]
    assert ranges(np.empty(0, np.int64), np.empty(0, np.int64)).tolist() == []

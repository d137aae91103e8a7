"""Impact ordering: results against plain Python and NumPy, and the safety of the kernels."""

import math
from itertools import product

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, find, searches

from tieaware.kernels import _impact_sums, _prefixes
from tieaware.retrieval import Exact, ImpactOrdered, Index, parse_method
from tieaware.retrieval.impact_order import Prefixes, Segments
from tieaware.retrieval.method import WeightedQueries, posting_weights, query_weights

WEIGHTINGS = ("nnn.nnn", "lnc.ltc", "bm25", "impact:1", "impact:3", "impact:8", "impact:16:lnc.ltc")


def expected(search, postings, floor, order):
    """Sort all postings, and add them to sums up to the limits; return the ranking and the number of postings read."""
    collection = search.collection()
    kept = [(q * w, len(collection.weights[t]), t, d)
            for t, q in collection.query.items() for d, w in collection.weights[t].items()]  # fmt: skip
    largest = max((impact for impact, *_ in kept), default=0)
    kept.sort(key=lambda p: (-p[0], *p[1:]) if order == "impact" else (p[1], -p[0], *p[2:]))
    limit = len(kept)
    if postings is not None:
        limit = postings if isinstance(postings, int) else reference.rounded_up(postings, len(kept))
    read = [p for p in kept if p[0] >= floor * largest][:limit]
    weights = {t: {} for t in collection.query}
    for _, _, t, d in read:
        weights[t][d] = collection.weights[t][d]
    collection_read = reference.Collection(weights, collection.query, collection.texts)
    return search.expected(reference.exact(collection_read)), len(read)


@given(
    searches(), st.one_of(st.none(), st.integers(0, 12), st.sampled_from((10**9, 0.0, 0.1, 0.5, 1.0))),
    st.sampled_from((0.0, 0.4, 1.0)), st.sampled_from(("impact", "idf")), st.sampled_from(WEIGHTINGS),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_results_with_limits_equal_plain_python(search: Search, postings, floor, order, weighting):
    search = search._replace(weighting=weighting)
    method = ImpactOrdered(postings=postings, floor=floor, order=order, weighting=weighting)
    found, n_read = expected(search, postings, floor, order)
    assert search.found(method) == found
    assert find(method, search.index, search.k, False, search.query).n_postings == n_read


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("order", ["impact", "idf"])
def test_results_without_limits_equal_exact_search(weighting, order):
    texts = [" ".join("abcdefgh"[(i * j) % 8] for j in range(1 + i % 7)) for i in range(3000)]
    index = Index.build(enumerate(texts), analyzer=str.split)
    queries = {"q": "a b c d", "r": "h h a", "s": "e", "t": "unknown", "u": ""}
    exact = Exact(weighting=weighting).search(index, queries, 100, whole_ties=True)
    for postings in (None, 1.0, 10**9):
        method = ImpactOrdered(order=order, weighting=weighting, postings=postings)
        for threads in (1, 2):
            run = method.search(index, queries, 100, whole_ties=True, threads=threads)
            assert run.documents == exact.documents
            assert run.scores.tobytes() == exact.scores.tobytes()


@pytest.mark.parametrize("order", ["impact", "idf"])
def test_sums_in_16_bits_equal_sums_in_floats(order):
    rng = np.random.default_rng(7)
    n = 9000
    tokens = np.minimum(rng.zipf(1.2, 12 * n) - 1, 499).astype(np.int32)
    index = Index.from_tokens((tokens, np.arange(0, 12 * n + 1, 12)), [str(i) for i in range(500)])
    for words in ([0], [499, 0], [0, 1, 5, 5, 30], [2, 40, 200], [3, 3, 3, 450, 7], []):
        query = index.query([str(word) for word in words])
        own = query_weights(index, "impact:8", query)
        half, large = (query._replace(weights=own * factor) for factor in (0.5, 1024.0))
        for postings, k in product((10**9, 0, 5, 700, 0.02, 0.1, 0.5, 0.9), (1, 40, 20_000)):
            for floor, ties in ((0.0, False), (0.0, True), (0.3, False)):
                method = ImpactOrdered(postings=postings, floor=floor, order=order, weighting="impact:8")
                whole, *others = (find(method, index, k, ties, each) for each in (query, half, large))
                for other, factor in zip(others, (0.5, 1024.0), strict=True):
                    assert other.documents.tobytes() == whole.documents.tobytes()
                    assert (other.scores == whole.scores * factor).all()
                    assert other.n_postings == whole.n_postings
                # The kernel for 16 bits does not score documents that cannot be among the best.
                assert len(whole.documents) <= whole.n_documents <= others[0].n_documents == others[1].n_documents


@pytest.mark.parametrize("whole_ties", [False, True])
@pytest.mark.parametrize("k", [1, 30, 3_000, 10**6])
def test_scores_of_several_chunks_equal_numpy(k, whole_ties):
    # A chunk has 2^18 documents. There are few distinct weights, so most documents tie.
    rng = np.random.default_rng(5)
    n, sizes, most = 600_000, np.array([90_000, 40_000, 700]), 110_000
    starts, query = np.append(0, np.cumsum(sizes)), np.array([1.0, 2.0, 7.0])
    documents = np.concatenate([rng.choice(n, size, replace=False) for size in sizes]).astype(np.int32)
    weights = np.concatenate([rng.integers(1, 6, size) for size in sizes]).astype(np.uint8)
    term = np.repeat(np.arange(3), sizes)
    by_impact = np.lexsort((documents, -weights.astype(int), term))
    begins = np.append(0, 1 + np.flatnonzero(np.diff(term[by_impact]) | np.diff(weights[by_impact].astype(int))))
    segments = np.append(begins, len(documents))
    impacts = (query[term] * weights)[by_impact]
    read = by_impact[np.lexsort((documents[by_impact], sizes[term[by_impact]], -impacts))[:most]]
    sums = np.bincount(documents[read], (query[term] * weights)[read], n)
    order = np.lexsort((np.arange(n), -sums))[: np.count_nonzero(sums)]
    if k < len(order):
        order = order[sums[order] >= sums[order[k - 1]]] if whole_ties else order[:k]
    ranges = starts[:-1] + np.array([np.zeros(3, int), np.bincount(term[read], minlength=3)])
    found = _impact_sums.search(
        np.arange(3), query, ranges, np.searchsorted(begins, starts), segments, documents[by_impact],
        weights[by_impact], n, k, whole_ties, _impact_sums.Accumulators(),
    )  # fmt: skip
    assert found[0].tolist() == order.tolist()
    assert found[1].tolist() == sums[order].tolist()
    assert len(order) <= found[2] == found[3] <= np.count_nonzero(sums)


def chosen_plainly(starts, weights, query, share_read, most, floor, by_term):
    """Sort all postings of a query, and return the end of those that are read of each term."""
    sizes = np.diff(starts)
    term = np.repeat(np.arange(len(sizes)), sizes)
    impacts = np.abs(query[term] * weights.astype(np.float64))
    keys = (term, sizes[term], -impacts) if not by_term else (term, -impacts, sizes[term])
    order = np.lexsort((np.arange(len(term)), *keys))
    read = order[impacts[order] >= floor * impacts.max()][: min(most, math.ceil(share_read * len(term) - 1e-9))]
    return starts[:-1] + np.bincount(term[read], minlength=len(sizes))


@pytest.mark.parametrize(
    ("distinct", "dtype"),
    [(5, "float32"), (40, "float32"), (10**6, "float32"), (5, "uint8"), (255, "uint8"), (9000, "uint16")],
)
def test_prefixes_equal_a_sort_of_all_postings(distinct, dtype):
    """The binary search chooses what sorting chooses, also where impacts of several terms tie or are 0."""
    rng = np.random.default_rng(distinct)
    n, sizes = 3000, np.array([1500, 1, 400, 400, 0, 90])
    starts = np.append(0, np.cumsum(sizes))
    documents = np.concatenate([np.sort(rng.choice(n, size, replace=False)) for size in sizes]).astype(np.int32)
    weights = rng.integers(0, distinct, starts[-1])
    weights = (weights / np.float32(distinct if dtype == "float32" else 1)).astype(dtype)
    order = np.lexsort((documents, -weights.astype(np.float64), np.repeat(np.arange(6), sizes)))
    documents, weights = documents[order], weights[order]
    arrays = starts, documents, weights, weights[::64].copy()
    queries = np.ones(6), np.array([0.5, 9, 1, 1, 3, 2]), np.array([0, 1.0, 0.3, 0.3, 1, 0.2])
    first_filters = np.array([0, 11, 12, 21, 22, 23, 30])
    left_out = 0
    for limits in product((1.0, 0.1, 0.013), (2**63 - 1, 0, 1, 500), (0.0, 0.4, 1.0), (False, True)):
        chosen = [_prefixes.choose(np.arange(6), query, *arrays, *limits) for query in queries]
        for query, (begins, stops) in zip(queries, chosen, strict=True):
            assert begins.tolist() == starts[:-1].tolist()
            assert stops.tolist() == chosen_plainly(starts, weights, query, *limits).tolist()
        if dtype != "float32":
            left_out = 10_001
            continue
        for k in (1, 20, 70, 10**9):
            (begins, leads, filters), (largest, missing, kth, cuts), last, n_read = _prefixes.choose_all(
                np.tile(np.arange(6), 3), np.concatenate(queries), np.array([0, 6, 12, 18]), *arrays, first_filters,
                *limits, k,
            )  # fmt: skip
            assert n_read.tolist() == [(stops - first).sum() for first, stops in chosen]
            for i in range(18):
                t, (first, stops) = i % 6, chosen[i // 6]
                a, stop, lead = first[t], stops[t], leads[i]
                assert begins[i] == a <= lead <= stop
                own, own_documents = weights[starts[t] : starts[t + 1]], documents[starts[t] : starts[t + 1]]
                counts = (own > cuts[i]) | ((own == cuts[i]) & (own_documents <= last[i]))
                assert counts.tolist() == [j < stop - a for j in range(len(own))]
                assert largest[i] == weights[a:stop].max(initial=0)
                assert missing[i] == weights[lead:stop].max(initial=0)
                assert kth[i] == (np.sort(weights[a:lead])[-k] if lead - a >= k else 0)
                left_out += stop - lead
                halvings = filters[i] - first_filters[t]
                assert 0 <= halvings < first_filters[t + 1] - first_filters[t]
                assert sizes[t] >> halvings >= stop - a
                smaller = sizes[t] >> halvings + 1
                assert smaller in (0, *range(stop - a)) or filters[i] + 1 == first_filters[t + 1]
            # A document without a leading posting cannot reach a score that k documents reach.
            for i, q in enumerate(queries):
                own = slice(6 * i, 6 * i + 6)
                highest = np.zeros(n)
                for j, (first, stops, *_) in enumerate(zip(*chosen[i], strict=True)):
                    np.maximum.at(highest, documents[first:stops], q[j] * weights[first:stops].astype(np.float64))
                assert (q * missing[own]).sum() < np.sort(highest)[-min(k, n)] or not missing[own].any()
    assert left_out > 10_000


@pytest.mark.parametrize("k", [2, 70])
def test_a_document_with_high_impacts_of_several_terms_is_one_document(k):
    """The same k - 1 documents have the highest impacts of two terms, so the k-th highest document has a low impact."""
    n = 200
    documents = np.tile(np.arange(n), 2).astype(np.int32)
    weights = np.tile(np.where(np.arange(n) < k - 1, 10, np.linspace(2, 1, n)), 2).astype(np.float32)
    (starts, leads, _), (_, missing, _, _), *_ = _prefixes.choose_all(
        np.arange(2), np.ones(2), np.array([0, 2]), np.array([0, n, 2 * n]), documents, weights,
        weights[::64].copy(), np.arange(3), 1.0, 2 * n, 0.0, False, k,
    )  # fmt: skip
    assert missing.sum() < weights[k - 1]
    assert (leads - starts).max() >= k


def test_prefixes_are_checked():
    terms, offsets, starts, own = np.array([0]), np.array([0, 1]), np.array([0, 2]), np.ones(1)
    documents, weights = np.array([0, 1], np.int32), np.array([2, 1], np.float32)
    given = {"terms": terms, "offsets": offsets, "starts": starts, "documents": documents, "weights": weights,
             "samples": weights[:1], "first_filters": np.array([3, 4]), "query_weights": own, "share_read": 1.0,
             "most": 9, "share": 0.0, "by_term": False, "k": 5}  # fmt: skip
    assert _prefixes.choose_all(**given)[0].tolist() == [[0], [2], [3]]
    for wrong in (
        {"terms": np.array([1])}, {"terms": np.array([-1])}, {"starts": np.array([0, 3])},
        {"starts": np.array([-1, 2])}, {"starts": np.array([1, 0])}, {"weights": weights[:1]},
        {"samples": weights}, {"first_filters": np.array([3])}, {"first_filters": np.array([3, 4, 5])},
        {"query_weights": np.ones(2)}, {"k": 0},
        {"offsets": np.array([0, 2])}, {"offsets": np.array([-1, 1])}, {"offsets": np.array([1, 0])},
        {"offsets": np.empty(0, np.int64)},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"terms|offsets|weight|filters"):
            _prefixes.choose_all(**{**given, **wrong})
        if wrong.keys() & {"terms", "starts", "weights", "samples", "query_weights"}:
            alone = {key: each for key, each in given.items() if key not in ("offsets", "first_filters", "k")}
            with pytest.raises(ValueError, match=r"terms|weight"):
                _prefixes.choose(**{**alone, **wrong})


@pytest.fixture(scope="module")
def large_index():
    """Return an index with bitmaps and filters, in which the weights of two postings are seldom equal."""
    rng = np.random.default_rng(11)
    n = 9000
    sizes = rng.integers(4, 20, n)
    tokens = np.minimum(rng.zipf(1.2, sizes.sum()) - 1, 799).astype(np.int32)
    return Index.from_tokens((tokens, np.append(0, np.cumsum(sizes))), [str(i) for i in range(800)])


def segments_of(index, weighting):
    return Segments.of(index.postings, posting_weights(index, weighting))


def test_filters_of_prefixes_have_the_first_documents(large_index):
    segments = segments_of(large_index, "lnc.ltc")
    prefixes, df = Prefixes.of(large_index.postings, segments), large_index.postings.document_frequencies
    n_empty = n_absent = n_documents = 0
    for term in range(len(df)):
        own = np.split(segments.documents, large_index.postings.starts[1:-1])[term]
        for number in range(*prefixes.first_filters[term : term + 2]):
            halvings = number - prefixes.first_filters[term]
            words = prefixes.filters.words[slice(*prefixes.filters.starts[number : number + 2])]
            if not len(words):
                n_empty += 1
                # A longer list has a bitmap, which stands for the filter of all its documents.
                assert halvings == 0
                assert len(own) < 64 or len(own) * 64 >= len(large_index)
                continue
            bits = np.unpackbits(words.view(np.uint8), bitorder="little")
            assert bits[own[: len(own) >> halvings] % len(bits)].all()
            n_absent += len(own) - bits[own % len(bits)].sum()
            n_documents += len(own) - (len(own) >> halvings)
    assert n_empty > 100
    assert n_absent > 0.8 * n_documents


@pytest.mark.parametrize("weighting", ["lnc.ltc", "bm25"])
@pytest.mark.parametrize("order", ["impact", "idf"])
def test_candidates_with_a_leading_posting_equal_segments(large_index, weighting, order):
    """Prefixes and candidates give the documents, the scores and the postings that segments give."""
    index, names, fewer = large_index, large_index.documents.to_list(), 0
    words = ([0], [799, 0], [0, 1, 5, 5, 30], [2, 40, 200], [3, 3, 3, 450, 7], [60, 61, 62, 90], [])
    queries = {i: [str(word) for word in each] for i, each in enumerate(words)}
    for postings, floor in product((10**9, 0, 5, 700, 0.02, 0.1, 0.5, 0.9), (0.0, 0.3)):
        method = ImpactOrdered(postings=postings, floor=floor, order=order, weighting=weighting)
        for k, whole_ties in product((1, 10, 200, 20_000), (False, True)):
            run, costs = method.counted(index, queries, k, whole_ties=whole_ties)
            search = method._in_segments(index, segments_of(index, weighting), k, whole_ties)
            all_expected = search(WeightedQueries.of(index, weighting, list(map(index.query, queries.values()))))
            found = run.documents.to_list()
            for i in queries:
                expected, own = all_expected.of_query(i), slice(run.offsets[i], run.offsets[i + 1])
                assert found[own] == [names[d] for d in expected.documents.tolist()]
                assert run.scores[own].tobytes() == expected.scores.tobytes()
                assert costs.postings[i] == expected.n_postings
                assert len(expected.documents) <= costs.documents[i] <= expected.n_documents
                fewer += costs.documents[i] < expected.n_documents / 4
    assert fewer > 100


def test_weights_that_give_no_bounds_are_read_in_segments(large_index):
    method, query = ImpactOrdered(postings=0.1), large_index.query(["5", "30", "200"])
    search = method._in_segments(large_index, segments_of(large_index, "lnc.ltc"), 10, True)
    for weights in ([1.0, -1.0, 2.0], [np.inf, 1.0, 1.0], [-1.0, -2.0, -3.0]):
        own = query._replace(weights=np.array(weights))
        found = find(method, large_index, 10, True, own)
        expected = search(WeightedQueries.of(large_index, "lnc.ltc", [own])).of_query(0)
        assert found.documents.tolist() == expected.documents.tolist()
        assert found.scores.tobytes() == expected.scores.tobytes()
        assert found[2:] == expected[2:]


def test_segments_beyond_the_postings_are_refused():
    def found(term=1, **changed):
        given = {
            "terms": np.array([term]), "query_weights": np.ones(1), "ranges": np.array([[2 * term], [2 + term]]),
            "term_starts": np.array([0, 2, 3]), "segments": np.array([0, 1, 2, 3]),
            "documents": np.array([0, 1, 0], np.int32), "weights": np.array([3, 2, 9], np.uint8), "n_documents": 2,
            "k": 1, "whole_ties": False, "accumulators": _impact_sums.Accumulators(),
        }  # fmt: skip
        return _impact_sums.search(**{**given, **changed})

    assert [each.tolist() for each in found()[:2]] == [[0], [9.0]]
    # Postings with a document number outside the collection are ignored, and so are starts that do not ascend.
    for invalid, term in product((-5, 2, 2**31 - 1), (0, 1)):
        assert not len(found(term, documents=np.full(3, invalid, np.int32))[0])
    for segments in ([0, 1, 2, 4], [0, 1, 2, 2], [0, 1, -1, 3], [9, 9, 9, -9]):
        assert found(segments=np.array(segments))[0].tolist() == [0]
    for changed in (
        {"term_starts": np.array([0, 2])}, {"term_starts": np.array([0, -1, 3])}, {"term_starts": np.array([0, 2, 4])},
        {"ranges": np.array([[2], [4]])}, {"ranges": np.array([[-1], [3]])}, {"ranges": np.array([[3], [2]])},
        {"ranges": np.zeros((1, 1), np.int64)}, {"query_weights": np.ones(2)}, {"weights": np.ones(2, np.uint8)},
        {"documents": np.zeros(2, np.int32)}, {"k": 0}, {"terms": np.array([2])},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"segment|term|weight|range"):
            found(**changed)


def test_one_posting_and_all_postings_are_different_methods():
    index = Index.build([("d1", "a"), ("d2", "a")], analyzer=str.split)
    for one, n_read in ((1, 1), (np.int32(1), 1), (1.0, 2), (np.float32(1), 2), (None, 2)):
        method = ImpactOrdered(postings=one, weighting="nnn.nnn")
        assert (method == ImpactOrdered(postings=1, weighting="nnn.nnn")) == (n_read == 1)
        assert parse_method(str(method)) == method
        assert method.counted(index, {"q": "a"})[1].postings.tolist() == [n_read]
    assert ImpactOrdered(postings=1.0) == ImpactOrdered()
    assert ImpactOrdered(postings=np.float32(0.5)) == ImpactOrdered(postings=0.5)

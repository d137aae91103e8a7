"""Search block by block against the accumulators of all documents, with the postings that it saves."""

from itertools import product

import numpy as np
import pytest
from test_accumulators import drawn, postings_of, with_bitmaps

from tieaware.kernels import _blocks
from tieaware.retrieval import AtLeast, Index
from tieaware.retrieval.accumulators import Bitmaps, DenseLists, TermLists, accumulate
from tieaware.retrieval.blocks import Base, Blocks
from tieaware.retrieval.index import Query
from tieaware.retrieval.method import WeightedQueries
from tieaware.retrieval.postings import Postings

# Lists as short and as long as to be read, to have bitmaps, and to have a dense form.
SHARES = (0.0005, 0.4, 0.003, 0.03, 0.1)
N = 6_007


def skewed(seed, n=N, shares=SHARES, dtype=np.float32):
    """Draw lists with few large weights, so that few blocks can have the best documents."""
    lists = drawn(seed, n, shares, dtype)
    weights = np.random.default_rng(seed).random(len(lists.weights)) ** 8 * (200 if dtype == np.uint8 else 60_000)
    return lists._replace(weights=weights.astype(dtype))


def blocks_of(lists, n=N) -> Blocks:
    postings = postings_of(lists, n)
    return Blocks.of(postings, lists.weights, DenseLists.of(postings, lists.weights), Bitmaps.of(postings))


def search(blocks, terms, query_weights, k, *, at_least=1, floor=0.0, **options):
    """Search one query; also in a chunk between others, with the same result."""
    terms, query_weights = np.asarray(terms, np.int64), np.asarray(query_weights, np.float64)
    query, n = Query(terms, np.ones(len(terms), np.int64)), len(terms)
    alone = WeightedQueries([query], terms, query_weights, np.array([0, n]))
    other = WeightedQueries(
        [query] * 3, np.concatenate([terms[:1], terms, terms[:1]]),
        np.concatenate([query_weights[:1], query_weights, query_weights[:1]]),
        np.cumsum([0, min(n, 1), n, min(n, 1)]),
    )  # fmt: skip
    numbers, floors = np.array([1, at_least, 1]), np.array([0, floor, 0.0])
    found = blocks.search(alone, k, at_least=numbers[1:2], floors=floors[1:2], **options).of_query(0)
    again = blocks.search(other, k, at_least=numbers, floors=floors, **options).of_query(1)
    assert_same(found, again)
    assert found[2:] == again[2:]
    return found


def both(lists, blocks, k, n=N, base=None, until=None, **options):
    """Search block by block, and by accumulators."""
    terms = np.arange(len(lists.starts))
    mine = search(blocks, terms, lists.query_weights, k, base=base, until=until, **options)
    values, order = (None, None) if base is None else (base.values, base.order)
    rest = float(np.sum(lists.query_weights * blocks.largest)) * 1.001
    plain = accumulate(
        TermLists(blocks.lists, terms, lists.query_weights), n, k, base=values, order=order, rest=rest, until=until,
        **options,
    )  # fmt: skip
    return mine, plain


def assert_same(mine, plain):
    np.testing.assert_array_equal(mine.documents, plain.documents)
    assert mine.scores.tobytes() == plain.scores.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.uint16])
@pytest.mark.parametrize("whole_ties", [False, True])
def test_results_equal_those_of_accumulators(dtype, whole_ties):
    fewer = 0
    for seed, make in product(range(3), (skewed, drawn)):
        lists = make(seed, N, SHARES, dtype)
        blocks = blocks_of(lists)
        for k, at_least in product((1, 3, 20, 500), (1, 2, 3, 5)):
            mine, plain = both(lists, blocks, k, at_least=at_least, whole_ties=whole_ties)
            assert_same(mine, plain)
            fewer += mine.n_postings < plain.n_postings / 2
    assert fewer > 20


@pytest.mark.parametrize("whole_ties", [False, True])
def test_a_base_is_added_to_all_documents_of_the_lists(whole_ties):
    rng = np.random.default_rng(7)
    fewer = 0
    for seed, scale in product(range(3), (0.0, 1.0, 1e4, 1e6)):
        lists = skewed(seed)
        blocks = blocks_of(lists)
        values = np.sort(np.round(rng.random(N), 2) * scale)[::-1].copy()
        base = Base.of(values, rng.permutation(N).astype(np.int32))
        for k, until in product((1, 10, 300), (0, 1, 16, 17, 3000, 5999, N)):
            mine, plain = both(lists, blocks, k, base=base, until=until, whole_ties=whole_ties)
            assert_same(mine, plain)
            fewer += mine.n_postings < plain.n_postings / 2
    assert fewer > 20


def test_documents_with_score_0_are_found_with_a_base_only():
    weights = np.array([0, 0, 5], np.float32)
    postings = Postings(np.array([0, 3]), np.array([1, 20, 40], np.int32), np.ones(3, np.int32), np.ones(50, np.int32))
    blocks = Blocks.of(postings, weights, DenseLists.of(postings, weights), Bitmaps.of(postings))
    base = Base.of(np.linspace(1, 0, 50), np.arange(50, dtype=np.int32))
    terms, query_weights = np.array([0]), np.ones(1)
    assert search(blocks, terms, query_weights, 5).documents.tolist() == [40]
    assert search(blocks, terms, query_weights, 5, base=base).documents.tolist() == [40, 1, 20]


def test_postings_of_weight_0_count_as_lists_of_a_document():
    """A document is found in two lists, one of which has only weights of 0 and a bitmap."""
    n = 5000
    documents = np.concatenate([np.arange(0, n, 2), np.array([3, 4])]).astype(np.int32)
    weights = np.concatenate([np.zeros(n // 2), [9, 1]]).astype(np.float32)
    starts = np.array([0, n // 2, n // 2 + 2])
    postings = Postings(starts, documents, documents, np.ones(n, np.int32))
    blocks = Blocks.of(postings, weights, DenseLists.of(postings, weights), Bitmaps.of(postings))
    found = search(blocks, np.arange(2), np.ones(2), 10, at_least=2)
    assert found.documents.tolist() == [4]
    assert found.n_postings < 20


def test_negative_query_weights_and_empty_queries():
    lists = skewed(5)
    blocks = blocks_of(lists)
    for query_weights in (np.array([1, -1, 2, 1, -3.0]), np.zeros(5)):
        mine, plain = both(lists._replace(query_weights=query_weights), blocks, 10)
        assert_same(mine, plain)
    nothing = search(blocks, np.empty(0, np.int64), np.empty(0), 3)
    assert len(nothing.documents) == nothing.n_postings == 0


def test_many_lists_are_searched_without_blocks():
    lists = skewed(6, shares=(0.01,) * 65)
    assert_same(*both(lists, blocks_of(lists), 10))


def test_bytes_bound_the_weights_of_their_blocks():
    lists = with_bitmaps(skewed(8), N)
    rows = np.flatnonzero(lists.bitmaps.rows >= 0)
    assert len(rows) >= 3
    blocks, terms = blocks_of(lists), np.arange(1)
    # A floor at the score of a document shows its block only if the bound of the block is not too low.
    for row in rows:
        own = slice(lists.starts[row], lists.stops[row])
        for at in range(own.start, own.stop, 7):
            floor = float(lists.weights[at])
            found = search(blocks, terms + row, np.ones(1), N, floor=floor, whole_ties=True)
            expected = lists.documents[own][lists.weights[own] >= np.float32(floor)]
            assert sorted(found.documents.tolist()) == expected.tolist()


def test_memory_is_used_again():
    lists = skewed(9)
    blocks = blocks_of(lists)
    for terms in ([0], [2], [0, 2], [2, 3], [0]):
        found = search(blocks, np.array(terms), np.ones(len(terms)), 5)
        plain = accumulate(TermLists(blocks.lists, np.array(terms), np.ones(len(terms))), N, 5)
        assert_same(found, plain)
    assert len(blocks.memory._idle) == 1


def test_methods_with_other_weightings():
    """A part of the score that belongs to the document may be negative, so all documents are scored."""
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(list("abcdefgh"), 6)) for _ in range(500)]
    index = Index.build(enumerate(texts), analyzer=str.split)
    run = AtLeast(m=2, weighting="lm-dirichlet:100").search(index, {"q": "a b c"}, 20)
    assert all(len({"a", "b", "c"} & set(texts[d].split())) >= 2 for d in run.documents.to_list())
    assert len(run.scores) == 20


def queries(**change):
    return _blocks.Queries(**{
        "terms": np.array([1]), "weights": np.ones(1), "offsets": np.array([0, 1]), "at_least": np.ones(1, np.int64),
        "floors": np.zeros(1), **change,
    })  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"k": 0}, {"until": N + 1}, {"queries": {"at_least": np.array([0])}},
        {"queries": {"at_least": np.ones(2, np.int64)}}, {"queries": {"weights": np.ones(2)}},
        {"queries": {"terms": np.array([9])}}, {"queries": {"floors": np.ones(3)}},
        {"queries": {"offsets": np.array([0, 2])}}, {"queries": {"offsets": np.array([-1, 1])}},
        {"queries": {"offsets": np.empty(0, np.int64)}},
        {"base": _blocks.Base(np.ones(3), np.ones(1, np.uint16), np.zeros(3, np.int32))},
        {"memory": _blocks.Memory(5)},
    ],
    ids=" ".join,
)  # fmt: skip
def test_arguments_that_do_not_fit_are_refused(change):
    blocks = blocks_of(skewed(0))
    arguments = {
        "blocks": blocks.blocks, "base": None, "queries": {}, "k": 1, "until": N, "whole_ties": False,
        "memory": _blocks.Memory(N),
    }  # fmt: skip

    def found(given):
        return _blocks.search(**{**given, "queries": queries(**given["queries"])})

    assert found(arguments)[-1].all()
    with pytest.raises(ValueError, match=r"must|range|no list"):
        found({**arguments, **change})


def test_a_query_without_a_score_above_0_is_finished_without_reading():
    blocks = blocks_of(skewed(0))
    zero = Base.of(np.zeros(N), np.arange(N, dtype=np.int32)).of_blocks
    asked = queries(terms=np.arange(2), weights=np.zeros(2), offsets=np.array([0, 2]))
    for base, is_complete in ((None, True), (zero, False)):
        offsets, documents, _, costs, complete = _blocks.search(
            blocks.blocks, base, asked, 5, N, True, _blocks.Memory(N)
        )
        assert offsets.tolist() == [0, 0]
        assert not len(documents)
        assert not costs.any()
        assert complete.tolist() == [is_complete]


def test_memory_blocks_and_bases_check_their_arguments():
    blocks, largest = blocks_of(skewed(0)), np.ones(len(SHARES))
    few = _blocks.Blocks(blocks.lists, np.ones((1, 2), np.uint8), np.ones(1), largest, N)
    long = np.flatnonzero(with_bitmaps(skewed(0), N).bitmaps.rows >= 0)[:1]
    for make, message in (
        (lambda: _blocks.Memory(-1), "n_documents is out of its range"),
        (lambda: _blocks.Blocks(blocks.lists, np.zeros((2, 3), np.uint8), np.ones(1), largest, N), "must have a scale"),
        (lambda: _blocks.Blocks(blocks.lists, np.zeros((1, 3), np.uint8), np.ones(1), largest[1:], N), "each list"),
        (lambda: _blocks.Base(np.ones(3), np.ones(1, np.uint16), np.zeros(2, np.int32)), "order must have a number"),
        (lambda: _blocks.Base(np.ones(N), np.ones(2, np.uint16), np.zeros(N, np.int32)), "parts one for each block"),
        (lambda: _blocks.search(few, None, queries(terms=long), 5, N, True, _blocks.Memory(N)),
         "a byte for each block"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            make()

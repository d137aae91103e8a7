"""Whole catalogues: sparse relevance, excluded items, and blocks of rows, against dense lists without these items."""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.errors import message_of
from support.matrices import Sparse, sparse
from support.memory import peak_of
from support.queries import MEASURES, SCORES
from support.threads import changing

from tieaware import Evaluator, InputError
from tieaware.engine import engine_choice
from tieaware.engine.engine_choice import EngineChoice
from tieaware.engine.prepared import prepare
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.lists.sparse import Relevance
from tieaware.measures import parse_measures
from tieaware.ties import RULES

NAMES = (*MEASURES, "AUC@3", "AUC(judged_only=True)@7")
# Measures that only some tie rules have a value for.
AVERAGED = ("infAP", "infAP(rel=2)", "IPrec@0.0", "IPrec@0.4", "IAP11")
COARSENINGS = ("decimals:0", "significant:2", "float16", "bands:1.5", "bands:2", "levels:3")
FEW = ("AP", "nDCG@2", "NumRet", "P", "Bpref")


class Catalogue(NamedTuple):
    """Dense scores, labels, and masks of the judged and the excluded items: one row per query each."""

    scores: np.ndarray
    labels: np.ndarray
    judged: np.ndarray
    excluded: np.ndarray

    @property
    def relevance(self) -> Sparse:
        return sparse(self.judged, self.labels)

    @property
    def exclude(self) -> Sparse:
        return sparse(self.excluded, np.zeros(self.excluded.shape))

    def dense(self, measures: Any, **options: Any) -> tuple[Evaluator, np.ndarray]:
        """Return an evaluator of lists without the excluded items, and the scores of these lists."""
        left = ~self.excluded
        labels = np.where(self.judged, self.labels, -1)
        if "docids" in options:
            options["docids"] = [options["docids"][item] for item in np.nonzero(left)[1]]
        return Evaluator(labels[left], measures, group=left.sum(axis=1), **options), self.scores[left]


def draw(
    seed: int, n_queries: int, n_items: int, *, distinct: int = 4, judged: float = 0.3, excluded: float = 0.3
) -> Catalogue:
    """Draw a catalogue with `distinct` scores per query; `judged` and `excluded` are shares of the items."""
    rng = np.random.default_rng(seed)
    shape = n_queries, n_items
    pools = rng.choice(SCORES, (n_queries, distinct))
    scores = pools[np.arange(n_queries)[:, None], rng.integers(0, distinct, shape)]
    labels = rng.integers(-3, 4, shape)
    is_judged, is_excluded = rng.random(shape) < judged, rng.random(shape) < excluded
    # A relevant item cannot be excluded. In about a tenth of the rows, all items are excluded.
    is_excluded &= ~(is_judged & (labels > 0))
    all_of_it = rng.random(n_queries) < 0.1
    is_judged[all_of_it] &= labels[all_of_it] <= 0
    is_excluded[all_of_it] = True
    return Catalogue(scores, labels, is_judged, is_excluded)


@st.composite
def catalogues(draw: st.DrawFn) -> Catalogue:
    """Draw small catalogues with hypothesis."""
    n_queries, n_items = draw(st.integers(0, 3)), draw(st.integers(0, 7))
    item = st.tuples(st.sampled_from(SCORES), st.integers(-3, 4), st.booleans(), st.booleans())
    drawn = draw(st.lists(item, min_size=n_queries * n_items, max_size=n_queries * n_items))
    columns = list(zip(*drawn, strict=True)) or [(), (), (), ()]
    shape = n_queries, n_items
    scores, labels, judged, excluded = (
        np.array(column, dtype).reshape(shape) for column, dtype in zip(columns, (float, int, bool, bool), strict=True)
    )
    return Catalogue(scores, labels, judged, excluded & ~(judged & (labels > 0)))


def docids(n: int) -> list[str]:
    return [f"{(7919 * i) % 1000003:x}" for i in range(n)]


def options_of(ties: str, n_items: int) -> dict[str, Any]:
    return {"ties": ties, "docids": docids(n_items)} if RULES[ties].by_document else {"ties": ties}


def assert_same(some: Catalogue, measures: Any, dtype: Any = np.float64, **options: Any) -> None:
    """Assert that the values equal those of dense lists without the excluded items, bit for bit."""
    evaluator = Evaluator.from_sparse(some.relevance, measures, exclude=some.exclude, **options)
    dense, scores = some.dense(measures, **options)
    assert evaluator(some.scores.astype(dtype)).tobytes() == dense(scores.astype(dtype)).tobytes()


@pytest.mark.parametrize("ties", RULES)
@given(some=catalogues())
@settings(deadline=None, max_examples=40)
def test_values_are_those_of_the_lists_without_excluded_items(ties, some):
    assert_same(some, NAMES, **options_of(ties, some.scores.shape[1]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize(
    ("n_items", "distinct", "judged", "excluded"),
    [(60, 3, 0.2, 0.4), (60, 9, 0.9, 0.9), (700, 2, 0.02, 0.3), (3_000, 8, 0.3, 0.01), (300, 5, 0.5, 0.0)],
)
def test_values_of_longer_lists_are_those_without_excluded_items(ties, dtype, n_items, distinct, judged, excluded):
    """Longer lists make every engine work; each gives the same bits as dense lists without the excluded items."""
    some = draw(n_items, 12, n_items, distinct=distinct, judged=judged, excluded=excluded)
    if dtype is np.int8:
        scores = np.random.default_rng(1).integers(-distinct, distinct, some.scores.shape)
        some = some._replace(scores=scores.astype(float))
    assert_same(some, NAMES, dtype, **options_of(ties, n_items))


@pytest.mark.parametrize("ties", RULES)
def test_values_of_distinct_scores_are_those_without_excluded_items(ties):
    """There are more distinct scores of judged items than the engines count one by one."""
    some = draw(4, 9, 2_000, judged=0.2, excluded=0.2)
    scores = np.random.default_rng(5).integers(0, 1_500, some.scores.shape) / 7
    assert_same(some._replace(scores=scores), NAMES, **options_of(ties, 2_000))


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("precision", COARSENINGS)
def test_coarse_scores_do_not_depend_on_excluded_items(ties, precision):
    """Excluded items do not affect coarse scores, not even bands and levels, which depend on the whole list."""
    some = draw(6, 20, 40)
    finite = np.random.default_rng(7).integers(-20, 20, some.scores.shape) / 8
    for scores in (some.scores, finite):
        names = [name for name in NAMES if "judged_only" not in name and "AUC" not in name]
        assert_same(some._replace(scores=scores), names, precision=precision, **options_of(ties, 40))


JUDGED_ONLY = [name for name in NAMES if "judged_only" in name and "AUC" not in name]


@pytest.mark.parametrize(
    ("measures", "options"),
    [
        (JUDGED_ONLY, {"precision": "bands:1.5"}),
        (JUDGED_ONLY, {"precision": "decimals:1"}),
        (AVERAGED, {}),
        (AVERAGED, {"ties": "run_order"}),
        (NAMES, {"undefined": np.nan}),
    ],
)
def test_other_measures_have_the_values_of_lists_without_excluded_items(measures, options):
    """Measures of the judged documents alone, those that some tie rules lack, and undefined values."""
    assert_same(draw(8, 20, 40), measures, **options)
    assert_same(draw(9, 40, 9, excluded=0.5), measures, **options)


@pytest.mark.parametrize("precision", [None, "decimals:0", "bands:2"])
def test_the_spread_is_that_of_the_lists_without_excluded_items(precision):
    some = draw(10, 30, 25)
    names = [name for name in NAMES if precision != "bands:2" or "judged_only" not in name]
    evaluator = Evaluator.from_sparse(some.relevance, names, exclude=some.exclude, precision=precision)
    dense, scores = some.dense(names, precision=precision)
    for ours, theirs in zip(evaluator.spread(some.scores), dense.spread(scores), strict=True):
        assert ours.tobytes() == theirs.tobytes()
    parts = [evaluator.rows(i, i + 7).spread(some.scores[i : i + 7]) for i in range(0, 30, 7)]
    for ours, theirs in zip(zip(*parts, strict=True), dense.spread(scores), strict=True):
        assert np.concatenate(ours).tobytes() == theirs.tobytes()


@pytest.mark.parametrize("precision", [None, "decimals:1"])
def test_mean_many_and_columns_are_those_of_the_lists_without_excluded_items(precision):
    some = draw(11, 10, 30)
    evaluator = Evaluator.from_sparse(some.relevance, FEW, exclude=some.exclude, precision=precision)
    dense, _ = some.dense(FEW, precision=precision)
    candidates = np.random.default_rng(12).integers(0, 5, (9, 10, 30)) / 8
    left = ~some.excluded
    expected = dense.many(candidates[:, left])
    np.testing.assert_array_equal(evaluator.many(candidates), expected)
    np.testing.assert_array_equal(evaluator.many(candidates.reshape(9, 300)), expected)
    np.testing.assert_array_equal(evaluator.columns(np.moveaxis(candidates, 0, 2)), expected)
    np.testing.assert_array_equal(evaluator.mean(candidates[4]), expected[4])


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_both_counting_engines_give_the_same_bits(ties, dtype):
    some = draw(13, 20, 200, distinct=9)
    judged = Relevance.of(some.relevance, some.exclude)
    measures = parse_measures(NAMES)
    lists = judged.lists(pool=False)
    order = np.random.default_rng(14).permutation(200) if RULES[ties].by_document else None
    scores = some.scores.astype(dtype).ravel()
    bits = set()
    for limit in (0, 3, 16, 10**9):
        (wanted,) = passes([View(ties)])
        totals = Totals.of(measures, lists.judgments)
        with mock.patch.object(engine_choice, "CHOICE", EngineChoice(limit)):
            prepared = prepare(measures, lists, totals, wanted, order=order)
        values = np.full((20, len(measures)), np.nan)
        assert prepared.evaluate(scores, values) == -1
        bits.add(values.tobytes())
    assert len(bits) == 1


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("judged", [0.001, 0.1])
@pytest.mark.parametrize("distinct", [3, 50_000])
def test_documents_below_every_cutoff_change_no_bit(ties, judged, distinct):
    """Counting may stop below the last cut-off. With AP in the same call it may not, and the values are the same."""
    shape = 6, 9_000
    some = draw(23, *shape, judged=judged, excluded=0.05)
    rng = np.random.default_rng(24)
    scores = rng.integers(0, distinct, shape) / 8
    # Judged items rank low in two queries, anywhere in two, and high in two. Excluded items rank high.
    scores[some.judged] *= np.repeat([0.5, 1, 1.02], 2)[np.nonzero(some.judged)[0]]
    scores[some.excluded] *= 1.01
    names = [name for name in NAMES if parse_measures(name)[0].cutoff is not None]
    options = {"exclude": some.exclude, **options_of(ties, 9_000)}
    both = scores, scores.astype(np.float32)
    relevance = some.relevance
    beside = Evaluator.from_sparse(relevance, [*names, "AP"], **options)
    values = [beside(each) for each in both]
    for i, name in enumerate(names):
        alone = Evaluator.from_sparse(relevance, [name], **options)
        for each, expected in zip(both, values, strict=True):
            assert alone(each).tobytes() == expected[:, [i]].tobytes(), name
    if RULES[ties].averages:
        whole = [name for name in names if "judged_only" not in name]
        alone = Evaluator.from_sparse(relevance, whole, **options)
        columns = [names.index(name) for name in whole]
        for each in both:
            for ours, theirs in zip(alone.spread(each), beside.spread(each), strict=True):
                assert ours.tobytes() == np.ascontiguousarray(theirs[:, columns]).tobytes()


@pytest.mark.parametrize("ties", RULES)
def test_rows_give_the_bits_of_the_whole_evaluator(ties):
    """`evaluator.rows(i, j)` gives the bits of the whole evaluator, for all threads and sizes and after pickling."""
    some = draw(15, 50, 80)
    given = some.relevance, FEW
    options = {"exclude": some.exclude, **options_of(ties, 80)}
    bits = set()
    for threads in (1, 2, 8):
        evaluator = Evaluator.from_sparse(*given, **options, threads=threads)
        bits.add(evaluator(some.scores).tobytes())
        for size in (1, 7, 50, 1_000):
            blocks = [evaluator.rows(i, i + size)(some.scores[i : i + size]) for i in range(0, 50, size)]
            bits.add(np.concatenate(blocks).tobytes())
        block = pickle.loads(pickle.dumps(evaluator.rows(5, 40))).rows(3, 20)
        assert (block.n_queries, block.n_docs, block.measures) == (17, 17 * 80, evaluator.measures)
        np.testing.assert_array_equal(block(some.scores[8:25]), evaluator(some.scores)[8:25])
        again = pickle.loads(pickle.dumps(evaluator))
        np.testing.assert_array_equal(again(some.scores), evaluator(some.scores))
    assert len(bits) == 1


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("precision", [None, "bands:2", "levels:2"])
def test_dense_evaluators_have_rows_as_well(ties, precision):
    """`rows` works for two-dimensional labels, and for flat lists of different lengths."""
    some = draw(16, 30, 20)
    ids = {"docids": docids(600)} if RULES[ties].by_document else {}
    evaluator, scores = some.dense(FEW, ties=ties, precision=precision, **({"docids": docids(20)} if ids else {}))
    offsets = np.append(0, (~some.excluded).sum(axis=1).cumsum())
    blocks = [evaluator.rows(i, i + 4)(scores[offsets[i] : offsets[min(i + 4, 30)]]) for i in range(0, 30, 4)]
    np.testing.assert_array_equal(np.concatenate(blocks), evaluator(scores))
    square = Evaluator(some.labels, FEW, ties=ties, precision=precision, **ids)
    np.testing.assert_array_equal(square.rows(3, 9)(some.scores[3:9]), square(some.scores)[3:9])
    assert square.rows(9, 9)(np.zeros((0, 20))).shape == (0, len(FEW))


@pytest.mark.parametrize(
    ("first", "last", "message"),
    [
        (-1, 2, "first: expected a whole number from 0 to 50, found -1"),
        (51, 52, "first: expected a whole number from 0 to 50, found 51"),
        (3, 2, "last: expected a whole number of at least 3, found 2"),
        (0, 2.0, "last: expected a whole number of at least 0, found 2.0"),
    ],
)
def test_rows_out_of_range_are_refused(first, last, message):
    evaluator = Evaluator.from_sparse(draw(17, 50, 3).relevance, FEW)
    assert message_of(evaluator.rows, first, last) == message


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("precision", [None, "decimals:1", "bands:2", "levels:2"])
def test_scores_of_excluded_items_may_be_nan_and_are_not_changed(ties, precision):
    """The error for a NaN of another item gives its position in the given row, in which excluded items count."""
    some = draw(18, 12, 60)
    options = {"precision": precision, **options_of(ties, 60)}
    for measures in (["P"], FEW, ["NumRet"]):
        evaluator = Evaluator.from_sparse(some.relevance, measures, exclude=some.exclude, **options)
        dense, left = some.dense(measures, **options)
        scores = np.where(some.excluded, np.nan, some.scores)
        kept = scores.copy()
        for fixed in (scores, scores.astype(np.float32)):
            fixed.setflags(write=False)
            np.testing.assert_array_equal(evaluator(fixed), dense(left))
            np.testing.assert_array_equal(evaluator(fixed, out=np.empty((12, len(measures)))), dense(left))
            np.testing.assert_array_equal(evaluator.mean(fixed), dense.mean(left))
        np.testing.assert_array_equal(scores, kept)
    query = int((~some.excluded).sum(axis=1).argmax())
    item = np.flatnonzero(~some.excluded[query])[-1]
    wrong = kept.copy()
    wrong[query, item] = np.nan
    found = f"scores: expected numbers, found NaN for document {item} of query"
    assert message_of(evaluator, wrong) == f"{found} {query}"
    assert message_of(evaluator.rows(query, query + 1), wrong[query]) == f"{found} 0"


@pytest.mark.parametrize("form", ["csr_array", "csr_matrix"])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint16, np.float32, np.float64])
def test_matrices_of_scipy_are_accepted(form, dtype):
    """A matrix with unsorted indices is sorted in a copy. Bools and whole floats are valid labels."""
    scipy = pytest.importorskip("scipy.sparse")
    some = draw(19, 20, 30)
    some = some._replace(labels=np.abs(some.labels).clip(0, 1), excluded=some.excluded & ~some.judged)
    make = getattr(scipy, form)
    relevance = make((some.relevance.data.astype(dtype), some.relevance.indices, some.relevance.indptr), shape=(20, 30))
    exclude = make((some.exclude.data, some.exclude.indices, some.exclude.indptr), shape=(20, 30))
    expected = Evaluator.from_sparse(some.relevance, FEW, exclude=some.exclude)(some.scores)
    np.testing.assert_array_equal(Evaluator.from_sparse(relevance, FEW, exclude=exclude)(some.scores), expected)
    for matrix in (relevance, exclude):
        for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
            matrix.indices[start:end] = matrix.indices[start:end][::-1].copy()
            matrix.data[start:end] = matrix.data[start:end][::-1].copy()
    indices = relevance.indices.copy()
    np.testing.assert_array_equal(Evaluator.from_sparse(relevance, FEW, exclude=exclude)(some.scores), expected)
    np.testing.assert_array_equal(relevance.indices, indices)
    for convert in ("tocsc", "tocoo"):
        judged, left_out = (getattr(matrix, convert)() for matrix in (relevance, exclude))
        found = Evaluator.from_sparse(judged, FEW, exclude=left_out)(some.scores)
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(InputError, match=r"^relevance: expected a sparse matrix in CSR form, .*, found lil format$"):
        Evaluator.from_sparse(relevance.tolil(), FEW)


@pytest.mark.parametrize("form", ["coo_array", "csc_array", "csr_array"])
def test_entries_of_a_cell_are_not_added_up(form):
    sp = pytest.importorskip("scipy.sparse", reason="needs SciPy")
    data, rows, columns = [1, 1, 1], [0, 0, 1], [2, 2, 0]
    pointers = {"csc_array": [0, 1, 1, 3], "csr_array": [0, 2, 3]}
    if form == "coo_array":
        twice = sp.coo_array((data, (rows, columns)), shape=(2, 3))
    else:
        indices = columns if form == "csr_array" else [1, 0, 0]
        twice = getattr(sp, form)((data, indices, pointers[form]), shape=(2, 3))
    once = sp.csr_array([[0, 1, 0], [1, 0, 0]])
    problem = r".*more than one entry; call sum_duplicates\(\) of the matrix first$"
    with pytest.raises(InputError, match=f"^relevance{problem}"):
        Evaluator.from_sparse(twice, "AP")
    with pytest.raises(InputError, match=f"^exclude{problem}"):
        Evaluator.from_sparse(once, "AP", exclude=twice)


@pytest.mark.parametrize("ties", ["average", "run_order"])
def test_matrices_may_change_afterwards(ties):
    """An evaluator copies its matrices, so later changes of their arrays do not affect it."""
    some = draw(25, 20, 30)
    relevance, exclude = some.relevance, some.exclude
    evaluator = Evaluator.from_sparse(relevance, FEW, exclude=exclude, ties=ties)
    values = evaluator(some.scores)
    for matrix in (relevance, exclude):
        for array in (matrix.indptr, matrix.indices, matrix.data):
            array[:] = 2**60
    np.testing.assert_array_equal(evaluator(some.scores), values)
    np.testing.assert_array_equal(evaluator.rows(3, 9)(some.scores[3:9]), values[3:9])


GOOD = Sparse([0, 2, 3], [0, 2, 1], [1, 0, 2], (2, 3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indices": [0, 3, 1]}, r"relevance\.indices\[1\]: expected one of 3 columns, from 0, found 3"),
        ({"indices": [0, -1, 1]}, r"relevance\.indices\[1\]: expected one of 3 columns, from 0, found -1"),
        ({"indices": [0, 2**62 + 1, 1]}, r"relevance\.indices\[1\]: expected a whole number .*, found 46.*"),
        ({"indices": [0, 2**64, 1]}, r"relevance\.indices\[1\]: expected a whole number from .*, found 184.*"),
        ({"indices": [0.0, 1.0, 1.0]}, r"relevance\.indices: expected whole numbers, found an array of float64"),
        ({"indices": [2, 2, 1]}, r"relevance\[0, 2\]: this cell has more than one entry; call sum_duplicates.*"),
        ({"indptr": [0, 2, 2], "indices": [0, 2]}, r"relevance\.data: must have 2 labels, one for each index, not 3"),
        ({"indices": [0, 2]}, r"relevance\.indptr: must start at 0 and end at 2, the number of indices; found 0 … 3"),
        ({"indptr": [0, 4, 3]}, r"relevance\.indptr\[2\]: must be at least 4, the offset before it; found 3"),
        ({"indptr": [1, 2, 3]}, r"relevance\.indptr: must start at 0 and end at 3, .* found 1 … 3"),
        ({"indptr": [0, 3]}, r"relevance\.indptr: must have 3 offsets for 2 rows, not 2"),
        ({"indptr": []}, r"relevance\.indptr: must have 3 offsets for 2 rows, not 0"),
        ({"indptr": [[0, 2, 3]]}, r"relevance\.indptr: expected whole numbers.*|relevance\.indptr\[0\]: .*"),
        ({"data": [0.25, 0, 0.5]}, r".*: labels: are all below rel=1, .* \(the highest is 0.5\).*"),
        ({"data": [1, 0, np.nan]}, r"relevance\[1, 1\]: is NaN; pass missing='unjudged' if NaN means .*"),
        ({"data": [1, 2**40, 0]}, r"relevance\[0, 2\]: expected a number from .*, found 1099511627776"),
        ({"indices": [2, 0, 1], "data": [np.inf, 0, 1]}, r"relevance\[0, 2\]: expected a number .*, found inf"),
        ({"data": [1, 0]}, r"relevance\.data: must have 3 labels, one for each index, not 2"),
        ({"data": np.ones((3, 1))}, r"relevance\.data: expected a one-dimensional array, found shape \(3, 1\)"),
        ({"shape": (2,)}, r"relevance\.shape: expected the numbers of rows and columns, found \(2,\)"),
        ({"shape": 2}, r"relevance\.shape: expected the numbers of rows and columns, found 2"),
        ({"shape": (2, -3)}, r"relevance\.shape\[1\]: expected a whole number from 0 to .*, found -3"),
        ({"shape": (2, 3.0)}, r"relevance\.shape\[1\]: expected a whole number from 0 to .*, found 3\.0"),
        ({"shape": (2, 2**62)}, r"relevance\.shape: expected at most 2\^62 cells, found .*"),
        ({"shape": (2, 0)}, r"relevance\.indices\[0\]: expected one of 0 columns, from 0, found 0"),
    ],
)  # fmt: skip
def test_an_invalid_matrix_is_refused(change, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        Evaluator.from_sparse(GOOD._replace(**change), FEW)
    if "data" not in message and "data" not in change:
        with pytest.raises(InputError, match=f"^{message.replace('relevance', 'exclude')}$"):
            Evaluator.from_sparse(Sparse([0, 0, 0], [], [], (2, 3)), FEW, exclude=GOOD._replace(**change))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"relevance": np.eye(3)}, "relevance: expected a sparse matrix in CSR form, .*, found array.* without indptr"),
        ({"exclude": GOOD._replace(shape=(2, 4))}, r"exclude: must have the shape of .*, not \(2, 4\)"),
        ({"exclude": GOOD},
         r"exclude\[0, 0\]: a relevant item must not be excluded, but this item has label 1; "
         r"to rank such items, pass exclude - exclude.multiply\(relevance > 0\) as exclude; "
         r"to leave them out, pass relevance - relevance.multiply\(exclude > 0\) as relevance"),
        ({"exclude": Sparse([0, 0, 1], [1], [0], (2, 3))},
         r"exclude\[1, 1\]: .*, but this item has label 2; its entry is an explicit 0, .* "
         r"call exclude.eliminate_zeros\(\) first"),
        ({"missing": "zero"}, r"missing: expected .*unjudged.*, found 'zero'"),
        ({"ties": "trec_eval"}, "docids: is required by the tie rule 'trec_eval', .*"),
        ({"ties": "trec_eval", "docids": ["a"] * 6}, "docids: must have one identifier per item, 3; found 6"),
        ({"ties": "mean"}, "ties: expected one of .*, found 'mean'"),
        ({"threads": 0}, "threads: expected .*, found 0; None means one per core"),
        ({"undefined": "no"}, "undefined: expected .*, found 'no'; .* leaves out queries without .*"),
        (
            {"measures": ["AP(judged_only=True)"], "precision": "levels:2"},
            "precision=levels:2: cannot be used with judged_only, .*",
        ),
    ],
)  # fmt: skip
def test_an_argument_that_cannot_be_used_is_named(arguments, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        Evaluator.from_sparse(**{"relevance": GOOD, "measures": FEW, **arguments})


@pytest.mark.parametrize("shape", [(2, 4), (3, 2), (7,), (1, 2, 3)])
def test_scores_of_another_shape_are_refused(shape):
    expected = r"shape \(6,\) or \(2, 3\), or \(3,\) for all queries"
    with pytest.raises(InputError, match=f"^scores: expected {expected}, found shape "):
        Evaluator.from_sparse(GOOD, FEW)(np.zeros(shape))


def test_the_shape_of_scores_is_checked_before_they_are_copied():
    """A copy of these scores would take 4 TB."""
    with pytest.raises(InputError, match=r"found shape \(1000000, 1000000\)$"):
        Evaluator.from_sparse(GOOD, FEW).mean(np.broadcast_to(np.float32(0.0), (10**6, 10**6)))


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (4, 0), (3, 2)])
def test_empty_input_is_accepted(ties, shape):
    """There may be no query, no item or no entry, and all items may be excluded."""
    nothing = Sparse(np.zeros(shape[0] + 1, int), [], [], shape)
    for there in (np.zeros(shape, bool), np.ones(shape, bool)):
        some = Catalogue(np.ones(shape), np.zeros(shape, int), np.zeros(shape, bool), there)
        assert_same(some, FEW, **options_of(ties, shape[1]))
    evaluator = Evaluator.from_sparse(nothing, FEW, **options_of(ties, shape[1]))
    assert evaluator(np.ones(shape)).shape == (shape[0], len(FEW))


@pytest.mark.parametrize("ties", ["average", "run_order", "docid_ascending"])
def test_preparing_takes_no_memory_for_items_that_have_no_entry(ties):
    """A dense float32 array of the 2,000 × 100,000 places would take 800 MB; the matrices have 8,000 entries."""
    n_items = 100_000
    options = options_of(ties, n_items)
    columns = np.arange(4_000) * 7 % n_items
    relevance = Sparse(np.arange(0, 4_001, 2), columns, np.ones(4_000, int), (2_000, n_items))
    exclude = Sparse(np.arange(0, 4_001, 2), columns + 1, None, (2_000, n_items))
    # The first call imports modules, whose memory must not be counted.
    Evaluator.from_sparse(GOOD, FEW)

    def evaluate_two_rows():
        evaluator = Evaluator.from_sparse(relevance, FEW, exclude=exclude, **options)
        evaluator.rows(10, 12)(np.zeros((2, n_items), np.float32))

    assert peak_of(evaluate_two_rows) < 60e6


@pytest.mark.parametrize("ties", RULES)
def test_scores_that_change_meanwhile_never_crash(ties):
    """Another thread writes to the scores during the evaluation. Values may be wrong, but all memory access is valid.

    `make checked` would report an invalid access.
    """
    some = draw(20, 20, 60)
    options = {"exclude": some.exclude, **options_of(ties, 60)}
    evaluator = Evaluator.from_sparse(some.relevance, NAMES, **options)
    scores = np.zeros((20, 60))
    with changing(scores, seed=21):
        for call in [evaluator, evaluator.spread if ties == "average" else evaluator] * 30:
            with suppress(InputError):
                call(scores)


def test_both_ways_out_of_excluded_relevant_items_work():
    """One ranks the relevant items that were excluded by mistake; the other leaves them out."""
    sp = pytest.importorskip("scipy.sparse")
    relevance = sp.csr_array([[0, 0, 1, 0], [0, 1, 0, 0]])
    exclude = sp.csr_array([[1, 0, 1, 0], [0, 1, 0, 1]])
    scores = [[0, 2, 3, 1], [3, 2, 1, 0]]
    kept = Evaluator.from_sparse(relevance, ["RR", "NumRel"], exclude=exclude - exclude.multiply(relevance > 0))
    assert kept(scores).tolist() == [[1.0, 1.0], [0.5, 1.0]]
    left = Evaluator.from_sparse(relevance - relevance.multiply(exclude > 0), ["RR", "NumRel"], exclude=exclude)
    assert left(scores).tolist() == [[0.0, 0.0], [0.0, 0.0]]

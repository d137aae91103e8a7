"""Top-k lists (ids, scores), and sparse judgments: values, padding, names, and errors."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.errors import message_of
from support.matrices import sparse
from support.tensors import Tensor

from tieaware import Evaluator, Qrels, Run, evaluate
from tieaware.inputs import as_sources
from tieaware.inputs.runs import in_memory

MEASURES = ["AP", "nDCG@3", "RR", "HitRate@1", "Bpref"]
IDS = np.array([[7, 3, 5], [3, -1, -1], [5, 7, -1]], dtype=np.int32)
SCORES = np.array([[0.9, 0.5, 0.5], [0.5, np.nan, 0.0], [1.0, 1.0, np.nan]], dtype=np.float32)
AS_DICT = {0: {7: 0.9, 3: 0.5, 5: 0.5}, 1: {3: 0.5}, 2: {5: 1.0, 7: 1.0}}
LABELS = np.array([[0, 0, 0, 1, 0, 0, 0, 2], [0, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0]])
RELEVANCE = sparse(LABELS > 0, LABELS)
QRELS = {q: {d: int(label) for d, label in enumerate(row) if label} for q, row in enumerate(LABELS)}


def columns_of(run):
    return run.queries.to_list(), run.offsets.tolist(), run.documents.to_list(), run.scores.tolist()


EXPECTED = [0, 1, 2], [0, 3, 4, 6], [7, 3, 5, 3, 5, 7], [np.float32(0.9).item(), 0.5, 0.5, 0.5, 1.0, 1.0]


def test_padding_is_skipped_and_rows_are_numbered():
    run = Run.from_topk(IDS, SCORES, name="als")
    assert columns_of(run) == EXPECTED
    assert (run.name, run.scores.dtype) == ("als", np.float32)
    assert not run.scores.flags.writeable


@pytest.mark.parametrize(
    ("ids", "scores"),
    [
        (IDS.astype(np.int64), SCORES.astype(np.float64)),
        (np.asfortranarray(IDS), SCORES[:, ::-1][:, ::-1]),
        (IDS.tolist(), SCORES.tolist()),
        ([[7, 3, 5], [3], [5, 7]], [[np.float32(0.9), 0.5, 0.5], [0.5], [1, 1]]),
        ([np.array([7, 3, 5]), np.array([3]), np.array([5, 7])], [SCORES[0], SCORES[1, :1], SCORES[2, :2]]),
        (IDS.astype(object), SCORES),
        (np.array([[7, 3, 5], [3], [5, 7]], object), np.array([SCORES[0], SCORES[1, :1], SCORES[2, :2]], object)),
        (Tensor(IDS, "int32"), Tensor(SCORES)),
    ],
)
def test_other_forms_of_the_arrays(ids, scores):
    run = Run.from_topk(ids, scores)
    assert columns_of(run)[:3] == EXPECTED[:3]
    np.testing.assert_array_equal(run.scores.astype(np.float32), np.array(EXPECTED[3], np.float32))


def test_ids_and_queries_of_text():
    ids = np.array([["d7", "d3"], ["é", "d7"]])
    for form in (ids, ids.tolist(), ids.astype(object)):
        run = Run.from_topk(form, [[1, 2], [3, 4]], queries=["u1", "u2"])
        assert columns_of(run) == (["u1", "u2"], [0, 2, 4], ["d7", "d3", "é", "d7"], [1, 2, 3, 4])
    padded = Run.from_topk([["d7", None], [None, None]], [[1.0, np.nan], [0.0, 0.0]])
    assert columns_of(padded) == ([0, 1], [0, 1, 1], ["d7"], [1.0])


def test_lists_without_documents():
    assert columns_of(Run.from_topk([[], []], [[], []])) == ([0, 1], [0, 0, 0], [], [])
    assert len(Run.from_topk(np.zeros((0, 3), int), np.zeros((0, 3)))) == 0


def test_the_arrays_may_change_later():
    ids, scores = np.arange(9).reshape(3, 3), np.ones((3, 3))
    run = Run.from_topk(ids, scores)
    ids[:], scores[:] = 0, 7
    assert columns_of(run)[2:] == (list(range(9)), [1.0] * 9)


RAGGED = [[7, 3, 5], [3], [5, 7]], [[np.float32(0.9), 0.5, 0.5], [0.5], [1, 1]]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "form",
    [
        (IDS, SCORES), [IDS, SCORES], Run.from_topk(IDS, SCORES), RAGGED, list(RAGGED), (IDS.tolist(), SCORES),
        (Tensor(IDS, "int32"), Tensor(SCORES)),
    ],
)  # fmt: skip
def test_a_pair_of_arrays_is_a_run(form):
    """As the value of a dict, in a list of runs, and alone, with judgments as a matrix or a dict."""
    expected = evaluate(QRELS, {"run": AS_DICT}, MEASURES, spread=True)
    for qrels in (RELEVANCE, QRELS, Qrels.from_sparse(RELEVANCE)):
        for runs in (form, [form], {"run": form}):
            found = evaluate(qrels, runs, MEASURES, spread=True)
            assert (found.runs, found.queries) == (("run",), (0, 1, 2) if qrels is not QRELS else ("0", "1", "2"))
            for name, cube in expected.cubes().items():
                np.testing.assert_array_equal(found.cubes()[name], cube)


def test_queries_and_documents_with_names():
    qrels = Qrels.from_sparse(
        RELEVANCE, queries=["u0", "u1", "u2"], documents=[f"d{i}" for i in range(8)], name="held out"
    )
    assert (qrels.queries.to_list(), qrels.name) == (["u0", "u1", "u2"], "held out")
    assert qrels.documents.to_list() == ["d3", "d7", "d3", "d5"]
    ids = [[f"d{i}" for i in row if i >= 0] for row in IDS]
    scores = [row[: len(some)] for row, some in zip(SCORES, ids, strict=True)]
    found = evaluate(qrels, {"als": Run.from_topk(ids, scores, queries=["u0", "u1", "u2"])}, MEASURES)
    assert found.queries == ("u0", "u1", "u2")
    np.testing.assert_array_equal(found.values, evaluate(RELEVANCE, (IDS, SCORES), MEASURES).values)


def test_sparse_judgments_keep_rows_without_entries_and_explicit_zeros():
    labels = np.array([[0, 0, 2], [0, 0, 0], [1, -1, 0]])
    there = np.array([[True, False, True], [False] * 3, [True, True, False]])
    qrels = Qrels.from_sparse(sparse(there, labels))
    assert (qrels.queries.to_list(), qrels.offsets.tolist()) == ([0, 1, 2], [0, 2, 2, 4])
    assert (qrels.documents.to_list(), qrels.labels.tolist()) == ([0, 2, 0, 1], [0, 2, 1, -1])


def test_sparse_judgments_of_scipy():
    scipy_sparse = pytest.importorskip("scipy.sparse", reason="needs SciPy")
    matrix = scipy_sparse.csr_array(LABELS)
    np.testing.assert_array_equal(
        evaluate(matrix, (IDS, SCORES), MEASURES).values, evaluate(QRELS, AS_DICT, MEASURES).values
    )
    for other in (matrix.tocsc(), matrix.tocoo()):
        np.testing.assert_array_equal(
            evaluate(other, (IDS, SCORES), MEASURES).values, evaluate(QRELS, AS_DICT, MEASURES).values
        )
    found = message_of(evaluate, matrix.tolil(), (IDS, SCORES), MEASURES)
    assert found.startswith("relevance: expected a sparse matrix in CSR form, ")
    assert found.endswith("found lil format")


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_lists_of_all_items_have_the_values_of_dense_scores(data):
    """With k = n_items, and any order of the items in a list, the values are those of Evaluator.from_sparse."""
    n_users, n_items = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    labels = rng.integers(0, 3, (n_users, n_items))
    scores = rng.integers(0, 4, (n_users, n_items)).astype(np.float32)
    order = rng.permuted(np.tile(np.arange(n_items), (n_users, 1)), axis=1)
    relevance = sparse(rng.random((n_users, n_items)) < 0.7, labels)
    ties = data.draw(st.sampled_from(["average", "optimistic", "pessimistic"]))
    dense = Evaluator.from_sparse(relevance, MEASURES, ties=ties).results({"als": scores})
    lists = evaluate(relevance, {"als": (order, np.take_along_axis(scores, order, axis=1))}, MEASURES, ties=ties)
    np.testing.assert_array_equal(dense.values, lists.values)
    assert (dense.queries, dense.runs, dense.title) == (lists.queries, lists.runs, lists.title)


@pytest.mark.filterwarnings("ignore:.*lists of:UserWarning")
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_padded_lists_have_the_values_of_dicts(data):
    n_users, k = data.draw(st.integers(1, 5)), data.draw(st.integers(0, 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    ids = rng.permuted(np.tile(np.arange(8), (n_users, 1)), axis=1)[:, :k]
    ids[rng.random(ids.shape) < 0.3] = -1
    scores = rng.integers(0, 3, ids.shape).astype(float)
    scores[ids < 0] = data.draw(st.sampled_from([np.nan, -np.inf, 9.0]))
    run = {
        q: {int(d): float(s) for d, s in zip(*row, strict=True) if d >= 0}
        for q, row in enumerate(zip(ids, scores, strict=True))
    }
    qrels = {q: {d: int(rng.integers(0, 3)) for d in range(8)} for q in range(n_users)}
    ties = data.draw(st.sampled_from(["average", "run_order", "trec_eval", "optimistic"]))
    for queries in ("judged", "both"):
        options = {"ties": ties, "queries": queries}
        found, expected = (evaluate(qrels, {"a": each}, MEASURES, **options) for each in ((ids, scores), run))
        np.testing.assert_array_equal(found.values, expected.values)


@pytest.mark.parametrize("threads", [1, 3])
def test_long_runs_are_converted_in_chunks(monkeypatch, threads):
    rng = np.random.default_rng(2)
    ids = rng.permuted(np.tile(np.arange(40), (500, 1)), axis=1)[:, :10]
    scores = rng.integers(0, 4, ids.shape)
    labels = rng.integers(0, 2, (500, 40))
    relevance = sparse(labels > 0, labels)
    expected = evaluate(relevance, Run.from_topk(ids, scores), MEASURES)
    monkeypatch.setattr(in_memory, "CHUNK_ROWS", 64)
    (source,) = as_sources((ids, scores)).values()
    assert len(list(source.chunks())) == 84
    found = evaluate(relevance, (ids, scores), MEASURES, threads=threads)
    np.testing.assert_array_equal(found.values, expected.values)


KEEP = "Run.from_topk(ids, scores, duplicates='highest'), 'first' or 'last' keeps one"
SWAPPED = "ids: expected integers or text, found float32: pass (ids, scores), in this order"


@pytest.mark.parametrize(
    ("ids", "scores", "options", "message"),
    [
        (SCORES, IDS, {}, SWAPPED),
        (IDS > 0, SCORES, {}, SWAPPED.replace("float32", "bool")),
        (IDS * 1.0, SCORES, {}, "ids: expected integers or text, found float64: convert ids with ids.astype(int)"),
        (IDS, SCORES[:2], {}, "scores: must have the shape of ids: (3, 3), not (2, 3)"),
        (IDS, SCORES[:, :2], {}, "scores: must have the shape of ids: (3, 3), not (3, 2)"),
        ([[1, 2], [3]], [[1, 2], [3, 4]], {}, "scores: must have the shape of ids: 2 rows, 3 values, not (2, 2)"),
        (IDS[0], SCORES[0], {}, "ids: expected two dimensions, with a row for each query, found shape (3,)"),
        (IDS[None], SCORES[None], {}, "ids: expected two dimensions, with a row for each query, found shape (1, 3, 3)"),
        (7, SCORES, {}, "ids: expected two dimensions, with a row for each query, found int"),
        ([7, 3], [1.0, 2.0], {}, "ids[0]: expected the list of a query, found int"),
        (["d7", "d3"], [[1.0], [2.0]], {}, "ids[0]: expected the list of a query, found str"),
        (
            [[7, 3], [5, 5]],
            [[1, 2], [3, 3]],
            {},
            f"ids[1, 1]: document 5 appears twice for this query, first at ids[1, 0]; {KEEP}",
        ),
        ([[-1, 3, 3]], [[0, 2, 3]], {},
         f"ids[0, 2]: document 3 appears twice for this query, first at ids[0, 1]; {KEEP}"),
        ([["d7", 1.5]], [[1, 2]], {}, "ids[0, 1]: expected text, bytes or an integer, found 1.5"),
        (IDS, np.full((3, 3), np.nan), {}, "scores[0, 0]: expected a number, found NaN"),
        ([[7, -1, 3]], [[1, np.nan, np.nan]], {}, "scores[0, 2]: expected a number, found NaN"),
        ([[7, -1, 3]], [[1, "x", "y"]], {}, "scores[0, 2]: expected a number, found 'y'"),
        (
            [[7, 3]],
            [[1, 2**53 + 1]],
            {},
            "scores[0, 1]: expected a number that float64 represents exactly, found 9007199254740993",
        ),
        (IDS, SCORES, {"queries": ["a", "b"]}, "queries: must have one name for each of the 3 rows of ids; found 2"),
        (IDS, SCORES, {"queries": ["a", "b", "a"]}, "queries[2]: 'a' appears twice, first at queries[0]"),
        (IDS, SCORES, {"queries": [0.5, 1, 2]}, "queries[0]: expected text, bytes or an integer, found 0.5"),
    ],
)
def test_unusable_lists_are_refused(ids, scores, options, message):
    assert message_of(Run.from_topk, ids, scores, **options) == message


NAMES = [f"d{i}" for i in range(8)]
TWICE = np.array([[0, 0]] * 3)
NAME_ROWS = "pass Run.from_topk(ids, scores, queries=...)"


@pytest.mark.parametrize(
    ("qrels", "runs", "message"),
    [
        (RELEVANCE, {"als": (SCORES, IDS)}, f"als: {SWAPPED}"),
        (RELEVANCE, {"als": (IDS[0], SCORES[0])},
         "als: ids: expected two dimensions, with a row for each query, found shape (3,)"),
        (RELEVANCE, {"als": (np.vstack([IDS, IDS]), np.vstack([SCORES, SCORES]))},
         f"als: has 6 rows, but qrels has 3 queries; {NAME_ROWS} to name the query of each row"),
        (QRELS, {"als": (IDS[1:], SCORES[1:])},
         f"als: has 2 rows, but qrels has 3 queries; {NAME_ROWS} to name the query of each row, and queries='both' to "
         "leave out the other queries, which count as 0 otherwise"),
        (RELEVANCE, {"als": (TWICE, np.zeros((3, 2)))},
         f"als: ids[0, 1]: document 0 appears twice for this query, first at ids[0, 0]; {KEEP}"),
        (RELEVANCE, [(IDS, SCORES), (IDS, SCORES)], "runs: two runs are named 'run'; name them with {name: run}"),
        (Qrels.from_sparse(RELEVANCE, queries=["u0", "u1", "u2"], documents=NAMES), {"als": (IDS, SCORES)},
         f"als: its rows are numbered, but qrels has queries with names, such as 'u0'; {NAME_ROWS}"),
        (RELEVANCE, Run.from_topk(IDS, SCORES, documents=NAMES),
         "run.doc: has text such as 'd7', but qrels has integers such as 3: name the columns of the matrix with "
         "Qrels.from_sparse(relevance, documents=...)"),
    ],
)  # fmt: skip
def test_pairs_that_do_not_fit_the_judgments_are_refused(qrels, runs, message):
    assert message_of(evaluate, qrels, runs, "AP") == message


def test_rows_for_some_queries_need_the_names_of_these():
    run = Run.from_topk(IDS[1:], SCORES[1:], queries=[1, 2])
    assert len(evaluate(QRELS, {"als": run}, "AP").queries) == 3
    assert len(evaluate(QRELS, {"als": run}, "AP", queries="both").queries) == 2


def test_rows_beside_the_judged_users_are_allowed_if_these_are_not_numbered():
    """Judgments in a dict may be of some users only; the lists of the other users are left out."""
    found = evaluate({0: {7: 1}, 2: {7: 1}}, (IDS, SCORES), "RR")
    np.testing.assert_array_equal(found["RR"], [1.0, 0.75])


def test_names_of_documents():
    run = Run.from_topk(IDS, SCORES, queries=["a", "b", "c"], documents=[f"d{i}" for i in range(8)])
    assert run.to_dict() == {
        "a": {"d7": np.float32(0.9).item(), "d3": 0.5, "d5": 0.5}, "b": {"d3": 0.5}, "c": {"d5": 1.0, "d7": 1.0},
    }  # fmt: skip


def test_the_error_for_matrices_says_what_to_pass():
    """What the messages say has the values of the matrices."""
    scipy, scores = pytest.importorskip("scipy.sparse"), np.arange(24.0).reshape(3, 8) % 7
    message = message_of(evaluate, RELEVANCE, {"a": scores}, "AP")
    pair = "(numpy.broadcast_to(numpy.arange(scores.shape[1]), scores.shape), scores)"
    assert message.endswith(f"not a matrix of scores: pass {pair}")
    judgments = message_of(evaluate, LABELS, {"a": scores}, "AP")
    assert judgments.endswith("not a matrix of labels: pass scipy.sparse.csr_array(labels)")
    ids = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    values = evaluate(scipy.csr_array(LABELS), {"a": (ids, scores)}, "AP").values[0]
    np.testing.assert_array_equal(values, Evaluator(LABELS, "AP")(scores))


def test_scores_that_rise_along_every_row_may_be_distances():
    ids = np.arange(20).reshape(2, 10)
    distances = np.sort(np.random.default_rng(1).random((2, 10)), axis=1)
    with pytest.warns(UserWarning, match="^als: scores rise along every row; if they are distances, negate them"):
        evaluate({0: {3: 1}, 1: {4: 1}}, {"als": (ids, distances)}, "RR")
    one_falls = distances.copy()
    one_falls[1, 8:] = one_falls[1, :7:-1]
    for scores in (one_falls, -distances, np.ones((2, 10))):
        Run.from_topk(ids, scores)


OUTSIDE = "ids are column numbers from 0; give the matrix a column for every document, or name its columns: "
FROM_ONE = "ids are column numbers from 0, but these seem to count from 1: pass ids - 1"


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        ([[7, 3], [2, 1], [12, 5]], "12 is not one of the 8 columns of qrels; " + OUTSIDE),
        # The largest id is the number of columns, and no id is 0.
        ([[7, 3], [2, 1], [8, 5]], "8 is not one of the 8 columns of qrels; " + FROM_ONE),
        ([[7, 3], [2, 1], [8, 0]], "8 is not one of the 8 columns of qrels; " + OUTSIDE),
        ([[7, 9], [2, 1], [12, -1]], "12 is not one of the 8 columns of qrels; " + OUTSIDE),
    ],
)
def test_ids_that_are_no_columns_of_the_judgments_are_refused(ids, problem):
    scores = np.array([[2.0, 1.0]] * 3)
    remedy = "Qrels.from_sparse(relevance, documents=...)" if OUTSIDE in problem else ""
    for pair in ((np.array(ids), scores), (ids, scores.tolist())):
        assert message_of(evaluate, RELEVANCE, {"als": pair}, "AP") == f"als: ids[2, 0]: {problem}{remedy}"
    run = Run.from_topk(ids, scores, queries=["u0", "u1", "u2"])
    qrels = pickle.loads(pickle.dumps(Qrels.from_sparse(RELEVANCE, queries=["u0", "u1", "u2"])))
    assert message_of(evaluate, qrels, {"als": run}, "AP") == f"als: for query 'u2', document {problem}{remedy}"


def test_other_ids_are_allowed_if_the_judgments_name_their_documents():
    names = [10 * i for i in range(8)]
    found = evaluate(Qrels.from_sparse(RELEVANCE, documents=names), (10 * IDS, SCORES), MEASURES)
    np.testing.assert_array_equal(found.values, evaluate(RELEVANCE, (IDS, SCORES), MEASURES).values)
    evaluate(QRELS, (np.where(IDS == 5, 500, IDS), SCORES), MEASURES)


@pytest.mark.parametrize("matrix", [True, False])
def test_lists_without_a_judged_document_give_a_warning(matrix):
    ids = np.array([[1, 2], [4, 6], [0, 1]])
    with pytest.warns(UserWarning, match="^als: no document of this run is judged in qrels; for query 0, the run has"):
        evaluate(RELEVANCE if matrix else QRELS, {"als": (ids, np.array([[2.0, 1.0]] * 3))}, "AP")


@pytest.mark.parametrize(("duplicates", "score"), [("first", 0.5), ("last", 0.25), ("highest", 0.75)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_score_of_a_document_counts(duplicates, score, dtype):
    """The first place of a document is kept; padding and other queries do not matter."""
    ids = [[7, 3, 7, -1, 7], [3, 7, 5, 4, 6]]
    scores = np.array([[0.5, 0.625, 0.75, 9.0, 0.25], [1.0, 2.0, 3.0, 4.0, 5.0]], dtype)
    run = Run.from_topk(ids, scores, duplicates=duplicates)
    assert run.to_dict()[0] == {7: score, 3: 0.625}
    assert run.scores.dtype == dtype
    assert list(run.to_dict()[1].values()) == [1.0, 2.0, 3.0, 4.0, 5.0]
    message = message_of(Run.from_topk, ids, scores, duplicates="any")
    assert message == "duplicates: expected one of error, first, last, highest, found 'any'"

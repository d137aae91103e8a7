"""The Evaluator: its arguments, the shapes of its results, and its errors. tests/engine/test_values.py tests values."""

import multiprocessing
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
from support import queries
from support.errors import message_of
from support.threads import changing

import tieaware
from tieaware import Evaluator, InputError
from tieaware.engine.prepared import Prepared
from tieaware.ties import RULES

LABELS = np.array([0, 1, 0, 1, 2, -1, 0])
OFFSETS = [0, 4, 4, 7]
SCORES = np.array([4.0, 3, 3, 2, 1, 1, 1])
MEASURES = ["AP", "nDCG@2", "NumRet"]


@pytest.fixture
def evaluator():
    return Evaluator(LABELS, MEASURES, offsets=OFFSETS)


@pytest.fixture
def values(evaluator):
    return evaluator(SCORES)


def test_it_has_the_documented_attributes(evaluator):
    assert evaluator.measures == tuple(map(tieaware.parse_measure, MEASURES))
    assert (evaluator.n_queries, evaluator.n_docs) == (3, 7)


@pytest.mark.parametrize("lists", [{"group": [4, 0, 3]}, {"offsets": np.array(OFFSETS, dtype=np.uint8)}])
def test_lists_are_given_by_offsets_or_sizes(values, lists):
    np.testing.assert_array_equal(Evaluator(LABELS, MEASURES, **lists)(SCORES), values)


def test_lists_are_given_by_query_ids(values):
    """Adjacent equal ids are one list, so an empty list cannot be given in this way."""
    for qid in ([7, 7, 7, 7, 2, 2, 2], list("aaaabbb")):
        np.testing.assert_array_equal(Evaluator(LABELS, MEASURES, qid=qid)(SCORES), values[[0, 2]])


def test_labels_of_two_dimensions_are_a_list_in_each_row():
    labels = np.array([[0, 1, 0], [1, 0, 0]])
    scores = np.array([[1.0, 1, 1], [3, 2, 1]])
    square, flat = Evaluator(labels, "RR"), Evaluator(labels.ravel(), "RR", offsets=[0, 3, 6])
    for given in (scores, scores.ravel(), np.asfortranarray(scores), scores.tolist()):
        np.testing.assert_array_equal(square(given), flat(scores.ravel()))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_scores_in_rows_need_no_copy(dtype):
    """The engine accepts rows and flat scores directly. Another shape with the same number of scores is an error."""
    scores = np.array([[1, 1, 1], [3, 2, 1]], dtype=dtype)
    square = Evaluator([[0, 1, 0], [1, 0, 0]], ["RR", "AP"])
    for given in (scores, scores.ravel()):
        assert square._prepared.engine.call(given, np.empty((2, 2)), True) == -1
        for values in (square(given), square(given, out=np.empty((2, 2)))):
            np.testing.assert_allclose(values, [[11 / 18, 11 / 18], [1, 1]], rtol=1e-15)
    flat = Evaluator([0, 1, 0, 1, 0, 0], "RR", group=[3, 3])
    wrong = [(square, scores.T.copy()), (square, scores[None]), (square, scores.reshape(1, 6)), (flat, scores)]
    for evaluator, given in wrong:
        for out in (None, np.empty((evaluator.n_queries, len(evaluator.measures)))):
            assert message_of(evaluator, given, out=out).startswith("scores: expected shape (6,)")


def test_scores_of_no_lists_need_the_row_length_of_the_labels():
    nobody = Evaluator(np.zeros((0, 3), dtype=int), "RR")
    assert nobody(np.zeros((0, 3))).shape == nobody(np.zeros(0)).shape == (0, 1)


@pytest.mark.parametrize(
    "dtype", ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", ">f8", ">f4", ">i4", "O", "g"]
)
def test_real_numbers_of_any_type_are_scores(evaluator, values, dtype):
    np.testing.assert_array_equal(evaluator(SCORES.astype(dtype)), values)


@pytest.mark.parametrize("threads", [1, 2])
def test_strided_unaligned_and_read_only_scores_give_the_same_values(values, threads):
    evaluator = Evaluator(LABELS, MEASURES, offsets=OFFSETS, threads=threads)
    strided = np.repeat(SCORES, 2)[::2]
    unaligned = np.frombuffer(b"x" + SCORES.tobytes(), dtype=np.uint8)[1:].view(np.float64)
    fixed = SCORES.copy()
    fixed.setflags(write=False)
    for scores in (strided, unaligned, fixed, SCORES[::-1].copy()[::-1]):
        for out in (None, np.empty((3, 3))):
            np.testing.assert_array_equal(evaluator(scores, out=out), values)


def test_out_is_filled_and_returned(evaluator, values):
    out = np.full((3, 3), -1.0)
    assert evaluator(SCORES, out=out) is out
    np.testing.assert_array_equal(out, values)


def test_infinities_order_and_signed_zeros_tie():
    evaluator = Evaluator([0, 1, 0, 0], ["RR"])
    assert evaluator([np.inf, np.inf, -np.inf, 0.0]) == 0.75
    assert evaluator([-np.inf, -0.0, 0.0, -1.0]) == 0.75


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(("place", "where"), [(3, "document 3 of query 0"), (99, "document 49 of query 1")])
def test_nan_is_an_error_that_says_where(threads, dtype, place, where):
    """The NaN is found also in a list without a relevant document, and among many distinct scores."""
    evaluator = Evaluator(np.repeat([0, 1], 50), MEASURES, offsets=[0, 50, 100], threads=threads)
    scores = np.arange(100, dtype=dtype)
    scores[place] = np.nan
    for call, argument in (
        (lambda: evaluator(scores), "scores"),
        (lambda: evaluator(scores, out=np.empty((2, 3))), "scores"),
        (lambda: evaluator.many([np.zeros(100), scores]), "candidates[1]"),
        (lambda: evaluator.columns(np.stack([np.zeros(100), scores], axis=1)), "features[:, 1]"),
    ):
        with pytest.raises(InputError, match=re.escape(f"{argument}: expected numbers, found NaN for {where}")):
            call()


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_mean_many_and_columns_are_the_means(evaluator, threads):
    """Means are rounded once, and have the same bits for any number of threads."""
    threaded = Evaluator(LABELS, MEASURES, offsets=OFFSETS, threads=threads)
    candidates = np.random.default_rng(3).integers(0, 4, (37, 7)).astype(float)
    values = [evaluator(candidate) for candidate in candidates]
    means = np.array([[float(sum(map(Fraction, column)) / 3) for column in each.T] for each in values])
    np.testing.assert_array_equal(threaded.many(candidates), means)
    np.testing.assert_array_equal(threaded.columns(candidates.T), means)
    np.testing.assert_array_equal(threaded.columns(np.asfortranarray(candidates.T).astype(np.int8)), means)
    np.testing.assert_array_equal(threaded.mean(candidates[5]), means[5])


def test_no_candidate_and_no_feature_give_no_mean(evaluator):
    assert evaluator.many(np.zeros((0, 7))).shape == (0, 3)
    assert evaluator.columns(np.zeros((7, 0))).shape == (0, 3)


def test_no_document_and_no_query():
    empty = Evaluator(np.zeros(0, dtype=int), ["P", "NumRet"], offsets=[0, 0, 0])
    np.testing.assert_array_equal(empty(np.zeros(0)), np.zeros((2, 2)))
    np.testing.assert_array_equal(empty.mean(np.zeros(0)), [0, 0])
    none = Evaluator(np.zeros(0, dtype=int), ["P"], offsets=[0])
    assert none(np.zeros(0)).shape == (0, 1)


def test_judgments_decide_the_number_of_relevant_documents():
    judged = Evaluator([1, 0], ["R", "AP", "nDCG"], judgments=([1, 0, 1, 1], [0, 4]))
    np.testing.assert_allclose(judged([2.0, 1.0])[0, :2], 1 / 3)


def test_a_query_without_relevant_documents_is_undefined():
    """Every measure except the counts has the value of the option `undefined` for such a query."""
    evaluator = Evaluator([0, -1], [*MEASURES, "P@1", "NumRel"], undefined=np.nan)
    np.testing.assert_array_equal(evaluator([2.0, 1.0])[0], [np.nan, np.nan, 2, np.nan, 0])


@pytest.mark.parametrize(
    ("ids", "descending", "ascending"),
    [
        (["a", "b"], 0.5, 1.0), (["b", "a"], 1.0, 0.5), (["é", "z"], 1.0, 0.5), ([b"\xff", b"\xfe\xff"], 1.0, 0.5),
        (["d", "d1"], 0.5, 1.0), (["a", "a"], 1.0, 1.0),
    ],
)  # fmt: skip
def test_ties_are_ordered_by_document_id_as_bytes(ids, descending, ascending):
    """Text is compared by its UTF-8 bytes. Documents with equal ids keep the order of the list."""
    found = [
        Evaluator([1, 0], ["RR"], ties=ties, docids=ids).score([1.0, 1.0]) for ties in ("trec_eval", "docid_ascending")
    ]
    assert found == [descending, ascending]


def test_one_evaluator_serves_several_threads_at_once(evaluator):
    candidates = np.random.default_rng(4).integers(0, 3, (200, 7)).astype(float)
    expected = [evaluator(candidate) for candidate in candidates]
    with ThreadPoolExecutor(8) as pool:
        for found, wanted in zip(pool.map(evaluator, candidates), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("ties", RULES)
def test_it_is_picklable(ties):
    evaluator = Evaluator(LABELS, MEASURES, offsets=OFFSETS, ties=ties, docids=list("abcdefg"), threads=2)
    again = pickle.loads(pickle.dumps(evaluator))
    np.testing.assert_array_equal(again(SCORES), evaluator(SCORES))
    assert again.measures == evaluator.measures


def _call_in_child(evaluator, queue):
    queue.put(evaluator(SCORES))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_it_works_after_a_fork():
    """The child process does not have the threads of the parent, and starts its own."""
    evaluator = Evaluator(np.tile(LABELS, 50), MEASURES, group=[7] * 50, threads=2)
    scores = np.tile(SCORES, 50)
    values = evaluator(scores)
    context = multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply_async(evaluator, (scores,)).get(timeout=60), values)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"offsets": [0, 5, 4, 7]}, r"offsets\[2\]: must be at least 5, the offset before it; found 4"),
        ({"offsets": [0, 4, 6]}, "offsets: must start at 0 and end at 7, the number of labels; found 0 … 6"),
        ({"offsets": [1, 7]}, "offsets: must start at 0 and end at 7, .* found 1 … 7"),
        ({"offsets": []}, "offsets: must start at 0 and end at 7, .* found no offsets"),
        ({"offsets": [0.0, 7.0]}, "offsets: expected whole numbers, found an array of float64"),
        ({"group": [1, 1, 1, 1, 2, 2, 2]}, "add up to 10; if these are query ids, one for each label, pass .* qid="),
        ({"group": list("aaaabbb")}, r"group.*: expected .* 'a'; if these are query ids, .* pass them as qid="),
        ({"group": 7}, r"group: expected a sequence, found 7; for lists of 7 documents each, write group=\[7\] \* 1$"),
        ({"group": 4}, "group: expected a sequence, found 4$"),
        ({"group": [4, 4]}, "group: the sizes must add up to 7, the number of labels; they add up to 8"),
        ({"group": [-1, 8]}, r"group\[0\]: expected a size from 0 to 7, the number of labels, found -1"),
        ({"qid": [1, 1, 2, 2, 1, 1, 1]}, r"qid\[4\]: query 1 occurs again after another query"),
        ({"qid": [1, 1]}, "qid: 7 labels need 7 query ids, one for each; found 2"),
        ({"group": [7], "offsets": [0, 7]}, "offsets and group: only one of them may be given"),
        ({"labels": np.zeros((2, 2, 2), int)}, "labels: expected one or two dimensions, found 3"),
        ({"labels": np.zeros((2, 2), int), "group": [4]}, "group: must not be given with two-dimensional labels"),
        ({"labels": [0, 0.5, 0.25]}, r"labels: are all below rel=1, so no document is relevant \(the highest is 0.5\)"),
        ({"labels": [0, np.nan, 1]}, r"labels\[1\]: is NaN; pass missing='unjudged' if NaN means"),
        ({"labels": [0, np.nan, 1], "missing": "zero"}, r"missing: expected .*unjudged.*, found 'zero'"),
        ({"labels": [0, 0.5, -np.inf]}, r"labels\[2\]: expected a number .*, found -inf"),
        ({"labels": [0, 0.5, 1e10]}, r"labels\[2\]: expected a number .*, found 10000000000.0"),
        ({"labels": [0, 2**40]}, r"labels\[1\]: expected .* to 2147483647, found 1099511627776"),
        ({"labels": ["a"]}, r"labels\[0\]: expected a number .*, found 'a'"),
        ({"judgments": ([1], [0, 1])}, "judgments: must include every judged document of the list; query 0 lacks some"),
        ({"judgments": ([1, 1], [0, 1, 2])}, "judgments: must have as many queries as the labels, 1; found 2"),
        ({"judgments": 5}, r"judgments: expected a pair \(labels, offsets\)"),
        ({"ties": "trec_eval"}, "docids: is required by the tie rule 'trec_eval'"),
        ({"ties": "trec_eval", "docids": ["a"]}, "docids: must have one identifier per label, 7; found 1"),
        ({"ties": "mean"}, "ties: expected one of average, run_order, .*, found 'mean'"),
        ({"ties": "realistic"}, "ties: there is no rule 'realistic'; write average"),
        ({"threads": 0}, "threads: expected a whole number from 1 to 1,024, found 0"),
        ({"measures": ["nDCGG"]}, "measure: unknown measure 'nDCGG'; did you mean nDCG"),
        ({"measures": ["nDCG(dcg='exp-log2')"], "labels": [60]}, "labels: expected at most 52, .*, found 60"),
        ({"measures": ["DCG"], "labels": np.full(2**23, 2**31 - 1)}, "DCG: labels: the gains add up to 2.53 or more"),
    ],
)
def test_an_argument_that_cannot_be_used_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        Evaluator(**{"labels": LABELS, "measures": MEASURES, **arguments})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e(np.zeros(6)), r"scores: expected shape \(7,\), found shape \(6,\)"),
        (lambda e: e(np.zeros((7, 1))), r"scores: expected shape \(7,\), found shape \(7, 1\)"),
        (lambda e: e(np.zeros(7, dtype=complex)), r"scores\[0\]: expected a number, found 0j"),
        # It would silently tie with 2^53.
        (
            lambda e: e(np.array([2**53, 2**53 + 1, 0, 0, 0, 0, 0])),
            r"^scores\[1\]: expected a number that float64 represents exactly, found 9007199254740993$",
        ),
        (
            lambda e: e.score(SCORES),
            r"^score\(\): needs an evaluator of one measure; this one has 3: use mean\(scores\), or Evaluator\(",
        ),
        (lambda e: Evaluator(np.zeros((0, 3), int), "AP").score(np.zeros((0, 3))), "^mean: needs at least one query$"),
        (lambda e: Evaluator(np.zeros(0, int), "P", offsets=[0]).mean([]), "^mean: needs at least one query$"),
        (
            lambda e: Evaluator(np.zeros((0, 3), int), "RR")(np.zeros((0, 4))),
            r"^scores: expected shape \(0,\) or \(0, 3\), found shape \(0, 4\)$",
        ),
        (lambda e: e(["a"] * 7), r"scores\[0\]: expected a number, found 'a'"),
        (lambda e: e([object()] * 7), r"scores\[0\]: expected a number, found <object"),
        (lambda e: e(SCORES, out=np.zeros((3, 2))), r"out: expected float64\[3, 3\], found float64\[3, 2\]"),
        (lambda e: e(SCORES, out=np.zeros((3, 3), order="F")), "out: must be C-contiguous, aligned and writeable"),
        (lambda e: e(SCORES, out=[[0.0]]), r"out: expected float64\[3, 3\], found list"),
        (lambda e: e.many(SCORES), r"candidates: expected shape \(n_candidates, 7\), found shape \(7,\)"),
        (lambda e: e.many(3), r"candidates: expected shape \(n_candidates, 7\), found shape \(\)"),
        (lambda e: e.columns(np.zeros((6, 2))), r"features: expected shape \(7, n_features\), found shape \(6, 2\)"),
    ],
)
def test_scores_that_cannot_be_used_are_named(evaluator, call, message):
    with pytest.raises(InputError, match=message):
        call(evaluator)


@pytest.mark.parametrize("measure", ["AP", "GMAP"])
@pytest.mark.parametrize("precision", [None, "decimals:1"])
def test_columns_has_the_same_bits_with_several_threads(measure, precision):
    """The options include some with which each feature is evaluated in a call of its own."""
    rng = np.random.default_rng(5)
    labels, features = rng.integers(0, 2, (40, 20)), rng.random((800, 30))
    alone, several = (
        Evaluator(labels, [measure], precision=precision, threads=threads).columns(features) for threads in (1, 2)
    )
    np.testing.assert_array_equal(alone, several)


@pytest.mark.parametrize("ties", ["average", "optimistic", "run_order"])
def test_scores_that_change_meanwhile_never_crash(ties):
    """Another thread writes to the scores during the evaluation. Values may be wrong, but all memory access is valid.

    `make checked` would report an invalid access.
    """
    names = [*queries.MEASURES, "infAP", "IPrec@0.3", "IAP11", "AUC@7", "ERR@10"]
    evaluator = Evaluator(np.random.default_rng(3).integers(-2, 4, (20, 40)), names, ties=ties)
    scores = np.zeros((20, 40))
    with changing(scores, seed=3):
        for call in [evaluator, evaluator.spread if ties == "average" else evaluator] * 30:
            # IPrec refuses tie groups that would take too long, and the changing scores may form such a group.
            with suppress(InputError):
                call(scores)


def test_a_nan_that_disappears_while_scores_are_read_is_an_error(monkeypatch):
    """The kernel finds the NaN, and another thread replaces it before the error is made."""
    scores = np.array([1.0, np.nan, 0.0])
    evaluate = Prepared.evaluate

    def changed_meanwhile(*arguments):
        failed = evaluate(*arguments)
        scores[1] = 0.5
        return failed

    monkeypatch.setattr(Prepared, "evaluate", changed_meanwhile)
    with pytest.raises(InputError, match=r"^scores: a NaN of query 0 is now a number: the scores changed while "):
        Evaluator([1, 0, 0], ["AP"])(scores)


def test_the_score_of_one_measure_is_a_float():
    evaluator = Evaluator(LABELS, "AP", offsets=OFFSETS)
    assert type(evaluator.score(SCORES)) is float
    assert evaluator.score(SCORES) == evaluator.mean(SCORES)[0]
    assert evaluator.rows(0, 1).score(SCORES[:4]) == evaluator(SCORES)[0, 0]


def test_the_score_of_less_is_better_is_not_negated():
    assert Evaluator([0, 0, 1], "ESL").score([3.0, 2.0, 1.0]) == 2


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: Evaluator([1], "AP"), "Evaluator(1 query, 1 document, measures: AP, ties: average)"),
        (
            lambda: Evaluator(LABELS, MEASURES, offsets=OFFSETS, ties="optimistic", precision="bf16"),
            "Evaluator(3 queries, 7 documents, measures: AP nDCG@2 NumRet, ties: optimistic, precision: bfloat16)",
        ),
        (
            lambda: Evaluator(np.zeros((9, 1000), int), [f"P@{k}" for k in range(1, 9)]),
            "Evaluator(9 queries, 9,000 documents, measures: P@1 P@2 P@3 P@4 P@5 P@6 … (8 in all), ties: average)",
        ),
    ],
)
def test_repr_is_one_line(made, expected):
    assert repr(made()) == expected


def test_the_repr_of_a_spread_shows_numbers_if_there_are_few(evaluator):
    few = Evaluator([1, 0], ["RR", "P@1"]).spread([2.0, 2.0])
    assert repr(few) == "Spread(mean=[[0.75, 0.5]], std=[[0.25, 0.5]], min=[[0.5, 0]], max=[[1, 1]])"
    assert repr(Evaluator(np.zeros((9, 2), int), "AP RR").spread(np.zeros((9, 2)))) == (
        "Spread(mean, std, min and max, each float64[9, 2])"
    )


def test_bounds_are_a_pair_that_is_shown_and_pickled():
    bounds = Evaluator([2, 1, 0], ["RR", "nDCG"]).bounds([3.0, 2.5, 1.0], 0.25)
    assert repr(bounds) == "Bounds(min=[[1, 0.8597]], max=[[1, 1]])"
    least, greatest = pickle.loads(pickle.dumps(bounds))
    np.testing.assert_array_equal((least, greatest), (bounds.min, bounds.max))
    assert pickle.loads(pickle.dumps(bounds)).exact.tolist() == [True, False]


def test_sparse_matrices_are_refused_where_arrays_are_expected():
    sparse = pytest.importorskip("scipy.sparse", reason="needs SciPy").csr_array(np.eye(2, dtype=int))
    remedy = r"must not be a sparse matrix: call its toarray\(\)$"
    with pytest.raises(InputError, match=f"^labels: {remedy}"):
        Evaluator(sparse, "AP")
    for method in (Evaluator([[1, 0], [0, 1]], "AP"), Evaluator.from_sparse(sparse, "AP").score):
        with pytest.raises(InputError, match=f"^scores: {remedy}"):
            method(sparse)

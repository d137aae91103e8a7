"""What every door refuses, and how it says so: one line, `where: expected …, found …`, and nothing worse."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import UserDict
from decimal import Decimal
from fractions import Fraction
from time import perf_counter, thread_time

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import tieaware
from tieaware import Evaluator, InputError, Qrels, Run, experiments
from tieaware.checks.arguments import shown
from tieaware.checks.arrays import as_scores
from tieaware.precision import worst_cases
from tieaware.statistics import count_ties

nan = float("nan")
LABEL = "a whole number from -2147483648 to 2147483647"


def message_of(call, *args, **options):
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def value_of(call):
    """Return what a call returns; None if it is refused, in one line."""
    try:
        return call()
    except InputError as error:
        message = str(error)
    assert "\n" not in message
    return None


# ---- hostile numbers ------------------------------------------------------------------------------

NUMBERS = [
    *(-(2**70), -(2**63), -(2**62), -(2**31) - 1, -2, -1, 0, 1, 2, 3, 2**31 - 1, 2**31, 2**53, 2**53 + 1, 2**62),
    *(2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**400, 10**5000, 0.5, 1.0, 3.0, 2.0**31, 2.0**63, 1e308, -0.0, nan),
    *(float("inf"), True, False, None, "", "1", "a", b"1", 1j, Fraction(1, 3), Decimal("1e99"), object(), (1, 2), {}),
    *(np.int8(-1), np.uint64(2**64 - 1), np.float16(1), np.float32(2**31), np.longdouble(1), np.str_("1"), np.bool_(1)),
    *(np.array(3), np.array([3]), np.datetime64("2020"), np.datetime64("NaT")),
]  # fmt: skip
DTYPES = ["i1", "i4", "i8", "u1", "u8", "f2", "f4", "f8", "g", "?", "O", "U3", "c16", ">i4", "M8[s]"]

number = st.sampled_from(NUMBERS)
flat = st.lists(number, max_size=5)
nested = st.lists(st.lists(number, max_size=3), max_size=3)


@st.composite
def arrays(draw):
    """Draw an array of any type, of numbers that it holds."""
    some = [n for n in draw(flat) if isinstance(n, int | float)]
    with np.errstate(all="ignore"):
        try:
            return np.array(some, dtype=draw(st.sampled_from(DTYPES)))
        except (OverflowError, ValueError, TypeError):
            return np.array(some, dtype=object)


anything = st.one_of(number, flat, nested, arrays(), st.sets(st.integers(-1, 3)), st.tuples(flat, flat))


@settings(deadline=None, max_examples=600)
@given(
    st.sampled_from(["labels", "group", "offsets", "qid", "judgments", "threads", "undefined", "docids", "measures"]),
    anything,
)
def test_hostile_arguments_give_values_or_one_line(argument, value):
    arguments = {"labels": [-1, 0, 1], "measures": ["P@10", "AP", "NumRet"], argument: value}
    ties = "trec_eval" if argument == "docids" else "average"
    evaluator = value_of(lambda: Evaluator(**arguments, ties=ties))
    if evaluator is not None:
        assert evaluator(np.zeros(evaluator.n_docs)).shape == (evaluator.n_queries, len(evaluator.measures))


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(["scores", "candidates", "features"]), anything)
def test_hostile_scores_give_values_or_one_line(door, value):
    evaluator = Evaluator([[-1, 0, 1]], ["P@10", "AP"])
    call = {"scores": evaluator, "candidates": evaluator.many, "features": evaluator.columns}[door]
    values = value_of(lambda: call(value))
    assert values is None or np.isfinite(values).all()


@settings(deadline=None, max_examples=300)
@given(st.sampled_from([Run, Qrels]), flat)
def test_hostile_rows_give_columns_or_one_line(kind, values):
    names = [f"d{i}" for i in range(len(values))]
    given_dict = {"q": dict(zip(names, values, strict=True))}
    for make in (lambda: kind.from_columns(["q"] * len(values), names, values), lambda: kind.from_dict(given_dict)):
        columns = value_of(make)
        assert columns is None or len(columns.documents) == len(values)


@pytest.mark.parametrize("name", ["P", "AUC", "IPrec", "Bpref"])
def test_hostile_cutoffs_and_labels_of_relevance_give_a_measure_or_one_line(name):
    for value in [*NUMBERS, [1], np.array([1, 2])]:
        for make in (getattr(tieaware, name).__matmul__, lambda rel: getattr(tieaware, name)(rel=rel)):
            measure = value_of(lambda make=make, value=value: make(value))
            if measure is not None:
                assert np.isfinite(Evaluator([-1, 0, 1], [measure])([3.0, 2.0, 1.0])).all()


# ---- sizes ----------------------------------------------------------------------------------------


def test_sizes_that_wrap_around_are_refused():
    """Their sum modulo 2^64 is the number of labels."""
    assert message_of(Evaluator, [-1, -1, -1], ["P@10"], group=[2**62] * 4 + [3]) == (
        "group[0]: expected a size from 0 to 3, the number of labels, found 4611686018427387904"
    )
    for sizes in ([2**63 - 1, 2**63 - 1, 5], np.array([2**64 - 3, 6], np.uint64), [2**64, 3], [-1, 4]):
        assert message_of(Evaluator, [-1, -1, -1], ["P@10"], group=sizes).startswith("group[0]: expected ")
    assert message_of(Evaluator, [0, 1], ["AP"], judgments=([0, 1], [0, 2**63 - 1, 2])).startswith(
        "offsets of judgments[1]: expected a whole number from -2^62 to 2^62, found 9223372036854775807"
    )


def test_whole_numbers_that_are_objects_are_sizes():
    assert Evaluator([0, 1, 0], ["AP"], group=np.array([1, np.int8(2)], object)).n_queries == 2
    assert message_of(Evaluator, [0, 1, 0], ["AP"], group=[1, None]) == (
        "group[1]: expected a whole number from -2^62 to 2^62, found None"
    )


def test_queries_of_any_kind_are_told_apart():
    """A missing one is none."""
    for qid in (["a", "b", "b"], [b"a", "a", "a"], [7, "a", "a"], np.array(["a", 7, 7], object)):
        assert Evaluator([0, 1, 0], ["AP"], qid=qid).n_queries == 2
    for qid, found in (([1, None, 2], "None"), (np.array([1, nan, nan]), "nan"), (["a", [], "b"], "[]")):
        assert message_of(Evaluator, [0, 1, 0], ["AP"], qid=qid) == f"qid[1]: expected a query id, found {found}"


# ---- labels and scores ----------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [[[1, 0], [1]], [[1, 0], 1], ([1, 0], [1, 0, 0])])
def test_ragged_labels_are_refused_with_a_hint_at_group(labels):
    assert message_of(Evaluator, labels, ["AP"]) == (
        "labels: lists of different lengths must be concatenated, with their lengths given as group"
    )


def test_labels_that_a_narrow_type_would_wrap_are_refused():
    """2^31 is a number of float32, the largest label is none; and float16 has room for neither."""
    for labels in (np.array([0, 2**31], np.float32), [0, np.float32(2**31)], np.array([0, np.float32(2**31)], object)):
        assert message_of(Evaluator, labels, ["AP"]).startswith(f"labels[1]: expected {LABEL}, found ")
    assert Evaluator(np.array([0, 1], np.float16), ["RR"])([2.0, 1.0]) == 0.5


@pytest.mark.parametrize("labels", [[1.0, 0.0, -1.0], np.array([1, 0, -1], np.float32), np.array([1.0, 0, -1], object)])
def test_whole_floats_are_labels(labels):
    np.testing.assert_array_equal(Evaluator(labels, ["RR", "AP", "Judged@3"])([1.0, 2.0, 3.0]), [[1 / 3, 1 / 3, 2 / 3]])
    assert Qrels.from_columns(list("qqq"), list("abc"), labels).labels.tolist() == [1, 0, -1]
    assert Qrels.from_dict({"q": dict(zip("abc", labels, strict=True))}).labels.tolist() == [1, 0, -1]


def test_a_text_among_numbers_is_named_not_the_first_number():
    assert message_of(Evaluator, [1, 0, "2"], ["AP"]) == f"labels[2]: expected {LABEL}, found '2'"
    assert message_of(Evaluator([[1, 0]], ["AP"]), [[1.0, "2"]]) == "scores[0, 1]: expected a number, found '2'"
    assert message_of(Run.from_dict, {"q": {"a": 1, "b": "2"}}) == "run['q']['b']: expected a number, found '2'"
    assert message_of(Run.from_dict, {"q": {"a": [1.0]}}) == "run['q']['a']: expected a number, found [1.0]"


@pytest.mark.parametrize("dtype", ["Int64", "Int32", "Float64", "object"])
def test_a_missing_value_of_a_nullable_column_is_named_by_its_row(dtype):
    pandas = pytest.importorskip("pandas")
    column = pandas.Series([1, 0, None, 2], dtype=dtype)
    rows = list("qqqq"), list("abcd")
    found = "None" if dtype == "object" else "nan"
    assert message_of(Evaluator, column, ["AP"]) == f"labels[2]: expected {LABEL}, found {found}"
    assert message_of(Qrels.from_columns, *rows, column) == f"label[2]: expected {LABEL}, found {found}"
    score = message_of(Run.from_columns, *rows, column)
    assert score in ("score[2]: expected a number, found NaN", "score[2]: expected a number, found None")
    assert message_of(Evaluator, [0] * 4, ["AP"], qid=column) == f"qid[2]: expected a query id, found {found}"


def test_scores_of_exact_types_are_rounded_to_the_nearest_float():
    """A fraction is seldom a float64, and nobody expects it to be."""
    for scores in ([Fraction(1, 3), Fraction(1, 7)], [Decimal("0.1"), Decimal("0.05")]):
        assert Evaluator([0, 1], ["RR"])(scores) == 0.5
        assert Run.from_columns(["q", "q"], ["a", "b"], scores).scores.tolist() == list(map(float, scores))


DOORS = {
    "call": lambda scores: Evaluator([1, 0], ["RR"])(scores),
    "mean": lambda scores: Evaluator([1, 0], ["RR"]).mean(scores),
    "spread": lambda scores: Evaluator([1, 0], ["RR"]).spread(scores),
    "many": lambda scores: Evaluator([1, 0], ["RR"]).many([scores]),
    "columns": lambda scores: Evaluator([1, 0], ["RR"]).columns([[score] for score in scores]),
    "columns of an array": lambda scores: Evaluator([1, 0], ["RR"]).columns(np.array([scores], object).T),
    "Run": lambda scores: Run(*columns_of("q"), columns_of("ab")[0], np.array(scores, object)),
    "Run.from_columns": lambda scores: Run.from_columns(["q", "q"], ["a", "b"], scores),
    "Run.from_dict": lambda scores: Run.from_dict({"q": dict(zip("ab", scores, strict=True))}),
    # Plain dicts are walked by a kernel.
    "evaluate": lambda scores: tieaware.evaluate({"q": {"a": 1}}, {"q": dict(zip("ab", scores, strict=True))}, "RR"),
}


def columns_of(names):
    return tieaware.inputs.Identifiers.from_sequence(list(names)), np.array([0, 2])


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "scores",
    [
        np.array([2**53, 2**53 + 1]),
        np.array([2**63, 2**53 + 1], np.uint64),
        [2**53, 2**53 + 1],
        [0.5, 2**53 + 1],
        [2**70, 2**53 + 1],
        [np.int64(2**53), np.int64(2**53 + 1)],
        [Fraction(1, 3), 2**53 + 1],
    ],
    ids=str,
)
def test_whole_scores_that_float64_would_make_equal_are_refused_by_every_door(door, scores):
    """{2^53, 2^53 + 1} would tie: an RR of .75 for .5."""
    expected = "expected a number that float64 represents exactly, found 9007199254740993"
    assert expected in message_of(DOORS[door], scores)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("scores", [[2**53, 2**53 + 2], np.array([2**62, 2**63], np.uint64), [0.5, 2**70]], ids=str)
def test_larger_ones_that_float64_holds_are_scores(door, scores):
    DOORS[door](scores)


def test_the_place_of_a_nan_is_that_in_what_was_given():
    lists = Evaluator([[0, 1, 0]], ["AP"])
    features = np.zeros((1, 3, 10))
    features[0, 1, 9] = nan
    found = "expected numbers, found NaN for document 1 of query 0"
    assert message_of(lists.columns, features) == f"features[:, :, 9]: {found}"
    assert message_of(lists.columns, features[0]) == f"features[:, 9]: {found}"
    assert message_of(lists.columns, features.astype(object)) == f"features[:, :, 9]: {found}"
    assert message_of(lists.mean, features[:, :, 9]) == f"scores: {found}"
    assert message_of(Evaluator([[0, 1, 0]], ["AP"], precision="decimals:1").mean, features[:, :, 9]) == (
        f"scores: {found}"
    )
    features = features.astype(object)
    features[0, 1, 9] = "x"
    for given_features in (features, features.tolist()):
        assert message_of(lists.columns, given_features) == "features[0, 1, 9]: expected a number, found 'x'"


def test_the_shape_of_candidates_is_said_without_a_number_that_means_nothing():
    assert message_of(Evaluator([1, 0, 1], ["P"]).many, np.zeros(3)) == (
        "candidates: expected shape (n_candidates, 3), found shape (3,)"
    )
    assert message_of(Evaluator([[1, 0, 1]], ["P"]).many, np.zeros(3)) == (
        "candidates: expected shape (n_candidates, 3) or (n_candidates, 1, 3), found shape (3,)"
    )


# ---- what has no order, or comes too late ---------------------------------------------------------


def test_measures_in_a_set_are_refused():
    """The order of the columns would be that of their hashes, another in each process."""
    run = {"q": {"d": 1.0}}
    for measures in ({"AP"}, frozenset(["AP"])):
        expected = "measures: must be a list instead of a set, because values follow their order"
        assert message_of(Evaluator, [1, 0], measures).startswith(expected)
        for door in (tieaware.evaluate, experiments.comparison):
            assert message_of(door, {"q": {"d": 1}}, run, measures).startswith(expected)
        assert message_of(worst_cases.table, measures, [2]).startswith(expected)
        assert message_of(experiments.tie_prevalence, run, {"q": {"d": 1}}, measures).startswith(expected)


def test_large_values_are_shown_in_no_time():
    """Not in that of looking at every element, as sorting a set would be."""
    n = 2_000_000
    by_number = dict.fromkeys(range(n), 1.0)
    for value, text in (
        ([1] * n, "[1, 1, 1, 1, 1, 1, ...]"), (by_number, "{0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0, ...}"),
        (set(range(n)), "{0, 1, 2, 3, 4, 5, ...}"), (frozenset(range(n)), "frozenset({0, 1, 2, 3, 4, 5, ...})"),
        ({"q": by_number}, "{'q': {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0, ...}}"), (b"x" * n, "bytes of 2000000"),
        (by_number.keys(), "dict_keys of 2000000"), (UserDict(by_number), "UserDict of 2000000"),
        (range(n), "range(0, 2000000)"),
        ("x" * n, f"'{'x' * 37}...{'x' * 38}'"), ({3, 1, 2}, "{1, 2, 3}"), ({"b": 1, "a": 2}, "{'a': 2, 'b': 1}"),
    ):  # fmt: skip
        start = thread_time()
        assert shown(value) == text
        assert thread_time() - start < 0.1


@pytest.mark.parametrize("door", [lambda x: Evaluator(x, ["RR"]), Evaluator([[1, 0], [0, 1]], ["RR"])])
@pytest.mark.parametrize("ragged", [[[1, 0], [1]], ([1, 0], [1]), [np.ones(2), np.ones(1)], [[1, 0], 1]])
def test_ragged_lists_point_to_group(door, ragged):
    expected = "lists of different lengths must be concatenated, with their lengths given as group"
    assert expected in message_of(door, ragged)


def test_what_follows_the_measures_is_given_by_name():
    with pytest.raises(TypeError, match="positional"):
        Evaluator([0, 1, 0], ["AP"], [0, 1, 3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ties": "mean"}, "ties: expected one of average, run_order, trec_eval, .*, found 'mean'$"),
        ({"precision": "x:2"}, "precision: unknown precision 'x:2'; known are decimals:N, .*"),
        ({"queries": "all"}, "queries: expected one of judged, both, shard, found 'all'"),
        ({"threads": 0}, "threads: expected a whole number from 1 to 1,024, found 0"),
        ({"ties": "run_order", "spread": True}, "ties: 'run_order' leaves one order only; a spread needs 'average'"),
        ({"measures": ["nDGC"]}, "measure: unknown measure 'nDGC'; did you mean nDCG"),
    ],
)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_options_are_checked_before_a_file_is_opened(tmp_path, arguments, message):
    """A pipe would wait for somebody to write to it."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "none", tmp_path / "pipe"):
        with pytest.raises(InputError, match=f"^{message}"):
            tieaware.evaluate(path, path, **{"measures": ["AP"], **arguments})


@pytest.mark.parametrize(
    "rho",
    [
        *("1e100000000", "1e-100000000", "1e1_0_0_0_0_0_0_0_0", "1." + "0" * 1000 + "1"),
        *(Decimal("1e100000000"), Decimal("1e-100000000"), 10**5000),
        *(Fraction(10**5000), Fraction(10**5000 + 1, 10**5000)),
    ],
    ids=lambda rho: str(rho)[:20] if isinstance(rho, str | Decimal) else type(rho).__name__,
)
def test_a_growth_factor_of_too_many_digits_ends_at_once(rho):
    """As a fraction it would have a hundred million digits."""
    calls = [lambda: tieaware.precision.Bands(rho), lambda: tieaware.precision.bands(rho, 10)]
    if isinstance(rho, str):
        calls.append(lambda: Evaluator([1, 0], ["AP"], precision=f"bands:{rho}"))
    for call in calls:
        assert message_of(call).startswith("rho: expected a number from 1 to 2^62 of at most 100 digits, ")


# ---- threads, forks and time ----------------------------------------------------------------------

NESTED = """
import numpy as np, tieaware

LABELS = np.tile([0, 1, 0, 1], (40, 1))

class Own:
    "Evaluates, with threads, to coarsen."
    def coarsen(self, scores, offsets):
        inner = tieaware.Evaluator(LABELS, ["AP"], threads=2)
        inner.mean(np.tile([1.0, 1.0, 0.0, 0.0], 40))
        inner.columns(np.random.default_rng(0).random((160, 40)))
        return np.round(scores)
    def __str__(self):
        return "own"

qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(40)}
runs = {f"r{j}": {f"q{i}": {"a": 0.9, "b": 1.1} for i in range(40)} for j in range(6)}
print(tieaware.evaluate(qrels, runs, ["RR"], precision=Own(), threads=2).mean().ravel().tolist())
outer = tieaware.Evaluator(LABELS, ["RR"], precision=Own(), threads=2)
print(outer.columns(np.full((160, 40), 0.9)).shape, outer(np.ones(160)).shape)
"""

FORKED = """
import os, threading, time
import tieaware
from tieaware.inputs import qrels as module

building, build = threading.Event(), module._join.Index

class Slowly:
    def __init__(self, *columns):
        building.set()
        time.sleep(0.5)
        self.index = build(*columns)

class _Join:
    def __getattr__(self, name):
        return (lambda *columns: Slowly(*columns).index) if name == "Index" else getattr(original, name)

original, module._join = module._join, _Join()
judgments = tieaware.Qrels.from_dict({"q": {"a": 1}})
thread = threading.Thread(target=lambda: judgments.index)
thread.start()
building.wait()
child = os.fork()
if not child:
    print(tieaware.evaluate(judgments, {"q": {"a": 1.0, "b": 1.0}}, ["RR"]).mean().item(), flush=True)
    other = tieaware.Qrels.from_dict({"q": {"b": 1}})
    print(tieaware.evaluate(other, {"q": {"a": 1.0, "b": 1.0}}, ["RR"]).mean().item(), flush=True)
    os._exit(0)
thread.join()
os.waitpid(child, 0)
"""


def output_of(program):
    """Return what a program prints, or fail if it does not end."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore::DeprecationWarning"}
    done = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    try:
        return done.communicate(timeout=60)[0]
    except subprocess.TimeoutExpired:
        os.killpg(done.pid, 9)
        done.communicate()
        pytest.fail("it waits for itself")


def test_a_coarsening_may_evaluate_with_threads_of_its_own():
    """Within a thread of the pool, which must not wait for another."""
    assert output_of(NESTED) == f"{[0.75] * 6}\n(40, 1) (40, 1)\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_child_can_evaluate_that_was_forked_while_an_index_was_built():
    """The parent's thread, which holds the lock, does not come along."""
    assert output_of(FORKED) == "0.75\n0.75\n"


def test_judgments_take_time_in_proportion():
    """Also where every label of a query is another; and those of the lists themselves change no value."""

    def time(n: int) -> float:
        labels = np.random.default_rng(0).permutation(n)
        best = np.inf
        for _ in range(3):
            start = perf_counter()
            evaluator = Evaluator(labels, ["nDCG"], judgments=(labels, [0, n]))
            best = min(best, perf_counter() - start)
        scores = np.random.default_rng(1).integers(0, 9, n).astype(float)
        np.testing.assert_array_equal(evaluator(scores), Evaluator(labels, ["nDCG"])(scores))
        return best

    # A hundred times the judgments: were every pair compared, ten thousand times the time.
    assert time(100_000) < 1000 * time(1000)


def test_offsets_may_change_afterwards():
    """The kernels read by those that were checked."""
    for name, lists in (("offsets", np.array([0, 2, 4])), ("group", np.array([2, 2]))):
        evaluator = Evaluator([1, 0, 0, 1], ["RR"], **{name: lists})
        expected = evaluator([1.0, 2.0, 3.0, 3.0])
        lists[:] = 1
        np.testing.assert_array_equal(evaluator([1.0, 2.0, 3.0, 3.0]), expected)


# ---- scores that float64 does not hold -------------------------------------------------------------

BEYOND = 2**53 + 1
PRECISE = np.longdouble(1) + np.finfo(np.longdouble).eps
HOLDS = "a number that float64 represents exactly"


@pytest.mark.parametrize(
    "score",
    [
        BEYOND, -BEYOND, 2**70 + 1, np.int64(BEYOND), np.int64(2**63 - 1), np.uint64(2**64 - 1), Decimal(BEYOND),
        Fraction(BEYOND), *([PRECISE] if float(PRECISE) != PRECISE else []),
    ],
    ids=repr,
)  # fmt: skip
def test_no_door_lets_scores_tie_by_rounding(score):
    """The number is named, and where it is: in lists of any numbers, arrays of its type or of objects, and dicts."""
    shown_score = shown(score.item() if isinstance(score, np.integer) else score)
    labels, qrels, relevance = [0, 1], {"q": {"d": 1}}, scipy.sparse.csr_array([[0, 1]])
    forms = [[0, score], [0.5, score], (1, score), np.array([0, score], object)]
    if isinstance(score, np.generic):
        forms.append(np.array([0, score], type(score)))
    evaluator = Evaluator(labels, ["RR"])
    flat = [
        (lambda scores: as_scores(scores, "scores"), "scores[1]"), (evaluator, "scores[1]"),
        (evaluator.mean, "scores[1]"), (evaluator.spread, "scores[1]"),
        (Evaluator(labels, ["RR"], ties="run_order"), "scores[1]"), (Evaluator(labels, ["RR"], threads=2), "scores[1]"),
        (lambda scores: Run.from_columns(["q", "q"], ["c", "d"], scores), "score[1]"),
        (lambda scores: count_ties(scores, [0, 2]), "scores[1]"),
        (lambda scores: evaluator.many([scores]), "candidates[0, 1]"),
        (lambda scores: evaluator.columns([[each] for each in scores]), "features[1, 0]"),
        (lambda scores: Evaluator.from_sparse(relevance, ["RR"])([scores]), "scores[0, 1]"),
    ]  # fmt: skip
    for door, where in flat:
        for form in forms:
            assert message_of(door, form) == f"{where}: expected {HOLDS}, found {shown_score}"
    for run in ({"q": {"c": 0, "d": score}}, {"q": {"c": 0.5, "d": score}}, {"q": {7: 1, "d": score}}):
        for door in (Run.from_dict, lambda run: tieaware.evaluate(qrels, run, ["RR"])):
            assert message_of(door, run) == f"run['q']['d']: expected {HOLDS}, found {shown_score}"


def test_large_scores_that_float64_holds_are_taken():
    large = [2**53, -(2**53), 2**53 + 2, 2**62, 3 * 2**60, -(2**63), 0, 1]
    objects = np.array(large, object)
    for scores in (large, np.array(large), objects, list(map(Decimal, large)), list(map(Fraction, large))):
        assert as_scores(scores, "scores").tolist() == large
        assert Run.from_columns(["q"] * 8, list("abcdefgh"), scores).scores.tolist() == large
        run = {"q": dict(zip("abcdefgh", scores, strict=True))}
        assert Run.from_dict(run).scores.tolist() == large
        assert tieaware.evaluate({"q": {"d": 1}}, run, ["RR"]).values.item() == 1.0
    unsigned = np.array([2**63, 2**64 - 2**11, 5], np.uint64)
    assert as_scores(unsigned, "scores").tolist() == unsigned.tolist()
    assert as_scores(np.array([1, np.inf, -np.inf], np.longdouble), "scores").tolist() == [1, np.inf, -np.inf]


def test_decimals_and_fractions_are_rounded_as_float_does_it():
    scores = [Decimal("0.1"), Fraction(1, 3), Decimal("1e-400"), 2]
    assert as_scores(scores, "scores").tolist() == [0.1, 1 / 3, 0.0, 2.0]
    assert Run.from_dict({"q": dict(zip("abcd", scores, strict=True))}).scores.tolist() == [0.1, 1 / 3, 0.0, 2.0]

"""Arguments of wrong types and sizes raise a one-line InputError that names the argument, never an error of NumPy."""

import pickle
from collections import UserDict
from fractions import Fraction
from time import thread_time

import numpy as np
import pytest
from support.errors import message_of, refusal

import tieaware
from tieaware import AP, ERR, RBP, Evaluator, F, InputError, IPrec, Measure, SetF, bands, experiments, parse_measure
from tieaware import statistics as st
from tieaware.checks.arguments import numbers, shown, whole_numbers
from tieaware.commands.worst_case_command import table
from tieaware.inputs import Identifiers
from tieaware.measures.worst_cases import worst_case
from tieaware.samples import discrete_lists, generate

VALUES = np.random.default_rng(3).random((4, 8))
RUN = {"q": {"x": 1.0, "y": 1.0}}
QRELS = {"q": {"x": 1}}
RESULTS = tieaware.evaluate(QRELS, RUN, ["AP"], spread=True)

HOSTILE = [
    "abc", "", b"abc", np.nan, np.inf, -np.inf, -1, 0, 0.5, 2**61, 2**63, 10**18, 10**400, -(10**5000), True, 1j, None,
    np.float64("nan"), np.longdouble("1e-4000"), np.longdouble("1e4000"), np.uint8(2), np.datetime64("2026-11-22"),
    np.array(3), np.array([1, 2]), np.full((3, 3), np.nan), np.array(["a", "b"]), np.array([1, None]), np.ma.masked,
    [], {}, (), {1: 2}, [None], [[1], [2, 3]], Fraction(1, 3), "\x1b\n", object(), lambda: 0, AP,
]  # fmt: skip


def rankings(**changed):
    return {"a": {"x": 1.0, "y": 1.0}, "b": {"x": 1.0, "z": 2.0}, **changed}


@pytest.mark.parametrize(
    ("call", "good"),
    [
        (Evaluator, {"labels": [0, 1], "measures": ["AP"], "offsets": [0, 2], "threads": 1, "undefined": 0.0}),
        (tieaware.evaluate, {"qrels": QRELS, "runs": RUN, "measures": ["AP"], "precision": None, "undefined": 0.0}),
        (Measure, {"definition": AP.definition, "cutoff": 10}),
        (bands, {"rho": "1.5", "depth": 20}),
        (worst_case, {"measure": "RR", "rho": "1.5", "depth": 20, "gain": False}),
        (table, {"measures": ["RR"], "rhos": ["1.5"], "depth": 20, "gain": False}),
        (Identifiers, {"data": np.array([97], np.uint8), "offsets": [0, 1]}),
        (RESULTS.table, {"baseline": None, "alpha": 0.05, "digits": 3}),
        (RESULTS.concat, {"results": [RESULTS]}),
        (st.count_ties, {"scores": [2.0, 1.0], "offsets": [0, 2], "cutoffs": [1]}),
        (lambda a, marginals: st.kappa(a, [1, 2], marginals=marginals), {"a": [1, 2], "marginals": "pooled"}),
        (st.kendall_tau, {"a": [1, 2, 3], "b": [1, 3, 2], "variant": "b"}),
        (st.rbo, {**rankings(), "p": 0.5, "ties": "a", "depth": 3, "extrapolate": False}),
        (st.paired_test, {"a": VALUES[0], "b": VALUES[1], "method": "permutation", "repeats": 9, "seed": 0, "axis": 0}),
        (experiments.compare, {"results": tieaware.Results(RESULTS.values, RESULTS.runs, ("q",), RESULTS.measures)}),
        (experiments.smoothing, {"values": VALUES, "alphas": [0.5], "repeats": 9, "topics": 2, "measure": None}),
        (experiments.precision, {"qrels": QRELS, "runs": RUN, "precisions": [], "alpha": 0.05}),
        (experiments.banding, {"qrels": QRELS, "runs": RUN, "rhos": []}),
        (experiments.tie_prevalence, {"runs": {"q": {}}, "cutoffs": [1], "consistent_only": True}),
        (experiments.curves, {"qrels": QRELS, "runs": RUN, "kind": "roc", "rel": 1, "consistent_only": True}),
        (experiments.pooling, {"runs": RUN, "depth": 2, "qrels": QRELS, "rel": 1, "consistent_only": True}),
        (experiments.assessors, {"qrels_a": QRELS, "qrels_b": QRELS, "runs": RUN, "consistent_only": True}),
        (experiments.overhead, {"measures": [], "n_queries": 20, "rounds": 1}),
        (experiments.overhead, {"measures": "AP", "qrels": QRELS, "run": RUN, "missing": None}),
        (generate, {"n_queries": 1, "depth": 2, "n_documents": 5, "pool_depth": 1}),
        (discrete_lists, {"n_queries": 1, "relevant": 0.5, "grades": 1}),
    ],
    ids=lambda value: getattr(value, "__qualname__", ""),
)
def test_no_argument_raises_anything_but_a_short_input_error(call, good):
    for name in good:
        for value in HOSTILE:
            assert len(refusal(call, **{**good, name: value})) < 400


@pytest.mark.parametrize("value", [10**18, 2**61, 2**62 - 1, np.int64(3), np.uint64(2**61)])
def test_a_measure_with_a_large_cutoff_survives_pickling_and_parsing(value):
    measure = AP @ value
    assert pickle.loads(pickle.dumps(measure)) == parse_measure(f"{measure}") == measure
    assert parse_measure(f"map_cut_{value}") == measure


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Evaluator([0], ["AP"], undefined="abc"), "undefined: expected a number from -inf to inf, found 'abc'"),
        (
            lambda: tieaware.evaluate(QRELS, RUN, "AP", undefined=None),
            'undefined: expected a number from -inf to inf, found None; float("nan") leaves out queries',
        ),
        (lambda: IPrec @ "x", "recall of IPrec: expected a number from 0 to 1, found 'x'"),
        (lambda: bands(1, 2**61), "depth: expected a whole number from 0 to 2,147,483,647, found 2305843009213693952"),
        (lambda: AP @ 2**62, "cut-off of AP: expected a whole number from 1 to 2^62 - 1, found 4611686018427387904"),
        (
            lambda: RBP(p=np.longdouble("1e-4000")),
            "p of RBP: expected a number between 0 and 1, found np.longdouble('1e-4000')",
        ),
        (
            lambda: IPrec @ np.longdouble("1e-4000"),
            "recall of IPrec: expected a number from 0 to 1, found np.longdouble('1e-4000')",
        ),
        (
            lambda: Evaluator([0], ["AP"], undefined=np.longdouble("1e4000")),
            "undefined: expected a number from -inf to inf, found np.longdouble('1e+4000')",
        ),
        (lambda: F(beta=10**400), "beta of F: expected a number between 0 and 1e+09, found 1000000"),
        (lambda: SetF(beta=9), "SetF: unknown parameter 'beta'; its parameters are rel, judged_only"),
        (lambda: ERR(p=b"1"), "ERR: unknown parameter 'p'; its parameters are max_rel, judged_only"),
        (lambda: st.count_ties([1.0], [0, 1], 3), "cutoffs: must be a sequence of numbers; write cutoffs=[3]"),
        (lambda: table(["RR"], "1.5"), "rhos: expected a sequence of numbers, found '1.5'"),
        (lambda: tieaware.evaluate(5, RUN, "AP"), "qrels: must be judgments ({query: "),
        (lambda: tieaware.evaluate(QRELS, [RUN, 5], "AP"), "runs: must be runs ({query: "),
        (lambda: bands([1.5] * 10**6, 3), "such as '1.5', found [1.5, 1.5, 1.5, 1.5, 1.5, 1.5, ...]"),
        (
            lambda: st.paired_test(np.ma.array([1, 2, 3], mask=[0, 1, 0]), [1, 2, 4]),
            "a[1]: masked values are not allowed",
        ),
        (lambda: worst_case("RR", 2, gain="no"), "gain: expected True or False, found 'no'"),
    ],
)
def test_the_message_names_the_argument_and_the_value(call, message):
    assert message in message_of(call)


def test_a_measure_cannot_be_iterated():
    with pytest.raises(TypeError, match="not iterable"):
        iter(AP)


def test_large_collections_are_shown_in_constant_time():
    """Formatting a large collection for a message must not visit every element, as sorting a set would."""
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


def test_an_error_in_an_element_names_its_index_and_keeps_the_argument():
    assert whole_numbers("cutoffs", [10, np.int64(5)], 1) == (10, 5)
    for check, values, where in ((whole_numbers, [10, 0], "cutoffs[1]"), (numbers, [0.5, 1, -1], "cutoffs[2]")):
        with pytest.raises(InputError) as caught:
            check("cutoffs", values, 0.25, 10)
        assert (caught.value.where, caught.value.argument) == (where, "cutoffs")
        assert pickle.loads(pickle.dumps(caught.value)).argument == "cutoffs"


@pytest.mark.parametrize("threads", [-1, 0, "all", "auto", 2.0])
def test_the_error_about_threads_says_how_to_use_all_cores(threads):
    assert message_of(Evaluator, [0, 1], "AP", threads=threads) == (
        f"threads: expected a whole number from 1 to 1,024, found {threads!r}; None means one per core"
    )

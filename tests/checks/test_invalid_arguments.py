"""Invalid arguments at every entry point give a value or a one-line InputError, and never another exception."""

from __future__ import annotations

import os
from abc import ABCMeta
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from time import perf_counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.errors import message_of

import tieaware
from tieaware import Evaluator, InputError, Qrels, Run, experiments, retrieval, samples
from tieaware.commands import worst_case_command
from tieaware.inputs.tables.delimited import read_matrix
from tieaware.integrations.nearest_neighbours import read_neighbours, read_vectors

nan = float("nan")
LABEL = "a number from -2147483648 to 2147483647"


def value_of(call):
    """Return the value of a call; None if it raises an InputError, whose message must be one line."""
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
    *(np.array(3), np.array([3]), np.datetime64("2020"), np.datetime64("NaT", "s")),
]  # fmt: skip
DTYPES = ["i1", "i4", "i8", "u1", "u8", "f2", "f4", "f8", "g", "?", "O", "U3", "c16", ">i4", "M8[s]"]

number = st.sampled_from(NUMBERS)
flat = st.lists(number, max_size=5)
nested = st.lists(st.lists(number, max_size=3), max_size=3)


@st.composite
def arrays(draw):
    """Draw an array of any type, with numbers that this type can hold."""
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
def test_any_argument_gives_values_or_a_one_line_error(argument, value):
    arguments = {"labels": [-1, 0, 1], "measures": ["P@10", "AP", "NumRet"], argument: value}
    ties = "trec_eval" if argument == "docids" else "average"
    evaluator = value_of(lambda: Evaluator(**arguments, ties=ties))
    if evaluator is not None:
        assert evaluator(np.zeros(evaluator.n_docs)).shape == (evaluator.n_queries, len(evaluator.measures))


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(["scores", "candidates", "features"]), anything)
def test_any_scores_give_values_or_a_one_line_error(entry_point, value):
    evaluator = Evaluator([[-1, 0, 1]], ["P@10", "AP"])
    call = {"scores": evaluator, "candidates": evaluator.many, "features": evaluator.columns}[entry_point]
    values = value_of(lambda: call(value))
    assert values is None or np.isfinite(values).all()


@settings(deadline=None, max_examples=300)
@given(st.sampled_from([Run, Qrels]), flat)
def test_any_rows_give_columns_or_a_one_line_error(kind, values):
    names = [f"d{i}" for i in range(len(values))]
    # A dict of dicts is judgments of subtopics, which may be empty.
    assume(not any(isinstance(value, dict) for value in values))
    given_dict = {"q": dict(zip(names, values, strict=True))}
    for make in (lambda: kind.from_columns(["q"] * len(values), names, values), lambda: kind.from_dict(given_dict)):
        columns = value_of(make)
        assert columns is None or len(columns.documents) == len(values)


@pytest.mark.parametrize("name", ["P", "AUC", "IPrec", "Bpref"])
def test_any_cutoff_or_smallest_relevant_label_gives_a_measure_or_a_one_line_error(name):
    for value in [*NUMBERS, [1], np.array([1, 2])]:
        for make in (getattr(tieaware, name).__matmul__, lambda rel: getattr(tieaware, name)(rel=rel)):
            measure = value_of(lambda make=make, value=value: make(value))
            if measure is not None:
                assert np.isfinite(Evaluator([-1, 0, 1], [measure])([3.0, 2.0, 1.0])).all()


# ---- sizes and query ids ----------------------------------------------------------------------------------------


def test_sizes_whose_sum_overflows_are_refused():
    """Modulo 2^64, these sizes add up to the number of labels."""
    assert message_of(Evaluator, [-1, -1, -1], ["P@10"], group=[2**62] * 4 + [3]) == (
        "group[0]: expected a size from 0 to 3, the number of labels, found 4611686018427387904"
    )
    for sizes in ([2**63 - 1, 2**63 - 1, 5], np.array([2**64 - 3, 6], np.uint64), [2**64, 3], [-1, 4]):
        assert message_of(Evaluator, [-1, -1, -1], ["P@10"], group=sizes).startswith("group[0]: expected ")
    assert message_of(Evaluator, [0, 1], ["AP"], judgments=([0, 1], [0, 2**63 - 1, 2])).startswith(
        "offsets of judgments[1]: expected a whole number from -2^62 to 2^62, found 9223372036854775807"
    )


def test_sizes_may_be_integers_in_an_object_array():
    assert Evaluator([0, 1, 0], ["AP"], group=np.array([1, np.int8(2)], object)).n_queries == 2
    assert message_of(Evaluator, [0, 1, 0], ["AP"], group=[1, None]) == (
        "group[1]: expected a whole number from -2^62 to 2^62, found None"
    )


def test_query_ids_may_be_of_mixed_types_but_not_missing():
    for qid in (["a", "b", "b"], [b"a", "a", "a"], [7, "a", "a"], np.array(["a", 7, 7], object)):
        assert Evaluator([0, 1, 0], ["AP"], qid=qid).n_queries == 2
    # NumPy makes float64 of the first two lists, which rounds neighbours to one number.
    for qid in ([2**53, 2**53 + 1, 2.0**53 + 2], [1, 2**63, 2**63 + 1], [2**70, 2**70 + 1, 2**70 + 2]):
        assert Evaluator([0, 1, 0], ["AP"], qid=qid).n_queries == 3
    for qid, found in (([1, None, 2], "None"), (np.array([1, nan, nan]), "nan"), (["a", [], "b"], "[]")):
        assert message_of(Evaluator, [0, 1, 0], ["AP"], qid=qid) == f"qid[1]: expected a query id, found {found}"


# ---- labels and scores ----------------------------------------------------------------------------


def test_labels_too_large_for_int32_are_refused():
    """The largest label is 2^31 - 1. float32 cannot represent it, but can represent 2^31, which must be refused.

    All numbers of float16 are smaller, except infinity.
    """
    for labels in (np.array([0, 2**31], np.float32), [0, np.float32(2**31)], np.array([0, np.float32(2**31)], object)):
        assert message_of(Evaluator, labels, ["AP"]).startswith(f"labels[1]: expected {LABEL}, found ")
    assert Evaluator(np.array([0, 1], np.float16), ["RR"])([2.0, 1.0]) == 0.5


@pytest.mark.parametrize("labels", [[1.0, 0.0, -1.0], np.array([1, 0, -1], np.float32), np.array([1.0, 0, -1], object)])
def test_whole_numbers_given_as_floats_are_labels(labels):
    np.testing.assert_array_equal(Evaluator(labels, ["RR", "AP", "Judged@3"])([1.0, 2.0, 3.0]), [[1 / 3, 1 / 3, 2 / 3]])
    assert Qrels.from_columns(list("qqq"), list("abc"), labels).labels.tolist() == [1, 0, -1]
    assert Qrels.from_dict({"q": dict(zip("abc", labels, strict=True))}).labels.tolist() == [1, 0, -1]


def test_the_error_names_the_text_among_numbers():
    assert message_of(Evaluator, [1, 0, "2"], ["AP"]) == f"labels[2]: expected {LABEL}, found '2'"
    assert message_of(Evaluator([[1, 0]], ["AP"]), [[1.0, "2"]]) == "scores[0, 1]: expected a number, found '2'"
    assert message_of(Run.from_dict, {"q": {"a": 1, "b": "2"}}) == "run['q']['b']: expected a number, found '2'"


@pytest.mark.parametrize(
    ("dtype", "found", "problem"),
    [
        *((dtype, "nan", "is NaN; pass missing='unjudged' if NaN means that a document is not judged")
          for dtype in ("Int64", "Int32", "Float64")),
        ("object", "None", f"expected {LABEL}, found None"),
    ],
)  # fmt: skip
def test_the_error_names_the_row_of_a_missing_value(dtype, found, problem):
    pandas = pytest.importorskip("pandas")
    column = pandas.Series([1, 0, None, 2], dtype=dtype)
    rows = list("qqqq"), list("abcd")
    assert message_of(Evaluator, column, ["AP"]) == f"labels[2]: {problem}"
    assert message_of(Qrels.from_columns, *rows, column) == f"label[2]: {problem}"
    score = message_of(Run.from_columns, *rows, column)
    assert score in ("score[2]: expected a number, found NaN", "score[2]: expected a number, found None")
    assert message_of(Evaluator, [0] * 4, ["AP"], qid=column) == f"qid[2]: expected a query id, found {found}"


def test_the_error_gives_the_place_of_a_nan_in_the_given_array():
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


def test_the_error_about_candidates_names_their_number_in_the_expected_shape():
    assert message_of(Evaluator([1, 0, 1], ["P"]).many, np.zeros(3)) == (
        "candidates: expected shape (n_candidates, 3), found shape (3,)"
    )
    assert message_of(Evaluator([[1, 0, 1]], ["P"]).many, np.zeros(3)) == (
        "candidates: expected shape (n_candidates, 3) or (n_candidates, 1, 3), found shape (3,)"
    )


# ---- sets, ragged lists, positional arguments ---------------------------------------------------------


def test_a_set_of_measures_is_refused():
    """The order of a set, and thus of the columns, differs between processes, because hashes of text do."""
    run = {"q": {"d": 1.0}}
    for measures in ({"AP"}, frozenset(["AP"])):
        expected = "measures: must be a list instead of a set, because values follow their order"
        assert message_of(Evaluator, [1, 0], measures).startswith(expected)
        for entry_point in (tieaware.evaluate, experiments.comparison):
            assert message_of(entry_point, {"q": {"d": 1}}, run, measures).startswith(expected)
        assert message_of(worst_case_command.table, measures, [2]).startswith(expected)
        assert message_of(experiments.tie_prevalence, run, {"q": {"d": 1}}, measures).startswith(expected)


@pytest.mark.parametrize(
    ("name", "entry_point"),
    [("labels", lambda labels: Evaluator(labels, ["RR"])), ("scores", Evaluator([[1, 0], [0, 1]], ["RR"]))],
    ids=["labels", "scores"],
)
@pytest.mark.parametrize(
    "ragged", [[[1, 0], [1]], ([1, 0], [1]), ([1, 0], [1, 0, 0]), [np.ones(2), np.ones(1)], [[1, 0], 1]]
)
def test_the_error_for_lists_of_different_lengths_suggests_group(name, entry_point, ragged):
    expected = f"{name}: lists of different lengths must be concatenated, with their lengths given as group"
    assert message_of(entry_point, ragged) == expected


RESULTS = tieaware.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "AP")
EXPERIMENT = experiments.tie_prevalence({"q": {"d": 1.0}})
INDEX = retrieval.Index.from_tokens([[0]], ["a"])
TAKE_PATHS = {
    "read_run": tieaware.read_run, "read_qrels": tieaware.read_qrels, "Results.load": tieaware.Results.load,
    "Results.save": RESULTS.save, "Results.to_csv": RESULTS.to_csv, "Run.write": Run.from_dict({"q": {"d": 1}}).write,
    "evaluate": lambda path: tieaware.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "AP", out=path),
    "Experiment.write": EXPERIMENT.write, "Drawing.save": next(iter(EXPERIMENT.drawings().values())).save,
    "Table.to_csv": EXPERIMENT.table().to_csv, "Table.to_parquet": EXPERIMENT.table().to_parquet,
    "Index.load": retrieval.Index.load, "Index.save": INDEX.save, "is_index_file": retrieval.is_index_file,
    "read_documents": lambda path: list(retrieval.read_documents(path)), "read_topics": retrieval.read_topics,
    "read_quality": retrieval.read_quality, "read_matrix": read_matrix, "read_neighbours": read_neighbours,
    "read_vectors": read_vectors, "load": samples.load,
    "write": lambda path: samples.write(samples.load(), path),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKE_PATHS)
def test_only_text_is_a_path(name, tmp_path, monkeypatch):
    """Python's open() takes the number of an open file, which it closes at the end: True is standard output."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "open").touch()
    with open("open", "rb+") as file:
        for path in (file.fileno(), True, 1, 3.5, b"", "", b"a\0b", "a\0b", "\ud800"):
            message_of(TAKE_PATHS[name], path)
        os.fstat(file.fileno())
    assert os.listdir() == ["open"]


METHODS = [each for each in map(vars(retrieval).get, retrieval.__all__) if issubclass(type(each), ABCMeta)]
METHODS.remove(retrieval.Method)
LAYERS = retrieval.Index.build(
    [(f"d{i}", {"title": "a tie", "body": "of b" + " c" * (i % 3)}) for i in range(9)], analyzer=str.split,
    quality=np.linspace(0, 1, 9),
)  # fmt: skip
LARGE = (2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, 2**63, 2**64, 10**400)


@pytest.mark.parametrize("method", METHODS)
def test_a_large_number_is_a_parameter_of_a_method_or_a_one_line_error(method):
    """Every parameter is set to every number, and the number of documents, too."""
    for name in ("k", *(field.name for field in fields(method))):
        for value in LARGE:
            given_here, k = ({}, value) if name == "k" else ({name: value}, 3)
            made = value_of(lambda given_here=given_here: method(**given_here))
            for whole_ties in (False, True) if made else ():
                found = value_of(lambda: made.search(LAYERS, {"q": "tie c"}, k, whole_ties=whole_ties))  # noqa: B023
                assert found is None or len(found.queries) == 1


@pytest.mark.parametrize("index", [[], [LAYERS], None, "index", 3, {}, object()])
def test_only_an_index_is_searched(index):
    calls = [
        *(call for made in (method() for method in METHODS) for call in (
            lambda made=made: made.search(index, {"q": "tie"}), lambda made=made: made.counted(index, {}),
        )),
        lambda: retrieval.Thesaurus(index), lambda: retrieval.parse_query(index, "tie"),
        lambda: retrieval.rocchio(index, {"q": "tie"}, {"q": {"d": 1}}), lambda: retrieval.ide_dec_hi(index, {}, {}),
        lambda: retrieval.smallest_windows(index, "tie", [0]), lambda: retrieval.zone_matches(index, "tie", [0]),
    ]  # fmt: skip
    for call in calls:
        assert message_of(call).startswith("index: expected a tieaware.retrieval.Index, found ")


@pytest.mark.parametrize("queries", [[], None, "tie", 3])
def test_only_a_mapping_has_queries(queries):
    thesaurus = retrieval.Thesaurus(LAYERS)
    for call in (
        lambda: retrieval.Exact().search(LAYERS, queries), lambda: thesaurus.expand(queries),
        lambda: retrieval.rocchio(LAYERS, queries, {"q": {"d": 1}}), lambda: retrieval.ide_dec_hi(LAYERS, queries, {}),
    ):  # fmt: skip
        assert message_of(call).startswith("queries: expected a mapping of ids to queries, found ")


def test_seeds_may_have_more_than_64_bits():
    values = np.random.default_rng(0).random((2, 9))
    assert tieaware.statistics.paired_test(*values, "permutation", repeats=9, seed=2**128).p > 0


def test_arguments_after_the_measures_must_be_given_by_name():
    with pytest.raises(TypeError, match="positional"):
        Evaluator([0, 1, 0], ["AP"], [0, 1, 3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ties": "mean"}, "ties: expected one of average, run_order, .*, found 'mean'$"),
        ({"precision": "x:2"}, "precision: unknown precision 'x:2'; known are decimals:N, .*"),
        ({"queries": "all"}, "queries: expected one of judged, both, shard, found 'all'"),
        ({"threads": 0}, "threads: expected a whole number from 1 to 1,024, found 0"),
        ({"ties": "run_order", "spread": True}, "ties: 'run_order' gives tied documents one order; .*"),
        ({"measures": ["nDGC"]}, "measure: unknown measure 'nDGC'; did you mean nDCG"),
    ],
)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_options_are_checked_before_a_file_is_opened(tmp_path, arguments, message):
    """The run is a pipe. The test would hang if it were opened, because no process writes to it."""
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
def test_a_growth_factor_of_too_many_digits_is_refused_at_once(rho):
    """Converting it to a fraction with a hundred million digits would take hours."""
    calls = [lambda: tieaware.precision.Bands(rho), lambda: tieaware.precision.bands(rho, 10)]
    if isinstance(rho, str):
        calls.append(lambda: Evaluator([1, 0], ["AP"], precision=f"bands:{rho}"))
    for call in calls:
        assert message_of(call).startswith("rho: expected a number from 1 to 2^62 of at most 100 digits, ")


def test_the_time_for_judgments_grows_linearly():
    """The time is linear even if all labels of a query differ. Judgments that equal the lists change no value."""

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

    # With a hundred times as many judgments, comparing all pairs would take ten thousand times as long.
    assert time(100_000) < 1000 * time(1000)

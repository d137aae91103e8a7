"""Every precision has a notation, keeps the order of scores, works under all tie rules, and is documented."""

import math
import pickle
import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tieaware
from tieaware import Evaluator, InputError, precision
from tieaware.cli import main
from tieaware.kernels._coarsening import KernelCoarsening
from tieaware.precision import Coarsening, Decimals, Gap, bands, parse_precision
from tieaware.precision.coarsening import REGISTRY, notations, precisions
from tieaware.ties import RULES

CLASSES = precisions()
EXAMPLES = [each.example for each in CLASSES]
OF_SCORES = [each.example for each in CLASSES if not each.groups_ranks]
MEASURES = ["AP", "AP@5", "RR", "P@10", "R@7", "nDCG@10", "nDCG", "RBP", "Success@3", "Rprec", "F1@4", "NumRelRet"]


@pytest.mark.parametrize("text", OF_SCORES)
@given(st.lists(st.floats(allow_nan=False), min_size=2), st.sampled_from([np.float64, np.float32]))
@settings(deadline=None, max_examples=50)
def test_no_coarsening_puts_a_lower_score_above_a_higher(text, values, dtype):
    with np.errstate(over="ignore"):
        scores = np.sort(np.array(values, dtype=dtype))
    # Levels of infinities alone are an error.
    assume(np.isfinite(scores).any())
    coarse = parse_precision(text).coarsen(scores, np.array([0, len(scores)]))
    assert not np.isnan(coarse).any()
    assert (coarse[1:] >= coarse[:-1]).all()


# Notation.


@pytest.mark.parametrize("text", [*EXAMPLES, "bands:4/3", "bands:1"])
def test_parsing_and_formatting_a_precision_are_inverses(text):
    coarsening = parse_precision(text)
    assert str(coarsening) == text
    assert parse_precision(coarsening) is coarsening
    assert pickle.loads(pickle.dumps(coarsening)) == coarsening
    assert hash(coarsening) == hash(parse_precision(text))


@pytest.mark.parametrize("name", REGISTRY)
def test_all_names_of_a_precision_mean_the_same(name):
    cls = REGISTRY[name]
    number = cls.example.removeprefix(cls.names[0])
    assert parse_precision(f"{name}{number}") == parse_precision(cls.example)
    assert type(parse_precision(f"{name}{number}")) is cls


@pytest.mark.parametrize(
    ("text", "dtype"),
    [("fp8", "float8_e4m3fn"), ("float8", "float8_e4m3fn"), ("float8_e4m3", "float8_e4m3"),
     ("float8_e5m2", "float8_e5m2"), ("fp8_e4m3fn", "float8_e4m3fn"), ("f8e4m3fn", "float8_e4m3fn"),
     ("fp4", "float4_e2m1fn"), ("mxfp4", "float4_e2m1fn")],
)  # fmt: skip
def test_a_small_float_is_an_error_that_names_its_dtype(text, dtype):
    """The error shows an expression that runs, and whose scores an evaluator reads."""
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml-dtypes is missing")
    with pytest.raises(InputError) as caught:
        parse_precision(text)
    instead = f"round scores before you evaluate them or write run files, as in scores.astype(ml_dtypes.{dtype})"
    limit = "; it makes scores beyond ±448 NaN, so scale them first" if dtype == "float8_e4m3fn" else ""
    assert str(caught.value) == f"precision: '{text}' is unknown; {instead}{limit}"
    if limit:
        assert float(ml_dtypes.finfo(ml_dtypes.float8_e4m3fn).max) == 448.0
        assert np.isnan(np.array([480.0]).astype(ml_dtypes.float8_e4m3fn).astype(float)).all()
    scores = np.array([1.0, 1.01]).astype(getattr(ml_dtypes, dtype))
    assert Evaluator([0, 1], "RR")(scores).item() == 0.75


@pytest.mark.parametrize(("text", "name"), [("BF16", "bfloat16"), ("Float16", "float16"), ("Decimals:2", "decimals:2")])
def test_names_may_be_in_upper_case(text, name):
    assert str(parse_precision(text)) == name


def test_any_object_with_the_method_is_a_coarsening():
    class Halved:
        def coarsen(self, scores, offsets):
            return scores // 2

    assert isinstance(Halved(), Coarsening)
    assert not isinstance(object(), Coarsening)
    assert Evaluator([0, 1], ["RR"], precision=Halved())([3.0, 2.0]).item() == 0.75


# Values.


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("text", EXAMPLES)
def test_every_tie_rule_sees_the_coarse_scores(lists, ties, text):
    """Calls, candidates, features, files and dicts all coarsen the scores before the tie rule is applied."""
    sizes, labels, scores = lists
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    docids = [f"d{i}" for i in range(len(labels))]
    options = {"ties": ties, "docids": docids}
    coarse = Evaluator(labels, MEASURES, offsets=offsets, precision=text, **options)
    expected = Evaluator(labels, MEASURES, offsets=offsets, **options)(parse_precision(text).coarsen(scores, offsets))
    np.testing.assert_array_equal(coarse(scores), expected)
    np.testing.assert_array_equal(coarse(scores, out=np.empty_like(expected)), expected)
    means = [float(sum(map(Fraction, column)) / len(sizes)) for column in expected.T]
    np.testing.assert_array_equal(coarse.mean(scores), means)
    np.testing.assert_array_equal(coarse.columns(np.stack([scores] * 3, axis=1)), [means] * 3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(coarse))(scores), expected)

    slices = [slice(a, b) for a, b in pairwise(offsets)]
    qrels = {f"q{i}": dict(zip(docids[s], labels[s].tolist(), strict=True)) for i, s in enumerate(slices)}
    run = {f"q{i}": dict(zip(docids[s], scores[s].tolist(), strict=True)) for i, s in enumerate(slices)}
    result = tieaware.evaluate(qrels, run, MEASURES, ties=ties, precision=text)
    kept = [i for i, s in enumerate(slices) if f"q{i}" in result.queries]
    np.testing.assert_array_equal(result.values[0], expected[kept])


def test_a_rho_of_1_and_seventeen_digits_change_nothing(lists):
    """With rho=1 each band is one rank. Seventeen significant digits distinguish all scores of these lists."""
    sizes, labels, scores = lists
    for text, ties in (("bands:1", "run_order"), ("decimals:17", "average"), ("significant:17", "average")):
        exact = Evaluator(labels, MEASURES, group=sizes, ties=ties)(scores)
        np.testing.assert_array_equal(Evaluator(labels, MEASURES, group=sizes, precision=text)(scores), exact)


@pytest.mark.parametrize("text", EXAMPLES)
def test_precisions_that_depend_on_the_whole_list_have_the_attribute_whole_list(text):
    """Removing one document changes the coarse scores of the others if, and only if, the class has `whole_list`."""
    scores = np.sort(np.random.default_rng(1).random(40))[::-1]
    coarsening = parse_precision(text)
    whole = coarsening.coarsen(scores, np.array([0, 40]))[1:]
    alone = coarsening.coarsen(scores[1:], np.array([0, 39]))
    assert (whole != alone).any() == coarsening.whole_list


# Documentation.


def test_the_table_in_the_module_lists_every_precision():
    """Each row of the table contains a class and all its notations."""
    for cls in CLASSES:
        number = f":{cls.number}" if cls.number else ""
        notation = ", ".join(f"`{name}{number}`" for name in cls.names)
        assert f"| `{cls.__name__}({', '.join(cls.number.split())})` | {notation} | " in precision.__doc__
        assert cls.__name__ in precision.__all__


@pytest.mark.parametrize("command", ["eval", "precision"])
def test_the_help_lists_every_precision(command, capfd):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert notations() in " ".join(capfd.readouterr().out.split())


def test_coarsenings_can_be_compared_hashed_and_printed():
    """Coarsenings with the same parameter are equal and have the same hash; the repr shows the parameter."""
    assert {Decimals(2), Decimals(2)} == {Decimals(2)}
    assert repr(Decimals(2)) == "Decimals(digits=2)"


DIGITS = "write 'decimals:2' for 2 digits after the point, or 'significant:2' for 2 in all"
BITS = "write 'float16' or 'bfloat16' for 16 bits, or 'decimals:16' for 16 digits after the point"
NEAR = "write 'gap:0.01' to tie scores that differ by 0.01 or less, or 'decimals:2' to round them"
EXPECTED = "expected a text such as 'decimals:2', or a coarsening, found"


class TorchDType:
    """A type with the text of torch's bfloat16."""

    def __repr__(self):
        return "torch.bfloat16"


# What `parse_precision` refuses: the whole problem.
PROBLEMS = [
    ("half", "unknown precision 'half'; did you mean float16?"),
    ("single", "unknown precision 'single'; did you mean float32?"),
    ("torch.bfloat16", "unknown precision 'torch.bfloat16'; did you mean bfloat16?"),
    ("decimals=2", "unknown precision 'decimals=2'; did you mean decimals:2?"),
    ("decimals(2)", "unknown precision 'decimals(2)'; did you mean decimals:2?"),
    ("round:2", "unknown precision 'round:2'; did you mean decimals:2?"),
    ("digits:3", "unknown precision 'digits:3'; did you mean decimals:3 or significant:3?"),
    ("atol:0.1", "unknown precision 'atol:0.1'; did you mean gap:0.1?"),
    ("bins:10", "unknown precision 'bins:10'; did you mean levels:10?"),
    ("tf32", f"unknown precision 'tf32'; known are {notations()}"),
    ("16", f"'16' names no precision; {BITS}"),
    ("2", f"'2' names no precision; {DIGITS}"),
    ("0.01", f"'0.01' names no precision; {NEAR}"),
    (16, f"{EXPECTED} 16; {BITS}"),
    (2, f"{EXPECTED} 2; {DIGITS}"),
    (np.float16, f"{EXPECTED} <class 'numpy.float16'>; write 'float16'"),
    (np.dtype("float32"), f"{EXPECTED} dtype('float32'); write 'float32'"),
    (float, f"{EXPECTED} <class 'float'>"),
    (True, f"{EXPECTED} True"),
    (TorchDType(), f"{EXPECTED} torch.bfloat16; write 'bfloat16'"),
    # The scores of int8 embeddings are not int8 themselves, so no rounding of float scores stands for them.
    *((text, f"'{text}' quantises embeddings, not scores; pass the scores of the {text.lower()} embeddings themselves, "
       f"or round scores with 'levels:{levels}'")
      for levels, texts in ((256, ("int8", "uint8", "INT8", "q8_0")), (16, ("int4", "Q4_K_M", "nf4")),
                            (65536, ("int16",)), (2, ("binary", "ubinary")))
      for text in texts),
    *((text, f"'{text}' is the precision of unrounded scores; leave precision out")
      for text in ("float64", "double", "fp64", "none", "exact")),
]  # fmt: skip
# The same: patterns.
NOTATIONS = [
    ("flaot16", "^precision: unknown precision 'flaot16'; did you mean .*float16"),
    ("xyz:2", "^precision: unknown precision 'xyz:2'; known are decimals:N, .*, bands:RHO"),
    ("float16:2", "^precision: float16 takes no number$"),
    ("decimals", "^precision: decimals needs a whole number, as in decimals:2$"),
    ("decimals:x", "^precision: decimals needs a whole number"),
    ("decimals:301", "^decimals: expected a whole number from 0 to 300, found 301"),
    ("levels:0", "^levels: expected a whole number .*, found 0"),
    ("significant:0", "^significant: expected a whole number .*, found 0"),
    ("bands", "^precision: bands needs a growth factor, as in bands:1.5$"),
    ("bands:0.5", "^rho: expected a number from 1 to .*, found '0.5'"),
    (3, "^precision: expected a text .*, found 3"),
    *((f"gap{end}", "^precision: gap needs one or two tolerances, as in gap:1e-6 or gap:1e-6,1")
      for end in ("", ":", ":x", ":1,", ":,1", ":1,2,3", ":1;2", ":1_0", ":\u0661", ":1e999")),
    *((f"gap:{number}", r"^[ar]tol: expected a number from 0 to [^\n]*$")
      for number in ("-1", "nan", "inf", "0,-1", "0,nan")),
]  # fmt: skip
ASCEND = r"^offsets must ascend from 0 to the number of scores"
OFFSETS = [np.array(offsets, dtype=np.int64) for offsets in ([], [0, 2], [0, 4], [0, 3, 2, 3], [1, 3])]
STARTS = [None, *(np.array(starts, dtype=np.int64) for starts in ([], [2, 3], [1, 3, 2], [1, 1]))]
BANDED = KernelCoarsening("bands", 3, bands(2, 3))
NAN = r"^scores: expected numbers, found NaN for document 1 of query 1$"
ERRORS = [
    *((Evaluator([1, 0, 1, 0], ["AP"], group=[2, 2], precision=text), ([1.0, 2.0, 3.0, math.nan],), NAN)
      for text in EXAMPLES),
    # NaN is reported before infinities.
    (
        Evaluator([1, 0, 1, 0], ["RR"], group=[2, 2], precision="levels:11"), ([1.0, 2.0, math.inf, math.nan],), NAN,
    ),
    *((parse_precision, (text,), f"^{re.escape(f'precision: {problem}')}$") for text, problem in PROBLEMS),
    *((parse_precision, (text,), message) for text, message in NOTATIONS),
    *((bands, (rho, 10), r"rho: expected a number from 1 to")
      for rho in (0.99, "-1", "nan", "inf", "x", "1/0", None, True, [], math.nan)),
    *((bands, ("1.5", depth), rf"^depth: expected a whole number from 0 to [\d,]+, found {depth}$")
      for depth in (-1, 1.5, True, None)),
    *((Gap, (*first, wrong), rf"^{name}: expected a number from 0 to .*, found [^\n]*$")
      for wrong in (-1.0, math.nan, math.inf, -math.inf, True, "1")
      for name, first in (("atol", ()), ("rtol", (0.0,)))),
    *((kernel.coarsen, (np.zeros(3), offsets), ASCEND)
      for offsets in OFFSETS for kernel in (BANDED, KernelCoarsening("levels", 11))),
    *((KernelCoarsening, ("bands", 3, starts), r"^bands must (begin with rank 1|ascend)$") for starts in STARTS),
    (BANDED.coarsen, (np.zeros(4), np.array([0, 4])), r"^there are no bands for lists of more than 3 documents$"),
    (KernelCoarsening, ("float8",), r"^unknown coarsening 'float8'$"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "arguments", "message"), ERRORS)
def test_errors(call, arguments, message):
    with pytest.raises(ValueError, match=message):
        call(*arguments)

"""Tensors of other libraries, masked arrays and small floats as labels and scores."""

from __future__ import annotations

from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pandas as pd
import pytest
from support.errors import message_of
from support.tensors import NUMPY_CALL, Tensor

import tieaware
from tieaware import Evaluator, InputError, Qrels, Run
from tieaware.checks.arrays import as_labels, as_scores
from tieaware.statistics import count_ties

LABELS, GROUP = [0, 1, 0, 1, 0], [3, 2]
SCORES = [3.0, 2.0, 2.0, 1.0, 1.0]
GRADIENTS = "a tensor must not require gradients, because none flow through a measure: pass its detach()"
SMALL_FLOATS = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e3m4")


class DLPackTensor:
    """A tensor with only the methods of DLPack. By default it is on a GPU, and offers a copy to host memory."""

    def __init__(self, values, device=2):
        self._values, self._device = np.asarray(values), device

    def __dlpack__(self, *, dl_device=None, **options):
        if self._device != 1 and dl_device != (1, 0):
            raise BufferError("not on the host")
        return self._values.__dlpack__()

    def __dlpack_device__(self):
        return (self._device, 0)


class CupyTensor(DLPackTensor):
    """An array like CuPy's, which refuses an implicit copy to NumPy but exports DLPack."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


class UnreadableTensor(DLPackTensor):
    """A tensor on the host that DLPack does not export."""

    def __dlpack__(self, **options):
        raise BufferError("it was freed")


class InterfaceTensor:
    """A tensor with only NumPy's array interface."""

    def __init__(self, values):
        self._values = np.asarray(values)
        self.__array_interface__ = self._values.__array_interface__


FORMS = {
    "tensor": Tensor,
    "tensor of float64": lambda values: Tensor(values, "float64"),
    "tensor of float16": lambda values: Tensor(values, "float16"),
    "tensor of bfloat16": lambda values: Tensor(values, ml_dtypes.bfloat16),
    "tensor of integers": lambda values: Tensor(values, "int64"),
    "list of tensors": lambda values: list(Tensor(values)),
    "list of tensors of bfloat16": lambda values: list(Tensor(values, ml_dtypes.bfloat16)),
    "list of one tensor and numbers": lambda values: [*values[:-1], Tensor(values[-1])],
    "list of small floats": lambda values: list(np.array(values, ml_dtypes.bfloat16)),
    "DLPack": DLPackTensor,
    "DLPack on the host": lambda values: DLPackTensor(values, 1),
    "DLPack after a refusal": CupyTensor,
    "array interface": InterfaceTensor,
    "masked without a mask": np.ma.array,
    "masked nowhere": lambda values: np.ma.array(values, mask=[False] * len(values)),
    "nullable": lambda values: pd.array(values, dtype="Float64"),
    "nullable integers": lambda values: pd.Series(values).astype("Int64"),
    **{each: lambda values, each=each: np.array(values, getattr(ml_dtypes, each)) for each in SMALL_FLOATS},
}


@pytest.mark.parametrize("form", FORMS)
def test_scores_and_labels_of_every_form_give_the_same_bits(form):
    made = FORMS[form]
    measures = ["RR", "AP", "nDCG@2"]
    evaluator = Evaluator(LABELS, measures, group=GROUP)
    expected = evaluator(SCORES)
    assert Evaluator(made(LABELS), measures, group=GROUP)(made(SCORES)).tolist() == expected.tolist()
    assert evaluator.many([SCORES]).tolist() == [evaluator.mean(made(SCORES)).tolist()]
    assert evaluator.spread(made(SCORES)).std.tolist() == evaluator.spread(SCORES).std.tolist()
    run_order = Evaluator(LABELS, measures, group=GROUP, ties="run_order")
    assert run_order(made(SCORES)).tolist() == run_order(SCORES).tolist()
    assert count_ties(made(SCORES), [0, 5]).sizes.tolist() == [2, 2]
    queries, documents = list("pppqq"), list("abcab")
    assert Qrels.from_columns(queries, documents, made(LABELS)).labels.tolist() == LABELS
    run = Run.from_columns(queries, documents, made(SCORES))
    assert run.scores.tolist() == SCORES
    single = ("tensor", "tensor of float16", "tensor of bfloat16", *SMALL_FLOATS)
    assert run.scores.dtype == (np.float32 if form in single else np.float64)


def test_dicts_may_hold_scalars_of_any_type():
    qrels = {"q": {"a": 1, "b": 0}}
    for made in (Tensor, ml_dtypes.bfloat16, np.float16, np.array, np.longdouble, np.ma.array):
        result = tieaware.evaluate(qrels, {"q": {"a": made(1.0), "b": made(1.0)}}, ["RR"])
        assert result.values.item() == 0.75


def test_matrices_of_every_form():
    evaluator = Evaluator([[0, 1], [1, 0]], ["RR"])
    rows = [[2.0, 1.0], [1.0, 1.0]]
    for scores in (Tensor(rows), list(map(Tensor, rows)), np.array(rows, ml_dtypes.bfloat16), DLPackTensor(rows)):
        assert evaluator(scores).tolist() == [[0.5], [0.75]]
        assert evaluator.mean(scores).tolist() == [0.625]
    assert evaluator.many(Tensor([rows, rows])).tolist() == [[0.625], [0.625]]
    features = [[[2.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]]
    expected = evaluator.columns(features).tolist()
    for made in (Tensor, DLPackTensor, np.ma.array):
        assert evaluator.columns(made(features)).tolist() == expected


def test_small_floats_are_converted_exactly():
    """float32 can represent every float of 8 or 16 bits, so the conversion creates no ties."""
    for name in SMALL_FLOATS:
        dtype = np.dtype(getattr(ml_dtypes, name))
        bits = np.arange(256**dtype.itemsize).astype(f"u{dtype.itemsize}")
        numbers = bits.view(dtype)
        numbers = numbers[~np.isnan(numbers.astype(np.float32))]
        scores = as_scores(numbers, "scores")
        assert scores.dtype == np.float32
        assert [float(number) for number in numbers] == scores.tolist()


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.ma.array([1.0, 2.0], mask=[0, 1]), "scores[1]: masked values are not allowed"),
        (np.ma.array([[1.0, 2.0]], mask=[[0, 1]]), "scores: expected shape (2,), found shape (1, 2)"),
        (np.ma.masked_all(2), "scores[0]: masked values are not allowed"),
        ([1.0, np.ma.masked], "scores[1]: masked values are not allowed"),
        (pd.array([1, None], dtype="Int64"), "scores: expected numbers, found NaN for document 1 of query 0"),
        ([1, pd.NA], "scores[1]: expected a number, found <NA>"),
        ([1, None], "scores[1]: expected a number, found None"),
        (Tensor([1.0, np.nan]), "scores: expected numbers, found NaN for document 1 of query 0"),
        (DLPackTensor(np.array([1, 2], complex)), "scores[0]: expected a number, found (1+0j)"),
        (Tensor([1.0, 2.0], requires_grad=True), f"scores: {GRADIENTS}"),
        ([1.0, Tensor(2.0, requires_grad=True)], f"scores[1]: {GRADIENTS}"),
        (
            [[Tensor(1.0, requires_grad=True)], [Tensor(2.0, requires_grad=True)]],
            f"scores: cannot be read as an array of numbers: {NUMPY_CALL}",
        ),
        (
            UnreadableTensor([1.0, 2.0], 1),
            "scores: a UnreadableTensor cannot be read as an array of numbers: it was freed",
        ),
    ],
)  # fmt: skip
def test_the_error_names_the_element_that_is_not_a_score(scores, message):
    assert message_of(Evaluator([0, 1], ["RR"]), scores) == message


def test_every_entry_point_refuses_tensors_that_require_gradients():
    """A loss made of such a value would learn nothing, without any other sign."""
    row, number = Tensor([1.0, 2.0], requires_grad=True), Tensor(1.0, requires_grad=True)
    evaluator = Evaluator([0, 1], ["RR"])
    good, bad = {"q": {"c": 1, "d": 1}}, {"q": {"c": 1, "d": number}}
    for name, call, *arguments in (
        ("scores", evaluator, row), ("scores", evaluator.mean, row), ("scores", evaluator.score, row),
        ("scores", evaluator.spread, row), ("candidates", evaluator.many, Tensor([[1.0, 2.0]], requires_grad=True)),
        ("features", evaluator.columns, Tensor([[1.0], [2.0]], requires_grad=True)),
        ("scores", evaluator.along, row, [1.0, 2.0]), ("direction", evaluator.along, [1.0, 2.0], row),
        ("scores['a']", evaluator.results, {"a": row}), ("labels", Evaluator, row, ["RR"]),
        ("score", Run.from_columns, ["q", "q"], ["d", "e"], row), ("label", Qrels.from_columns, "qq", "de", row),
        ("scores", Run.from_topk, [[0, 1]], Tensor([[1.0, 2.0]], requires_grad=True)),
        ("run['q']['d']", Run.from_dict, bad), ("qrels['q']['d']", Qrels.from_dict, bad),
        ("run['q']['d']", tieaware.evaluate, good, bad, ["RR"]), ("scores", count_ties, row, [0, 2]),
        ("qrels['q']['d']", tieaware.evaluate, bad, good, ["RR"]),
    ):  # fmt: skip
        assert message_of(call, *arguments) == f"{name}: {GRADIENTS}"


class ShardedArray(DLPackTensor):
    """An array like JAX's over several devices, which NumPy copies, but DLPack does not export."""

    def __init__(self, values, devices=("cuda:0", "cuda:1")):
        super().__init__(values, 1)
        self.sharding = SimpleNamespace(device_set=set(devices))
        self.__array_namespace__ = lambda: np
        self.shape, self.dtype = self._values.shape, self._values.dtype

    def __array__(self, dtype=None, copy=None):
        return self._values

    def __dlpack_device__(self):
        if len(self.sharding.device_set) > 1:
            raise BufferError("__dlpack__ only supported for unsharded arrays.")
        return super().__dlpack_device__()


class DistributedTensor(Tensor):
    """A tensor like torch's DTensor."""

    def __init__(self, values, n):
        super().__init__(values)
        self.device_mesh = SimpleNamespace(size=lambda: n)

    def full_tensor(self):
        return Tensor(self._values)


def test_a_tensor_on_several_devices_is_an_error():
    evaluator = Evaluator(LABELS, ["RR"], group=GROUP)
    expected = evaluator(SCORES).tolist()

    def as_sole_labels(labels):
        return Evaluator(labels, ["RR"])

    for tensor, count, remedy in (
        (ShardedArray(SCORES), 2, "copy it to one, as jax.device_put does"),
        (DistributedTensor(SCORES, 4), 4, "pass its full_tensor()"),
    ):
        problem = f"a tensor must be on one device, and this one is on {count}: {remedy}"
        for call, name in (evaluator, "scores"), (evaluator.mean, "scores"), (as_sole_labels, "labels"):
            assert message_of(call, tensor) == f"{name}: {problem}"
    several = DistributedTensor(SCORES, 4)
    for single in ShardedArray(SCORES, ["cuda:0"]), DistributedTensor(SCORES, 1), several.full_tensor():
        assert evaluator(single).tolist() == expected


def test_attributes_of_other_libraries_are_no_reason_to_refuse_a_tensor():
    """An attribute such as `sharding` may have another meaning there."""
    for name, value in ("sharding", "none"), ("sharding", SimpleNamespace(device_set=3)), ("device_mesh", None):
        tensor = Tensor(SCORES)
        setattr(tensor, name, value)
        assert Evaluator(LABELS, ["RR"], group=GROUP)(tensor).shape == (2, 1)


def test_every_entry_point_refuses_masked_elements():
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    evaluator = Evaluator([0, 1], ["RR"])
    ids = np.ma.array([1, 2], mask=[False, True])
    for call, *arguments in (
        (evaluator, masked), (evaluator.mean, masked), (evaluator.spread, masked), (evaluator.many, masked[None]),
        (evaluator.columns, masked[:, None]), (Evaluator, masked.astype(int), ["RR"]), (as_labels, masked, "labels"),
        (Run.from_columns, ["q", "q"], ["d", "e"], masked), (Qrels.from_columns, ["q", "q"], ["d", "e"], masked),
        (Run.from_columns, ["q", "q"], ids, [1.0, 2.0]), (Run.from_columns, ids, ids, [1.0, 2.0]),
        (count_ties, masked, [0, 2]),
    ):  # fmt: skip
        with pytest.raises(InputError, match=r"\[(0, )?1(, 0)?\]: masked values are not allowed$"):
            call(*arguments)
    good, bad = {"q": {"c": 1, "d": 1}}, {"q": {"c": 1, "d": np.ma.masked}}
    for call, *arguments in (Run.from_dict, bad), (Qrels.from_dict, bad), (tieaware.evaluate, good, bad, ["RR"]):
        with pytest.raises(InputError, match=r"^(run|qrels)\['q'\]\['d'\]: masked values are not allowed$"):
            call(*arguments)

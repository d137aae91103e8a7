"""Reading labels in one pass: listed documents, counted documents, and invalid labels."""

from dataclasses import replace

import numpy as np
import pytest
from support.memory import peak_of

import tieaware
from tieaware import Evaluator, InputError
from tieaware.engine.weights import also_weighted
from tieaware.kernels import _labels
from tieaware.lists.judgments import JudgedLists, Judgments
from tieaware.measures import DEFINITIONS, Measure, parse_measures

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]

# Lengths of the lists: some are near 64, the number of labels that the kernel counts at a time.
LENGTHS = [0, 1, 63, 64, 65, 0, 127, 128, 300, 5, 0]
OFFSETS = np.cumsum([0, *LENGTHS])


def _labels_of_type(dtype, share):
    """Draw labels of a type, mostly 0, or -1 if it is signed; `share` of them are from other values."""
    rng = np.random.default_rng(5)
    kind = np.dtype(dtype).kind
    bulk, others = {"i": ([-1, 0], [-3, -2, 1, 2, 100]), "u": ([0], [1, 2, 100]), "b": ([0], [1])}[kind]
    labels = np.where(rng.random(OFFSETS[-1]) < share, rng.choice(others, OFFSETS[-1]), rng.choice(bulk, OFFSETS[-1]))
    return labels.astype(dtype)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
@pytest.mark.parametrize("pool", [False, True])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_documents_that_may_have_a_weight_are_listed(dtype, zeros, pool, share):
    """Documents of label 0 that no measure weights are not listed; `left_out` is their number."""
    labels = _labels_of_type(dtype, share)
    lists = JudgedLists.of_labels(labels, OFFSETS, zeros=zeros, pool=pool)
    for q, plain in enumerate(np.split(labels.astype(int), OFFSETS[1:-1])):
        wanted = [i for i, x in enumerate(plain) if x > 0 or (zeros and x == 0) or (pool and x < -1)]
        part = slice(lists.judged_offsets[q], lists.judged_offsets[q + 1])
        assert lists.positions[part].tolist() == wanted
        assert lists.labels[part].tolist() == plain[wanted].tolist()
        assert lists.left_out[q] == (0 if zeros else (plain == 0).sum())
        for least in (0, 1, 2):
            assert lists.judgments.count(least)[q] == (plain >= least).sum()
    assert lists.judged_lengths.tolist() == lists.judgments.count(0).tolist()


@pytest.mark.parametrize("values", [(1,), (2, 3), (1, 2, 3), (0, 1, 2), (-5, -1, 0, 1), (-5,), (0,), (-1, 2)])
def test_documents_whose_label_has_a_weight_are_selected(values):
    """Labels below the first column, -3, have the weights of this column."""
    rng = np.random.default_rng(7)
    labels = rng.choice(values, OFFSETS[-1]).astype(np.int32)
    positions = rng.integers(0, 1000, OFFSETS[-1])
    by_label = np.array([[0.5, 0, 0, 0, 1, 0.25, 3], [0, 0, 0, 0, 0, 2, 4]])
    columns = np.maximum(labels, -3) + 3
    kept = by_label[:, columns].any(axis=0)
    found = _labels.weighted(OFFSETS, positions, labels, -3, by_label)
    assert found[0].tolist() == np.concatenate(([0], np.cumsum(kept)))[OFFSETS].tolist()
    assert found[1].tolist() == positions[kept].tolist()
    assert found[2].tolist() == labels[kept].tolist()
    assert found[3].tolist() == by_label[:, columns[kept]].tolist()
    assert _labels.weighted(np.zeros(3, np.int64), positions[:0], labels[:0], -3, by_label)[0].tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="has no weight"):
        _labels.weighted(OFFSETS, positions, np.where(labels == labels[-1], 4, labels).astype(np.int32), -3, by_label)


@pytest.mark.parametrize("place", [3, 70, 129])
@pytest.mark.parametrize(
    ("dtype", "label"),
    [("i8", 2**31), ("i8", -(2**31) - 1), ("u4", 2**31), ("u8", 2**31), ("u8", 2**64 - 1), ("i8", -(2**63))],
)
def test_a_label_beyond_32_bits_is_named(dtype, label, place):
    """The error gives its position: inside a block of 64 labels, after the last full block, and in a row of labels."""
    labels = np.zeros(130, dtype)
    labels[place] = label
    message = rf": expected a number from -2147483648 to 2147483647, found {label}$"
    for measures in ("RR", "infAP", "Bpref"):
        with pytest.raises(InputError, match=rf"^labels\[{place}\]{message}"):
            Evaluator(labels, measures)
        with pytest.raises(InputError, match=rf"^labels\[{place // 65}, {place % 65}\]{message}"):
            Evaluator(labels.reshape(2, 65), measures)


@pytest.mark.parametrize("dtype", ["i4", "i8", "u4", "u8", ">i4", ">u8", "f8"])
def test_the_largest_labels_are_labels(dtype):
    labels = np.array([0, 2**31 - 1, 2**31 - 2, 0], dtype)
    values = Evaluator(labels, ["nDCG", "R(rel=2147483647)@1", "RR"])([3.0, 2.0, 1.0, 0.0])
    np.testing.assert_allclose(values[0, 1:], [0.0, 0.5])
    assert 0.6 < values[0, 0] < 1.0


@pytest.mark.parametrize("dtype", [*INTEGERS, "f4", "f8", "O", ">i2"])
def test_the_type_of_the_labels_does_not_matter(dtype):
    """Labels may also have strides and be read-only."""
    labels = _labels_of_type("?", 0.1)
    measures = ["nDCG@10", "AP", "Bpref", "Judged@5", "AP(judged_only=True)", "P(rel=0)@3"]
    scores = np.random.default_rng(6).integers(0, 50, len(labels)).astype(float)
    expected = Evaluator(labels.astype(np.int32), measures, offsets=OFFSETS)(scores)
    given = np.repeat(labels.astype(dtype), 2)[::2]
    given.setflags(write=False)
    np.testing.assert_array_equal(Evaluator(given, measures, offsets=OFFSETS)(scores), expected)


def test_only_documents_with_a_weight_are_listed():
    besides = {
        "AP": (False, False), "nDCG@5": (False, False), "AP(rel=0)": (True, False), "Bpref": (True, False),
        "Judged": (True, False), "P(judged_only=True)@5": (True, False), "infAP": (True, True),
        "NumRel(rel=0)": (False, False),
    }  # fmt: skip
    for name, (zeros, pool) in besides.items():
        assert also_weighted(parse_measures(name)) == {"zeros": zeros, "pool": pool}, name


def test_preparing_takes_no_memory_of_the_size_of_the_labels():
    measures = ["nDCG", "AP", "RR@10", "NumRel(rel=0)"]
    labels = np.zeros((1_000, 4_000), np.int8)
    labels[:, 77] = 1
    Evaluator(labels[:1], measures)
    assert peak_of(lambda: Evaluator(labels, measures)) < labels.size / 8


def test_judgments_lack_documents_of_label_0():
    """The error is raised although documents of label 0 are not listed but only counted."""
    with pytest.raises(InputError, match=r"^judgments: must include every judged document of the list; query 1"):
        Evaluator([1, 0, 1, 0, 0], "AP", group=[2, 3], judgments=([0, 1, 1, 0], [0, 2, 4]))
    some = Judgments(np.array([1, 1], np.int32), np.array([0, 1, 2]), np.array([1, 2]))
    assert Judgments(np.array([0, 1, 0, 1, 0], np.int32), np.array([0, 2, 5])).short_of(some) is None


@pytest.mark.parametrize(("highest", "gain"), [(255, "log2"), (256, "log2"), (52, "exp-log2"), (70_000, "log2")])
def test_high_labels_weigh_the_same_by_a_table_or_one_by_one(highest, gain):
    labels = np.array([[0, highest, 3, 0, 1], [0, 3, 0, 1, 0]])
    scores = np.array([[5.0, 4, 4, 3, 3], [1.0, 1, 2, 2, 0]])
    measures = [f"nDCG(dcg='{gain}')@3", f"DCG(dcg='{gain}')", "AP(rel=3)"]
    together = Evaluator(labels, measures).spread(scores)
    alone = Evaluator(labels[1:], measures).spread(scores[1:])
    for both, one in zip(together, alone, strict=True):
        np.testing.assert_array_equal(both[1:], one)


def test_squares_of_large_gains_are_added_exactly():
    """The variance of large labels scales like their square, although float64 does not hold their squares exactly."""
    large = 2**31 - 1
    std = [Evaluator([[0, a, b]], "DCG").spread([[1.0, 1.0, 1.0]]).std.item() for a, b in ((large, large - 1), (1, 1))]
    assert std[0] == pytest.approx(large * std[1], rel=1e-9)
    assert Evaluator([[large] * 3], "Q").spread([[1.0] * 3]).std.item() == 0.0


def test_measures_of_different_definitions_differ():
    """They differ even if they are written alike: data prepared and cached for one is not used for the other."""
    other = Measure(replace(DEFINITIONS["P"], weighting=DEFINITIONS["RBPResidual"].weighting), 2)
    mine = tieaware.P @ 2
    assert str(other) == str(mine)
    assert other != mine
    labels, scores = [0, 1, -1], [3.0, 2.0, 1.0]
    assert [Evaluator(labels, [m])(scores).item() for m in (mine, other, mine)] == [0.5, 1.0, 0.5]


def test_a_signalling_nan_is_an_error_without_a_warning():
    """NumPy warns when it converts such a NaN of float32. A damaged file may contain one."""
    labels = np.array([0x7F80_0001, 0x3F80_0000], np.uint32).view(np.float32)
    with pytest.raises(InputError, match=r"^labels\[0\]: is NaN; pass missing='unjudged'"):
        tieaware.Evaluator(labels, ["AP"])
    assert tieaware.Evaluator(labels, ["NumRel"], missing="unjudged")([1.0, 2.0]).tolist() == [[1.0]]

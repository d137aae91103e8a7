"""WAND and block-max WAND: the documents and scores of exact search, bit for bit, from fewer postings."""

import numpy as np
import pytest

from tieaware.kernels import _wand
from tieaware.retrieval import WAND, BlockMaxWAND, Index


def test_blocks_skip_documents_that_lists_cannot():
    # A document of every tenth block of 64 has a high weight; so a bound for the whole list skips nothing.
    frequencies = np.ones(64 * 100, np.int64)
    frequencies[:: 64 * 10] = 5
    texts = ("a " * n + "b " for n in frequencies.tolist())
    index = Index.build(((i, text) for i, text in enumerate(texts)), analyzer=str.split)
    runs = {}
    for method in (WAND(weighting="impact:8"), BlockMaxWAND(weighting="impact:8")):
        runs[type(method)], costs = method.counted(index, {"q": "a b"}, 10)
        runs[type(method), "documents"] = costs.documents.tolist()
    assert runs[WAND].documents == runs[BlockMaxWAND].documents
    assert runs[BlockMaxWAND, "documents"][0] <= 10 * 64 + 64
    assert runs[WAND, "documents"] == [64 * 100]


def test_costs_by_hand():
    # Lists: a in d0 and d3; b in all five documents. k = 1: after d0, whose score is 2, only documents in both lists
    # could exceed the threshold; b's cursor moves from d1 to d3, the pivot, and stops at d4 after it.
    index = Index.build([("d0", "a b"), ("d1", "b"), ("d2", "b"), ("d3", "a b"), ("d4", "b")], analyzer=str.split)
    method = WAND(weighting="nnn.bnn")
    run, costs = method.counted(index, {"q": "a b"}, k=1, whole_ties=True)
    assert (run.documents.to_list(), run.scores.tolist()) == (["d0", "d3"], [2.0, 2.0])
    assert (costs.documents.tolist(), costs.postings.tolist()) == ([2], [6])


def arguments(documents, n=100):
    half = len(documents) // 2
    weights = np.random.default_rng(1).random(len(documents)).astype(np.float32)
    return {
        "starts": np.array([0, half]), "stops": np.array([half, 2 * half]), "query_weights": np.ones(2),
        "bounds": np.array([0.4, 0.6]), "documents": documents, "weights": weights, "n_documents": n, "k": 5,
        "whole_ties": True, "floor": 0.0, "first_blocks": np.array([0, -(-half // 8)]),
        "lasts": documents[: 2 * -(-half // 8)], "maxima": weights[: 2 * -(-half // 8)], "block_size": 8,
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_invalid_postings_do_not_access_memory_outside_the_arrays(seed):
    rng = np.random.default_rng(seed)
    for low, high in ((-(2**31), 2**31 - 1), (-3, 103), (0, 2)):
        given = arguments(rng.integers(low, high, 200, endpoint=True).astype(np.int32))
        for block_size in (0, 8):
            documents = _wand.wand(*{**given, "block_size": block_size}.values())[0]
            assert ((documents >= 0) & (documents < 100)).all()


@pytest.mark.parametrize(
    "changed",
    [
        {"starts": np.array([-1, 50])}, {"stops": np.array([50, 101])}, {"stops": np.array([50])},
        {"query_weights": np.ones(3)}, {"bounds": np.ones(1)}, {"weights": np.ones(99, np.float32)},
        {"weights": np.ones(100)}, {"k": 0}, {"n_documents": -1}, {"block_size": -1},
        {"first_blocks": np.array([0])}, {"first_blocks": np.array([0, 8])}, {"first_blocks": np.array([-1, 7])},
        {"maxima": np.ones(14, np.uint8)}, {"maxima": np.ones(13, np.float32)},
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_refused(changed):
    given = arguments(np.arange(100, dtype=np.int32)) | changed
    with pytest.raises(ValueError, match=r"list|weight|range|block|maxim"):
        _wand.wand(*given.values())

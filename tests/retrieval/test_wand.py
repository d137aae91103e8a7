"""WAND and block-max WAND: the documents and scores of exact search, bit for bit, from fewer postings."""

import numpy as np

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

"""Labels for subtopics in arrays: an Evaluator has the values that evaluate has for the same judgments."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

from tieaware import Evaluator, InputError, Qrels, evaluate
from tieaware.ties import RULES

MEASURES = (
    "alpha_DCG@3", "alpha_DCG(rel=0)", "alpha_nDCG@5", "alpha_nDCG", "alpha_nDCG(judged_only=True)@2", "ERR_IA@4",
    "nERR_IA(alpha=0.3)", "NRBP", "nNRBP(beta=0.8,rel=2)", "P_IA@3", "P_IA(judged_only=True)@2", "AP_IA",
    "AP_IA(rel=2)", "StRecall@2", "StRecall",
)  # fmt: skip
ORDINARY = ("nDCG@3", "AP", "ERR(max_rel=3)@4", "Bpref", "Judged@2", "infAP", "P(rel=0)@2", "O")
OUTPUTS = ("values", "std", "min", "max", "chance", "chance_std", "ideal")


class Lists(NamedTuple):
    """The lists and judgments of some queries, as arrays and as dicts.

    Parameters
    ----------
    labels : int[n_docs, n_subtopics]
        A subtopic that a query does not have is a column of -1.
    scores : float64[n_docs]
    offsets : int64[n_queries + 1]
    docids : list of str
        They descend with the position, because of equal gains evaluate takes the document with the highest one first.
    intents : float64[n_queries, n_subtopics]
    qrels, run, weights : dict
    """

    labels: np.ndarray
    scores: np.ndarray
    offsets: np.ndarray
    docids: list[str]
    intents: np.ndarray
    qrels: dict[str, Any]
    run: dict[str, Any]
    weights: dict[str, Any]


def drawn(seed: int, sizes: list[int]) -> Lists:
    """Draw lists of these sizes with few distinct scores, and up to four subtopics."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    labels = rng.choice([-1, -1, 0, 1, 1, 2], (offsets[-1], 4))
    n_subtopics = rng.integers(1, 5, len(sizes))
    for q, n in enumerate(n_subtopics):
        labels[offsets[q] : offsets[q + 1], n:] = -1
    scores = rng.integers(0, 3, offsets[-1]).astype(float)
    docids = [f"d{size - i:04}" for size in sizes for i in range(size)]
    intents = rng.integers(1, 5, (len(sizes), 4)).astype(float)
    qrels: dict[str, Any] = {}
    run: dict[str, Any] = {}
    weights: dict[str, Any] = {}
    for q, n in enumerate(n_subtopics):
        documents = range(offsets[q], offsets[q + 1])
        run[f"q{q}"] = {docids[d]: scores[d] for d in documents}
        qrels[f"q{q}"] = {f"s{s}": {docids[d]: labels[d, s] for d in documents if labels[d, s] >= 0} for s in range(n)}
        weights[f"q{q}"] = {f"s{s}": intents[q, s] for s in range(n)}
    return Lists(labels, scores, offsets, docids, intents, qrels, run, weights)


LISTS = drawn(1, [7, 1, 5, 9, 3, 8, 6, 6])


def assert_equal(ours, theirs, names=("values",)):
    """Compare outputs; sums over subtopics may differ in the last bit, because evaluate numbers other ones."""
    for name in names:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-13, atol=1e-15, err_msg=name)


@pytest.mark.parametrize("weighted", [False, True])
def test_values_spread_and_chance_are_those_of_evaluate(weighted):
    """All outputs agree, for measures of diversity and for those that take the highest label of a document."""
    measures = [*MEASURES, *ORDINARY]
    judged = Qrels.from_dict(LISTS.qrels)
    if weighted:
        judged = judged.with_intents(LISTS.weights)
    theirs = evaluate(judged, LISTS.run, measures, spread=True, chance=True)
    options = {"intents": LISTS.intents} if weighted else {}
    evaluator = Evaluator(LISTS.labels, measures, offsets=LISTS.offsets, subtopics=True, **options)
    ours = evaluator.results({"run": LISTS.scores}, LISTS.qrels, spread=True, chance=True)
    assert_equal(ours, theirs, OUTPUTS)
    np.testing.assert_array_equal(evaluator(LISTS.scores), ours.values[0])
    np.testing.assert_array_equal(evaluator.many([LISTS.scores])[0], evaluator.mean(LISTS.scores))


PRECISIONS = ("decimals:0", "bands:2", "levels:2", "gap:0.5", "bf16")


@pytest.mark.parametrize(
    "options", [*({"ties": rule} for rule in sorted(RULES)), *({"precision": each} for each in PRECISIONS)], ids=str
)
def test_tie_rules_and_precisions_agree_with_evaluate(options):
    """All tie rules, with docids for those that use them, and coarse scores."""
    options = {"ties": "average", **options}
    # Precisions of the whole list refuse judged_only.
    measures = [measure for measure in MEASURES if "precision" not in options or "judged_only" not in measure]
    theirs = evaluate(LISTS.qrels, LISTS.run, measures, **options)
    evaluator = Evaluator(
        LISTS.labels, measures, offsets=LISTS.offsets, subtopics=True, docids=LISTS.docids, **options
    )  # fmt: skip
    np.testing.assert_allclose(evaluator(LISTS.scores), theirs.values[0], rtol=1e-13, atol=1e-15)


def test_judged_documents_outside_of_the_lists():
    """With `judgments`, documents that were not retrieved count in the ideal and in the numbers of relevant ones."""
    kept = np.concatenate([np.arange(start, end)[::2] for start, end in pairwise(LISTS.offsets)])
    offsets = np.searchsorted(kept, LISTS.offsets)
    run = {
        query: {LISTS.docids[d]: LISTS.scores[d] for d in kept[offsets[q] : offsets[q + 1]]}
        for q, query in enumerate(LISTS.run)
    }
    theirs = evaluate(LISTS.qrels, run, [*MEASURES, *ORDINARY], spread=True)
    evaluator = Evaluator(
        LISTS.labels[kept], [*MEASURES, *ORDINARY], offsets=offsets, subtopics=True,
        judgments=(LISTS.labels, LISTS.offsets),
    )  # fmt: skip
    assert_equal(evaluator.results({"run": LISTS.scores[kept]}, run, spread=True), theirs, OUTPUTS[:4])


def test_three_dimensions_are_lists_of_equal_length():
    """Labels of shape (n_queries, depth, n_subtopics) are those of lists; scores are flat, or (n_queries, depth)."""
    lists = drawn(2, [6] * 5)
    flat = Evaluator(lists.labels, MEASURES, offsets=lists.offsets, subtopics=True)
    stacked = Evaluator(lists.labels.reshape(5, 6, 4), MEASURES, subtopics=True)
    expected = flat(lists.scores)
    np.testing.assert_array_equal(stacked(lists.scores), expected)
    np.testing.assert_array_equal(stacked(lists.scores.reshape(5, 6)), expected)
    assert (stacked.n_queries, stacked.n_docs) == (5, 30)
    np.testing.assert_array_equal(stacked.rows(1, 3)(lists.scores.reshape(5, 6)[1:3]), expected[1:3])
    of_rows = stacked.rows(1, 3).spread(lists.scores[6:18])
    np.testing.assert_array_equal(of_rows.std, stacked.spread(lists.scores).std[1:3])


def test_other_ways_to_pass_lists_threads_and_pickles():
    """group, qid, several threads, a copy from a pickle and other types of labels give the same bits."""
    expected = Evaluator(LISTS.labels, MEASURES, offsets=LISTS.offsets, subtopics=True)(LISTS.scores)
    sizes = np.diff(LISTS.offsets)
    same = [
        Evaluator(LISTS.labels.astype(np.int8), MEASURES, group=sizes, subtopics=True),
        Evaluator(LISTS.labels.astype(np.float32), MEASURES, qid=np.repeat(np.arange(8), sizes), subtopics=True),
        Evaluator(LISTS.labels.tolist(), MEASURES, offsets=LISTS.offsets, subtopics=True, threads=3),
        Evaluator(
            np.where(LISTS.labels < 0, np.nan, LISTS.labels), MEASURES, offsets=LISTS.offsets, subtopics=True,
            missing="unjudged",
        ),
        pickle.loads(pickle.dumps(Evaluator(LISTS.labels, MEASURES, offsets=LISTS.offsets, subtopics=True))),
        Evaluator(LISTS.labels, MEASURES, offsets=LISTS.offsets, subtopics=True, intents=[2.5] * 4),
    ]  # fmt: skip
    for evaluator in same:
        np.testing.assert_array_equal(evaluator(LISTS.scores), expected)


def test_many_lists_over_threads_have_the_same_bits():
    """Lists of more documents than one thread takes have the same bits over three threads."""
    lists = drawn(3, [30] * 400)
    one, three = (
        Evaluator(lists.labels, MEASURES[:6], offsets=lists.offsets, subtopics=True, threads=n) for n in (1, 3)
    )
    np.testing.assert_array_equal(one(lists.scores), three(lists.scores))


def test_lines():
    """The exact function along a line has, between and at its breaks, the values of the evaluator."""
    measures = ["alpha_nDCG@3", "AP_IA", "StRecall@2", "NRBP"]
    evaluator = Evaluator(LISTS.labels, measures, offsets=LISTS.offsets, subtopics=True)
    direction = np.random.default_rng(5).integers(-2, 3, len(LISTS.scores)).astype(float)
    line = evaluator.along(LISTS.scores, direction)
    assert len(line.breaks) > 5
    between = (line.breaks[1:] + line.breaks[:-1]) / 2
    expected = [evaluator.mean(LISTS.scores + t * direction) for t in between]
    np.testing.assert_allclose(line.values[1:-1], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([1, 0], {}, r"labels: expected shape \(n_docs, n_subtopics\) or \(n_queries, depth, n_subtopics\)"),
        (np.zeros((2, 0), int), {}, r"labels: expected 1 to 64 subtopics in the last dimension, found 0"),
        (np.zeros((2, 65), int), {}, r"labels: expected 1 to 64 subtopics in the last dimension, found 65"),
        ([[1, 0.5e10]], {}, r"labels\[0, 1\]: expected a number from .*, found 5000000000"),
        ([[1, np.nan]], {}, r"labels\[0, 1\]: is NaN; pass missing='unjudged'"),
        ([[1, 2**31]], {}, r"labels\[0, 1\]: "),
        ([["a", "b"]], {}, r"labels\[0, 0\]: "),
        ([[1, 0]], {"subtopics": 2}, r"subtopics: expected True or False, found 2"),
        ([[1, 0]], {"intents": [1, 2, 3]}, r"intents: expected shape \(2,\) or \(1, 2\), found shape \(3,\)"),
        ([[1, 0]], {"intents": [1, -2]}, r"intents\[1\]: must be a finite number of at least 0, not -2.0"),
        ([[1, 0]], {"intents": [[np.nan, 2]]}, r"intents\[0, 0\]: must be a finite number of at least 0, not nan"),
        ([[1, 0]], {"intents": ["a", "b"]}, r"intents\[0\]: expected a number, found 'a'"),
        ([[1, 0]], {"intents": [1, 1], "subtopics": False}, r"intents: are weights of subtopics: pass subtopics=True"),
        ([[1, 0]], {"subtopics": False}, r"alpha_nDCG@3: judgments: have no subtopics; .*, or set subtopics=True"),
        ([[1, 0]], {"judgments": ([1, 0], [0, 2])}, r"labels of judgments: expected shape \(n_judged, 2\), found"),
        ([[1, 0]], {"judgments": ([[1, 0.5e10]], [0, 1])}, r"labels of judgments\[0, 1\]: expected a number from"),
        ([[1, 0]], {"judgments": ([[1, 0]], [0, 2])}, r"offsets of judgments: "),
        ([[1, 0]], {"judgments": ([[1, 0]], [0, 1, 1])}, r"judgments: must have as many queries as the labels, 1"),
        ([[1, 0]], {"judgments": ([[0, 1]], [0, 1])}, r"judgments: must include every judged document of the list"),
        ([[1, 0]] * 2, {"judgments": ([[1, 0], [1, 1]], [0, 2])}, r"judgments: must include every judged document of"),
        # Higher labels for other subtopics do not make up for a document that the judgments lack.
        (
            [[0, 1], [2, -1]], {"offsets": [0, 1, 2], "judgments": ([[0, 1], [2, 2], [3, 3]], [0, 1, 3])},
            r"judgments: .*query 1 lacks some",
        ),
        ([[1, 0]], {"judgments": 3}, r"judgments: expected a pair \(labels, offsets\), found 3"),
        ([[[1, 0]]], {"offsets": [0, 1]}, r"offsets: must not be given with two-dimensional labels"),
    ],
)  # fmt: skip
def test_unusable_arguments(labels, options, message):
    """Each gives one line that names the argument."""
    with pytest.raises(InputError, match=f"^{message}") as error:
        Evaluator(labels, "alpha_nDCG@3", **{"subtopics": True, **options})
    assert "\n" not in str(error.value)


def test_empty_lists_and_no_queries():
    """Lists without documents have the value 0, and no queries give no rows."""
    evaluator = Evaluator(np.zeros((0, 3), int), ["alpha_nDCG", "AP_IA"], offsets=[0, 0, 0], subtopics=True)
    np.testing.assert_array_equal(evaluator([]), np.zeros((2, 2)))
    assert Evaluator(np.zeros((0, 3), int), "alpha_nDCG", offsets=[0], subtopics=True)([]).shape == (0, 1)
    judged = np.ones((1, 3), int), [0, 1]
    unanswered = Evaluator(np.zeros((0, 3), int), "alpha_nDCG", offsets=[0, 0], subtopics=True, judgments=judged)
    np.testing.assert_array_equal(unanswered([]), [[0.0]])


def test_documents_in_the_pool_for_some_subtopics():
    """A document that is in the pool for one subtopic, and judged for none, is in the pool: infAP distinguishes it."""
    scores = [5.0, 4.0, 3.0, 2.0]
    expected = Evaluator([-2, 0, 1, -1], "infAP")(scores)
    assert expected != Evaluator([-1, 0, 1, -1], "infAP")(scores)
    labels = [[-1, -2], [-1, 0], [1, -3], [-1, -1]]
    assert Evaluator(labels, "infAP", subtopics=True)(scores) == expected
    assert Evaluator(labels, "infAP", subtopics=True, judgments=(labels, [0, 4]))(scores) == expected

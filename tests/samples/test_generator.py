"""Generated collections: sizes, ties, judgments and effectiveness."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.errors import message_of

from tieaware import samples
from tieaware.samples.generator import _round_to_bfloat16

SCORERS = samples.RUN_NAMES[:-1]


@pytest.fixture(scope="module")
def collection():
    return samples.generate()


def test_the_seed_determines_the_collection():
    assert samples.generate(7, 3, 20) == samples.generate(7, 3, 20)
    assert samples.generate(7, 3, 20).runs != samples.generate(8, 3, 20).runs


def test_the_collection_has_the_requested_size():
    collection = samples.generate(n_queries=3, depth=7, n_documents=40, pool_depth=5)
    assert list(collection.topics) == list(collection.qrels) == ["q101", "q102", "q103"]
    assert tuple(collection.runs) == samples.RUN_NAMES
    for run in collection.runs.values():
        assert list(run) == ["q101", "q102", "q103"]
        assert {len(scores) for scores in run.values()} == {7}


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("continuous", 0.0, 0.0),
        ("two-decimals", 0.2, 0.4),
        ("int8-dot", 0.4, 0.6),
        ("bfloat16", 0.75, 0.95),
        ("grader-0-10", 0.97, 1.0),
        ("constant", 1.0, 1.0),
    ],
)
def test_coarser_scores_tie_more(collection, name, least, most):
    tied = total = 0
    for scores in collection.runs[name].values():
        sizes = Counter(scores.values()).values()
        tied += sum(size for size in sizes if size > 1)
        total += sum(sizes)
    assert least <= tied / total <= most


def test_the_scores_of_each_run_have_its_precision(collection):
    def scores(name):
        return {score for run in collection.runs[name].values() for score in run.values()}

    assert all(score == float(f"{score:.2f}") for score in scores("two-decimals"))
    assert all(score == nearest_bfloat16(score) for score in scores("bfloat16"))
    assert all(score.is_integer() and abs(score) < 20 * 127**2 for score in scores("int8-dot"))
    assert scores("grader-0-10") == set(range(11))
    assert scores("constant") == {1}


@pytest.mark.parametrize("name", SCORERS[:-1])
def test_runs_are_sorted_by_score_and_then_by_ascending_document(collection, name):
    for scores in collection.runs[name].values():
        assert list(scores) == sorted(scores, key=lambda document: (-scores[document], document))


def test_the_grader_reranks_and_keeps_the_order_of_equal_grades(collection):
    for query, grades in collection.runs["grader-0-10"].items():
        retrieved = collection.runs["continuous"][query]
        assert list(grades) == sorted(retrieved, key=lambda document: -grades[document])


@pytest.mark.parametrize("pool_depth", [1, 20])
def test_the_pool_has_the_top_of_every_scorer_and_of_a_manual_search(pool_depth):
    collection = samples.generate(n_queries=20, pool_depth=pool_depth)
    for query, labels in collection.qrels.items():
        tops = {doc for name in SCORERS for doc in list(collection.runs[name][query])[:pool_depth]}
        assert tops <= set(labels)
        assert len(set(labels) - tops) <= pool_depth


def test_labels_are_graded_and_a_few_are_missing(collection):
    labels = Counter(label for judged in collection.qrels.values() for label in judged.values())
    assert labels[0] > labels[1] > labels[2] > labels[3] > 0
    assert 0 < labels.pop(-1) < 0.03 * labels.total()
    assert set(labels) == {0, 1, 2, 3}


def test_some_relevant_documents_are_retrieved_by_no_scorer(collection):
    missed = [
        document
        for query, labels in collection.qrels.items()
        for document, label in labels.items()
        if label > 0 and not any(document in collection.runs[name][query] for name in SCORERS)
    ]
    assert missed


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_constant_scorer_lists_every_relevant_document_first(seed):
    collection = samples.generate(seed, n_queries=20)
    for query, scores in collection.runs["constant"].items():
        labels = collection.qrels[query]
        n_relevant = sum(label > 0 for label in labels.values())
        relevant = [labels.get(document, 0) > 0 for document in scores]
        assert n_relevant > 0
        assert relevant == [True] * n_relevant + [False] * (100 - n_relevant)


def test_the_runs_are_as_effective_as_real_ones(collection):
    def average_precision(query, ranking):
        labels = collection.qrels[query]
        ranks = [rank for rank, document in enumerate(ranking, 1) if labels.get(document, 0) > 0]
        precisions = [found / rank for found, rank in enumerate(ranks, 1)]
        return math.fsum(precisions) / sum(label > 0 for label in labels.values())

    def mean(name):
        run = collection.runs[name]
        # Sort ties by document id. In these runs, ids are independent of relevance, so this is like a random order.
        rankings = {q: sorted(sorted(run[q]), key=lambda doc: -run[q][doc]) for q in run}
        return np.mean([average_precision(q, ranking) for q, ranking in rankings.items()])

    means = {name: mean(name) for name in samples.RUN_NAMES}
    assert 0.25 < means["continuous"] < 0.35
    assert max(means, key=means.get) == "continuous"
    assert means["two-decimals"] == pytest.approx(means["bfloat16"], abs=0.03)
    assert means["two-decimals"] > means["int8-dot"] > means["grader-0-10"] > means["constant"]


TO_A_BILLION = "expected a whole number from 1 to 1,000,000,000, found 0"
TO_32_BITS = "expected a whole number from 1 to 2,147,483,647, found 0"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: samples.generate(seed=-1), "seed: expected a whole number of at least 0, found -1"),
        (lambda: samples.generate(n_queries=0), f"n_queries: {TO_A_BILLION}"),
        (lambda: samples.generate(depth=0), f"depth: {TO_A_BILLION}"),
        (lambda: samples.generate(pool_depth=0), f"pool_depth: {TO_A_BILLION}"),
        (lambda: samples.generate(n_documents=99),
         "n_documents: expected a whole number from 100 to 1,000,000,000, found 99"),
        (lambda: samples.discrete_lists(n_queries=0), f"n_queries: {TO_32_BITS}"),
        (lambda: samples.discrete_lists(seed=-1), "seed: expected a whole number of at least 0, found -1"),
        (lambda: samples.discrete_lists(grades=0), f"grades: {TO_32_BITS}"),
        (lambda: samples.discrete_lists(mean_length=0.5), "mean_length: expected a number from 1 to 1e+15, found 0.5"),
        (lambda: samples.discrete_lists(mean_length=math.inf),
         "mean_length: expected a number from 1 to 1e+15, found inf"),
        (lambda: samples.discrete_lists(relevant=1.5), "relevant: expected a number from 0 to 1, found 1.5"),
        (lambda: samples.discrete_lists(relevant=math.nan), "relevant: expected a number from 0 to 1, found nan"),
    ],
)  # fmt: skip
def test_an_argument_out_of_range_is_an_error(call, message):
    assert message_of(call) == message


def nearest_bfloat16(value):
    """Round to 8 significant bits in exact arithmetic; `round` rounds a fraction halfway between integers to even."""
    _, exponent = math.frexp(value)
    unit = Fraction(2) ** (exponent - 8)
    return float(round(Fraction(value) / unit) * unit)


halfway = st.builds(math.ldexp, st.integers(-(2**9), 2**9), st.integers(-100, 100))
normal = st.floats(-1e38, 1e38).filter(lambda value: value == 0 or abs(value) > 1e-37)


@given(halfway | normal)
def test_rounding_gives_the_nearest_bfloat16(value):
    assert _round_to_bfloat16(np.array([value])).tolist() == [nearest_bfloat16(value)]

"""Condensed lists: `judged_only=True` removes unjudged documents from the list before anything else."""

import random

import numpy as np
import pytest
from support.queries import evaluator, random_query, scores_of

NAMES = (
    "P", "P@2", "R@3", "F1@2", "AP", "AP@3", "RR", "RR@2", "RBP", "RBP@2", "Success@1", "Rprec", "AUC", "ESL(i=2)",
    "nDCG", "nDCG@2", "DCG@3", "ERR", "ERR@2", "SetP", "SetF", "SetAP", "GMAP",
)  # fmt: skip


def only_judged(name):
    name, at, cutoff = name.partition("@")
    stem, _, parameters = name.removesuffix(")").partition("(")
    return f"{stem}({parameters + ',' if parameters else ''}judged_only=True){at}{cutoff}"


def condensed(query):
    kept = [i for i, label in enumerate(query.labels) if label >= 0]
    return query._replace(scores=tuple(query.scores[i] for i in kept), labels=tuple(query.labels[i] for i in kept))


@pytest.fixture(scope="module")
def some():
    rng = random.Random(31)
    return [random_query(rng, 25) for _ in range(120)]


@pytest.mark.parametrize(
    ("ties", "precision"),
    [
        *((ties, precision) for ties in ("average", "run_order", "optimistic", "pessimistic")
          for precision in (None, "decimals:0", "float16")),
        ("average", "bands:1.5"),
        ("average", "bands:2"),
    ],
)  # fmt: skip
def test_values_are_those_of_the_list_without_unjudged_documents(some, ties, precision):
    """The values hold under every tie rule and precision, also if other measures of the call use the whole list."""
    names = [*NAMES, *map(only_judged, NAMES)]
    values = evaluator(some, names, ties=ties, precision=precision)(scores_of(some))
    short = [condensed(query) for query in some]
    expected = evaluator(short, NAMES, ties=ties, precision=precision)(scores_of(short))
    np.testing.assert_allclose(values[:, len(NAMES) :], expected, rtol=1e-14, atol=1e-15)
    whole = evaluator(some, NAMES, ties=ties, precision=precision)(scores_of(some))
    np.testing.assert_array_equal(values[:, : len(NAMES)], whole)

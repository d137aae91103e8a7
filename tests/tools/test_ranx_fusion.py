"""Fusion, compared with ranx on the same runs, in which no rank ties."""

from importlib.util import find_spec

import numpy as np
import pytest

import tieaware

pytestmark = pytest.mark.skipif(find_spec("ranx") is None, reason="ranx is not installed: `make test-tools` tries it")

NORMALISATIONS = {"min-max": "min-max", "sum": "sum", "z": "zmuv", "rank": "rank"}


def runs(complete):
    """Return three runs of 20 queries without ties; in complete runs, each has all 30 documents."""
    rng = np.random.default_rng(5)
    made = {}
    for name in ("bm25", "dense", "rerank"):
        made[name] = {}
        for query in range(20):
            documents = rng.permutation(30)[: 30 if complete else rng.integers(3, 25)]
            scores = rng.normal(size=len(documents)).round(6)
            made[name][f"q{query}"] = {f"d{d}": float(s) for d, s in zip(documents, scores, strict=True)}
    return made


def theirs(given, method, norm, **parameters):
    import ranx

    fused = ranx.fuse([ranx.Run.from_dict(run) for run in given.values()], norm, method, parameters or None)
    return {query: dict(documents) for query, documents in fused.to_dict().items()}


def assert_equal(ours, expected):
    assert ours.keys() == expected.keys()
    for query, scores in expected.items():
        assert ours[query] == pytest.approx(scores, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("method", ["sum", "mnz", "max"])
@pytest.mark.parametrize("normalise", NORMALISATIONS)
def test_methods_by_score(method, normalise):
    """In ranx, a document that a run lacks gets nothing from this run: "max" and negative scores need complete runs."""
    given = runs(complete=method == "max")
    ours = tieaware.fuse(given, method, normalise=normalise, missing="zero").to_dict()
    assert_equal(ours, theirs(given, method, NORMALISATIONS[normalise]))


@pytest.mark.parametrize("method", ["min", "med"])
@pytest.mark.parametrize("normalise", NORMALISATIONS)
def test_the_minimum_and_the_median_of_complete_runs(method, normalise):
    given = runs(complete=True)
    ours = tieaware.fuse(given, method, normalise=normalise).to_dict()
    assert_equal(ours, theirs(given, method, NORMALISATIONS[normalise]))


@pytest.mark.parametrize("complete", [False, True])
def test_weighted_sums(complete):
    given, weights = runs(complete), (0.2, 0.5, 0.3)
    ours = tieaware.fuse(given, "sum", weights).to_dict()
    assert_equal(ours, theirs(given, "wsum", "min-max", weights=weights))


def test_reciprocal_ranks():
    given = runs(complete=False)
    for k in (10, 60):
        assert_equal(tieaware.fuse(given, "rrf", k=k).to_dict(), theirs(given, "rrf", None, k=k))
    assert_equal(tieaware.fuse(given, "isr").to_dict(), theirs(given, "isr", None))


def test_borda():
    given = runs(complete=False)
    assert_equal(tieaware.fuse(given, "borda").to_dict(), theirs(given, "bordafuse", None))

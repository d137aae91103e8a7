"""WeightedFusion against `evaluate` of fused runs: the same rows, queries, documents and bits."""

import math
import warnings

import numpy as np
import pytest

import tieaware
from tieaware import WeightedFusion, evaluate, fuse

# No run answers q9; q0 and q7 are not judged; the runs have the queries in other orders than the judgments. d6 and d8
# are judged, but no run has them. Documents tie in each of the runs, and in all of them.
QRELS = {
    "q9": {"d1": 2, "d2": 0},
    "q2": {"d4": 1, "d1": 3, "d6": 1, "d5": -2},
    "q1": {"d2": 1, "d3": 0, "d8": 2, "d4": -1},
    "q5": {"d3": 1},
}
RUNS = {
    "bm25": {
        "q0": {"d1": 3.5},
        "q1": {"d1": 7.0, "d2": 7.0, "d3": 4.5, "d4": 1.25},
        "q2": {"d1": 2.0, "d2": 1.5, "d3": 1.5, "d5": 1.5},
    },
    "dense": {
        "q2": {"d4": 0.9, "d1": 0.3, "d2": 0.2, "d3": 0.2},
        "q7": {"d2": 0.5},
        "q1": {"d3": 0.8, "d1": 0.1, "d2": 0.1},
        "q5": {"d1": 0.7, "d3": 0.7},
    },
    "rerank": {
        "q5": {"d3": 4.0, "d2": 4.0, "d1": 1.0},
        "q1": {"d9": 5.0, "d1": 3.0, "d2": 3.0},
    },
}
TWO = {name: RUNS[name] for name in ("bm25", "dense")}
MEASURES = ["nDCG@2", "AP", "RR", "P@3", "Judged@3", "Bpref", "infAP", "AUC", "RBP"]
WEIGHTS = [[1.0, 0.0, 0.5], [0.3, 0.7, 0.1], [0.0, 1.0, 1.0], [1 / 3, -0.1, 2.0], [0.0, 0.0, 0.0]]


THEORETICAL = {"normalise": "theoretical-min-max", "minimum": -0.5}


def assert_equal_to_evaluate(qrels, runs, measures=MEASURES, scale=None, **options):
    """Assert that the values, and the names of their rows, are those of `evaluate` for fused runs."""
    scale = scale or {}
    fusion = WeightedFusion(qrels, runs, measures, **scale, **options)
    for weights in (each[: len(runs)] for each in WEIGHTS):
        expected = evaluate(qrels, fuse(runs, weights=weights, **scale), measures, **options)
        values = fusion(weights)
        assert fusion.queries == expected.queries
        np.testing.assert_array_equal(values, expected.values[0])


@pytest.mark.parametrize("runs", [TWO, RUNS], ids=["two runs", "three runs"])
@pytest.mark.parametrize("normalise", ["min-max", "z", "sum", "rank", "none"])
@pytest.mark.parametrize("missing", ["least", "zero", -0.5])
def test_values_are_those_of_evaluate(runs, normalise, missing):
    assert_equal_to_evaluate(QRELS, runs, scale={"normalise": normalise, "missing": missing})
    assert_equal_to_evaluate(QRELS, runs, scale={**THEORETICAL, "missing": missing})


@pytest.mark.parametrize(
    "options", [*({"ties": ties} for ties in sorted(tieaware.ties.RULES)), {"precision": "decimals:1"}], ids=str
)
def test_every_tie_rule_and_a_precision_give_the_values_of_evaluate(options):
    assert_equal_to_evaluate(QRELS, RUNS, ["RR", "P@1"], **options)


def test_undefined_queries_keep_their_rows():
    qrels = {**QRELS, "q6": {"d1": 0}}
    fusion = WeightedFusion(qrels, RUNS, "AP", undefined=math.nan)
    assert fusion.queries == ("q9", "q2", "q1", "q5", "q6")
    assert np.isnan(fusion([1, 1, 1])[:, 0]).tolist() == [False, False, False, False, True]


def test_integer_identifiers():
    qrels = tieaware.Qrels.from_columns([5, 1, 1, 3], [10, 9, 10, 9], [1, 0, 2, 1])
    runs = {
        "a": tieaware.Run.from_columns([1, 1, 5, 8], [9, 10, 9, 9], [0.5, 0.5, 1.0, 2.0]),
        "b": tieaware.Run.from_columns([5, 5, 1], [9, 10, 100], [0.5, 0.25, 1.0]),
    }
    for ties in tieaware.ties.RULES:
        assert_equal_to_evaluate(qrels, runs, ["RR", "AP"], ties=ties)
    assert WeightedFusion(qrels, runs, "AP").queries == (5, 1, 3)


def test_files(tmp_path):
    lines = [f"{q} 0 {d} {label}\n" for q, judged in QRELS.items() for d, label in judged.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    for name, run in RUNS.items():
        tieaware.Run.from_dict(run, name=name).write(tmp_path / f"{name}.run")
    paths = [tmp_path / f"{name}.run" for name in RUNS]
    fusion = WeightedFusion(tmp_path / "qrels.txt", paths, "AP")
    assert fusion.runs == ("bm25", "dense", "rerank")
    np.testing.assert_array_equal(fusion([0.3, 0.7, 0.1]), WeightedFusion(QRELS, RUNS, "AP")([0.3, 0.7, 0.1]))
    assert_equal_to_evaluate(tmp_path / "qrels.txt", {path.stem: path for path in paths})


def test_large_random_runs():
    rng = np.random.default_rng(3)
    documents = [f"d{i}" for i in range(60)]

    def rankings(queries, size, levels):
        return {
            f"q{q}": {d: float(rng.integers(levels)) / 7 for d in rng.choice(documents, size, replace=False).tolist()}
            for q in queries
        }

    runs = {name: rankings(rng.permutation(30), 25, levels) for name, levels in zip("abc", (5, 50, 400), strict=True)}
    qrels = {f"q{q}": {d: int(rng.integers(-2, 4)) for d in documents[::2]} for q in rng.permutation(40)[:25]}
    assert_equal_to_evaluate(qrels, runs)


def test_scores_are_those_of_the_fused_run_to_the_bit():
    fusion = WeightedFusion(QRELS, RUNS, "AP", normalise="z")
    for weights in WEIGHTS:
        fused = fuse(RUNS, weights=weights, normalise="z").to_dict()
        expected = [score for query in fusion.queries for score in fused.get(query, {}).values()]
        assert fusion.scores(weights).tolist() == expected
    documents = [d for query in fusion.queries for d in fused.get(query, {})]
    assert fusion.documents.to_list() == documents


def test_the_sum_of_many_runs_has_the_same_bits_for_one_document_as_for_several():
    rng = np.random.default_rng(6)
    for _ in range(20):
        scores, weights = rng.random(20).tolist(), rng.random(20).tolist()
        runs = [{"q1": {"d1": score}} for score in scores]
        (one,) = fuse(dict(zip("abcdefghijklmnopqrst", runs, strict=True)), "sum", weights, "none").scores
        several = [{"q1": {"d1": score, "d2": 0.0}} for score in scores]
        two = fuse(dict(zip("abcdefghijklmnopqrst", several, strict=True)), "sum", weights, "none").scores
        assert one == two[0]


def test_features_are_normalised_scores_by_document_and_run():
    fusion = WeightedFusion(QRELS, TWO, "AP")
    assert fusion.features.shape == (fusion.evaluator.n_docs, 2) == (11, 2)
    bm25 = fuse(TWO, weights=[1, 0]).to_dict()
    assert fusion.features[:, 0].tolist() == [x for q in fusion.queries for x in bm25.get(q, {}).values()]
    with pytest.raises(ValueError, match="read-only"):
        fusion.features[0, 0] = 1.0


def test_weights_by_name_and_as_an_array():
    fusion = WeightedFusion(QRELS, TWO, "AP")
    expected = fusion([0.25, 0.75])
    np.testing.assert_array_equal(fusion({"dense": 0.75, "bm25": 0.25}), expected)
    np.testing.assert_array_equal(fusion(np.array([0.25, 0.75])), expected)


@pytest.mark.parametrize("kept", [[0, 1, 1, 0], [1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 1, 0]])
def test_a_part_of_an_evaluator_has_the_values_of_its_queries(kept):
    """The first query has no document in any run."""
    fusion = WeightedFusion(QRELS, RUNS, MEASURES)
    mask = np.array(kept, bool)
    evaluator, documents = fusion.evaluator._part(mask)
    assert (evaluator.n_queries, documents.sum()) == (mask.sum(), evaluator.n_docs)
    last = fusion.evaluator.rows(1, 4)._part(mask[1:])[0]
    for weights in WEIGHTS:
        scores = fusion.scores(weights)[documents]
        np.testing.assert_array_equal(evaluator(scores), fusion(weights)[mask])
        np.testing.assert_array_equal(last(scores), fusion(weights)[1:][mask[1:]])


def test_other_document_ids_give_a_warning():
    qrels = {query: {f"doc-{d}": 1 for d in judged} for query, judged in QRELS.items()}
    message = "no document is judged in qrels; for query 'q1', the run has document 'd1'"
    with pytest.warns(UserWarning, match=message) as caught:
        WeightedFusion(qrels, TWO, "AP")
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WeightedFusion(QRELS, TWO, "AP")


def test_repr():
    assert repr(WeightedFusion(QRELS, TWO, "AP")) == "WeightedFusion(bm25 + dense, 4 queries, 11 documents)"

"""Fusion against values of ranx, a plain reference that enumerates the orders of ties, and hand computation."""

import math
from fractions import Fraction
from itertools import permutations, product
from statistics import median

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import tieaware
from tieaware.optimise.fusion import fuse

# Three runs without ties, and the fused scores of ranx 0.3.21 for d0 … d7 of each query: None for documents that
# no run has. In ranx, a document that a run lacks gets nothing from this run.
RUNS = {
    "a": {
        "q1": {"d4": 16.5625, "d0": 15.9375, "d6": 11.5625, "d1": 10.0, "d3": 1.875},
        "q2": {"d0": 19.375, "d2": 15.3125, "d3": 15.0, "d1": 7.5, "d5": 6.5625},
    },
    "b": {
        "q1": {"d4": 0.84375, "d5": 0.375, "d7": 0.09375, "d0": -0.59375, "d3": -0.78125},
        "q2": {"d4": 0.625, "d3": -0.15625, "d5": -0.25, "d0": -0.3125, "d1": -0.8125},
    },
    "c": {
        "q1": {"d0": 0.796875, "d4": 0.703125, "d1": 0.640625, "d2": 0.296875, "d3": 0.109375},
        "q2": {"d0": 0.9375, "d5": 0.921875, "d2": 0.84375, "d1": 0.515625, "d3": 0.203125},
    },
}
WEIGHTS = [0.2, 0.5, 0.3]
RANX = {
    ("sum", "min-max", False): [
        [2.07283142, 1.32591876, 0.272727273, 0, 2.86363636, 0.711538462, 0.659574468, 0.538461538],
        [2.34782609, 0.498702647, 1.55526725, 1.11505832, 1, 1.37002775, None, None],
    ],
    ("sum", "z", False): [
        [1.03439534, 0.276787404, -0.81182818, -4.56275453, 3.17485142, 0.64166931, 0.0709376476, 0.175941585],
        [1.94944891, -3.02169537, 1.07943983, -1.17824604, 1.74197127, -0.570918593, None, None],
    ],
    ("sum", "sum", False): [
        [0.694543911, 0.440121644, 0.09375, 0, 1.03507547, 0.300813008, 0.208053691, 0.227642276],
        [0.877752061, 0.16017316, 0.549062049, 0.480648065, 0.455445545, 0.47691912, None, None],
    ],
    ("sum", "rank", False): [
        [2.2, 1, 0.4, 0.6, 2.8, 0.8, 0.6, 0.6],
        [2.4, 1, 1.4, 1.6, 1, 1.6, None, None],
    ],
    ("mnz", "min-max", False): [
        [6.21849427, 2.65183752, 0.272727273, 0, 8.59090909, 0.711538462, 0.659574468, 0.538461538],
        [7.04347826, 1.49610794, 3.11053451, 3.34517497, 1, 4.11008326, None, None],
    ],
    ("mnz", "z", False): [
        [3.10318603, 0.553574808, -0.81182818, -13.6882636, 9.52455425, 0.64166931, 0.0709376476, 0.175941585],
        [5.84834673, -9.06508611, 2.15887966, -3.53473813, 1.74197127, -1.71275578, None, None],
    ],
    ("mnz", "sum", False): [
        [2.08363173, 0.880243289, 0.09375, 0, 3.10522641, 0.300813008, 0.208053691, 0.227642276],
        [2.63325618, 0.480519481, 1.0981241, 1.44194419, 0.455445545, 1.43075736, None, None],
    ],
    ("mnz", "rank", False): [
        [6.6, 2, 0.4, 1.8, 8.4, 0.8, 0.6, 0.6],
        [7.2, 3, 2.8, 4.8, 1, 4.8, None, None],
    ],
    ("max", "min-max", False): [
        [1, 0.772727273, 0.272727273, 0, 1, 0.711538462, 0.659574468, 0.538461538],
        [1, 0.425531915, 0.872340426, 0.658536585, 1, 0.978723404, None, None],
    ],
    ("rrf", "none", False): [
        [0.0481474749, 0.0314980159, 0.015625, 0.0461538462, 0.0489159175, 0.0161290323, 0.0158730159, 0.0158730159],
        [0.0484118852, 0.0466346154, 0.0320020481, 0.0473866635, 0.0163934426, 0.0473866635, None, None],
    ],
    ("isr", "none", False): [
        [3.9375, 0.347222222, 0.0625, 0.36, 6.75, 0.25, 0.111111111, 0.111111111],
        [6.1875, 0.495, 0.722222222, 1.20333333, 1, 1.20333333, None, None],
    ],
    ("borda", "none", False): [
        [20, 13, 9, 12, 23, 11, 10, 10],
        [15, 8, 10, 11, 8, 11, None, None],
    ],
    ("sum", "min-max", True): [
        [0.549181669, 0.34245648, 0.0818181818, 0, 0.959090909, 0.355769231, 0.131914894, 0.269230769],
        [0.673913043, 0.142293721, 0.398287494, 0.359968187, 0.5, 0.489269195, None, None],
    ],
}

SCORES = ("sum", "mnz", "max", "min", "med")
RANKS = ("rrf", "isr", "borda")


def as_dict(run):
    """Return a run as {query: {document: score}}."""
    queries, documents, scores = run.queries.to_list(), run.documents.to_list(), run.scores.tolist()
    ends = zip(run.offsets[:-1].tolist(), run.offsets[1:].tolist(), strict=True)
    return {
        query: dict(zip(documents[start:end], scores[start:end], strict=True))
        for query, (start, end) in zip(queries, ends, strict=True)
    }


@pytest.mark.parametrize(("method", "normalise", "weighted"), RANX)
def test_ranx_gives_the_same_scores(method, normalise, weighted):
    fused = as_dict(fuse(RUNS, method, WEIGHTS if weighted else None, normalise, missing="zero"))
    for query, values in zip(("q1", "q2"), RANX[method, normalise, weighted], strict=True):
        expected = {f"d{i}": value for i, value in enumerate(values) if value is not None}
        assert fused[query] == pytest.approx(expected, rel=1e-8, abs=1e-15)


def expected_weight(scores, document, weight):
    """Return the mean weight of a document's rank over all orders of the tied documents."""
    orders = [
        sum(order, ())
        for order in product(
            *(permutations([d for d in scores if scores[d] == s]) for s in sorted(set(scores.values()), reverse=True))
        )
    ]
    return sum((weight(Fraction(order.index(document) + 1)) for order in orders), Fraction()) / len(orders)


MINIMUM = -2.0


def normalised(scores, normalise):
    """Return the normalised scores of a list, by the definitions; no run could have scores below MINIMUM."""
    values = list(scores.values())
    least, width = min(values), max(values) - min(values)
    mean = math.fsum(values) / len(values)
    deviation = (math.fsum((v - mean) ** 2 for v in values) / len(values)) ** 0.5
    total = math.fsum(v - least for v in values)
    formulas = {
        "min-max": lambda v, _: (v - least) / width if width else 1.0,
        "theoretical-min-max": lambda v, _: (v - MINIMUM) / (max(values) - MINIMUM) if max(values) > MINIMUM else 1.0,
        "z": lambda v, _: (v - mean) / deviation if width else 0.0,
        "sum": lambda v, _: (v - least) / total if width else 1 / len(values),
        "rank": lambda _, d: float(1 - (expected_weight(scores, d, lambda rank: rank) - 1) / len(values)),
        "rrf": lambda _, d: float(expected_weight(scores, d, lambda rank: 1 / (60 + rank))),
        "none": lambda v, _: v,
    }
    return {d: formulas[normalise](v, d) for d, v in scores.items()}


def reference(runs, method, weights, normalise, missing, k):
    """Return the fused lists of one query, for runs {document: score}, by the definitions."""
    documents = list(dict.fromkeys(d for run in runs for d in run))
    fused = {}
    for d in documents:
        n_having = sum(d in run for run in runs)
        points = []
        for run, weight in zip(runs, weights, strict=True):
            if method == "borda":
                n = len(documents)
                own = n + 1 - expected_weight(run, d, lambda rank: rank) if d in run else Fraction(n - len(run) + 1, 2)
            elif method in RANKS:
                own = expected_weight(run, d, lambda r: 1 / (k + r) if method == "rrf" else 1 / r**2) if d in run else 0
            elif d in run:
                own = normalised(run, normalise)[d]
            elif missing == "least" and normalise in ("z", "none") and run:
                own = min(normalised(run, normalise).values())
            else:
                own = 0.0 if isinstance(missing, str) else missing
            points.append(weight * float(own))
        combine = {"max": max, "min": min, "med": median}.get(method, math.fsum)
        fused[d] = combine(points) * (n_having if method in ("mnz", "isr") else 1)
    return fused


LISTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(-4, 3).map(lambda i: i / 2), max_size=5)


@given(
    runs=st.lists(LISTS, min_size=2, max_size=4).filter(lambda runs: sum(map(bool, runs)) > 1),
    weights=st.lists(st.integers(-2, 4).map(lambda i: i / 4), min_size=4, max_size=4),
    method=st.sampled_from(SCORES + RANKS),
    normalise=st.sampled_from(["min-max", "theoretical-min-max", "z", "sum", "rank", "rrf", "none"]),
    missing=st.sampled_from(["least", "zero", -0.5]),
    k=st.sampled_from([0, 1, 60]),
)
def test_fused_scores_follow_the_definitions(runs, weights, method, normalise, missing, k):
    weights = weights[: len(runs)]
    given = {f"run{i}": {"other": {"x": 1.0}, "q": run} for i, run in enumerate(runs)}
    minimum = MINIMUM if normalise == "theoretical-min-max" else None
    fused = as_dict(fuse(given, method, weights, normalise, missing=missing, k=k, minimum=minimum))
    assert list(fused) == ["other", "q"]
    expected = reference(runs, method, weights, normalise, missing, k)
    assert list(fused["q"]) == list(expected)
    assert fused["q"] == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("method", SCORES + RANKS)
def test_documents_with_equal_scores_in_each_run_tie_to_the_bit(method):
    rng = np.random.default_rng(1)
    documents = [f"d{i}" for i in range(200)]
    pairs = rng.integers(0, 12, (200, 3)) / 7
    runs = {f"run{i}": {"q": dict(zip(documents, pairs[:, i].tolist(), strict=True))} for i in range(3)}
    scores = as_dict(fuse(runs, method, [0.3, 0.1, 0.7], "z"))["q"]
    by_pair = {}
    for document, pair in zip(documents, pairs.tolist(), strict=True):
        by_pair.setdefault(tuple(pair), set()).add(scores[document])
    assert len(by_pair) < 200
    assert all(len(values) == 1 for values in by_pair.values())


@pytest.mark.parametrize("method", SCORES + RANKS)
def test_the_order_of_the_input_does_not_matter(method):
    shuffled = {name: {q: dict(sorted(docs.items())) for q, docs in run.items()} for name, run in RUNS.items()}
    assert as_dict(fuse(shuffled, method)) == {
        query: pytest.approx(values, rel=1e-15) for query, values in as_dict(fuse(RUNS, method)).items()
    }


def test_weights_of_reciprocal_rank_fusion_are_on_a_line():
    """Scores 1 / (60 + rank) have the best weight of reciprocal rank fusion, which the search for weights finds."""
    rng = np.random.default_rng(8)
    qrels = {f"q{i}": {"d1": 1, "d2": 2} for i in range(12)}
    a, b = ({q: {f"d{j}": float(rng.integers(5)) for j in range(8)} for q in qrels} for _ in range(2))
    search = tieaware.WeightedFusion(qrels, {"a": a, "b": b}, "nDCG@5", normalise="rrf")
    for weight in (0.0, 0.25, 0.5, 0.9, 1.0):
        by_rank = fuse({"a": a, "b": b}, "rrf", [1.0 - weight, weight])
        by_score = fuse({"a": a, "b": b}, "sum", [1.0 - weight, weight], "rrf")
        for query, scores in as_dict(by_rank).items():
            assert as_dict(by_score)[query] == pytest.approx(scores, rel=1e-13)
        value = tieaware.evaluate(qrels, by_score, "nDCG@5").mean()[0, 0]
        assert search([1.0 - weight, weight]).mean() == pytest.approx(value, abs=1e-15)


def test_weights_are_given_by_name_or_in_order():
    by_name = fuse(RUNS, weights={"c": 0.3, "a": 0.2, "b": 0.5})
    assert as_dict(by_name) == as_dict(fuse(RUNS, weights=np.array([0.2, 0.5, 0.3])))
    assert by_name.name == "a+b+c"
    assert fuse(RUNS, name="hybrid").name == "hybrid"


def test_integer_identifiers_stay_integers():
    runs = [
        tieaware.Run.from_columns([7, 7], [1, 2], [0.5, 0.25], name="a"),
        tieaware.Run.from_columns([7, 8], [2, 9], [0.5, 0.25], name="b"),
    ]
    assert as_dict(fuse(runs, "sum")) == {7: {1: 1.0, 2: 1.0}, 8: {9: 1.0}}


def test_a_query_that_one_run_answers_alone_is_kept():
    runs = {"a": {"q1": {"d": 1.0}, "q2": {"x": 3.0, "y": 1.0}, "q3": {}}, "b": {"q1": {"d": 1.0}}}
    assert as_dict(fuse(runs)) == {"q1": {"d": 2.0}, "q2": {"x": 1.0, "y": 0.0}, "q3": {}}
    assert as_dict(fuse(runs, normalise="none", missing=-4))["q2"] == {"x": -1.0, "y": -3.0}


def test_theoretical_minima_are_given_by_name_or_in_order():
    """BM25 could score 0 and a cosine -1: the last documents of these lists keep 3/4 and 3/5 of their runs."""
    runs = {"bm25": {"q": {"x": 8.0, "y": 6.0}}, "dense": {"q": {"y": 0.25, "z": -0.25}}}
    expected = {"x": 1.0, "y": 0.75 + 1.0, "z": 0.6}
    for minimum in ({"dense": -1, "bm25": 0}, [0, -1], np.array([0.0, -1.0])):
        assert as_dict(fuse(runs, normalise="theoretical-min-max", minimum=minimum))["q"] == expected
    both = as_dict(fuse(runs, normalise="theoretical-min-max", minimum=-1, weights=[9, 0]))["q"]
    assert both == {"x": 9.0, "y": 7.0, "z": 0.0}
    assert as_dict(fuse(runs, normalise="theoretical-min-max", minimum=[0, -1], missing=-0.5))["q"]["z"] == 0.6 - 0.5


def theoretical(minimum):
    return fuse({"a": RUNS["a"], "b": RUNS["b"]}, normalise="theoretical-min-max", minimum=minimum)


MISTAKES = [
    (
        lambda: theoretical(None),
        "minimum: theoretical-min-max needs the least score that each run could have, such as {'a': 0, 'b': 0}",
    ),
    (lambda: theoretical([0]), "minimum: must have one number for each of the 2 runs; found 1"),
    (lambda: theoretical({"a": 0, "c": 0}), "minimum: must have one number for each run, a, b; found a, c"),
    (lambda: theoretical(-0.5), "b: has the score -0.8125, which is below its minimum, -0.5"),
    (lambda: theoretical("low"), "minimum: expected a number from -1e+300 to 1e+300, found 'low'"),
    (lambda: theoretical([0, float("nan")]), "minimum[1]: expected a number from -1e+300 to 1e+300, found nan"),
    (lambda: fuse(RUNS, minimum=0), "minimum: is for normalise=\"theoretical-min-max\", not for 'min-max'"),
    (lambda: fuse({"a": RUNS["a"]}), "runs: must be at least two runs to fuse"),
    (
        lambda: fuse(RUNS, "rff"),
        "method: expected one of sum, mnz, max, min, med, rrf, isr, borda, found 'rff'; did you mean rrf?",
    ),
    (
        lambda: fuse(RUNS, normalise="minmax"),
        "normalise: expected one of min-max, theoretical-min-max, z, sum, rank, rrf, none, found 'minmax'; did you "
        "mean min-max?",
    ),
    (lambda: fuse(RUNS, weights=[0.5, 0.5]), "weights: must have one weight for each of the 3 runs; found 2"),
    (lambda: fuse(RUNS, weights={"a": 1, "d": 1}), "weights: must have one weight for each run, a, b, c; found a, d"),
    (lambda: fuse(RUNS, weights=0.5), "weights: expected a list of numbers or {name: number}, found 0.5"),
    (lambda: fuse(RUNS, weights=[1, "x", 2]), "weights[1]: expected a number from -1e+300 to 1e+300, found 'x'"),
    (lambda: fuse(RUNS, missing="lowest"), "missing: expected 'least', 'zero' or a number, found 'lowest'"),
    (lambda: fuse(RUNS, "rrf", k=-1), "k: expected a number from 0 to 1e+300, found -1"),
    (lambda: fuse({"a": RUNS["a"], "b": {}}), "b: has no document"),
    (
        lambda: fuse({"a": {"q1": {"d": float("inf")}}, "b": {"q1": {"d": 1.0}}}),
        "a: has an infinite score, which cannot be fused",
    ),
    (
        lambda: fuse({"a": {"q1": {"d": 1.0}}, "b": {"Q1": {"d": 1.0}}}),
        "runs: have no query in common: a has 'q1' and b has 'Q1'",
    ),
    (
        lambda: fuse([tieaware.Run.from_columns([1], ["d"], [1.0], name="a"),
                      tieaware.Run.from_columns(["1"], ["d"], [1.0], name="b")]),
        "b.query: has text such as '1', but a has integers such as 1: make both text, or both integers",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_mistakes_are_explained_in_one_line(call, message):
    with pytest.raises(tieaware.InputError) as error:
        call()
    assert str(error.value) == message


@given(
    runs=st.lists(LISTS, min_size=2, max_size=3).filter(lambda runs: sum(map(bool, runs)) > 1),
    depth=st.integers(1, 7),
    method=st.sampled_from(SCORES + RANKS),
)
def test_depth_keeps_the_first_documents_and_those_that_tie_with_the_last(runs, depth, method):
    named = {f"run {i}": {"q": run, "empty": {}, "other": {"z": 1.0}} for i, run in enumerate(runs)}
    whole = as_dict(fuse(named, method))
    expected = {}
    for query, scores in whole.items():
        least = min(sorted(scores.values(), reverse=True)[:depth], default=0.0)
        expected[query] = {document: score for document, score in scores.items() if score >= least}
    cut = as_dict(fuse(named, method, depth=depth))
    assert cut == expected
    assert [list(scores) for scores in cut.values()] == [list(scores) for scores in expected.values()]


def test_a_cut_run_has_the_values_of_the_whole_run_up_to_its_depth():
    qrels = {"q1": {"d0": 1, "d5": 2, "d3": 1}, "q2": {"d1": 1, "d2": 1}}
    measures = ["nDCG@3", "P@3", "RR@3"]
    whole, cut = (tieaware.evaluate(qrels, fuse(RUNS, "borda", depth=depth), measures) for depth in (None, 3))
    np.testing.assert_allclose(whole.values, cut.values, rtol=1e-14)


def test_zmuv_min_and_med_of_ranx_differ_by_the_documents_that_a_run_lacks():
    """The page on ranx says what differs; the values of ranx 0.3.21 are those of `missing="zero"` in `RANX`."""
    runs = {"a": {"q": {"d1": 3.0, "d2": 1.0}}, "b": {"q": {"d1": 5.0, "d3": 1.0}}}
    assert fuse(runs, normalise="z", missing="zero").to_dict()["q"] == {"d1": 2.0, "d2": -1.0, "d3": -1.0}
    assert fuse(runs, normalise="z").to_dict()["q"] == {"d1": 2.0, "d2": -2.0, "d3": -2.0}
    assert fuse(runs, "min").to_dict()["q"]["d1"] == 1.0
    assert fuse({**runs, "c": {"q": {"d2": 7.0}}}, "med").to_dict()["q"] == {"d1": 1.0, "d2": 0.0, "d3": 0.0}


class Run:
    """A run of another library, with the name of our class."""

    def to_dict(self):
        return {"q": {"d1": 1.0}}


def test_runs_of_another_library_say_how_to_convert_them():
    problem = rf"not {__name__.partition('.')[0]}\.Run; pass run.to_dict\(\)$"
    for runs in ([Run(), Run()], {"bm25": Run(), "dense": Run()}):
        with pytest.raises(tieaware.InputError, match=problem):
            fuse(runs)

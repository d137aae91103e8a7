"""Every measure of trec_eval under every tie rule, compared with trec_eval itself, which pytrec_eval wraps."""

from __future__ import annotations

import random
from itertools import groupby, permutations, product

import numpy as np
import pytest
import pytrec_eval
from support.trec_files import PUBLIC_IS_SLOW, Qrels, Scores, ranked, read_qrels, read_scores

import tieaware
from tieaware import InputError, samples

TOLERANCE = 1e-9
DEPTHS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
MEASURES = (
    "map", "recip_rank", "Rprec", "ndcg", "num_ret", "num_rel", "num_rel_ret",
    "bpref", "infAP", "set_P", "set_relative_P", "set_recall", "set_F", "set_map",
    *(f"{name}_{k}" for name in ("P", "recall", "ndcg_cut", "map_cut") for k in DEPTHS),
    *(f"success_{k}" for k in (1, 5, 10)),
)  # fmt: skip
# Measures of all queries together, for which trec_eval prints no value per query.
SUMMARIES = ("gm_map", "num_q")
# trec_eval 9, which pytrec_eval wraps, defines these measures differently from trec_eval 10.
# test_trec_eval_outputs.py compares them.
INTERPOLATED = ("iprec_at_recall", "11pt_avg")

# trec_eval's options -l and -J. For collections with many runs, only every sixth run is tested with options that are
# not the defaults.
OPTIONS = pytest.mark.parametrize(("rel", "judged_only"), [(1, False), (2, False), (1, True), (2, True)])


def family(name: str) -> str:
    """Return the name of a measure without the cut-off, as pytrec_eval takes it."""
    return name.rstrip("0123456789").removesuffix("_")


def trec_eval(
    qrels: Qrels, scores: Scores, names: tuple[str, ...] = MEASURES, rel: int = 1, judged_only: bool = False
) -> dict[str, list[float]]:
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {family(name) for name in names}, rel, judged_only)
    return {query: [values[name] for name in names] for query, values in evaluator.evaluate(scores).items()}


def comparable(rel: int, judged_only: bool) -> tuple[str, ...]:
    """Return the measures on which the options rel and judged_only have the same effect in tieaware as in trec_eval.

    In tieaware, rel does not change nDCG, and judged_only does not change num_ret.
    """
    return tuple(
        name
        for name in MEASURES
        if not (rel > 1 and name.startswith("ndcg")) and not (judged_only and name == "num_ret")
    )


def with_options(name: str, rel: int, judged_only: bool) -> tieaware.Measure:
    measure = tieaware.parse_measure(name)
    options = {"rel": rel, "judged_only": judged_only}
    return measure(**{key: value for key, value in options.items() if key in measure.parameters})


def assert_same(result, expected, message=""):
    """Assert that the result has the queries and the values of trec_eval."""
    assert set(result.queries) == set(expected)
    np.testing.assert_allclose(
        result.values[0], [expected[q] for q in result.queries], rtol=0, atol=TOLERANCE, err_msg=message
    )


def test_every_measure_that_both_have_is_compared():
    def is_known(name):
        try:
            return tieaware.parse_measure(name)
        except InputError:
            return False

    both = {
        name
        for name in pytrec_eval.supported_measures
        if any(is_known(known) for known in (name, f"{name}_10", f"{name}_0.10"))
    }
    assert both == {*map(family, MEASURES), *SUMMARIES, *INTERPOLATED}


def test_trec_eval_stores_scores_in_single_precision():
    """Scores that differ only in double precision tie in trec_eval, so its values are reproduced with float32."""
    qrels, scores = {"1": {"a": 1, "b": 0}}, {"1": {"a": 1.0 + 2.0**-25, "b": 1.0}}
    (expected,) = trec_eval(qrels, scores).values()
    assert expected[MEASURES.index("recip_rank")] == 0.5
    evaluate = tieaware.Evaluator([1, 0], ["RR"], ties="trec_eval", docids=["a", "b"])
    assert evaluate(np.array([1.0 + 2.0**-25, 1.0], dtype=np.float32))[0, 0] == 0.5
    assert evaluate(np.array([1.0 + 2.0**-25, 1.0]))[0, 0] == 1.0


@OPTIONS
@PUBLIC_IS_SLOW
def test_every_query_of_every_run(collection, rel, judged_only):
    """ties="trec_eval" gives the values of trec_eval, which orders tied documents by id, descending."""
    qrels = read_qrels(collection.qrels)
    judgments = tieaware.read_qrels(collection.qrels)
    names = comparable(rel, judged_only)
    measures = [with_options(name, rel, judged_only) for name in names]
    runs = collection.runs if len(collection.runs) < 10 or (rel, judged_only) == (1, False) else collection.runs[::6]
    for path in runs:
        run = tieaware.read_run(path, score_dtype="float32")
        result = tieaware.evaluate(judgments, run, measures, ties="trec_eval", queries="both")
        assert_same(result, trec_eval(qrels, read_scores(path), names, rel, judged_only), path.name)


@OPTIONS
@pytest.mark.parametrize("ties", ["run_order", "optimistic", "pessimistic"])
def test_the_other_orders_of_tied_documents(generated, ties, rel, judged_only):
    """The rule's values equal trec_eval's for a run in which the ties are broken in the order of the rule."""
    qrels = read_qrels(generated.qrels)
    names = comparable(rel, judged_only)
    measures = [with_options(name, rel, judged_only) for name in names]
    sign = {"run_order": 0, "optimistic": -1, "pessimistic": 1}[ties]
    for path in generated.runs:
        untied = {}
        for query, scores in read_scores(path).items():
            labels = {document: place_of(qrels[query].get(document)) for document in scores}
            untied[query] = ranked(sorted(scores, key=lambda d: (-scores[d], sign * labels[d])))
        result = tieaware.evaluate(generated.qrels, path, measures, ties=ties, queries="both")
        assert_same(result, trec_eval(qrels, untied, names, rel, judged_only), path.name)


def place_of(label: int | None) -> int:
    """Return the sort key of a tied document: its label, -1 if it is not in the pool, or -2 if pooled but unjudged."""
    return -1 if label is None else -2 if label < 0 else label


@OPTIONS
def test_the_average_and_the_spread_are_over_all_orders(rel, judged_only):
    """For short lists, mean, std, min and max equal those of trec_eval's values for all orders of tied documents."""
    sample = samples.generate(seed=3, n_queries=10, depth=6, n_documents=300, pool_depth=3)
    names = comparable(rel, judged_only)
    measures = [with_options(name, rel, judged_only) for name in names]
    n_tied = 0
    for run in sample.runs.values():
        result = tieaware.evaluate(sample.qrels, run, measures, spread=True)
        for query, scores in run.items():
            orders = {f"{query}/{i}": ranked(order) for i, order in enumerate(orders_of(scores))}
            values = trec_eval(dict.fromkeys(orders, sample.qrels[query]), orders, names, rel, judged_only)
            of_orders = np.array([values[order] for order in orders])
            i = result.queries.index(query)
            n_tied += len(orders) > 1
            close = {"rtol": 0, "atol": TOLERANCE, "err_msg": query}
            np.testing.assert_allclose(result.values[0, i], of_orders.mean(axis=0), **close)
            known = ~np.isnan(result.std[0, i])
            assert [name for name, is_known in zip(names, known, strict=True) if not is_known] == ["infAP"]
            np.testing.assert_allclose(result.std[0, i, known], of_orders.std(axis=0)[known], rtol=0, atol=1e-7)
            np.testing.assert_allclose(result.min[0, i, known], of_orders.min(axis=0)[known], **close)
            np.testing.assert_allclose(result.max[0, i, known], of_orders.max(axis=0)[known], **close)
    assert n_tied > 20


def orders_of(scores: dict[str, float]) -> list[list[str]]:
    """Return every order of the documents that agrees with their scores."""
    by_score = sorted(scores, key=lambda document: -scores[document])
    ties = [list(tied) for _, tied in groupby(by_score, key=lambda document: scores[document])]
    return [[d for tied in groups for d in tied] for groups in product(*map(permutations, ties))]


@PUBLIC_IS_SLOW
def test_means_and_the_geometric_mean(collection):
    """The summaries over the queries agree with pytrec_eval; test_trec_eval_outputs.py tests the sums of counts."""
    qrels = read_qrels(collection.qrels)
    names = ("gm_map", *(name for name in MEASURES if not name.startswith("num_")))
    for path in collection.runs[::3]:
        columns = zip(*trec_eval(qrels, read_scores(path), names).values(), strict=True)
        expected = [pytrec_eval.compute_aggregated_measure(*column) for column in zip(names, columns, strict=True)]
        run = tieaware.read_run(path, score_dtype="float32")
        result = tieaware.evaluate(qrels, run, names, ties="trec_eval", queries="both")
        np.testing.assert_allclose(result.mean()[0], expected, rtol=0, atol=TOLERANCE, err_msg=path.name)


def test_a_run_out_of_order_and_with_more_columns(generated, tmp_path):
    """The order of the lines does not matter, and columns after the tag are ignored."""
    path = generated.runs[1]
    lines = [f"{line} more columns" for line in path.read_text().splitlines()]
    random.Random(5).shuffle(lines)
    (tmp_path / path.name).write_text("\n".join(lines))
    run = tieaware.read_run(tmp_path / path.name, score_dtype="float32")
    result = tieaware.evaluate(generated.qrels, run, MEASURES, ties="trec_eval", queries="both")
    assert_same(result, trec_eval(read_qrels(generated.qrels), read_scores(path)))


def test_trec_eval_own_runs(data):
    """Values equal trec_eval's for the runs and judgments of its own tests."""
    folder = data / "trec_eval_tests"
    for qrels in ("qrels.test", "qrels.rel_level"):
        for name in ("results.test", "results.trunc"):
            run = tieaware.read_run(folder / name, score_dtype="float32")
            result = tieaware.evaluate(folder / qrels, run, MEASURES, ties="trec_eval", queries="both")
            assert_same(result, trec_eval(read_qrels(folder / qrels), read_scores(folder / name)), f"{qrels} {name}")


def test_unanswered_queries(collection):
    """queries="judged" counts an unanswered query as 0; "both" leaves it out."""
    qrels = read_qrels(collection.qrels)
    every_other = {query: docs for i, (query, docs) in enumerate(read_scores(collection.runs[0]).items()) if i % 2}
    names = ("map", "ndcg_cut_10")
    expected = trec_eval(qrels, every_other, names)
    rounded = {q: {d: float(np.float32(s)) for d, s in docs.items()} for q, docs in every_other.items()}
    both = tieaware.evaluate(qrels, rounded, names, ties="trec_eval", queries="both")
    judged = tieaware.evaluate(qrels, rounded, names, ties="trec_eval", queries="judged")
    assert set(both.queries) == set(every_other) == set(expected)
    assert judged.queries == tuple(qrels)
    totals = np.sum(list(expected.values()), axis=0)
    np.testing.assert_allclose(both.mean()[0], totals / len(every_other), rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(judged.mean()[0], totals / len(qrels), rtol=0, atol=TOLERANCE)
    for query in set(qrels) - set(every_other):
        assert not judged.values[0, judged.queries.index(query)].any()


@PUBLIC_IS_SLOW
def test_the_mean_lies_between_the_extremes_on_runs(collection):
    """The values of the other rules lie between those of the worst and the best order."""
    judgments = tieaware.read_qrels(collection.qrels)
    values = {
        ties: tieaware.evaluate(judgments, list(collection.runs), MEASURES, ties=ties).values
        for ties in ("average", "trec_eval", "run_order", "optimistic", "pessimistic")
    }
    for ties in ("average", "trec_eval", "run_order"):
        assert (values["optimistic"] >= values[ties] - 1e-14).all()
        assert (values[ties] >= values["pessimistic"] - 1e-14).all()
    assert (values["optimistic"] > values["pessimistic"] + 1e-3).any()


@pytest.mark.parametrize("beta", [0.5, 3.0])
def test_weights_of_set_f(collection, beta):
    """The formula of trec_eval's set_F contains beta where the textbook's F contains beta squared."""
    qrels, scores = read_qrels(collection.qrels), read_scores(collection.runs[0])
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {f"set_F.{beta}"}).evaluate(scores)
    result = tieaware.evaluate(qrels, scores, [f"F(beta={beta**0.5})"], queries="both")
    assert_same(result, {query: list(values.values()) for query, values in theirs.items()})

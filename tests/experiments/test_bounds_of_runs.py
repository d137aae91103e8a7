"""The experiment on nearly known scores: compared with the true scores of runs that the bounds allow."""

import numpy as np
import pytest
from support.errors import message_of

import tieaware
from tieaware.experiments import bounds

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

MEASURES = ("AP", "RR", "ESL", "P@5")
N_QUERIES = 12


def made(seed=3, n_runs=5):
    """Return binary judgments, and runs of different quality; the last run leaves the first query unanswered."""
    rng = np.random.default_rng(seed)
    relevant = {f"q{q}": {f"d{i}": int(i % 7 == q % 7) for i in range(30)} for q in range(N_QUERIES)}
    runs = {
        f"run {r}": {
            query: {d: float(rng.normal() + r * label / 2) for d, label in labels.items() if d != "d29"}
            for query, labels in relevant.items()
        }
        for r in range(n_runs)
    }
    del runs[f"run {n_runs - 1}"]["q0"]
    runs["run 0"]["unjudged"] = {"d1": 1.0}
    return relevant, {name: dict(reversed(run.items())) for name, run in runs.items()}


def moved(run, by):
    """Return a run in which each score is moved by `by(query, document, score)`."""
    return {q: {d: s + by(q, d, s) for d, s in documents.items()} for q, documents in run.items()}


@pytest.mark.parametrize(("error", "relative"), [(0.05, False), (0.2, True)])
def test_the_bounds_are_the_values_of_possible_runs(error, relative):
    """With the relevant documents moved up and the others down, and the reverse, `evaluate` gives the bounds."""
    qrels, runs = made()
    outcome = bounds(qrels, runs, error, MEASURES, relative=relative)
    plain = tieaware.evaluate(qrels, runs, MEASURES)
    np.testing.assert_array_equal(outcome.results.values, plain.values)
    assert (outcome.results.runs, outcome.results.queries) == (plain.runs, plain.queries)

    def by(sign):
        return lambda q, d, s: sign * error * (abs(s) if relative else 1) * (1 if qrels.get(q, {}).get(d) else -1)

    best, worst = (
        tieaware.evaluate(qrels, {name: moved(run, by(sign)) for name, run in runs.items()}, MEASURES).values
        for sign in (1, -1)
    )
    np.testing.assert_allclose(outcome.least, np.minimum(best, worst), rtol=1e-14)
    np.testing.assert_allclose(outcome.greatest, np.maximum(best, worst), rtol=1e-14)
    assert (outcome.least < outcome.greatest).any()
    assert outcome.exact.all()


def test_no_true_scores_change_an_order_that_is_certain():
    qrels, runs = made()
    outcome = bounds(qrels, runs, 0.1, MEASURES)
    rng, compared = np.random.default_rng(4), outcome.compared
    signs = set()
    for _ in range(30):
        true = {name: moved(run, lambda q, d, s: rng.uniform(-0.1, 0.1)) for name, run in runs.items()}
        means = tieaware.evaluate(qrels, true, MEASURES).values.mean(axis=1)
        differences = (means[compared.first] - means[compared.second]).T
        assert (differences >= np.stack(compared.lowest) - 1e-14).all()
        assert (differences <= np.stack(compared.highest) + 1e-14).all()
        signs.add(tuple(np.sign(differences[outcome.order_certain]).tolist()))
    assert len(signs) == 1
    assert 0 < outcome.order_certain.sum() < outcome.order_certain.size


def test_without_error_the_bounds_are_those_of_the_ties(generated):
    measures = ["AP", "nDCG@10", "ERR"]
    outcome = bounds(generated.qrels, list(generated.runs), 0, measures)
    spread = tieaware.evaluate(generated.qrels, list(generated.runs), measures, spread=True)
    np.testing.assert_array_equal(outcome.least, spread.min)
    np.testing.assert_array_equal(outcome.greatest, spread.max)


def test_more_error_leaves_fewer_differences():
    qrels, runs = made()
    certain = [bounds(qrels, runs, error, "AP").order_certain.sum() for error in (0, 0.05, 0.3, 5.0)]
    assert certain[0] == 10 > certain[1] > certain[2] > certain[3] == 0


def test_tables_and_sentences():
    qrels = {"q1": {"d1": 2, "d2": 1}, "q2": {"d2": 2}, "q3": {"d1": 1}}
    good = {q: {d: 0.9 - 0.3 * (d not in labels) for d in ("d1", "d2", "d3")} for q, labels in qrels.items()}
    bad = {q: {"d1": 0.1, "d2": 0.2, "d3": 0.9} for q in qrels}
    outcome = bounds(qrels, {"good": good, "bad": bad}, 0.1, ["RR", "nDCG"])
    assert outcome.verdict() == (
        "With scores known to ±0.1, the order of runs by RR is certain for 1 of 1 pair, and the verdict for 1. "
        "By nDCG, the order is certain for 1, the verdict for 0. Bounds of nDCG may not be attained."
    )
    summary, runs, pairs = outcome.tables().values()
    assert outcome.title == summary.title == "Scores known to ±0.1: 2 runs, 3 queries"
    assert [row[:5] for row in summary.rows] == [("RR", 1, 1, 1, 0), ("nDCG", 1, 1, 0, 0)]
    assert [row[-1] for row in summary.rows] == ["exact", "outer"]
    assert runs.rows[0] == ("RR", "good", 1.0, 1.0, 1.0)
    # Between d1 and d2 of the bad run, either order is possible.
    assert runs.rows[1] == ("RR", "bad", pytest.approx(4 / 9), pytest.approx(7 / 18), pytest.approx(1 / 2))
    assert pairs.rows[0][:3] == ("RR", "good", "bad")
    assert pairs.rows[0][3:6] == pytest.approx((5 / 9, 1 / 2, 11 / 18))
    assert pairs.rows[0][-2:] == ("yes", "yes")
    against = bounds(qrels, {"good": good, "bad": bad}, 0.1, "RR", relative=True, baseline="bad").verdict()
    assert against == (
        "With scores known to ±10%, the order against bad by RR is certain for 1 of 1 run, and the verdict for 1."
    )


def test_one_run_has_bounds_and_no_pairs():
    outcome = bounds({"q": {"d": 1}}, {"run": {"q": {"d": 0.5, "e": 0.6}}}, 0.2, ["RR", "P@1"])
    expected = "With scores known to ±0.2, these are the bounds: RR of run from 0.500 to 1; P@1 of run from 0 to 1."
    assert outcome.verdict() == expected
    assert outcome.tables()["pairs"].rows == []
    assert outcome.tables()["summary"].rows[0] == ("RR", 0, 0, 0, 0, 0.5, "exact")
    assert list(outcome.drawings()) == ["bounds-RR", "bounds-P_1"]


@pytest.mark.parametrize(
    ("error", "measure", "message"),
    [
        (-1, "AP", "error: expected a number from 0 to inf, found -1"),
        ("1", "AP", "error: expected a number from 0 to inf, found '1'"),
        (None, "AP", "error: expected a number from 0 to inf, found None"),
        (0.1, "INST", "INST: has no known bounds: a better order above a document can lower its value"),
    ],
)
def test_what_is_refused(error, measure, message):
    assert message_of(lambda: bounds(*made(n_runs=2), error, measure)) == message


def test_a_share_is_at_most_the_score_and_leaves_infinite_scores():
    qrels, run = {"q": {"d": 1}}, {"q": {"d": np.inf, "e": 1.0}}
    assert bounds(qrels, {"run": run}, 1.0, "RR", relative=True).least.item() == 1.0
    message = "error: expected a number from 0 to 1, found 1.5"
    assert message_of(lambda: bounds(qrels, run, 1.5, "RR", relative=True)) == message


@pytest.mark.slow
def test_the_numbers_of_the_page(covid):
    """docs/precision.md: how many of 861 pairs keep their order and their verdict."""
    expected = {
        0.0: ([853, 856, 857], [858, 853, 855]), 0.001: ([731, 821, 776], [700, 785, 718]),
        0.01: ([466, 693, 540], [371, 570, 396]),
    }  # fmt: skip
    for error, (orders, verdicts) in expected.items():
        outcome = bounds(covid.qrels, list(covid.runs), error, ["RR", "AP", "nDCG@10"], relative=True)
        rows = outcome.tables()["summary"].rows
        assert ([row[2] for row in rows], [row[3] for row in rows]) == (orders, verdicts)

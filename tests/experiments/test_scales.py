"""The experiment on scales of few levels: its design written as loops, its sentences, its command and its errors."""

import numpy as np
import pytest

from tieaware import Evaluator, InputError, evaluate
from tieaware.cli import main
from tieaware.experiments import scales
from tieaware.precision import Thresholds, best_thresholds, geometric_thresholds, parse_precision

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")


def collection(n_queries=12, n_docs=40, seed=1, shift=1.5):
    """Return judgments, and two runs, the second of which answers fewer queries and has fewer documents."""
    rng = np.random.default_rng(seed)
    qrels = {f"q{q}": {f"d{d}": int(rng.random() < 0.15 or d == 0) for d in range(n_docs)} for q in range(n_queries)}
    good = {q: {d: float(shift * label + rng.normal()) for d, label in own.items()} for q, own in qrels.items()}
    some = {q: {d: 10 * score for d, score in list(own.items())[::2]} for q, own in list(good.items())[:-2]}
    return qrels, {"good": good, "some": some}


def test_each_fold_is_judged_by_scales_made_of_the_others():
    """The values equal those of the public functions, called in loops over the same folds."""
    qrels, runs = collection()
    outcome = scales(qrels, runs, [3, 5], "nDCG@10", folds=3, seed=4)
    exact = evaluate(qrels, runs, "nDCG@10")
    np.testing.assert_allclose(outcome.exact, exact.values[:, :, 0], atol=1e-15)
    fold_of = np.random.default_rng(4).permutation(12) % 3
    for r, run in enumerate(runs.values()):
        queries = [q for q in qrels if q in run]
        for fold in range(3):
            kept = [q for q in queries if fold_of[list(qrels).index(q)] != fold]
            labels = [qrels[q][d] for q in kept for d in run[q]]
            scores = np.array([score for q in kept for score in run[q].values()])
            sizes = [len(run[q]) for q in kept]
            judged = np.concatenate([list(qrels[q].values()) for q in kept]), np.arange(len(kept) + 1) * 40
            evaluator = Evaluator(labels, "nDCG@10", group=sizes, judgments=judged)
            for i, n in enumerate((3, 5)):
                equal = Thresholds(np.linspace(scores.min(), scores.max(), n + 1)[1:-1].tolist())
                made = (equal, geometric_thresholds(scores, n, np.append(0, np.cumsum(sizes))),
                        best_thresholds(evaluator, scores, n))  # fmt: skip
                for kind, scale in enumerate(made):
                    values = evaluate(qrels, {"run": run}, "nDCG@10", precision=scale).values[0, :, 0]
                    held_out = [exact.queries.index(q) for q in queries if fold_of[list(qrels).index(q)] == fold]
                    np.testing.assert_allclose(outcome.values[i, kind, r, held_out], values[held_out], atol=1e-12)
    unanswered = [exact.queries.index(q) for q in qrels if q not in runs["some"]]
    assert (outcome.values[:, :, 1, unanswered] == 0).all()
    np.testing.assert_allclose(outcome.shares, outcome.values.mean(3) / outcome.exact.mean(1), atol=1e-15)


def test_the_scales_for_use_are_made_of_all_queries():
    qrels, runs = collection(n_docs=20)
    outcome = scales(qrels, runs["good"], 4, "AP")
    scores = np.array([list(own.values()) for own in runs["good"].values()])
    labels = [list(own.values()) for own in qrels.values()]
    learned = best_thresholds(Evaluator(labels, "AP"), scores, 4)
    assert [kind[0] for kind in outcome.chosen[0]][1:] == [geometric_thresholds(scores, 4), learned]
    rows = outcome.tables()["cuts"].rows
    assert [parse_precision(row[-1]) for row in rows] == [kind[0] for kind in outcome.chosen[0]]


def test_learning_pays_with_few_levels_and_not_with_many():
    """One threshold for RR belongs above most relevant documents, which no rule without judgments can know."""
    rng = np.random.default_rng(3)
    labels = (rng.random((60, 100)) < 0.1).astype(int)
    scores = np.exp(rng.normal(size=labels.shape)) * np.where(labels, 5, 1)
    qrels = {f"q{q}": {f"d{d}": int(label) for d, label in enumerate(row)} for q, row in enumerate(labels)}
    run = {f"q{q}": {f"d{d}": float(score) for d, score in enumerate(row)} for q, row in enumerate(scores)}
    outcome = scales(qrels, run, [2, 16], "RR")
    assert outcome.shares[0, 2, 0] > outcome.shares[0, 1, 0] + 0.05
    few, many = outcome.verdict().split(" With 16 levels, ")
    assert few.startswith("With 2 levels, learned thresholds keep 93.3 % of RR on queries that they were not chosen on")
    assert "learning pays (" in few
    assert "learning does not pay (" in many
    assert (outcome.tests.p <= 0.05).tolist() == [True, False]


def test_a_run_without_relevant_documents_at_the_top_has_a_share_that_is_not_a_number():
    qrels = {f"q{q}": {"a": 1, "b": 0} for q in range(4)}
    run = {q: {"b": 2.0, "a": 1.0} for q in qrels}
    outcome = scales(qrels, {"run": run}, 2, "P@1", folds=2)
    assert np.isnan(outcome.shares).all()
    assert [row[2] for row in outcome.table().rows] == [None] * 3
    assert str(outcome)
    assert outcome.plot() is not None


def test_equal_scores_and_infinite_scores_make_scales():
    qrels = {f"q{q}": {"a": 1, "b": 0, "c": 0} for q in range(4)}
    run = {q: {"a": np.inf, "b": 1.0, "c": -np.inf} for q in qrels}
    outcome = scales(qrels, {"run": run}, [2, 4], "RR")
    assert [kind[0].cuts for kind in outcome.chosen[0]][:2] == [(1.0,), (1.0,)]
    assert outcome.shares[0, 2, 0] == 1.0


def test_the_command_prints_shares_and_scales(tmp_path, capfd):
    qrels, runs = collection()
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {n}\n" for q, own in qrels.items() for d, n in own.items()))
    run = runs["good"]
    (tmp_path / "bm25").write_text("".join(f"{q} Q0 {d} 1 {s!r} x\n" for q, own in run.items() for d, s in own.items()))
    files = [str(tmp_path / "qrels"), str(tmp_path / "bm25")]
    assert main(["precision", *files, "--scale", "4", "--scale", "2"]) == 0
    out = capfd.readouterr().out
    outcome = scales(qrels, {"bm25": run}, [4, 2])
    assert " ".join(out.split()).startswith(outcome.verdict())
    assert str(outcome.chosen[0][2][0]) in out
    assert main(["precision", *files, "--scale", "4", "-m", "nDCG@10", "--out", str(tmp_path / "report")]) == 0
    assert (tmp_path / "report" / "cuts.csv").exists()
    for extra, problem in ((["--rho", "2"], "--rho cannot be combined with --scale"),
                           (["--precision", "bf16"], "--precision cannot be combined with --scale"),
                           (["-m", "AP", "-m", "RR"], "-m: expected a single measure, by which scales are chosen")):
        assert main(["precision", *files, "--scale", "4", *extra]) == 2
        assert problem in capfd.readouterr().err


QRELS, RUNS = collection()
ERRORS = [
    *((([n],), {}, r"^sizes\[0\]: expected a whole number from 2 to 1,000, found ") for n in (1, 0, 1001, 2.5, None)),
    (([],), {}, "^sizes: must have at least one number of levels$"),
    ((4, "AUC"), {}, "^measure: AUC is no sum over the levels of a scale, so the best scale is not known$"),
    *(((4,), {"folds": folds}, "^folds: expected a whole number from 2 to 12, found ") for folds in (1, 13, 1.5)),
    ((4,), {"seed": -1}, "^seed: "),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "options", "message"), ERRORS)
def test_errors(arguments, options, message):
    with pytest.raises(InputError, match=message):
        scales(QRELS, RUNS, *arguments, **options)


def test_a_fold_without_relevant_documents_names_the_run():
    qrels = {"q1": {"a": 1}, "q2": {"b": 0}}
    run = {"q1": {"a": 1.0, "b": 0.5}, "q2": {"b": 1.0}}
    message = "^bad: no scale can be made of 1 list of the run: no document counts for AP, so no scale is better"
    with pytest.raises(InputError, match=message):
        scales(qrels, {"bad": run}, 4)

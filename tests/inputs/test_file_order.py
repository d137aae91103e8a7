"""The order of a file: evaluation by it, and runs whose scores contradict it."""

import gzip

import numpy as np
import pytest
from support.errors import message_of

import tieaware
from tieaware import InputError
from tieaware.cli import main
from tieaware.experiments import assessors, curves, pooling
from tieaware.inputs import as_sources
from tieaware.inputs.runs.file_order import FileOrdered

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 1}}
# In the order of the file, the first relevant documents are at rank 2 and at rank 1; by score, at rank 1 and in a tie.
LINES = ("q1 Q0 b 1 0.1", "q1 Q0 c 2 0.9", "q2 Q0 x 1 0.5", "q2 Q0 y 2 0.5", "q1 Q0 a 3 0.3")
CONSISTENT = ("q1 Q0 c 1 0.9", "q1 Q0 b 2 0.4", "q1 Q0 a 3 0.4")
MISRANKED = ("q1 Q0 c 2 0.9", "q1 Q0 b 1 0.4", "q1 Q0 a 3 0.4")
MESSAGE = "^2 runs left out, whose ranks or order contradict the scores: mixed, misranked$"
NONE_LEFT = "^runs: no run is left: 1 run was left out, because its ranks or order contradict its scores$"


@pytest.fixture
def files(tmp_path):
    """The paths of three runs, and of the judgments."""
    for name, lines in (("mixed", LINES), ("consistent", CONSISTENT), ("misranked", MISRANKED)):
        (tmp_path / f"{name}.run").write_text("".join(f"{line} tag\n" for line in lines))
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 x 1\n")
    return {path.stem: str(path) for path in tmp_path.iterdir()}


def _by_hand(rank_q1, rank_q2):
    return [[1 / rank_q1], [1 / rank_q2]]


@pytest.mark.parametrize("precision", [None, "bands:1", "float16"])
def test_the_order_of_the_file_decides(files, precision):
    by_file = tieaware.evaluate(QRELS, files["mixed"], "RR", order="file", precision=precision)
    np.testing.assert_array_equal(by_file.values[0], _by_hand(2, 1))
    by_score = tieaware.evaluate(QRELS, files["mixed"], "RR", precision=precision)
    np.testing.assert_array_equal(by_score.values[0, 0], [1.0])


@pytest.mark.parametrize("ties", ["average", "run_order", "trec_eval", "optimistic", "pessimistic"])
def test_no_documents_tie_in_the_order_of_a_file(files, ties):
    values = tieaware.evaluate(QRELS, files["mixed"], ["RR", "AP", "nDCG"], order="file", ties=ties).values
    expected = tieaware.evaluate(
        QRELS, {"mixed": {"q1": {"b": 3.0, "c": 2.0, "a": 1.0}, "q2": {"x": 2.0, "y": 1.0}}}, ["RR", "AP", "nDCG"]
    )
    np.testing.assert_array_equal(values, expected.values)


@pytest.mark.parametrize("form", ["dict", "arrow", "stream", "gz", "Run"])
def test_every_form_of_run_has_an_order(files, tmp_path, form):
    run = {"q1": {"b": 0.1, "c": 0.9, "a": 0.3}, "q2": {"x": 0.5, "y": 0.5}}
    if form == "arrow":
        pytest.importorskip("pyarrow")
        run = tieaware.Run.from_dict(run).to_arrow()
    elif form == "gz":
        run = str(tmp_path / "packed.gz")
        with gzip.open(run, "wt") as file:
            file.writelines(f"{line} tag\n" for line in LINES)
    elif form == "stream":
        run = open(files["mixed"], "rb")  # noqa: SIM115 - evaluate reads it
    elif form == "Run":
        run = tieaware.read_run(files["mixed"])
    values = tieaware.evaluate(QRELS, run, "RR", order="file").values
    if form == "stream":
        run.close()
    np.testing.assert_array_equal(values[0], _by_hand(2, 1))


def test_queries_may_come_back_later_in_the_file(tmp_path):
    """Each query keeps the order of its rows."""
    random = np.random.default_rng(4)
    rows = [(f"q{random.integers(50)}", f"d{i}") for i in range(3000)]
    (tmp_path / "long.run").write_text("".join(f"{q} Q0 {d} 0 {random.random()} t\n" for q, d in rows))
    lists = {}
    for query, document in rows:
        lists.setdefault(query, []).append(document)
    qrels = {query: {documents[len(documents) // 2]: 1} for query, documents in lists.items()}
    values = tieaware.evaluate(qrels, str(tmp_path / "long.run"), "RR", order="file").values[0, :, 0]
    np.testing.assert_array_equal(values, [1 / (len(lists[query]) // 2 + 1) for query in qrels])


def test_ties_and_new_lists_are_no_contradiction():
    """A higher score is allowed after a lower one where a new list begins."""
    run = {"q1": {"a": 0.5, "b": 0.5}, "q2": {"x": 0.9, "y": 0.1}, "q3": {}}
    assert tieaware.evaluate(QRELS, run, "RR", consistent_only=True).runs == ("run",)


def test_the_experiments_leave_them_out(files, tmp_path, capfd):
    pytest.importorskip("scipy")
    again = tmp_path / "again.run"
    again.write_text("".join(f"{line} tag\n" for line in ("q1 Q0 a 1 0.9", "q1 Q0 b 2 0.4", "q2 Q0 x 1 0.4")))
    for command in ("compare", "precision", "ties"):
        qrels = ["--qrels", files["qrels"]] if command == "ties" else [files["qrels"]]
        runs = [files["mixed"], files["consistent"], str(again)]
        arguments = [command, *qrels[: 2 * (command != "ties")], *runs, "-m", "RR", "--consistent-only"]
        assert main([*arguments, *(qrels if command == "ties" else [])]) == 0
        captured = capfd.readouterr()
        assert "mixed" in captured.err or "Left out" in captured.out, command
    for command in ("compare", "smooth"):
        assert main([command, "--matrix", files["qrels"], "--consistent-only"]) == 2
        assert capfd.readouterr().err.startswith("--matrix has no runs that could contradict themselves")


OTHER = {"q1": {"a": 0, "b": 1, "c": 0}, "q2": {"x": 1}}
# What takes runs with consistent_only=, and what is compared of the results.
TAKING_RUNS = {
    "evaluate": (lambda runs, **options: tieaware.evaluate(QRELS, runs, "RR", **options), lambda found: found.values),
    "pooling": (lambda runs, **options: pooling(runs, depth=2, qrels=QRELS, **options), lambda found: found.queries),
    "assessors": (lambda runs, **options: assessors(QRELS, OTHER, runs, "RR", **options), lambda found: found.values),
    **{
        kind: (lambda runs, kind=kind, **more: curves(QRELS, runs, kind, **more), lambda found: (found.x, found.y))
        for kind in ("precision-recall", "interpolated", "roc")
    },
}


@pytest.mark.parametrize("name", TAKING_RUNS)
def test_runs_that_contradict_themselves_are_left_out(files, name):
    pytest.importorskip("scipy")
    call, compared = TAKING_RUNS[name]
    with pytest.warns(UserWarning, match=MESSAGE) as caught:
        outcome = call([files["mixed"], files["consistent"], files["misranked"]], consistent_only=True)
    assert (outcome.runs, len(caught)) == (("consistent",), 1)
    np.testing.assert_array_equal(compared(outcome), compared(call(files["consistent"])))
    with pytest.raises(InputError, match=NONE_LEFT):
        call(files["misranked"], consistent_only=True)


@pytest.mark.parametrize("kind", ["precision-recall", "interpolated", "roc"])
def test_the_command_for_curves_leaves_them_out(files, capfd, kind):
    pytest.importorskip("matplotlib")
    runs = [files["mixed"], files["consistent"], files["misranked"]]
    assert main(["curve", files["qrels"], *runs, "--kind", kind, "--consistent-only"]) == 0
    captured = capfd.readouterr()
    assert "consistent" in captured.out
    assert "misranked" not in captured.out
    assert "2 runs left out" in captured.err


def test_smoothing_of_evaluated_runs_leaves_them_out(files, tmp_path, capfd):
    pytest.importorskip("scipy")
    runs = [files["mixed"]]
    for i in range(4):
        runs.append(str(tmp_path / f"run{i}.run"))
        lines = [f"q1 Q0 {d} {r + 1} {1.0 - r / 8}" for r, d in enumerate("abc"[i % 3 :] + "abc"[: i % 3])]
        (tmp_path / f"run{i}.run").write_text("".join(f"{line} t\n" for line in [*lines, "q2 Q0 x 1 0.4"]))
    priors = tmp_path / "priors.csv"
    priors.write_text("".join(f"run{i},0.{i}\n" for i in range(4)))
    command = ["smooth", files["qrels"], *runs, "-m", "RR", "--priors", str(priors)]
    assert main([*command, "--consistent-only"]) == 0
    captured = capfd.readouterr()
    assert "mixed" in captured.err
    assert "mixed" not in captured.out
    assert main(command) == 2
    assert "mixed" in capfd.readouterr().err


def test_a_stream_is_read_once(files):
    with open(files["consistent"], "rb") as file:
        values = tieaware.evaluate(QRELS, file, "RR", consistent_only=True).values
    np.testing.assert_array_equal(values, tieaware.evaluate(QRELS, files["consistent"], "RR").values)


def test_a_checkpoint_knows_the_order(files, tmp_path):
    out = tmp_path / "saved"
    tieaware.evaluate(QRELS, files["mixed"], "RR", out=out)
    assert "was made with another order of documents (score instead of file)" in message_of(
        tieaware.evaluate, QRELS, files["mixed"], "RR", out=out, order="file"
    )


def test_the_commands_take_both_options(files, capfd):
    assert main(["eval", files["qrels"], files["mixed"], "-m", "RR", "--order", "file"]) == 0
    assert "0.7500" in capfd.readouterr().out
    assert main(["eval", files["qrels"], files["mixed"], files["consistent"], "-m", "RR", "--consistent-only"]) == 0
    captured = capfd.readouterr()
    assert "1 run left out, whose ranks or order contradict the scores: mixed" in captured.err
    assert message_of(tieaware.evaluate, QRELS, files["mixed"], "RR", order="rank").startswith(
        "order: expected one of score, file, found 'rank'"
    )


def test_the_wrapper_describes_its_run(files):
    (source,) = as_sources(files["mixed"]).values()
    ordered = FileOrdered(source)
    assert (ordered.name, ordered.full_name, ordered.state) == (source.name, source.full_name, source.state)
    assert ordered.ranks().ranks.tolist() == [1.0, 2.0, 1.0, 2.0, 3.0]
    assert ordered.whole().scores.tolist() == [-1.0, -2.0, -3.0, -1.0, -2.0]

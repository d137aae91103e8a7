"""The order of a file: evaluation by it, and runs whose scores contradict it."""

import gzip
import io

import numpy as np
import pytest

import tieaware
from tieaware import InputError
from tieaware.experiments import assessors, curves, pooling

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 1}}
# In the order of the file, the first relevant documents are at rank 2 and at rank 1; by score, at rank 1 and in a tie.
LINES = ("q1 Q0 b 1 0.1", "q1 Q0 c 2 0.9", "q2 Q0 x 1 0.5", "q2 Q0 y 2 0.5", "q1 Q0 a 3 0.3")
CONSISTENT = ("q1 Q0 c 1 0.9", "q1 Q0 b 2 0.4", "q1 Q0 a 3 0.4")
MISRANKED = ("q1 Q0 c 2 0.9", "q1 Q0 b 1 0.4", "q1 Q0 a 3 0.4")
AGAIN = ("q1 Q0 a 1 0.9", "q1 Q0 b 2 0.4", "q2 Q0 x 1 0.4")
MESSAGE = "^2 runs left out, whose ranks or order contradict the scores: mixed, misranked$"
NONE_LEFT = "^runs: no run is left: 1 run was left out, because its ranks or order contradict its scores$"


@pytest.fixture
def files(tmp_path):
    """The paths of runs, of the judgments, and of priors for the runs that do not contradict themselves."""
    rotated = [[f"q1 Q0 {d} {r} {1 - r / 8}" for r, d in enumerate("abcab"[i:][:3], 1)] for i in (0, 1, 2, 0)]
    for name, lines in (
        ("mixed", LINES), ("consistent", CONSISTENT), ("misranked", MISRANKED), ("again", AGAIN),
        *((f"run{i}", [*lines, "q2 Q0 x 1 0.4"]) for i, lines in enumerate(rotated)),
    ):  # fmt: skip
        (tmp_path / f"{name}.run").write_text("".join(f"{line} tag\n" for line in lines))
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 x 1\n")
    (tmp_path / "priors.csv").write_text("".join(f"run{i},0.{i}\n" for i in range(4)))
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


AS_DICT = {"q1": {"b": 0.1, "c": 0.9, "a": 0.3}, "q2": {"x": 0.5, "y": 0.5}}
TEXT = "".join(f"{line} tag\n" for line in LINES).encode()
FORMS = {
    "dict": lambda: AS_DICT,
    "arrow": lambda: tieaware.Run.from_dict(AS_DICT).to_arrow(),
    "stream": lambda: io.BytesIO(TEXT),
    "compressed stream": lambda: io.BytesIO(gzip.compress(TEXT)),
    "Run": lambda: tieaware.read_run(io.BytesIO(TEXT)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_run_has_an_order(form):
    values = tieaware.evaluate(QRELS, FORMS[form](), "RR", order="file").values
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


OTHER = {"q1": {"a": 0, "b": 1, "c": 0}, "q2": {"x": 1}}
# Functions that take runs with consistent_only=, and the part of their results that is compared.
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


MATRIX = "--matrix has no runs that could contradict themselves"
SMOOTH = ["smooth", "qrels", "mixed", "run0", "run1", "run2", "run3", "-m", "RR", "--priors", "priors"]
# The names of files stand for their paths.
COMMANDS = [
    ["eval", "qrels", "mixed", "consistent", "-m", "RR"],
    ["compare", "qrels", "mixed", "consistent", "again", "-m", "RR"],
    ["precision", "qrels", "mixed", "consistent", "again", "-m", "RR"],
    SMOOTH,
    ["curve", "qrels", "mixed", "consistent", "--kind", "precision-recall"],
    ["curve", "qrels", "mixed", "consistent", "--kind", "interpolated"],
    ["curve", "qrels", "mixed", "consistent", "--kind", "roc"],
]


@pytest.mark.parametrize("arguments", COMMANDS)
def test_the_commands_leave_them_out(files, command, arguments):
    pytest.importorskip("scipy")
    status, out, err = command(*(files.get(each, each) for each in arguments), "--consistent-only")
    assert status == 0
    assert "1 run left out, whose ranks or order contradict the scores: mixed" in err
    assert "mixed" not in out
    assert "consistent" in out or arguments[0] != "curve"


def test_the_command_for_ties_names_the_runs_that_it_leaves_out(files, printed):
    runs = [files[name] for name in ("mixed", "consistent", "again")]
    shown = printed("ties", *runs, "-m", "RR", "--qrels", files["qrels"], "--consistent-only")
    assert "\nLeft out, because file order or rank column contradicts the scores: mixed.\n" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "--matrix", "qrels", "--consistent-only"], MATRIX),
        (["smooth", "--matrix", "qrels", "--consistent-only"], MATRIX),
        # This run has no prior.
        (SMOOTH, "mixed"),
    ],
)
def test_commands_that_fail(files, refused, arguments, message):
    assert message in refused(*(files.get(each, each) for each in arguments))


def test_the_command_takes_the_order_of_the_file(files, printed):
    assert "0.7500" in printed("eval", files["qrels"], files["mixed"], "-m", "RR", "--order", "file")


def test_a_stream_is_read_once(files):
    with open(files["consistent"], "rb") as file:
        values = tieaware.evaluate(QRELS, file, "RR", consistent_only=True).values
    np.testing.assert_array_equal(values, tieaware.evaluate(QRELS, files["consistent"], "RR").values)


ONLY_RANKS = "^ranked: all scores of a query are equal, but not the ranks, which are ignored; order='file' takes"


def _constant(folder, ranks, scores=(1, 1, 1, 1)):
    path = folder / "ranked.run"
    path.write_text("".join(f"q{i // 2} Q0 d{i} {rank} {score} t\n" for i, (rank, score) in enumerate(
        zip(ranks, scores, strict=True))))  # fmt: skip
    return {"q0": {"d1": 1}, "q1": {"d2": 1}}, path


@pytest.mark.parametrize("ties", ["average", "trec_eval", "optimistic"])
def test_scores_that_do_not_give_the_order_of_the_ranks(tmp_path, ties):
    with pytest.warns(UserWarning, match=ONLY_RANKS):
        tieaware.evaluate(*_constant(tmp_path, (1, 2, 1, 2)), "RR", ties=ties)


def test_scores_of_two_constants_do_not_give_the_order_either(tmp_path):
    with pytest.warns(UserWarning, match=ONLY_RANKS):
        tieaware.evaluate(*_constant(tmp_path, (1, 2, 1, 2), (3, 3, 2, 2)), "RR")


@pytest.mark.parametrize(
    ("ranks", "scores", "options"),
    [
        ((1, 1, 1, 1), (1, 1, 1, 1), {}),  # A constant scorer that says so.
        ((1, 1, 2, 2), (1, 1, 1, 1), {}),
        ((1, 2, 1, 1), (1, 1, 1, 1), {}),  # One pair of documents is an example.
        ((1, 2, 1, 2), (1, 1, 1, 1), {"ties": "run_order"}),
        ((1, 2, 1, 2), (1, 1, 1, 1), {"order": "file"}),
        ((1, 2, 1, 2), (2, 1, 1, 1), {}),
    ],
)
def test_no_warning_if_scores_or_the_file_give_the_order(tmp_path, ranks, scores, options):
    assert tieaware.evaluate(*_constant(tmp_path, ranks, scores), "RR", **options).mean().item() > 0


def _in_lists(folder, ranks, scores):
    """Write a run whose queries have the same ranks and scores; return judgments and the path."""
    path = folder / "distances.run"
    rows = list(enumerate(zip(ranks, scores, strict=True)))
    path.write_text("".join(f"q{q} Q0 d{i} {rank} {score} t\n" for q in range(4) for i, (rank, score) in rows))
    return {f"q{q}": {"d1": 1} for q in range(4)}, path


def test_distances_whose_ranks_are_right(tmp_path):
    message = "^distances: the scores of every query rise with the rank; if they are distances, negate them"
    with pytest.warns(UserWarning, match=message):
        tieaware.evaluate(*_in_lists(tmp_path, range(1, 9), (0.1, 0.2, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)), "RR")


@pytest.mark.parametrize(
    ("ranks", "scores", "options"),
    [
        (range(1, 9), range(8, 0, -1), {}),
        (range(8, 0, -1), range(1, 9), {}),  # The ranks say the same as the scores, from the last to the first.
        ((0,) * 8, range(1, 9), {}),
        (range(1, 9), (1, 2, 3, 4, 5, 6, 8, 7), {}),
        (range(1, 4), (1, 2, 3), {}),  # Few documents may be an example.
        (range(1, 9), range(1, 9), {"order": "file"}),
    ],
)
def test_no_warning_of_distances_if_ranks_and_scores_agree_somewhere(tmp_path, ranks, scores, options):
    tieaware.evaluate(*_in_lists(tmp_path, ranks, scores), "RR", **options)


def test_a_constant_run_in_several_chunks(tmp_path):
    """The second chunk of a large file decides whether to warn."""
    lines = [f"q{i // 50} Q0 d{i % 50} {i % 50} 1 t\n" for i in range(100_000)]
    path, qrels = tmp_path / "ranked.run", {f"q{i}": {"d1": 1} for i in range(2000)}
    path.write_text("".join(lines))
    with pytest.warns(UserWarning, match=ONLY_RANKS):
        tieaware.evaluate(qrels, path, "RR", threads=2)
    path.write_text("".join([*lines[:-1], "q1999 Q0 d49 49 2 t\n"]))
    tieaware.evaluate(qrels, path, "RR", threads=2)

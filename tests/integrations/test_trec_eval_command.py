"""``tieaware trec_eval``: its output equals trec_eval's byte for byte, and other tie rules can be chosen."""

import itertools
import math

import pytest
import pytrec_eval
from support.errors import message_of

from tieaware import InputError, read_qrels, read_run
from tieaware.trec_eval import MEASURES, evaluate_lines, lines, requests

# The expected outputs of trec_eval's own tests, with their options, except for tests that need other input files.
PARAMETERS = (
    "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 -m Rprec_mult.5.0,0.2,0.35 "
    "-mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20"
)
OUTPUTS = {
    "out.test": ("", "qrels.test", "results.test"),
    "out.test.a": ("-m all_trec", "qrels.test", "results.test"),
    "out.test.aq": ("-m all_trec -q", "qrels.test", "results.test"),
    "out.test.aqc": ("-m all_trec -q -c", "qrels.test", "results.trunc"),
    "out.test.aqcM": ("-m all_trec -q -c -M100", "qrels.test", "results.trunc"),
    "out.test.aql": ("-m all_trec -mrelstring.20 -q -l2", "qrels.rel_level", "results.test"),
    "out.test.meas_params": (PARAMETERS, "qrels.test", "results.test"),
    "out.comment.test": ("", "qrels.comment.test", "results.comment.test"),
}


@pytest.fixture
def trec_eval(printed):
    """Return a function that runs `tieaware trec_eval`, and returns its output."""
    return lambda *arguments: printed("trec_eval", *arguments)


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_output_equals_that_of_trec_eval(data, trec_eval, output):
    folder = data / "trec_eval_tests"
    options, qrels, run = OUTPUTS[output]
    assert trec_eval(*options.split(), folder / qrels, folder / run) == (folder / output).read_text()


@pytest.fixture
def files(tmp_path):
    """Write files with three queries: all documents but one tie; judged but unanswered; answered but unjudged."""
    (tmp_path / "qrels").write_text("q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq1 0 e 1\nq1 0 p -1\nq2 0 a 1\n")
    (tmp_path / "run").write_text(
        "q1 Q0 z 1 3 tag\nq1 Q0 a 2 2 tag\nq1 Q0 b 3 2 tag\nq1 Q0 c 4 2 tag\nq1 Q0 p 5 2 tag\nq9 Q0 a 1 1 tag\n"
    )
    return tmp_path / "qrels", tmp_path / "run"


def expected_over_orders(measure, level):
    """Return the mean of pytrec_eval's values over all orders of the four tied documents."""
    judged = {"q1": {"a": 2, "b": 0, "c": 1, "e": 1, "p": -1}}
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {measure}, level)
    values = [
        evaluator.evaluate({"q1": {"z": 9.0} | {d: float(i) for i, d in enumerate(order)}})["q1"]
        for order in itertools.permutations("abcp")
    ]
    return {name: math.fsum(each[name] for each in values) / len(values) for name in values[0]}


@pytest.mark.parametrize("level", [1, 2])
def test_the_average_is_the_mean_over_all_orders(files, level):
    """The test covers all measures of trec_eval 9 that have a value for a query."""
    qrels, run = (read(path) for read, path in zip((read_qrels, read_run), files, strict=True))
    compared = 0
    for name in sorted(pytrec_eval.supported_nicknames["all_trec"] - {"runid", "relstring", "gm_map", "gm_bpref"}):
        evaluated = evaluate_lines(
            qrels, run, lines(requests([name]), level=level), ties="average", level=level, recalls_up=True
        )
        found = {line.name: value for line, value in zip(evaluated.lines, evaluated.values[0], strict=True)}
        assert found == pytest.approx(expected_over_orders(name, level), rel=1e-12, abs=1e-12), name
        compared += len(found)
    assert compared > 90


def test_the_average_of_the_measures_that_trec_eval_10_adds(files):
    """trec_eval 10 adds RBP with gains, its residual, and the share of unjudged documents."""
    qrels, run = (read(path) for read, path in zip((read_qrels, read_run), files, strict=True))
    evaluated = evaluate_lines(qrels, run, lines(requests(["rbp.p=0.5", "rbp_resid", "unj.2"])), ties="average")
    assert [line.name for line in evaluated.lines] == ["rbp_p=0.5", "rbp_resid", "unj_2"]
    patience = [0.9**i for i in range(1, 5)]
    expected = [0.5 * (0.75 / 2) * (15 / 16), 0.9**5 + 0.1 * (1 + math.fsum(patience) / 4), (1 + 1 / 4) / 2]
    assert evaluated.values[0] == pytest.approx(expected, rel=1e-12)


def test_options(files, trec_eval):
    """If a family of measures is requested twice, its first parameters are used. Every option also has a long name."""
    assert trec_eval("-n", *files) == ""
    assert trec_eval("-q", "-m", "P.1,3", "-m", "P.2", "-mrelstring", "-mrunid", "-mnum_q", *files) == (
        "P_1                   \tq1\t0.0000\nP_3                   \tq1\t0.3333\nrelstring             \tq1\t'-.102'\n"
        "runid                 \tall\ttag\nnum_q                 \tall\t1\n"
        "P_1                   \tall\t0.0000\nP_3                   \tall\t0.3333\n"
    )
    for options, expected in (
        ("--ties=average -qn -m relstring -m P.2",
         "P_2                   \tq1\t0.2500\nrelstring             \tq1\t'-????'\n"),
        ("--Judged_docs_only -M4 -c -m num_ret -m set_P",
         "num_ret               \tall\t2\nset_P                 \tall\t0.2500\n"),
        ("-l2 -N 10 -m utility.0,0,1,1 -m num_rel",
         "num_rel               \tall\t1\nutility_0,0,1,1       \tall\t5.0000\n"),
        ("--ties optimistic -q -n -m relstring.3", "relstring_3           \tq1\t'-21'\n"),
    ):  # fmt: skip
        assert trec_eval(*options.split(), *files) == expected


def test_a_run_of_other_queries_has_zeros_if_all_judged_queries_count(tmp_path, trec_eval, refused):
    """As in trec_eval 10; without -c, no query is left to evaluate."""
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 a 1\n")
    (tmp_path / "run").write_text("x Q0 a 1 2 t\nx Q0 b 2 2 t\n")
    files = tmp_path / "qrels", tmp_path / "run"
    for options in ((), ("-M5",), ("-J",), ("-q", "-M5", "-J"), ("--ties", "average")):
        measures = [each for name in ("map", "ndcg_cut.5", "P.5", "recip_rank", "set_F", "num_rel_ret", "num_ret")
                    for each in ("-m", name)]  # fmt: skip
        out = trec_eval("-c", *options, *measures, "-m", "num_q", "-m", "num_rel", *files)
        lines = [line.split("\t") for line in out.splitlines()]
        found = {name.strip(): float(value) for name, query, value in lines if query == "all"}
        assert (found.pop("num_q"), found.pop("num_rel")) == (2, 2)
        assert len(found) == 7
        assert set(found.values()) == {0.0}
    assert trec_eval("-c", "-m", "all_trec", *files)
    assert "has no query in common with" in refused("trec_eval", "-m", "map", *files)


def test_set_f_is_rounded_as_in_trec_eval(tmp_path, trec_eval):
    """Precision and recall are multiplied in trec_eval's order: 2 * 22 / 128 in one step would give 0.3438."""
    (tmp_path / "qrels").write_text("".join(f"q 0 d{i} 1\n" for i in range(78, 106)))
    (tmp_path / "run").write_text("".join(f"q Q0 d{i} 1 {i} t\n" for i in range(100)))
    files = tmp_path / "qrels", tmp_path / "run"
    out = trec_eval("-m", "set_F", "-m", "num_rel_ret", *files)
    assert out == "num_rel_ret           \tall\t22\nset_F                 \tall\t0.3437\n"
    found = float(trec_eval("-m", "set_F.2.0", *files).split()[-1])
    assert found == pytest.approx(3 * 0.22 * 22 / 28 / (2 * 0.22 + 22 / 28), abs=5.1e-5)


def test_the_rest_of_a_line_of_a_run_is_ignored(files, trec_eval, refused):
    """Even a second row, which the other readers refuse. As in trec_eval, judgments have exactly four fields."""
    qrels, run = files
    lines = run.read_text().splitlines()
    run.write_text("\n".join([f"{lines[0]} {lines[1]}", *lines[1:]]))
    assert trec_eval("-m", "num_ret", *files) == "num_ret               \tall\t5\n"
    assert "this line has two rows" in message_of(read_run, run)
    qrels.write_text("q1 0 a 2 x\n")
    assert "a line of judgments has 4 fields" in refused("trec_eval", *files)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["-m", "ndgc"], "-m: unknown measure 'ndgc'; did you mean ndcg"),
        (["-m", "all_prefs"], "-m: 'all_prefs' needs other input than judgments and a run"),
        (["-m", "P.0"], "parameters of measure 'P': must be ranks of at least 1, none of them twice; found '0'"),
        (["-m", "P.5,x"], "parameters of measure 'P': must be numbers with commas between them; found '5,x'"),
        (["-m", "ndcg.3"], "parameters of measure 'ndcg': must have the form name=number"),
        (["-m", "G.1=nan"], "parameters of measure 'G': must have the form name=number"),
        (["-m", "utility.1"], "parameters of measure 'utility': must be four numbers; found '1'"),
        (["-M3", "--ties=average"], "rank 3 of query 'q1': a tie crosses this rank; use a tie rule that"),
        (["-R", "prefs"], "-R: expected one of qrels, found 'prefs'"),
    ],
)
def test_errors_are_one_line(files, refused, options, problem):
    assert refused("trec_eval", *options, *files).startswith(problem)


def test_a_tie_group_that_takes_too_long_for_g_is_an_error(tmp_path):
    """The average of G requires every sum that a subset of the tied documents' gains can have."""
    (tmp_path / "qrels").write_text("".join(f"q 0 d{i} {i % 5}\n" for i in range(1000)))
    (tmp_path / "run").write_text("".join(f"q Q0 d{i} 1 1 t\n" for i in range(1000)))
    qrels, run = read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run")
    with pytest.raises(InputError, match="G: a group of 1000 tied documents takes too long"):
        evaluate_lines(qrels, run, lines(requests(["G"])), ties="average")
    assert evaluate_lines(qrels, run, lines(requests(["all_trec"]))).values[0, -1] == 0


def test_families_equal_those_of_trec_eval():
    """The families are those of pytrec_eval, which wraps trec_eval 9, and three that trec_eval 10 added."""
    assert set(MEASURES) == {*pytrec_eval.supported_measures, "rbp", "rbp_resid", "unj"}

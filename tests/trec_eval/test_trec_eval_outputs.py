"""The lines of ``tieaware eval``, compared with pytrec_eval and with the expected outputs of trec_eval's tests."""

from __future__ import annotations

import re

import numpy as np
import pytest
import pytrec_eval
from support.trec_files import read_qrels, read_scores

from tieaware import InputError, parse_measure

CASES = {
    "out.test": ("qrels.test", "results.test", ["--queries", "both"]),
    "out.test.a": ("qrels.test", "results.test", ["--queries", "both"]),
    "out.test.aq": ("qrels.test", "results.test", ["--queries", "both", "-q"]),
    "out.test.aqc": ("qrels.test", "results.trunc", ["--queries", "judged", "-q"]),
    "out.test.meas_params": ("qrels.test", "results.test", ["--queries", "both", "-q"]),
    "out.comment.test": ("qrels.comment.test", "results.comment.test", ["--queries", "both"]),
}


@pytest.mark.parametrize("all_judged", [False, True])
def test_lines_have_the_values_of_pytrec_eval(collection, tmp_path, evaluate, all_judged):
    """Lines of queries, means and sums agree with pytrec_eval; with all judged queries, unanswered ones count as 0."""
    names = ["num_q", "num_ret", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank", "P_10", "ndcg_cut_10"]
    summaries = {"num_q", "gm_map"}
    # The run answers every second query, with scores that single precision represents exactly.
    some = list(read_scores(collection.runs[0]).items())[::2]
    scores = {query: {d: float(np.float32(score)) for d, score in found.items()} for query, found in some}
    run = tmp_path / "half.run"
    run.write_text("".join(f"{q} Q0 {d} 0 {s!r} t\n" for q, found in scores.items() for d, s in found.items()))
    qrels = read_qrels(collection.qrels)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {name.removesuffix("_10") for name in names}).evaluate(scores)
    unanswered = dict.fromkeys(set(qrels) - set(theirs) if all_judged else ())
    assert len(unanswered) >= (len(theirs) - 1) * all_judged
    expected = {(name, q): values[name] for q, values in theirs.items() for name in names if name not in summaries}
    expected |= {(name, q): 0.0 for q in unanswered for name in names if name not in summaries}
    for name in names:
        # Unanswered queries count in num_q. For gm_map, trec_eval takes the logarithm of 0.00001 where AP is 0.
        missing = {"num_q": 1.0, "gm_map": np.log(0.00001)}.get(name, 0.0)
        values = [*(values[name] for values in theirs.values()), *(missing for _ in unanswered)]
        expected[name, "all"] = pytrec_eval.compute_aggregated_measure(name, values)
    options = ["--queries", "judged" if all_judged else "both", "-q"]
    lines = evaluate(collection.qrels, run, options, names)
    found = {(name.strip(), query): float(value) for name, query, value in lines}
    assert len(found) == len(lines)
    assert found == pytest.approx(expected, rel=0, abs=5.1e-5)


def known(lines):
    """Yield the fields of each line whose measure tieaware knows.

    rbp is left out: in trec_eval, it is a measure of gains with another p, which is not in tieaware's notation.
    """
    for line in lines:
        name, query, value = line.split()
        if name == "rbp":
            continue
        try:
            parse_measure(name)
        except InputError:
            continue
        yield name, query, value


@pytest.fixture
def evaluate(printed):
    """Return a function that evaluates by the tie rule trec_eval, and returns the fields of the lines."""

    def run(qrels, run, options, names=()):
        measures = [each for name in names for each in ("-m", name)]
        text = printed("eval", qrels, run, "--ties", "trec_eval", *options, *measures)
        return [tuple(line.split("\t")) for line in text.splitlines()]

    return run


@pytest.mark.parametrize("output", CASES)
def test_lines_are_those_of_trec_eval(data, evaluate, output):
    """The lines of all measures that both have are equal, in any order."""
    folder = data / "trec_eval_tests"
    expected = list(known((folder / output).read_text().splitlines()))
    names = list(dict.fromkeys(name for name, _, _ in expected))
    assert len(names) >= (6 if output == "out.test.meas_params" else 14)
    qrels, run, options = CASES[output]
    found = evaluate(folder / qrels, folder / run, options, names)
    assert sorted((name.strip(), query, value) for name, query, value in found) == sorted(expected)


def test_the_level_of_relevance_is_rel(data, evaluate):
    """rel=2 gives the values of trec_eval -l 2. nDCG is not compared, because tieaware's has no parameter rel."""
    folder = data / "trec_eval_tests"
    expected = [
        line for line in known((folder / "out.test.aql").read_text().splitlines()) if not line[0].startswith("ndcg")
    ]
    names = {name: level(name) for name, _, _ in expected}
    files = folder / "qrels.rel_level", folder / "results.test"
    found = evaluate(*files, ["--queries", "both", "-q"], dict.fromkeys(names.values()))
    values = {(name.strip(), query): value for name, query, value in found}
    assert len(names) > 20
    for name, query, value in expected:
        assert values[names[name], query] == value, (name, query)


def level(name):
    """Return the measure with this trec_eval name, with rel=2 if it has a parameter rel."""
    measure = parse_measure(name)
    return str(measure(rel=2)) if "rel" in measure.parameters else str(measure)


def test_the_default_output_begins_as_trec_evals(data, printed):
    """The default output has trec_eval's lines, except runid, which has the name of the file instead of the tag."""
    folder = data / "trec_eval_tests"
    expected = (folder / "out.test").read_text().splitlines()
    files = folder / "qrels.test", folder / "results.test"
    lines = printed("eval", *files, "--ties=trec_eval", "--queries=both").splitlines()
    assert lines[1:10] == expected[1:10]
    assert all(re.fullmatch(r"\S+ *\tall\t\S+", line) for line in lines)

"""trec_eval's own expected outputs, line by line, through the command line."""

from __future__ import annotations

import re

import pytest

from tieaware import InputError, parse_measure
from tieaware.cli import main

CASES = {
    "out.test": ("qrels.test", "results.test", ["--queries", "both"]),
    "out.test.a": ("qrels.test", "results.test", ["--queries", "both"]),
    "out.test.aq": ("qrels.test", "results.test", ["--queries", "both", "-q"]),
    "out.test.aqc": ("qrels.test", "results.trunc", ["--queries", "judged", "-q"]),
    "out.test.meas_params": ("qrels.test", "results.test", ["--queries", "both", "-q"]),
    "out.comment.test": ("qrels.comment.test", "results.comment.test", ["--queries", "both"]),
}


def known(lines):
    """The lines of measures that exist here."""
    for line in lines:
        name, query, value = line.split()
        try:
            parse_measure(name)
        except InputError:
            continue
        yield name, query, value


def evaluate(capfd, data, qrels, run, options, names):
    arguments = ["eval", str(data / qrels), str(data / run), "--ties", "trec_eval", *options]
    for name in names:
        arguments += ["-m", name]
    assert main(arguments) == 0
    return [tuple(line.split("\t")) for line in capfd.readouterr().out.splitlines()]


@pytest.mark.parametrize("output", CASES)
def test_lines_are_those_of_trec_eval(data, capfd, output):
    """Every measure that both have, to the digits printed, whatever the order of the lines."""
    folder = data / "trec_eval_tests"
    expected = list(known((folder / output).read_text().splitlines()))
    names = list(dict.fromkeys(name for name, _, _ in expected))
    assert len(names) >= (6 if output == "out.test.meas_params" else 14)
    found = evaluate(capfd, folder, *CASES[output], names)
    assert sorted((name.strip(), query, value) for name, query, value in found) == sorted(expected)


def test_the_level_of_relevance_is_rel(data, capfd):
    """trec_eval -l 2 on graded judgments; nDCG takes the labels as they are."""
    folder = data / "trec_eval_tests"
    expected = [
        line for line in known((folder / "out.test.aql").read_text().splitlines()) if not line[0].startswith("ndcg")
    ]
    names = {name: level(name) for name, _, _ in expected}
    found = evaluate(
        capfd, folder, "qrels.rel_level", "results.test", ["--queries", "both", "-q"], dict.fromkeys(names.values())
    )
    values = {(name.strip(), query): value for name, query, value in found}
    assert len(names) > 20
    for name, query, value in expected:
        assert values[names[name], query] == value, (name, query)


def level(name):
    """The measure of that trec_eval name with rel=2, where it has that parameter."""
    measure = parse_measure(name)
    return str(measure(rel=2)) if "rel" in measure.parameters else str(measure)


def test_the_default_output_begins_as_trec_evals(data, capfd):
    """Scripts that read trec_eval's lines find them; runid is the file's name instead of the tag."""
    folder = data / "trec_eval_tests"
    expected = (folder / "out.test").read_text().splitlines()
    assert (
        main(["eval", str(folder / "qrels.test"), str(folder / "results.test"), "--ties=trec_eval", "--queries=both"])
        == 0
    )
    lines = capfd.readouterr().out.splitlines()
    assert lines[1:10] == expected[1:10]
    assert all(re.fullmatch(r"\S+ *\tall\t\S+", line) for line in lines)

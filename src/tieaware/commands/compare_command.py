"""The command ``tieaware compare``: tests of all pairs of runs, and the verdicts that ties can change."""

from __future__ import annotations

import argparse

from tieaware.commands import options
from tieaware.defaults import COMPARISON_MEASURES


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "compare",
        help="compare all pairs of runs, or each run with a baseline, and find the verdicts that ties can change",
        description="Test the differences between all pairs of runs, or between each run and a baseline, and find out "
        "whether any order of the tied documents changes the sign of a difference or its verdict. Text output lists "
        "all runs with those that they beat; CSV and JSON output have one row for each pair.",
    )
    options.add_values(command)
    options.add_measures(command, COMPARISON_MEASURES)
    options.add_procedure(command, "all with each other", "t, wilcoxon, sign, permutation, tukey or randomised-tukey")
    command.add_argument(
        "--alpha", type=options.real, default=0.05, metavar="A", help="significance level of the tests (%(default)s)"
    )
    command.add_argument(
        "--confidence", type=options.real, default=0.95, metavar="C",
        help="confidence level of the intervals of the differences, each for its pair alone, without the correction; "
        "with tukey, simultaneous for all runs (%(default)s)",
    )  # fmt: skip
    options.add_consistent_only(command)
    options.add_threads(command)
    options.add_output(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import compare, comparison
    from tieaware.statistics.procedures import checked

    # The names are checked before any file is read.
    procedure = checked("t" if arguments.test is None else arguments.test, arguments.correction)
    design = {"alpha": arguments.alpha, "confidence": arguments.confidence, "baseline": arguments.baseline}
    design |= procedure._asdict()
    if arguments.matrix is not None:
        measure = options.one_measure(arguments, COMPARISON_MEASURES, "the one in --matrix")
        outcome = compare(options.read_values(arguments, measure), **design)
    else:
        runs = options.judged_runs(arguments)
        measures = arguments.measure or COMPARISON_MEASURES
        reading = {"threads": arguments.threads, "consistent_only": arguments.consistent_only}
        outcome = comparison(arguments.qrels, runs, measures, **reading, **design)
    return options.output(outcome, arguments)

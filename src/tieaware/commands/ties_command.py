"""The command ``tieaware ties``: the number of ties, and their effect on the measures."""

from __future__ import annotations

import argparse

from tieaware.commands import options
from tieaware.defaults import TIE_CUTOFFS, TIE_MEASURES
from tieaware.errors import InputError


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "ties",
        help="count ties, and show their effect on the measures",
        description="Count the ties in runs. With judgments, also evaluate the runs under every tie rule.",
    )
    options.add_runs(command)
    command.add_argument(
        "--qrels", metavar="QRELS", help="file of judgments, to evaluate the runs under every tie rule"
    )
    options.add_measures(command, TIE_MEASURES)
    command.add_argument(
        "-k", "--cutoff", action="append", type=options.whole, metavar="K",
        help="count the ties within the first K ranks, and across rank K; repeatable "
        f"(default: {', '.join(map(str, TIE_CUTOFFS))})",
    )  # fmt: skip
    options.add_consistent_only(command)
    options.add_threads(command)
    options.add_output(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import tie_prevalence

    try:
        runs = options.run_files(arguments, *([arguments.qrels] if arguments.qrels else []))
        outcome = tie_prevalence(
            runs, arguments.qrels, arguments.measure or TIE_MEASURES, arguments.cutoff or TIE_CUTOFFS,
            consistent_only=arguments.consistent_only, threads=arguments.threads,
        )  # fmt: skip
    except InputError as error:
        if arguments.qrels is None and error.where in arguments.runs and "a column of labels" in error.problem:
            problem = error.problem.partition(": are judgments")[0]
            raise InputError(error.where, f"{problem}; pass judgments as --qrels {error.where}") from None
        first, *others = arguments.runs
        # Other commands take the judgments first, so they may have been given first here.
        if arguments.qrels is None and others and error.where.startswith(f"{first}:"):
            raise InputError(error.where, f"{error.problem}; pass judgments as --qrels {first}") from None
        raise
    return options.output(outcome, arguments, *(name for name in outcome.answers if name != "cutoffs"))

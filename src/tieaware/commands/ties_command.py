"""The command ``tieaware ties``: the number of ties, and their effect on the measures."""

from __future__ import annotations

import argparse

from tieaware.commands import options
from tieaware.defaults import TIE_CUTOFFS, TIE_MEASURES


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

    runs = options.run_files(arguments, *([arguments.qrels] if arguments.qrels else []))
    outcome = tie_prevalence(
        runs, arguments.qrels, arguments.measure or TIE_MEASURES, arguments.cutoff or TIE_CUTOFFS,
        consistent_only=arguments.consistent_only, threads=arguments.threads,
    )  # fmt: skip
    return options.output(outcome, arguments, *(name for name in outcome.answers if name != "cutoffs"))

"""The command ``tieaware overhead``: the cost of exact averages."""

from __future__ import annotations

import argparse

from tieaware.commands import options
from tieaware.defaults import OVERHEAD_MEASURES


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "overhead",
        help="compare the speed of exact averages with kernels that ignore ties",
        description="Measure how long exact averages over ties take, compared with kernels that ignore ties and with "
        "the reference in plain Python, on generated lists with discrete scores. All figures are ratios of times.",
    )
    options.add_measures(command, OVERHEAD_MEASURES)
    command.add_argument(
        "--queries", type=options.whole, default=2_000, metavar="N", help="number of lists (%(default)s)"
    )
    command.add_argument(
        "--seed", type=options.whole, default=2008, metavar="N", help="random seed of the lists (%(default)s)"
    )
    options.add_output(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import overhead

    outcome = overhead(arguments.measure or OVERHEAD_MEASURES, n_queries=arguments.queries, seed=arguments.seed)
    return options.output(outcome, arguments)

"""The command ``tieaware worst-case``: exact bounds of the effect of banding."""

from __future__ import annotations

import argparse

from tieaware.commands import options
from tieaware.defaults import RHOS, WORST_CASE_MEASURES
from tieaware.output.tables import FORMATS
from tieaware.precision.worst_cases import measures_with_worst_cases, table


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "worst-case",
        help="compute how far bands of ranks can move a measure",
        description="Compute exactly how far averaging over bands of ranks can move a measure, for any ranking.",
        epilog=f"Measures: {', '.join(measures_with_worst_cases())}.",
    )
    options.add_measures(command, WORST_CASE_MEASURES)
    command.add_argument(
        "--rho", action="append", metavar="R",
        help=f"factor by which the bands grow; repeatable (default: {RHOS[1]} … {RHOS[-1]})",
    )  # fmt: skip
    command.add_argument("--depth", type=options.whole, default=1000, metavar="N", help="number of ranks (%(default)s)")
    command.add_argument("--gain", action="store_true", help="print the largest gains as well as the largest losses")
    command.add_argument("--format", choices=FORMATS, default="text", help="output format (%(default)s)")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    rhos = arguments.rho or RHOS[1:]
    bounds = table(arguments.measure or WORST_CASE_MEASURES, rhos, arguments.depth, gain=arguments.gain)
    return options.format_table(bounds, arguments.format)

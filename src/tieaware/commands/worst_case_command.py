"""``tieaware worst-case``: the exact bounds of what banding can do."""

from __future__ import annotations

import argparse

from tieaware.commands import options
from tieaware.defaults import RHOS, WORST_CASE_MEASURES
from tieaware.output.tables import FORMATS
from tieaware.precision.worst_cases import table


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "worst-case",
        help="show how far bands of ranks can move a measure",
        description="Print the exact bounds of what averaging over bands can do to a measure.",
        epilog="Measures: RR, RBP(p=…), AP, nDCG, nDCG@k, P@k, R@k.",
    )
    options.add_measures(command, WORST_CASE_MEASURES)
    command.add_argument(
        "--rho", action="append", metavar="R",
        help=f"the growth of the bands; repeatable (default: {RHOS[1]} … {RHOS[-1]})",
    )  # fmt: skip
    command.add_argument("--depth", type=int, default=1000, metavar="N", help="the number of ranks (%(default)s)")
    command.add_argument("--gain", action="store_true", help="print the gains over the ranking as well as the losses")
    command.add_argument("--format", choices=FORMATS, default="text", help="the format of the output (%(default)s)")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    rhos = arguments.rho or RHOS[1:]
    bounds = table(arguments.measure or WORST_CASE_MEASURES, rhos, arguments.depth, gain=arguments.gain)
    return options.text(bounds, arguments.format)

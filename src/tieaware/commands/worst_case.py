"""``tieaware worst-case``: the exact bounds of what banding can do."""

from __future__ import annotations

import argparse

from tieaware.commands import options
from tieaware.tables import FORMATS
from tieaware.worst_cases import table

MEASURES = (
    "RR", "RBP(p=0.5)", "RBP(p=0.6)", "RBP(p=0.8)", "RBP(p=0.85)", "RBP(p=0.95)", "AP", "nDCG@1000", "P@10",
)  # fmt: skip


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "worst-case",
        help="print how far banding can move a measure",
        description="Print the exact bounds of what averaging over bands can do to a measure.",
        epilog="Measures: RR, RBP(p=…), AP, nDCG, nDCG@k, P@k, R@k.",
    )
    options.add_measures(command, MEASURES)
    command.add_argument("--rho", action="append", metavar="R", help="the growth of the bands; repeatable (1.1 … 2.0)")
    command.add_argument("--depth", type=int, default=1000, metavar="N", help="the number of ranks (%(default)s)")
    command.add_argument("--gain", action="store_true", help="the gains over the ranking as well as the losses")
    command.add_argument("--format", choices=FORMATS, default="text", help="(%(default)s)")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    rhos = arguments.rho or [f"{1 + i / 10:.1f}" for i in range(1, 11)]
    bounds = table(arguments.measure or MEASURES, rhos, arguments.depth, gain=arguments.gain)
    return FORMATS[arguments.format](bounds)

"""``tieaware precision``: how far scores can be coarsened."""

from __future__ import annotations

import argparse

from tieaware.commands import options
from tieaware.defaults import PRECISION_MEASURES, RHOS


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "precision",
        help="show how far scores can be coarsened before values and verdicts change",
        description="Coarsen the scores of runs, and compare values, verdicts and orderings with those of the scores "
        "as they were. Without --rho and --precision: bands that grow by 1.0, 1.1 … 2.0.",
        epilog="Precisions: bands:RHO, decimals:N, significant:N, float32, float16, bfloat16, levels:N.",
    )
    options.add_qrels(command)
    options.add_runs(command)
    options.add_measures(command, PRECISION_MEASURES)
    command.add_argument("--rho", action="append", default=[], metavar="R", help="bands that grow by R; repeatable")
    command.add_argument("--precision", action="append", default=[], metavar="P", help="such as bfloat16; repeatable")
    command.add_argument("--alpha", type=float, default=0.05, metavar="A", help="the level of the tests (%(default)s)")
    command.add_argument(
        "--kept", type=float, default=0.99, metavar="S",
        help="the share of a run's mean that the one-sided test asks for (%(default)s)",
    )  # fmt: skip
    options.add_threads(command)
    options.add_output(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import precision
    from tieaware.precision import Bands

    chosen = [*(Bands(rho) for rho in arguments.rho), *arguments.precision] or [Bands(rho) for rho in RHOS]
    outcome = precision(
        arguments.qrels, options.run_files(arguments, arguments.qrels), chosen, arguments.measure or PRECISION_MEASURES,
        alpha=arguments.alpha, kept=arguments.kept, threads=arguments.threads,
    )  # fmt: skip
    return options.output(outcome, arguments)

"""The command ``tieaware precision``: how precise scores need to be."""

from __future__ import annotations

import argparse

from tieaware.commands import options
from tieaware.defaults import PRECISION_MEASURES, RHOS
from tieaware.precision.coarsening import notations


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "precision",
        help="find out how precise scores need to be before values and verdicts change",
        description="Reduce the precision of the runs' scores, and compare values, verdicts and orderings of runs "
        f"with those of the original scores. Without --rho and --precision, bands of ranks that grow by {RHOS[0]} to "
        f"{RHOS[-1]} are tried.",
        epilog=f"Precisions: {notations()}.",
    )
    options.add_qrels(command)
    options.add_runs(command)
    options.add_measures(command, PRECISION_MEASURES)
    command.add_argument(
        "--rho", action="append", default=[], metavar="R", help="bands of ranks that grow by the factor R; repeatable"
    )
    command.add_argument(
        "--precision", action="append", default=[], metavar="P",
        help="precision of scores, such as bfloat16; repeatable",
    )  # fmt: skip
    command.add_argument(
        "--alpha", type=options.real, default=0.05, metavar="A", help="significance level of the tests (%(default)s)"
    )
    command.add_argument(
        "--kept", type=options.real, default=0.99, metavar="S",
        help="share of a run's mean that must be kept, in the one-sided test (%(default)s)",
    )  # fmt: skip
    options.add_baseline(command, "all with each other")
    options.add_correction(command, "none", " between runs, by one measure with one precision")
    options.add_consistent_only(command)
    options.add_threads(command)
    options.add_output(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import precision
    from tieaware.precision import Bands
    from tieaware.statistics.procedures import checked

    # The name is checked before any file is read.
    checked("t", arguments.correction)

    chosen = [*(Bands(rho) for rho in arguments.rho), *arguments.precision] or [Bands(rho) for rho in RHOS]
    outcome = precision(
        arguments.qrels, options.run_files(arguments, arguments.qrels), chosen, arguments.measure or PRECISION_MEASURES,
        alpha=arguments.alpha, kept=arguments.kept, threads=arguments.threads, baseline=arguments.baseline,
        consistent_only=arguments.consistent_only,
        correction="none" if arguments.correction is None else arguments.correction,
    )  # fmt: skip
    return options.output(outcome, arguments)

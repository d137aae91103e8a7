"""The command ``tieaware smooth``: systems ordered with the help of earlier scores from other topics."""

from __future__ import annotations

import argparse

from tieaware._evaluate import evaluate
from tieaware.checks.arguments import whole_number
from tieaware.commands import options
from tieaware.defaults import LARGEST_SET, SMOOTHING_ALPHAS, SMOOTHING_MEASURES
from tieaware.errors import InputError


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "smooth",
        help="find out how much earlier scores from other topics help to order systems",
        description="Find out how much earlier scores from other topics help to order systems. Each repeat draws three "
        "sets of topics. Half of the systems have earlier scores from the first set, the other half from the second, "
        "and all are measured on the third. A system's score is alpha times its mean on the third set, plus 1 - alpha "
        "times its mean on the earlier set. Prints for each alpha how well these scores order the systems: Kendall's "
        "tau with their order on all topics.",
    )
    options.add_values(command)
    options.add_measures(command, SMOOTHING_MEASURES, "the measure, such as nDCG@10")
    command.add_argument(
        "--alpha", action="append", type=float, metavar="A", help="weight of the measured scores; repeatable "
        f"(default: {', '.join(f'{alpha:g}' for alpha in SMOOTHING_ALPHAS)})",
    )  # fmt: skip
    command.add_argument("--sweep", type=int, metavar="N", help="try N weights instead, evenly spaced from 0 to 1")
    command.add_argument(
        "--repeats", type=int, default=10_000, metavar="N", help="number of random splits (%(default)s)"
    )
    command.add_argument(
        "--topics", type=int, metavar="N",
        help=f"number of topics in a set (default: {LARGEST_SET}, or a third of all topics if that is less)",
    )  # fmt: skip
    command.add_argument("--seed", type=int, default=0, metavar="N", help="random seed of the splits (%(default)s)")
    options.add_threads(command)
    options.add_output(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    import numpy as np

    from tieaware.experiments import smoothing

    alphas = arguments.alpha or SMOOTHING_ALPHAS
    if arguments.sweep is not None:
        if arguments.alpha:
            raise InputError("", "--sweep cannot be combined with --alpha", argument="sweep")
        alphas = np.linspace(0.0, 1.0, whole_number("sweep", arguments.sweep, 2, 10_001)).tolist()
    measure = options.one_measure(arguments, SMOOTHING_MEASURES, "because a system has one score")
    if arguments.matrix is not None:
        values = options.read_values(arguments, measure)
    else:
        runs = options.judged_runs(arguments)
        values = evaluate(arguments.qrels, runs, measure, threads=arguments.threads)
    outcome = smoothing(values, alphas, repeats=arguments.repeats, topics=arguments.topics, seed=arguments.seed)
    return options.output(outcome, arguments)

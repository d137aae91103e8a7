"""``tieaware smooth``: system orderings from partial prior scores."""

from __future__ import annotations

import argparse

from tieaware._evaluate import evaluate
from tieaware.checks import unexpected, whole_number
from tieaware.commands import options
from tieaware.defaults import SMOOTHING_ALPHAS


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "smooth",
        help="order systems by what is known of some of them from other topics",
        description="Repeat a split-half experiment: half of the systems are known from other topics than the rest, "
        "all are measured on a third set, and the two are mixed.",
    )
    options.add_values(command)
    command.add_argument("-m", "--measure", default="AP", metavar="MEASURE", help="such as nDCG@10 (%(default)s)")
    command.add_argument(
        "--alpha", action="append", type=float, metavar="A", help="the weight of what is measured; repeatable "
        f"(default: {', '.join(f'{alpha:g}' for alpha in SMOOTHING_ALPHAS)})",
    )  # fmt: skip
    command.add_argument("--sweep", type=int, metavar="N", help="try N weights, evenly from 0 to 1, instead")
    command.add_argument("--repeats", type=int, default=10_000, metavar="N", help="how many splits (%(default)s)")
    command.add_argument("--topics", type=int, default=25, metavar="N", help="how many topics in a set (%(default)s)")
    command.add_argument("--seed", type=int, default=0, metavar="N", help="the seed of the random splits (%(default)s)")
    options.add_threads(command)
    options.add_output(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    import numpy as np

    from tieaware.experiments import smoothing

    alphas = arguments.alpha or SMOOTHING_ALPHAS
    if arguments.sweep is not None:
        if arguments.alpha:
            raise unexpected("--sweep", "no --alpha beside it", f"{len(arguments.alpha)}")
        alphas = np.linspace(0.0, 1.0, whole_number("--sweep", arguments.sweep, 2, 10_001)).tolist()
    if arguments.matrix is not None:
        values = options.matrix(arguments, arguments.measure)
    else:
        runs = options.judged_runs(arguments)
        values = evaluate(arguments.qrels, runs, arguments.measure, threads=arguments.threads)
    outcome = smoothing(values, alphas, repeats=arguments.repeats, topics=arguments.topics, seed=arguments.seed)
    return options.output(outcome, arguments)

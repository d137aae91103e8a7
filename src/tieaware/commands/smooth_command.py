"""The command ``tieaware smooth``: systems ordered with the help of earlier scores from other topics."""

from __future__ import annotations

import argparse
import csv
import os
from typing import Any

from tieaware._evaluate import evaluate
from tieaware.checks.arguments import shown, unexpected, whole_number
from tieaware.commands import options
from tieaware.defaults import LARGEST_SET, SMOOTHING_ALPHAS, SMOOTHING_MEASURES
from tieaware.errors import InputError
from tieaware.inputs.files.byte_streams import ByteStream
from tieaware.inputs.files.text import Lines, number_in, whole_in
from tieaware.results import Results


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "smooth",
        help="find out how much earlier scores from other topics help to order systems",
        description="Find out how much earlier scores from other topics help to order systems. Each repeat draws three "
        "sets of topics. Half of the systems have earlier scores from the first set, the other half from the second, "
        "and all are measured on the third. A system's score is alpha times its mean on the third set, plus 1 - alpha "
        "times its mean on the earlier set. Prints for each alpha how well these scores order the systems: Kendall's "
        "tau with their order on all topics. With --priors, a system's score is alpha times its mean plus 1 - alpha "
        "times its own earlier mean; the best alpha is estimated, and the scores and ranks are printed, after the "
        "number of topics that the priors save.",
    )
    options.add(command, *options.VALUES)
    options.add_measures(command, SMOOTHING_MEASURES, "the measure, such as nDCG@10")
    command.add_argument(
        "--alpha", action="append", type=options.real, metavar="A", help="weight of the measured scores; repeatable "
        f"(default: {', '.join(f'{alpha:g}' for alpha in SMOOTHING_ALPHAS)}; with --priors the best one, which is "
        "estimated, between 0 and 1)",
    )  # fmt: skip
    command.add_argument(
        "--sweep", type=options.whole, metavar="N", help="try N weights instead, evenly spaced from 0 to 1"
    )
    command.add_argument("--repeats", type=options.whole, metavar="N", help="number of random splits (10,000)")
    command.add_argument(
        "--topics", type=_sizes, metavar="N[,N,N]",
        help="number of topics in a set, or in the first, second and third set "
        f"(default: {LARGEST_SET}, or a third of all topics if that is less)",
    )  # fmt: skip
    command.add_argument(
        "--share", type=options.real, metavar="S",
        help="share of the systems with earlier scores from the first set (0.5)",
    )  # fmt: skip
    command.add_argument(
        "--priors", metavar="FILE",
        help="use your own earlier scores instead of random sets: a CSV file with the name and the earlier mean of a "
        "system in each line, and as a third cell the set of topics that it is from, if there are several; or results "
        "that Results.save wrote (.npz, .parquet). Prints the smoothed scores",
    )  # fmt: skip
    command.add_argument("--seed", type=options.whole, metavar="N", help="random seed of the splits (0)")
    options.add(command, options.CONSISTENT_ONLY, options.THREADS)
    options.add_output(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    import numpy as np

    from tieaware.experiments import smoothing

    alphas = arguments.alpha
    if arguments.sweep is not None:
        if arguments.alpha:
            raise InputError("", "--sweep cannot be combined with --alpha", argument="sweep")
        alphas = np.linspace(0.0, 1.0, whole_number("sweep", arguments.sweep, 2, 10_001)).tolist()
    measure = options.one_measure(arguments, SMOOTHING_MEASURES, "because a system has one score")
    if arguments.priors is not None and _given(arguments):
        name = next(iter(_given(arguments)))
        raise InputError("", f"--{name} cannot be combined with --priors, with which nothing is drawn", argument=name)
    if arguments.matrix is not None:
        values = options.read_values(arguments, measure)
    else:
        reading = {"threads": arguments.threads, "consistent_only": arguments.consistent_only}
        values = options.stored_results(arguments) or evaluate(
            arguments.qrels, options.run_files(arguments, arguments.qrels), measure, **reading
        )
    if arguments.priors is not None:
        priors, sets = _read_priors(arguments.priors)
        return options.output(smoothing(values, alphas, priors=priors, sets=sets), arguments)
    return options.output(smoothing(values, alphas, **_given(arguments)), arguments)


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of the simulation that are given as options."""
    names = ("repeats", "topics", "seed", "share")
    return {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}


def _sizes(text: str) -> int | list[int]:
    """Read one size of a set of topics, or several that are separated by commas."""
    sizes = [whole_in(size.strip()) for size in text.split(",")]
    return sizes[0] if len(sizes) == 1 else sizes


# Argument parsers show the name of a type in messages.
_sizes.__name__ = "number of topics"


def _read_priors(path: str) -> tuple[Results | dict[str, float], dict[str, str] | None]:
    """Read a file of results, or a CSV file with the name and the earlier mean of a system in each line.

    If the lines have a third cell, it is the set that the prior is from; the sets are returned, too.
    """
    if os.path.splitext(path)[1].lower() in (".npz", ".parquet"):
        return Results.load(path), None
    priors: dict[str, float] = {}
    sets: dict[str, str] = {}
    try:
        with ByteStream(path) as file:
            lines = csv.reader(Lines(file).decoded("surrogateescape"))
            for cells in filter(None, lines):
                place = f"{path}:{lines.line_num}"
                if len(cells) not in (2, 3):
                    problem = "must have a name and a number, separated by a comma, and may have a set"
                    raise InputError(place, f"{problem}; has {len(cells)} cells")
                name = cells[0].strip()
                if name in priors:
                    raise InputError(place, f"a second prior of {shown(name)}")
                if bool(sets) != (len(cells) == 3) and priors:
                    raise InputError(place, "must have a set if, and only if, the lines before it have one")
                if len(cells) == 3:
                    sets[name] = _set(place, cells[2].strip())
                try:
                    priors[name] = number_in(cells[1])
                except ValueError as error:
                    raise unexpected(place, "a number after the name", f"{error}") from None
    except csv.Error as error:
        raise InputError(f"{path}:{lines.line_num}", f"{error}") from None
    return priors, sets or None


def _set(place: str, name: str) -> str:
    """Return the name of a set; raise InputError for digits, which may be those after a decimal comma."""
    if not name or name.isdecimal():
        problem = f"the set must have a name that is no number, such as trec-8; found {shown(name)}"
        raise InputError(place, f"{problem}. Decimals are written with a point")
    return name

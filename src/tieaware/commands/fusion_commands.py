"""The commands that write runs: ``tieaware fuse`` and ``tieaware coarsen``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

from tieaware._evaluate import evaluate
from tieaware.checks.arguments import whole_number
from tieaware.commands import options, streams
from tieaware.defaults import FUSION_FOLDS, FUSION_MEASURES, FUSION_METHODS
from tieaware.errors import InputError
from tieaware.inputs.files.text import number_in
from tieaware.inputs.trec.writer import check_ending
from tieaware.optimise.normalisation import NORMALISATIONS
from tieaware.output.tables import percent
from tieaware.precision.coarsening import notations

if TYPE_CHECKING:
    from tieaware.experiments._comparison import Comparison
    from tieaware.experiments.experiment import Experiment
    from tieaware.inputs import Run, RunSource


# The search for the weights of this many runs takes about half a minute.
_MANY_RUNS = 10


def add_fuse(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `tieaware fuse`."""
    command = commands.add_parser(
        "fuse",
        help="find the best weights of several runs, test whether they matter, and write the fused run",
        description="Find the weights with which the weighted sum of runs ranks best. Prints the weights, what weights "
        "earn on queries that did not choose them, and what reciprocal rank fusion and each run alone earn, with "
        "paired t-tests. Says so if the best weights are noise. The weights of two runs are exact; those of more are "
        "found by coordinate ascent.",
    )
    options.add(command, options.QRELS, *options.RUNS)
    options.add_measures(command, FUSION_MEASURES, "the measure that chooses the weights")
    command.add_argument(
        "--method", choices=FUSION_METHODS,
        help="fuse by this method instead of the best weights, and compare the fused run with the others",
    )  # fmt: skip
    command.add_argument(
        "--weights", type=_weights, metavar="W,W",
        help="fuse with these weights instead of the best ones: a number for each run, in their order, such as 0.4,0.6",
    )  # fmt: skip
    command.add_argument(
        "--normalise", choices=tuple(NORMALISATIONS), default="min-max",
        help="how the scores of each run are normalised, for each query (%(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--minimum", type=options.real, action="append", metavar="S",
        help="for theoretical-min-max: the least score that a run could have, such as 0 for BM25; once for all runs, "
        "or once for each",
    )  # fmt: skip
    command.add_argument(
        "--missing", type=_missing, default="least", metavar="S",
        help="normalised score of a document that a run lacks: least (that of the run's list with z and none, "
        "otherwise 0), zero, or a number (%(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--folds", type=options.whole, default=FUSION_FOLDS, metavar="N",
        help="number of folds of the queries, all but one of which choose weights for that one, in turn (%(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--level", type=options.real, default=0.95, metavar="C",
        help="confidence level of the tests and of the intervals (%(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--restarts", type=options.whole, default=0, metavar="N",
        help="further starts of the search, from random weights, with three or more runs (%(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--seed", type=options.whole, default=0, metavar="N", help="random seed of the folds and weights (%(default)s)"
    )
    options.add_run_file(command, "write the fused run")
    command.add_argument(
        "--depth", type=options.whole, metavar="N",
        help="write the first N documents of each query, and those that tie with the last of these (default: all)",
    )  # fmt: skip
    options.add(command, options.THREADS)
    options.add_output(command)
    options.add(command, options.renamed("--report", "--out FOLDER"))
    command.set_defaults(run=_fuse)


def _weights(text: str) -> list[float]:
    return [options.real(each) for each in text.split(",")]


def _missing(text: str) -> str | float:
    """Convert the value of --missing: a number, or a word that `fuse` checks."""
    try:
        return number_in(text)
    except ValueError:
        return text


def _fuse(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import fusion

    measure = options.one_measure(arguments, FUSION_MEASURES, "because it chooses the weights")
    depth = None if arguments.depth is None else whole_number("depth", arguments.depth, 1)
    if depth is not None and arguments.run_file is None:
        raise InputError("", "--depth requires --run", argument="depth")
    if arguments.run_file is not None and not arguments.run_file.endswith(".parquet"):
        check_ending(arguments.run_file)
    minimum = arguments.minimum[0] if arguments.minimum and len(arguments.minimum) == 1 else arguments.minimum
    scale = {"normalise": arguments.normalise, "missing": arguments.missing, "minimum": minimum}
    runs = options.run_files(arguments, arguments.qrels)
    outcome: Experiment
    fused: Run | None
    decision = ""
    if arguments.method is not None or arguments.weights is not None:
        outcome, fused = _fixed(arguments, runs, measure, depth, scale)
        decision = _decision(outcome, arguments.method or "the weights")
    else:
        if len(runs) > _MANY_RUNS:
            faster = "fewer runs, fewer --folds, or --method rrf, which needs no search, are faster"
            streams.say(f"the time of the search grows with the square of the number of runs, {len(runs)}: {faster}")
        outcome = fusion(
            arguments.qrels, runs, measure, **scale, folds=arguments.folds, level=arguments.level,
            restarts=arguments.restarts, seed=arguments.seed, threads=arguments.threads,
        )  # fmt: skip
        fused = outcome.run(depth=depth) if arguments.run_file is not None else None
    text = options.output(outcome, arguments, decision=decision)
    if arguments.run_file is not None and fused is not None:
        fused.write(arguments.run_file)
        streams.say(f"wrote {arguments.run_file}")
    return text


def _fixed(
    arguments: argparse.Namespace, runs: list[RunSource], measure: str, depth: int | None, scale: dict[str, Any]
) -> tuple[Comparison, Run]:
    """Fuse the runs without a search; return the comparison of the fused run with the others, and the fused run."""
    from tieaware.experiments import compare
    from tieaware.inputs import as_sources
    from tieaware.optimise.fusion import fuse

    for option in ("folds", "level", "restarts", "seed"):
        if getattr(arguments, option) != arguments.parser.get_default(option):
            raise InputError("", f"--{option} is for a search, which --method and --weights replace", argument=option)
    whole = {name: source.whole() for name, source in as_sources(runs).items()}
    if "fused" in whole:
        raise InputError("runs", "a run is named fused, as the result is; write NAME=PATH to name it otherwise")
    fused = fuse(whole, arguments.method or "sum", arguments.weights, **scale, depth=depth, name="fused")
    compared = {**whole, fused.name: fused}
    results = evaluate(arguments.qrels, compared, measure, spread=True, threads=arguments.threads)
    return compare(results, baseline=fused.name), fused


def _decision(outcome: Comparison, method: str) -> str:
    """Return whether to fuse by a method or by fixed weights, as a sentence; the last run is the fused one."""
    *runs, _ = outcome.results.runs
    means = outcome.results.mean()[:, 0]
    best = int(np.argmin(means) if outcome.results.measures[0].definition.less_is_better else np.argmax(means))
    if best < len(runs):
        return f"Do not fuse them by {method}: {runs[best]} alone earns as much."
    if outcome.beaten(0)[best].sum() == len(runs):
        return f"Fuse them by {method}: the fused run is significantly better than each alone."
    return f"Fuse them by {method} or not, these queries cannot tell."


def add_coarsen(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `tieaware coarsen`."""
    command = commands.add_parser(
        "coarsen",
        help="write a run with coarser scores",
        description="Print a run in TREC format with coarser scores, sorted by them, for use in other tools. Documents "
        "whose scores tie keep the order of the run.",
    )
    options.add(command, *options.RUNS)
    command.add_argument("--precision", metavar="P", required=True, help=f"the precision of the scores: {notations()}")
    options.add_run_file(command, "write a file instead")
    options.add(command, options.renamed("--out", "--run FILE"))
    command.set_defaults(run=_coarsen)


def _coarsen(arguments: argparse.Namespace) -> str:
    sources = options.run_files(arguments)
    if len(sources) > 1:
        raise InputError("runs", f"expected one run, found {len(sources)}; the parts of one run need --name NAME")
    from tieaware.statistics import count_ties

    run = sources[0].whole()
    coarse = run.coarsen(arguments.precision)
    ties = [count_ties(each.scores, each.offsets) for each in (coarse, run)]
    after, before = (percent(each.tied_documents / max(each.documents, 1)) for each in ties)
    done = f"with {arguments.precision}, {after} of the documents of {run.name} tie with another; before, {before}"
    return options.run_text(coarse, arguments, done)

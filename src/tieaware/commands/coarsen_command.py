"""The command ``tieaware coarsen``: a run with coarser scores."""

from __future__ import annotations

import argparse

from tieaware.commands import options
from tieaware.errors import InputError
from tieaware.precision.coarsening import notations


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "coarsen",
        help="write a run with coarser scores",
        description="Print a run in TREC format with coarser scores, sorted by them, for use in other tools. Documents "
        "whose scores tie keep the order of the run.",
    )
    options.add_runs(command)
    command.add_argument("--precision", metavar="P", required=True, help=f"the precision of the scores: {notations()}")
    command.add_argument(
        "--out", metavar="FILE",
        help="write a file instead: Parquet if its name ends in .parquet, compressed if in .gz, .bz2 or .xz",
    )  # fmt: skip
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    sources = options.run_files(arguments)
    if len(sources) > 1:
        raise InputError("runs", f"expected one run, found {len(sources)}; the parts of one run need --name NAME")
    run = sources[0].whole().coarsen(arguments.precision)
    if arguments.out is None:
        return run.to_trec()
    run.write(arguments.out)
    return ""

"""Options that several commands have, and what they do with them."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from tieaware.checks import unexpected
from tieaware.inputs import RunSource, sources_at
from tieaware.inputs.matrix import read_matrix
from tieaware.measures import parse_measure
from tieaware.results import Results
from tieaware.tables import FORMATS

if TYPE_CHECKING:
    # Not every command is an experiment, and to load them takes as long as all else.
    from tieaware.experiments.experiment import Experiment


def add_runs(command: argparse.ArgumentParser) -> None:
    """Add the runs, and how they are read."""
    command.add_argument(
        "runs", metavar="RUN", nargs="+",
        help="a run: query, Q0, document, rank (ignored), score, tag; - is stdin; a folder: all the files in it",
    )  # fmt: skip
    add_reading(command)


def add_reading(command: argparse.ArgumentParser) -> None:
    """Add how runs are read."""
    command.add_argument(
        "--score-dtype", choices=("float64", "float32"), default="float64",
        help="how precisely scores are read: float32 as trec_eval up to 9, float64 as 10 (%(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--duplicates", choices=("error", "first"), default="error",
        help="what to do with a document that comes twice for a query: stop, or keep the first (%(default)s)",
    )  # fmt: skip


def add_qrels(command: argparse.ArgumentParser) -> None:
    """Add the judgments."""
    command.add_argument("qrels", metavar="QRELS", help="the judgments: query, ignored, document, label; - is stdin")


def add_values(command: argparse.ArgumentParser) -> None:
    """Add where values come from: judgments and runs, or a matrix."""
    command.add_argument("qrels", metavar="QRELS", nargs="?", help="the judgments; - is stdin")
    command.add_argument("runs", metavar="RUN", nargs="*", help="a run, or a folder of runs; - is stdin")
    command.add_argument(
        "--matrix", metavar="FILE",
        help="instead: a CSV file of values, a column for each system under its name, a row for each topic",
    )  # fmt: skip
    add_reading(command)


def add_queries(command: argparse.ArgumentParser) -> None:
    """Add which queries count."""
    command.add_argument(
        "--queries", choices=("judged", "both"), default="judged",
        help="average over every judged query, 0 where the run is silent (trec_eval -c), or over those that the run "
        "answers, as trec_eval does without -c (%(default)s)",
    )  # fmt: skip


def add_measures(command: argparse.ArgumentParser, default: tuple[str, ...] = ()) -> None:
    """Add the measures."""
    among = f" ({', '.join(default)})" if default else ""
    command.add_argument(
        "-m", "--measure", action="append", metavar="MEASURE", help=f"such as nDCG@10; repeatable{among}"
    )


def add_threads(command: argparse.ArgumentParser) -> None:
    """Add the number of threads."""
    command.add_argument("--threads", type=int, metavar="N", help="how many threads to use (one per core)")


def add_output(command: argparse.ArgumentParser) -> None:
    """Add where an experiment goes."""
    command.add_argument("--format", choices=FORMATS, default="text", help="of the tables (%(default)s)")
    command.add_argument("--all", action="store_true", help="print every table, not the main ones alone")
    command.add_argument("--plot", metavar="FILE", help="draw the main figure: .png, .svg, .pdf …")
    command.add_argument("--out", metavar="FOLDER", help="write report.html, and all tables and figures as files")


def run_files(arguments: argparse.Namespace, *others: str) -> list[RunSource]:
    """Return the runs, to be read; standard input can be but one of them and the other files."""
    check_one_stdin(*others, *arguments.runs)
    reading = arguments.score_dtype, arguments.duplicates
    return [source for given in arguments.runs for source in sources_at(given, *reading)]


def matrix(arguments: argparse.Namespace, measure: str) -> Results:
    """Return the values of the matrix, which are taken to be of the measure."""
    if arguments.qrels is not None:
        raise unexpected("--matrix", "either a matrix or judgments and runs", f"{arguments.qrels} beside it")
    read = read_matrix(arguments.matrix)
    topics = tuple(str(i + 1) for i in range(read.values.shape[1]))
    return Results(read.values[:, :, None], read.systems, topics, (parse_measure(measure),))


def judged_runs(arguments: argparse.Namespace) -> list[RunSource]:
    """Return the runs, of which the parser does not ask that there are any."""
    if not arguments.runs:
        raise unexpected("RUN", "QRELS and at least one RUN, or --matrix FILE", "none")
    return run_files(arguments, arguments.qrels)


def check_one_stdin(*paths: str) -> None:
    """Refuse to read standard input twice."""
    if paths.count("-") > 1:
        raise unexpected("-", "standard input once, for it can be read but once", f"it {paths.count('-')} times")


def output(experiment: Experiment, arguments: argparse.Namespace, *main: str) -> str:
    """Write the files that were asked for, and return what is to be printed: all tables, or the main ones."""
    if arguments.out is not None:
        experiment.write(arguments.out, shlex.join(["tieaware", *sys.argv[1:]]))
    if arguments.plot is not None:
        next(iter(experiment.drawings().values())).save(arguments.plot)
    tables = experiment.tables()
    shown = tables if arguments.all else main or [next(iter(tables))]
    texts = [FORMATS[arguments.format](tables[name]) for name in shown]
    if arguments.format == "json" and len(texts) > 1:
        return "[" + ", ".join(text.rstrip() for text in texts) + "]\n"
    return "\n".join(texts)

"""Options that several commands have, and what they do with them."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import textwrap
from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING

from tieaware.commands import streams
from tieaware.errors import InputError, printable
from tieaware.inputs import RunSource, sources_at
from tieaware.inputs.matrix import read_matrix
from tieaware.measures import listed_measures, parse_measure
from tieaware.output.tables import FORMATS, Table
from tieaware.results import Results
from tieaware.runtime.progress import stage
from tieaware.ties import RULES

if TYPE_CHECKING:
    # Not every command is an experiment, and to load them takes as long as all else.
    from tieaware.experiments.experiment import Experiment


# More rows nobody reads on a terminal.
_MOST_ROWS = 60
# How wide sentences are where there is no terminal to fill.
_WIDTH = 100

_QRELS = "the judgments, a file of lines: query, ignored, document, label; - is standard input"
_RUN = (
    "a run, a file of lines: query, Q0, document, rank (ignored), score, tag; - is standard input; "
    "a folder: all the files in it"
)


def add_runs(command: argparse.ArgumentParser) -> None:
    """Add the runs, and how they are read."""
    command.add_argument("runs", metavar="RUN", nargs="+", help=_RUN)
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
    command.add_argument("qrels", metavar="QRELS", help=_QRELS)


def add_values(command: argparse.ArgumentParser) -> None:
    """Add where values come from: judgments and runs, or a matrix."""
    command.add_argument("qrels", metavar="QRELS", nargs="?", help=_QRELS)
    command.add_argument("runs", metavar="RUN", nargs="*", help=_RUN)
    command.add_argument(
        "--matrix", metavar="FILE",
        help="instead of QRELS and RUN: a CSV file of values, a column for each system under its name, a row for each "
        "topic",
    )  # fmt: skip
    add_reading(command)


def add_queries(command: argparse.ArgumentParser) -> None:
    """Add which queries count."""
    command.add_argument(
        "--queries", choices=("judged", "both"), default="judged",
        help="average over every judged query, 0 where the run is silent (trec_eval -c), or over those that the run "
        "answers, as trec_eval does without -c (%(default)s)",
    )  # fmt: skip


def add_measures(
    command: argparse.ArgumentParser, default: tuple[str, ...] = (), what: str = "such as nDCG@10 or 'nDCG@10 AP'"
) -> None:
    """Add the measures: several in one argument, or in several."""
    among = f" (default: {', '.join(default)})" if default else ""
    command.add_argument(
        "-m", "--measure", action="extend", type=listed_measures, metavar="MEASURE", help=f"{what}{among}"
    )


def one_measure(arguments: argparse.Namespace, default: tuple[str, ...], why: str) -> str:
    """Return the measure, where there can be but one."""
    measures: Sequence[str] = arguments.measure or default
    if len(measures) > 1:
        raise InputError("measure", f"expected a single measure, {why}, found {', '.join(measures)}")
    return measures[0]


def add_ties(command: argparse.ArgumentParser, default: str = "average") -> None:
    """Add the tie rule."""
    command.add_argument(
        "--ties", choices=RULES, default=default, metavar="RULE",
        help=f"the order of tied documents: {', '.join(RULES)} (%(default)s)",
    )  # fmt: skip


def add_threads(command: argparse.ArgumentParser) -> None:
    """Add the number of threads."""
    command.add_argument("--threads", type=int, metavar="N", help="how many threads to use (default: one per core)")


def add_output(command: argparse.ArgumentParser) -> None:
    """Add where an experiment goes."""
    command.add_argument("--format", choices=FORMATS, default="text", help="the format of the output (%(default)s)")
    command.add_argument("--all", action="store_true", help="print every table, not the first to read alone")
    command.add_argument("--plot", metavar="FILE", type=_path, help="draw the main figure: .png, .svg, .pdf …")
    command.add_argument(
        "--out", metavar="FOLDER", type=folder, help="write report.html, and all tables and figures as files"
    )


def _path(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("expected a name, found ''")
    return text


def folder(text: str) -> str:
    """Return the name of a folder; what is no folder is refused before the work, not after it."""
    if os.path.exists(_path(text)) and not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"expected a folder or nothing, found the file {text}")
    return text


def run_files(arguments: argparse.Namespace, *others: str) -> list[RunSource]:
    """Return the runs, to be read; standard input can be but one of them and the other files."""
    check_one_stdin(*others, *arguments.runs)
    for run in arguments.runs:
        if arguments.runs.count(run) > 1:
            raise InputError("runs", f"each run must be given only once; {run} is given twice")
    reading = arguments.score_dtype, arguments.duplicates
    return [source for given in arguments.runs for source in sources_at(given, *reading)]


def matrix(arguments: argparse.Namespace, measure: str) -> Results:
    """Return the values of the matrix, which are taken to be of the measure."""
    if arguments.qrels is not None:
        problem = f"--matrix cannot be combined with QRELS and RUN, such as {arguments.qrels}"
        raise InputError("", problem, argument="matrix")
    read = read_matrix(arguments.matrix)
    topics = tuple(str(i + 1) for i in range(read.values.shape[1]))
    return Results(read.values[:, :, None], read.systems, topics, (parse_measure(measure),))


def judged_runs(arguments: argparse.Namespace) -> list[RunSource]:
    """Return the runs, of which the parser does not ask that there are any."""
    if not arguments.runs:
        raise InputError("", "QRELS and at least one RUN are required, or --matrix FILE", argument="runs")
    return run_files(arguments, arguments.qrels)


def check_one_stdin(*paths: str) -> None:
    """Refuse to read standard input twice."""
    if paths.count("-") > 1:
        raise InputError("-", f"standard input can be read only once, but is given {paths.count('-')} times")


def output(experiment: Experiment, arguments: argparse.Namespace, *data: str) -> str:
    """Write the files that were asked for, and return what is to be printed: all tables, the answers, or the data.

    The data are the named tables, or the main one.
    """
    with stage("tables"):
        tables, drawings = experiment.tables(), experiment.drawings()
    if arguments.out is not None:
        with stage("writing the report"):
            experiment.write(arguments.out, shlex.join(["tieaware", *sys.argv[1:]]))
        report = os.path.join(arguments.out, "report.html")
        counts = f"{_counted(tables, 'table')} (.csv) and {_counted(drawings, 'figure')} (.svg, .png)"
        streams.say(f"wrote {report}, and beside it {counts}")
    if arguments.plot is not None:
        next(iter(drawings.values())).save(arguments.plot)
        streams.say(f"wrote {arguments.plot}")
    # For a reader the answers, for a program the data.
    wanted = experiment.answers if arguments.format in ("text", "markdown") else data or [next(iter(tables))]
    shown = tables if arguments.all else wanted
    texts = [text(tables[name], arguments.format, whole=arguments.all) for name in shown]
    verdict = printable(experiment.verdict()) if arguments.format == "text" else ""
    if verdict:
        texts.insert(0, f"{textwrap.fill(verdict, streams.width() or _WIDTH)}\n")
    if arguments.format == "json" and len(texts) > 1:
        return "[" + ", ".join(text.rstrip() for text in texts) + "]\n"
    others = [f"{name} ({len(tables[name].rows):,} rows)" for name in tables if name not in shown]
    width = streams.width()
    if others and width is not None and arguments.format == "text":
        rest = f"More tables, which --all prints and --out FOLDER writes: {', '.join(others)}."
        texts.append(f"{textwrap.fill(rest, width)}\n")
    return "\n".join(texts)


def _counted(things: Sized, name: str) -> str:
    return f"{len(things)} {name}{'s' * (len(things) != 1)}"


def text(table: Table, form: str = "text", *, whole: bool = True) -> str:
    """Return a table in a format; as text on a terminal no wider than that, nor much longer if it need not be whole."""
    width = streams.width() if form == "text" else None
    if width is None:
        return FORMATS[form](table)
    return f"{table.fitted(width, None if whole else _MOST_ROWS, '--all prints it, and --out FOLDER writes it')}\n"

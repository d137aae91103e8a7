"""Options that several commands share, and the functions that apply them."""

from __future__ import annotations

import argparse
import glob
import os
import shlex
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from tieaware.checks.arguments import local_path, output_folder
from tieaware.commands import streams
from tieaware.errors import InputError, printable
from tieaware.inputs import Reading, Run, RunSource, as_qrels, source_named, sources_at, warn_of_parts
from tieaware.inputs.files.text import label_in, number_in, whole_in
from tieaware.inputs.tables.delimited import read_matrix
from tieaware.measures import listed_measures, parse_measure
from tieaware.output.tables import FORMATS, Table, as_json, counted, in_markdown
from tieaware.results import Results
from tieaware.results.lookup import position_of_measure
from tieaware.runtime.progress import stage
from tieaware.ties import RULES

if TYPE_CHECKING:
    # Only some commands need the experiments, whose import takes as long as all other imports together.
    from tieaware.experiments.experiment import Experiment

Converted = TypeVar("Converted")

# Without --all, a terminal shows at most this many rows of a table.
_MOST_ROWS = 60
# The width at which sentences are wrapped if standard output is not a terminal.
_WIDTH = 100

_QRELS = "file of judgments; its columns are query, ignored, document, label; - reads standard input"
_RUN = (
    "run file; its columns are query, Q0, document, rank (ignored), score, tag; or a table (.parquet, .csv, .jsonl); "
    "- reads standard input; or a folder of run files; NAME=PATH names a run, and makes one run of a folder of parts"
)


class Option:
    """An option or a positional argument that several commands share: the arguments of `add_argument`."""

    def __init__(self, *names: str, **settings: Any) -> None:
        self.names: tuple[str, ...] = names
        self.settings: dict[str, Any] = settings


def add(command: argparse._ActionsContainer, *options: Option) -> None:
    """Add options to a command, in this order."""
    for option in options:
        command.add_argument(*option.names, **option.settings)


def add_measures(
    command: argparse.ArgumentParser,
    default: tuple[str, ...] = (),
    what: str = "measures to compute, such as nDCG@10 or 'nDCG@10 AP'; repeatable",
) -> None:
    """Add the option for measures. One value can name several measures, and the option can be repeated."""
    defaults = f" (default: {', '.join(default)})" if default else ""
    command.add_argument(
        "-m", "--measure", action="extend", type=listed_measures, metavar="MEASURE", help=f"{what}{defaults}"
    )


def one_measure(arguments: argparse.Namespace, default: tuple[str, ...], why: str) -> str:
    """Return the measure of a command that takes only one; if several are given, the error says why (`why`)."""
    measures: Sequence[str] = arguments.measure or default
    if len(measures) > 1:
        raise InputError("measure", f"expected a single measure, {why}, found {', '.join(measures)}")
    return measures[0]


def add_procedure(command: argparse._ActionsContainer, compared: str, tests: str) -> None:
    """Add the options for the baseline, the significance test and the correction, which default to None.

    Parameters
    ----------
    command : argparse.ArgumentParser or an argument group of it
    compared : str
        What the runs are compared with, without a baseline.
    tests : str
        The names of the tests.
    """
    add_baseline(command, compared)
    command.add_argument(
        "--test", metavar="TEST",
        help=f"paired test over the queries, where tukey is Tukey's HSD, and randomised-tukey the same by random "
        f"permutations: {tests} (default: t)",
    )  # fmt: skip
    add_correction(command, "holm, but none with Tukey's HSD, which needs no other")


def add_baseline(command: argparse._ActionsContainer, compared: str) -> None:
    """Add the option for the baseline; without it, runs are compared with what `compared` says."""
    command.add_argument("--baseline", metavar="RUN", help=f"compare each run only with this one (default: {compared})")


def add_correction(command: argparse._ActionsContainer, default: str, of: str = "") -> None:
    """Add the option for the correction of the tests that `of` names, if there are others; `default` is for readers."""
    command.add_argument(
        "--correction", metavar="C",
        help=f"correction for multiple comparisons{of}, where bh is Benjamini–Hochberg: holm, bh, bonferroni or none "
        f"(default: {default})",
    )  # fmt: skip


def add_ties(command: argparse.ArgumentParser, default: str = "average") -> None:
    """Add the option for the tie rule."""
    command.add_argument(
        "--ties", choices=RULES, default=default, metavar="RULE",
        help=f"how to order tied documents: {', '.join(RULES)} (%(default)s)",
    )  # fmt: skip


class Once(argparse.Action):
    """Stores the value of an option, as argparse does by default; but a second value is an error."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, option: str | None = None
    ) -> None:
        """Store the value. Positional arguments have no `option`."""
        # The value alone does not tell: an option may be given its default.
        given = vars(namespace).setdefault("given", set())
        if option is not None and self.dest in given:
            raise argparse.ArgumentError(self, "can be given only once")
        given.add(self.dest)
        setattr(namespace, self.dest, value)


class _Renamed(argparse.Action):
    """The old spelling of an option: an error in one line says what to write instead."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        parser.error(f"{self.option_strings[0]} has another name here: write {self.metavar}")


def renamed(old: str, new: str) -> Option:
    """Return the old spelling of an option, which the help does not show; `new` is what to write instead."""
    hidden = {"dest": argparse.SUPPRESS, "default": argparse.SUPPRESS, "help": argparse.SUPPRESS}
    return Option(old, action=_Renamed, nargs="?", metavar=new, **hidden)


def add_run_file(command: argparse.ArgumentParser, what: str) -> None:
    """Add the option for the run file that a command writes; `what` is the beginning of its help."""
    command.add_argument(
        "--run", dest="run_file", metavar="FILE", type=local_file,
        help=f"{what}: Parquet if its name ends in .parquet, compressed if in .gz, .bz2 or .xz",
    )  # fmt: skip


def run_text(run: Run, arguments: argparse.Namespace, done: str) -> str:
    """Return a run as text; with --run, write it to the file instead, and say so, and what was `done`."""
    if arguments.run_file is None:
        return run.to_trec()
    run.write(arguments.run_file)
    streams.say(f"wrote {arguments.run_file}: {done}")
    return ""


def add_output(command: argparse.ArgumentParser) -> None:
    """Add the options for the output of an experiment."""
    command.add_argument("--format", choices=FORMATS, default="text", help="output format (%(default)s)")
    command.add_argument("--all", action="store_true", help="print all tables in full, not only the main ones")
    command.add_argument("--plot", metavar="FILE", type=local_file, help="draw the main figure, as .png, .svg, .pdf …")
    command.add_argument(
        "--width", metavar="INCHES", type=real, help="width of --plot, such as 3.3 for a column of a paper"
    )
    command.add_argument(
        "--out", metavar="FOLDER", dest="folder", type=checked_folder,
        help="write report.html, all tables and all figures to a folder",
    )  # fmt: skip


def label(text: str) -> float:
    """Convert the text of a relevance label to an int if it is written as one, otherwise to a float."""
    return converted(label_in, "a number", text)


def real(text: str) -> float:
    """Convert the text of a number to a float."""
    return converted(number_in, "a number", text)


def whole(text: str) -> int:
    """Convert the text of a whole number to an int."""
    return converted(whole_in, "a whole number", text)


def converted(convert: Callable[[str], Converted], expected: str, text: str) -> Converted:
    """Convert the text of an option; the error, which argparse shows with the option, says what was expected."""
    try:
        return convert(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected {expected}, found {error}") from None


def local_file(text: str) -> str:
    """Check that a path of an output is not empty and not remote, and return it."""
    if text in ("", "-"):
        raise argparse.ArgumentTypeError(f"expected a file name, found {text!r}")
    return _checked(local_path, text)


def checked_folder(text: str) -> str:
    """Check that a path is not a file, and return it: an output folder is checked before the work begins."""
    return _checked(output_folder, local_file(text))


def _checked(check: Callable[[str, str], str], path: str) -> str:
    """Return the path of an output; if the check fails, raise the error by which argparse names the option."""
    try:
        return check("path", path)
    except InputError as error:
        raise argparse.ArgumentTypeError(error.problem) from None


# The options that several commands share, added by `add`.
QRELS: Option = Option("qrels", metavar="QRELS", help=_QRELS)
# How run files are read by trec_eval, which knows no tables.
READING_OF_TREC_EVAL: tuple[Option, ...] = (
    Option(
        "--score-dtype", choices=("float64", "float32"), default="float64",
        help="type of the scores: float32 as in trec_eval up to version 9, float64 as in version 10 (%(default)s)",
    ),
    Option(
        "--duplicates", choices=("error", "first"), default="error",
        help="what to do if a query has a document twice: report an error, or keep the first (%(default)s)",
    ),
)  # fmt: skip
# How run files and tables are read.
READING: tuple[Option, ...] = (
    *READING_OF_TREC_EVAL,
    Option(
        "--ids", choices=("typed", "text"), default="typed",
        help="text: compare ids as text, so that 7 in a table matches 7 in a text file; typed: numbers match only "
        "numbers (%(default)s)",
    ),
    *(
        Option(f"--{name}-column", metavar="NAME", help=f"name of the {what} column in the tables of runs")
        for name, what in (("query", "query"), ("doc", "document"), ("score", "score"))
    ),
)  # fmt: skip
_NAME = Option(
    "--name", metavar="NAME", action="append",
    help="all RUN files, and all files in RUN folders, are parts of one run, which gets this name",
)  # fmt: skip
RUNS: tuple[Option, ...] = (Option("runs", metavar="RUN", nargs="+", help=_RUN), _NAME, *READING)


class _Matrix(Once):
    """The option for a matrix of values, with which judgments and runs are not required."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *given: Any) -> None:
        super().__call__(parser, namespace, *given)
        # Optional positional arguments would be taken as absent if an option stands before them.
        for action in parser._get_positional_actions():
            action.required = False


# The input of an experiment: judgments and runs, or a matrix of values.
VALUES: tuple[Option, ...] = (
    QRELS,
    Option("runs", metavar="RUN", nargs="+", help=_RUN),
    Option(
        "--matrix", metavar="FILE", action=_Matrix,
        help="CSV file of values instead of QRELS and RUN: a column for each system, headed by its name, and a row for "
        "each topic",
    ),
    _NAME, *READING,
)  # fmt: skip
CONSISTENT_ONLY: Option = Option(
    "--consistent-only", action="store_true",
    help="leave out runs whose scores contradict the order of the file or its rank column",
)  # fmt: skip
THREADS: Option = Option("--threads", type=whole, metavar="N", help="number of threads (default: one per core)")


# The options that decide how runs are read, which stored values do not need.
OF_READING = "score_dtype", "duplicates", "ids", "query_column", "doc_column", "score_column", "name"


def run_files(arguments: argparse.Namespace, *others: str) -> list[RunSource]:
    """Return the runs as sources to read; raise InputError if they and the other files name standard input twice."""
    check_one_stdin(*others, *arguments.runs)
    for run in arguments.runs:
        if run.endswith(".npz"):
            raise InputError(_name_and_path(run)[1], "has values that were stored; scores of a run are required here")
        if arguments.runs.count(run) > 1:
            raise InputError("runs", f"each run must be given only once; {run} is given twice")
    columns = arguments.query_column, arguments.doc_column, arguments.score_column
    reading = Reading(arguments.score_dtype, arguments.duplicates, arguments.ids == "text", columns)
    if arguments.name:
        if len(arguments.name) > 1:
            problem = "--name can be given only once: it makes one run of all RUN files; write NAME=PATH for each run"
            raise InputError("", problem, argument="name")
        _check_unnamed(arguments.name[0], arguments.runs)
        return [_one_run(arguments.name[0], arguments.runs, reading)]
    sources: list[RunSource] = []
    unnamed: list[RunSource] = []
    named: dict[str, str] = {}
    for given in arguments.runs:
        name, path = _name_and_path(given)
        if name in named:
            parts = shlex.join([named[name], path])
            raise InputError("runs", f"two runs are named {name}; for parts of one run write --name {name} {parts}")
        if name:
            named[name] = path
            sources.append(_one_run(name, [path], reading))
        else:
            unnamed += (found := sources_at(path, reading))
            sources += found
    warn_of_parts(unnamed, "write NAME=FOLDER to evaluate the parts of a run as one")
    return sources


def stored_results(arguments: argparse.Namespace, *fixed: str) -> Results | None:
    """Return the results in the files or folders that eval --out stored, if these are given as runs; None otherwise.

    Raises InputError if the other runs are not stored, too; if the judgments were others; or if an option is given that
    would change the values: one of `fixed`.
    """
    given = [file for run in arguments.runs for file in sorted(glob.glob(f"{glob.escape(run)}/*.npz")) or [run]]
    stored, others = ([path for path in given if path.endswith(".npz") is is_npz] for is_npz in (True, False))
    if not stored:
        return None
    if others:
        raise InputError("runs", f"{stored[0]} has stored values and {others[0]} scores; give either values or scores")
    refuse_options(arguments, *fixed, *OF_READING, "consistent_only")
    # Import only here: most commands read no stored values, and start faster without these modules.
    from tieaware.results import storage
    from tieaware.results.checkpoints import check_judgments

    files = {path: storage.read_with_key(path) for path in stored}
    results = [Results(**fields) for fields, _ in files.values()]
    measures = {measure for each in results for measure in each.measures}
    judged = as_qrels(arguments.qrels, subtopics=any(each.definition.needs_subtopics for each in measures))
    for path, (_, key) in files.items():
        check_judgments(path, key, judged)
    return Results.concat([_of_measures(each, arguments.measure) for each in results])


def refuse_options(arguments: argparse.Namespace, *names: str) -> None:
    """Raise InputError if one of these options is given: stored values cannot be changed by it."""
    for name in names:
        if getattr(arguments, name) != arguments.parser.get_default(name):
            raise InputError("", f"--{name.replace('_', '-')} cannot change values that are stored", argument=name)


def _of_measures(results: Results, measures: Sequence[str] | None) -> Results:
    """Return stored results with some of their measures; with all of them by default."""
    if measures is None:
        return results
    try:
        at = [position_of_measure(results.measures, results.names, measure) for measure in measures]
    except KeyError as error:
        raise InputError("measure", error.args[0]) from None
    cubes: dict[str, Any] = {name: cube[:, :, at] for name, cube in results.cubes().items()}
    return replace(results, **cubes, measures=tuple(results.measures[i] for i in at), names=tuple(measures))


def _name_and_path(given: str) -> tuple[str, str]:
    """Divide NAME=PATH; return "" as the name of a path without a name, which may be of a file with such a name."""
    name, equals, path = given.partition("=")
    is_named = equals and name and path and not (os.path.exists(given) or glob.glob(given))
    return (name, path) if is_named else ("", given)


def _check_unnamed(name: str, runs: Sequence[str]) -> None:
    """Raise InputError if --name, which makes one run of all RUN arguments, is given with NAME=PATH."""
    own = next((given for given in runs if _name_and_path(given)[0]), None)
    if own is None:
        return
    others = shlex.join(f"{name}={given}" for given in runs if not _name_and_path(given)[0])
    instead = f", and write {others}" if others else ""
    problem = f"--name makes one run of all RUN arguments, but {own} names a run of its own: leave out --name{instead}"
    raise InputError("", problem, argument="name")


def _one_run(name: str, files: list[str], reading: Reading) -> RunSource:
    """Return the run whose parts are all files."""
    source: Any = source_named(name, files, reading)
    # A source of files is new, so that its name can be set.
    source.name = name
    return cast(RunSource, source)


def read_values(arguments: argparse.Namespace, measure: str) -> Results:
    """Read the matrix as Results; its values are those of `measure`."""
    if arguments.qrels is not None:
        problem = f"--matrix cannot be combined with QRELS and RUN, such as {arguments.qrels}"
        raise InputError("", problem, argument="matrix")
    if arguments.consistent_only:
        raise InputError("", "--matrix has no runs that could contradict themselves", argument="consistent_only")
    read = read_matrix(arguments.matrix)
    topics = tuple(str(i + 1) for i in range(read.values.shape[1]))
    return Results(read.values[:, :, None], read.systems, topics, (parse_measure(measure),))


def check_one_stdin(*paths: str) -> None:
    """Raise InputError if standard input is given twice."""
    if paths.count("-") > 1:
        raise InputError("-", f"standard input can be read only once, but is given {paths.count('-')} times")


# The version of the keys of JSON output, and the names of the tables that a command can make. Its JSON has all of these
# names. JSON of compare and gate has keys of its own.
_SCHEMA = 1
TABLES = {
    "curve": ("curves", "queries", "points", "named-points", "areas"),
    "fuse": ("fusion", "weights", "curves", "folds", "queries", "pairs", "verdicts", "wins"),
    "inexact": ("methods", "measures", "costs"),
    "overhead": ("overhead", "dense"),
    "precision": (
        "summary", "differences", "verdicts", "changed-verdicts", "runs", "limits", "tried", "pairs", "scales", "cuts",
    ),
    "smooth": ("smoothing", "smoothed", "orders"),
    "ties": ("ties", "cutoffs", "group-sizes", "rules", "orderings", "runs", "bias"),
    "worst-case": ("losses",),
}  # fmt: skip


def output(experiment: Experiment, arguments: argparse.Namespace, *data: str, decision: str = "") -> str:
    """Write the report and the figure if the options ask for them, and return the text to print.

    With --all, the text has all tables. Otherwise, it has the tables that answer the experiment's question; as CSV, the
    tables named in `data`, or the main table. `decision` is a sentence before the experiment's verdict.
    """
    if arguments.width is not None and arguments.plot is None:
        raise InputError("", "--width requires --plot", argument="width")
    verdict = f"{decision} {experiment.verdict()}".strip()
    with stage("tables"):
        tables, drawings = experiment.tables(), experiment.drawings()
    if arguments.folder is not None:
        from tieaware.experiments.report import on_page

        with stage("writing the report"):
            experiment.write(arguments.folder, shlex.join(["tieaware", *sys.argv[1:]]))
        report = os.path.join(arguments.folder, "report.html")
        drawn = on_page({name: os.path.getsize(os.path.join(arguments.folder, f"{name}.svg")) for name in drawings})
        forms = ".svg, .png" if len(drawn) == len(drawings) else f".svg, {len(drawn)} also .png"
        counts = f"{counted(len(tables), 'table')} (.csv) and {counted(len(drawings), 'figure')} ({forms})"
        streams.say(f"wrote {report}, and in the same folder {counts}")
    if arguments.plot is not None:
        next(iter(drawings.values())).of_width(arguments.width).save(arguments.plot)
        streams.say(f"wrote {arguments.plot}")
    in_csv, for_readers = data or [next(iter(tables))], arguments.format in ("text", "markdown")
    shown = tables if arguments.all else in_csv if arguments.format == "csv" else experiment.answers
    if arguments.format == "json":
        command = arguments.parser.prog.split()[-1]
        if command not in TABLES:
            return as_json(experiment.to_dict())
        return in_json(command, verdict, experiment.title, {name: tables[name] for name in shown})
    texts = [_formatted(tables[name], arguments.format, whole=arguments.all) for name in shown]
    if for_readers and verdict:
        texts.insert(0, f"{wrapped(verdict) if arguments.format == 'text' else in_markdown(verdict)}\n")
    others = [f"{name} ({counted(len(tables[name].rows), 'row')})" for name in tables if name not in shown]
    width = streams.width()
    if others and width is not None and arguments.format == "text":
        rest = "More tables, printed with --all, and written with --out FOLDER: "
        rest = f"{rest}{', '.join(others)}."
        texts.append(f"{textwrap.fill(rest, width)}\n")
    return "\n".join(texts)


def in_json(command: str, sentence: str, title: str, tables: Mapping[str, Table]) -> str:
    """Return the sentence, the title and the tables as JSON. A table of the command that is not shown is null."""
    made = {name: tables[name].as_dict() if name in tables else None for name in TABLES[command]}
    return as_json({"schema": _SCHEMA, "sentence": sentence, "title": title, "tables": made})


def _formatted(table: Table, form: str, *, whole: bool) -> str:
    """Format a table of an experiment; in Markdown, with its title and its notes."""
    if form != "markdown":
        return format_table(table, form, whole=whole)
    return f"**{in_markdown(table.title)}**\n\n{markdown_with_notes(table)}"


def markdown_with_notes(table: Table) -> str:
    """Format the table as Markdown, with its notes below."""
    return table.to_markdown() + "".join(f"\n{in_markdown(note)}\n" for note in table.notes)


def wrapped(text: str) -> str:
    """Wrap sentences to the width of the terminal, if there is one."""
    return textwrap.fill(printable(text), streams.width() or _WIDTH)


def format_table(table: Table, form: str = "text", *, whole: bool = True) -> str:
    """Format a table. Text for a terminal fits its width, and has a limited number of rows unless `whole` is set."""
    width = streams.width() if form == "text" else None
    if width is None:
        return FORMATS[form](table)
    return f"{table.fitted(width, None if whole else _MOST_ROWS, 'use --all, or --out FOLDER')}\n"

"""The command ``tieaware eval``: evaluation of runs, printed in trec_eval's three columns."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

from tieaware._evaluate import evaluate
from tieaware.checks.arguments import shown
from tieaware.commands import options
from tieaware.defaults import EVAL_MEASURES
from tieaware.errors import InputError, printable
from tieaware.inputs.files.text import number_in
from tieaware.inputs.runs.file_order import ORDERS
from tieaware.measures import DEFINITIONS, Measure, parse_measure, parse_measures
from tieaware.output.tables import Table
from tieaware.precision.coarsening import notations
from tieaware.results import export_of
from tieaware.results.exports import FORMATS, without_last_measure
from tieaware.results.lookup import position_to_sort_by
from tieaware.results.provenance import warning_of_unanswered


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "eval",
        help="evaluate runs",
        description="Evaluate runs against judgments, and print the values in trec_eval's three columns: measure, "
        "query, value.",
        epilog=f"Measures: {', '.join(DEFINITIONS)}. Parameters and cut-off are written as in 'AP(rel=2)@100'. Names "
        "of other tools are accepted too, in any case: trec_eval's ndcg_cut_10, ndcg@10, ndcg_at_10, mrr, hit_rate@5.",
    )
    options.add(command, options.QRELS, *options.RUNS)
    options.add_measures(command)
    command.add_argument("-q", "--per-query", action="store_true", help="print the values of each query too")
    options.add_ties(command)
    command.add_argument(
        "--spread", action="store_true",
        help="add the standard deviation, minimum and maximum over the orders of tied documents",
    )  # fmt: skip
    command.add_argument(
        "--chance", action="store_true",
        help="add what a random order of each list earns: its mean, its standard deviation, and the value of the best "
        "order",
    )  # fmt: skip
    command.add_argument("--precision", metavar="P", help=f"reduce the precision of the scores first: {notations()}")
    output = command.add_mutually_exclusive_group()
    output.add_argument("--format", choices=FORMATS, default="text", help="output format (%(default)s)")
    output.add_argument(
        "--table", choices=_TABLES, metavar="FORMAT",
        help=f"print a table of runs × measures instead, as {', '.join(_TABLES)}; the best values are bold, and "
        "letters or daggers mark significant differences",
    )  # fmt: skip
    # Without this option, a warning also says how many judged queries the runs lack.
    command.add_argument(
        "--queries", choices=("judged", "both"),
        help="average over all judged queries, with 0 for queries that the run lacks (trec_eval -c), or only over "
        "queries that are judged and in the run (trec_eval without -c) (default: judged)",
    )  # fmt: skip
    command.add_argument(
        "--order", choices=ORDERS, default="score",
        help="order documents by score, or as in the file, which ignores scores (%(default)s)",
    )  # fmt: skip
    options.add(command, options.CONSISTENT_ONLY)
    command.add_argument(
        "--exclude", metavar="FILE",
        help="documents that are not ranked for a query, in any form of judgments; same-id: the document with the id "
        "of the query",
    )  # fmt: skip
    command.add_argument(
        "--undefined", type=_undefined, default=0.0, metavar="VALUE",
        help="value of a query without a relevant judged document; nan excludes such queries from means (default: 0)",
    )  # fmt: skip
    command.add_argument("--digits", type=_digits, metavar="N", help="number of decimals (default: 4, or 3 in a table)")
    _add_table_options(command)
    command.add_argument(
        "--weights", metavar="COUNT",
        help="weight the queries in means by a count: R by NumRel, and P by NumRet, give micro-averages",
    )  # fmt: skip
    options.add(command, options.THREADS)
    command.add_argument(
        "--out", metavar="FOLDER", type=options.checked_folder,
        help="save the results of each run in a folder, and reuse the results that are already saved there",
    )  # fmt: skip
    command.add_argument(
        "--values", metavar="FILE", type=_values_file,
        help="write the values of each query to a file: a row for each run and query if it ends in .parquet, or .npz",
    )  # fmt: skip
    command.set_defaults(run=_run)


def _add_table_options(command: argparse.ArgumentParser) -> None:
    """Add the options of --table. They default to None, so that `Results.table` applies its own defaults."""
    of_table = command.add_argument_group("options for --table")
    options.add_procedure(
        of_table, "all with each other; with more than ten runs, the best",
        "t, wilcoxon, sign, permutation, tukey, randomised-tukey or none",
    )  # fmt: skip
    of_table.add_argument("--alpha", type=options.real, metavar="A", help="significance level (default: 0.05)")
    of_table.add_argument(
        "--beside", choices=("std", "range", "interval"),
        help="show beside each mean the effect of ties, ± standard deviation or [minimum, maximum]; or its interval "
        "over queries",
    )  # fmt: skip
    of_table.add_argument(
        "--keep", metavar="S",
        help="with --baseline, say which runs keep this share of its mean, such as 99%%",
    )  # fmt: skip
    of_table.add_argument(
        "--tolerance", type=options.real, metavar="T", help="the same for all of its mean up to this loss, such as 0.01"
    )
    of_table.add_argument(
        "--groups", action="store_const", const=True,
        help="compare all runs with each other, with letters for groups: runs that share a letter are not separated",
    )  # fmt: skip
    of_table.add_argument(
        "--sort", metavar="MEASURE", help="sort the runs by this measure, the best first (default: as they are given)"
    )
    of_table.add_argument(
        "--caption", metavar="TEX",
        help="caption of the LaTeX table (default: a sentence with the measures, the tie rule and the test)",
    )  # fmt: skip
    of_table.add_argument(
        "--label", metavar="TEX",
        help="label of the LaTeX table (default: made of the measures, the number of queries, and other options)",
    )  # fmt: skip


# The options that decide the values, which stored values already have.
_OF_VALUES = "ties", "spread", "chance", "precision", "queries", "order", "undefined", "out", "weights", "exclude"


def _digits(text: str) -> int:
    if not 0 <= (digits := options.whole(text)) <= 17:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to 17, found {shown(text)}")
    return digits


def _values_file(text: str) -> str:
    if not text.endswith((".parquet", ".npz")):
        raise argparse.ArgumentTypeError(f"expected a file that ends in .parquet or .npz, found {shown(text)}")
    return options.local_file(text)


def _undefined(text: str) -> float:
    return options.converted(number_in, "a number or nan", text)


def _run(arguments: argparse.Namespace) -> str:
    table_arguments, weights = _table_arguments(arguments), _weights(arguments)
    measures: list[str | Measure] = [*(arguments.measure or EVAL_MEASURES)]
    # The weights are evaluated too, but shown only if the user names them.
    is_hidden = weights is not None and weights not in parse_measures(measures)
    if weights is not None and is_hidden:
        measures.append(weights)
    results = options.stored_results(arguments, *_OF_VALUES) or evaluate(
        arguments.qrels, options.run_files(arguments, arguments.qrels), measures,
        ties=arguments.ties, precision=arguments.precision, threads=arguments.threads,
        queries=arguments.queries or "judged",
        spread=arguments.spread or table_arguments.get("spread") in ("std", "range"),
        out=arguments.out, undefined=arguments.undefined, order=arguments.order,
        consistent_only=arguments.consistent_only, chance=arguments.chance, exclude=arguments.exclude,
    )  # fmt: skip
    if arguments.values is not None:
        results.save(arguments.values)
    if arguments.table is not None:
        table = results.table(**table_arguments, sort=arguments.sort)
        if arguments.table == "latex":
            return table.to_latex(caption=arguments.caption, label=arguments.label)
        return _TABLES[arguments.table](table)
    if arguments.format == "text" and arguments.queries is None and results.unanswered:
        line = warning_of_unanswered(results.unanswered, len(results.queries), "--queries both")
        warnings.warn(printable(line), UserWarning, stacklevel=2)
    header = {"header": arguments.measure is None} if arguments.format == "text" else {}
    digits = 4 if arguments.digits is None else arguments.digits
    export = export_of(results, weights)
    shown_export = without_last_measure(export) if is_hidden else export
    return FORMATS[arguments.format](shown_export, per_query=arguments.per_query, digits=digits, **header)


def _weights(arguments: argparse.Namespace) -> Measure | None:
    """Return the count that weights the queries; None if all have the same weight."""
    if arguments.weights is None:
        return None
    if arguments.table is not None:
        problem = "--weights cannot be combined with --table: its tests compare means in which queries count the same"
        raise InputError("", problem, argument="weights")
    try:
        measure = parse_measure(arguments.weights)
    except InputError:
        measure = None
    if measure is None or not measure.definition.is_count:
        problem = f"--weights must be a count, such as NumRel or NumRet; {shown(arguments.weights)} is not"
        raise InputError("", problem, argument="weights")
    return measure


def _table_arguments(arguments: argparse.Namespace) -> dict[str, Any]:
    """Check the options of --table before any file is read, and return the arguments of `Results.table`."""
    names_of_options = ("baseline", "test", "correction", "alpha", "beside", "groups", "keep", "tolerance", "sort")
    given = {name: getattr(arguments, name) for name in names_of_options}
    given = {name: value for name, value in given.items() if value is not None}
    for option in ("caption", "label"):
        if getattr(arguments, option) is not None and arguments.table != "latex":
            raise InputError("", f"--{option} requires --table latex", argument=option)
    if arguments.table is None:
        if given:
            option = next(iter(given))
            raise InputError("", f"--{option} requires --table", argument=option)
        return {}
    if arguments.chance:
        raise InputError("", "--chance cannot be combined with --table, which has no columns of it", argument="chance")
    if arguments.per_query:
        raise InputError("", "--table cannot be combined with -q: a table shows means only", argument="table")
    # Import only here: this loads the statistics, which the other formats do not need.
    from tieaware.results.paper_table import Design

    given.pop("sort", None)
    if arguments.sort is not None:
        names = arguments.measure or EVAL_MEASURES
        position_to_sort_by(parse_measures(names), names, arguments.sort)
    spread = given.pop("beside", "std" if arguments.spread else None)
    digits = {} if arguments.digits is None else {"digits": arguments.digits}
    return Design(**given, **digits, spread=spread).checked()._asdict()


_TABLES: dict[str, Callable[[Table], str]] = {
    "markdown": options.markdown_with_notes, "latex": Table.to_latex, "html": Table.to_html,
    "text": options.format_table,
}  # fmt: skip

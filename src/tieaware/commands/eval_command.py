"""``tieaware eval``: runs against judgments, in trec_eval's three columns."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from tieaware._evaluate import evaluate
from tieaware.checks.arguments import shown
from tieaware.commands import options
from tieaware.defaults import EVAL_MEASURES
from tieaware.errors import InputError
from tieaware.measures import DEFINITIONS
from tieaware.output.tables import Table
from tieaware.results import export_of
from tieaware.results.formats import FORMATS


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "eval",
        help="evaluate runs against judgments",
        description="Evaluate runs against judgments, and print trec_eval's three columns.",
        epilog=f"Measures: {', '.join(DEFINITIONS)}; with parameters and cut-off as in 'AP(rel=2)@100'. "
        "trec_eval's names serve too: map, ndcg_cut_10, recip_rank, P_10, recall_1000.",
    )
    options.add_qrels(command)
    options.add_runs(command)
    options.add_measures(command)
    command.add_argument("-q", "--per-query", action="store_true", help="print the values of each query too")
    options.add_ties(command)
    command.add_argument(
        "--spread", action="store_true", help="add standard deviation, minimum and maximum over the orders of ties"
    )
    command.add_argument(
        "--precision", metavar="P",
        help="coarsen the scores first: bands:RHO, decimals:N, significant:N, float32, float16, bfloat16, levels:N",
    )  # fmt: skip
    output = command.add_mutually_exclusive_group()
    output.add_argument("--format", choices=FORMATS, default="text", help="the output (%(default)s)")
    output.add_argument(
        "--table", choices=_TABLES, metavar="FORMAT",
        help=f"instead: runs × measures, the best in bold, with letters for the runs that a run beats significantly: "
        f"{', '.join(_TABLES)}",
    )  # fmt: skip
    options.add_queries(command)
    command.add_argument("--digits", type=_digits, metavar="N", help="decimals of a value (4, in a table 3)")
    _add_testing(command)
    options.add_threads(command)
    command.add_argument(
        "--out", metavar="FOLDER", type=options.folder,
        help="keep what each run comes to in a file there; runs that were finished before are taken from it",
    )  # fmt: skip
    command.set_defaults(run=_run)


def _add_testing(command: argparse.ArgumentParser) -> None:
    """Add what --table goes by; None where nothing was said, as the defaults stand in Results.table."""
    of_table = command.add_argument_group("of a table")
    of_table.add_argument("--baseline", metavar="RUN", help="compare runs with this one alone (all with each other)")
    of_table.add_argument("--test", metavar="TEST", help="t, wilcoxon, sign, permutation or none (t)")
    of_table.add_argument("--correction", metavar="C", help="for the number of pairs: holm or none (holm)")
    of_table.add_argument("--alpha", type=float, metavar="A", help="the level of the test (0.05)")
    of_table.add_argument(
        "--beside", choices=("std", "range"),
        help="put beside a mean what ties leave open of it: ± standard deviation, or [least, largest]",
    )  # fmt: skip


def _digits(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) <= 17:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to 17, found {shown(text)}")
    return int(text)


def _run(arguments: argparse.Namespace) -> str:
    design = _design(arguments)
    results = evaluate(
        arguments.qrels, options.run_files(arguments, arguments.qrels), arguments.measure or EVAL_MEASURES,
        ties=arguments.ties, precision=arguments.precision, threads=arguments.threads, queries=arguments.queries,
        spread=arguments.spread or design.get("spread") is not None, out=arguments.out,
    )  # fmt: skip
    if arguments.table is not None:
        return _TABLES[arguments.table](results.table(**design))
    header = {"header": arguments.measure is None} if arguments.format == "text" else {}
    digits = 4 if arguments.digits is None else arguments.digits
    return FORMATS[arguments.format](export_of(results), per_query=arguments.per_query, digits=digits, **header)


def _design(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what Results.table takes, before anything is read; nothing without a table."""
    said = {name: getattr(arguments, name) for name in ("baseline", "test", "correction", "alpha", "beside")}
    said = {name: value for name, value in said.items() if value is not None}
    if arguments.table is None:
        if said:
            option = next(iter(said))
            raise InputError("", f"--{option} requires --table", argument=option)
        return {}
    if arguments.per_query:
        raise InputError("", "--table cannot be combined with -q: a table shows means only", argument="table")
    # Brings in the statistics, which the other formats do without.
    from tieaware.results.paper_table import Design

    spread = said.pop("beside", "std" if arguments.spread else None)
    digits = {} if arguments.digits is None else {"digits": arguments.digits}
    return Design(**said, **digits, spread=spread).checked()._asdict()


def _markdown(table: Table) -> str:
    """Return the table, with its notes below."""
    return table.to_markdown() + "".join(f"\n{note}\n" for note in table.notes)


_TABLES: dict[str, Callable[[Table], str]] = {
    "markdown": _markdown, "latex": Table.to_latex, "html": Table.to_html, "text": options.text,
}  # fmt: skip

"""``tieaware eval``: runs against judgments, in trec_eval's three columns."""

from __future__ import annotations

import argparse

from tieaware._evaluate import evaluate
from tieaware.commands import options
from tieaware.defaults import EVAL_MEASURES
from tieaware.formats import FORMATS
from tieaware.measures import DEFINITIONS
from tieaware.ties import RULES


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
    command.add_argument("--ties", choices=RULES, default="average", help="the order of tied documents (%(default)s)")
    command.add_argument(
        "--spread", action="store_true", help="add standard deviation, minimum and maximum over the orders of ties"
    )
    command.add_argument(
        "--precision", metavar="P",
        help="coarsen the scores first: bands:RHO, decimals:N, significant:N, float32, float16, bfloat16, levels:N",
    )  # fmt: skip
    command.add_argument("--format", choices=FORMATS, default="text", help="the output (%(default)s)")
    options.add_queries(command)
    command.add_argument("--digits", type=_digits, default=4, metavar="N", help="decimals of a value (%(default)s)")
    options.add_threads(command)
    command.set_defaults(run=_run)


def _digits(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) <= 17:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a whole number from 0 to 17")
    return int(text)


def _run(arguments: argparse.Namespace) -> str:
    results = evaluate(
        arguments.qrels, options.run_files(arguments, arguments.qrels), arguments.measure or EVAL_MEASURES,
        ties=arguments.ties, precision=arguments.precision, spread=arguments.spread, queries=arguments.queries,
        threads=arguments.threads,
    )  # fmt: skip
    header = {"header": arguments.measure is None} if arguments.format == "text" else {}
    return FORMATS[arguments.format](results, per_query=arguments.per_query, digits=arguments.digits, **header)

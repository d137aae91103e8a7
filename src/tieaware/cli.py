"""The command line: ``tieaware eval`` and ``tieaware demo``."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from tieaware import __version__
from tieaware.errors import InputError
from tieaware.evaluate import evaluate
from tieaware.formats import FORMATS
from tieaware.inputs import RunFile
from tieaware.measures import DEFINITIONS
from tieaware.ties import RULES

# What trec_eval prints when it is asked for nothing, as far as the measures exist.
DEFAULT_MEASURES = (
    "num_ret", "num_rel", "num_rel_ret", "map", "Rprec", "recip_rank", "ndcg", "ndcg_cut_10",
    "P_5", "P_10", "P_15", "P_20", "P_30", "P_100", "P_200", "P_500", "P_1000",
)  # fmt: skip


WORST_CASE_MEASURES = (
    "RR", "RBP(p=0.5)", "RBP(p=0.6)", "RBP(p=0.8)", "RBP(p=0.85)", "RBP(p=0.95)", "AP", "nDCG@1000", "P@10",
)  # fmt: skip


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="tieaware", description="Evaluate rankings whose scores tie: exactly, whatever order the ties came in."
    )
    parser.add_argument("--version", action="version", version=f"tieaware {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    command = commands.add_parser(
        "eval",
        help="evaluate runs against judgments",
        description="Evaluate runs against judgments, and print trec_eval's three columns.",
        epilog=f"Measures: {', '.join(DEFINITIONS)}; with parameters and cut-off as in 'AP(rel=2)@100'. "
        "trec_eval's names serve too: map, ndcg_cut_10, recip_rank, P_10, recall_1000.",
    )
    command.add_argument("qrels", metavar="QRELS", help="the judgments: query, ignored, document, label; - is stdin")
    command.add_argument(
        "runs", metavar="RUN", nargs="+", help="a run: query, Q0, document, rank (ignored), score, tag; - is stdin"
    )
    command.add_argument("-m", "--measure", action="append", metavar="MEASURE", help="such as nDCG@10; repeatable")
    command.add_argument("-q", "--per-query", action="store_true", help="print the values of each query too")
    command.add_argument("--ties", choices=RULES, default="average", help="the order of tied documents (%(default)s)")
    command.add_argument(
        "--precision", metavar="P",
        help="coarsen the scores first: bands:RHO, decimals:N, significant:N, float32, float16, bfloat16, levels:N",
    )  # fmt: skip
    command.add_argument("--format", choices=FORMATS, default="text", help="the output (%(default)s)")
    command.add_argument(
        "--queries", choices=("judged", "both"), default="judged",
        help="average over every judged query, 0 where the run is silent (trec_eval -c), or over those that the run "
        "answers, as trec_eval does without -c (%(default)s)",
    )  # fmt: skip
    command.add_argument("--digits", type=_digits, default=4, metavar="N", help="decimals of a value (%(default)s)")
    command.add_argument(
        "--score-dtype", choices=("float64", "float32"), default="float64",
        help="how precisely scores are read: float32 as trec_eval up to 9, float64 as 10 (%(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--duplicates", choices=("error", "first"), default="error",
        help="what to do with a document that comes twice for a query: stop, or keep the first (%(default)s)",
    )  # fmt: skip
    command.add_argument("--threads", type=int, metavar="N", help="how many threads to use (one per core)")
    command.set_defaults(run=_eval)

    command = commands.add_parser(
        "worst-case",
        help="print how far banding can move a measure",
        description="Print the exact bounds of what averaging over bands can do to a measure.",
        epilog="Measures: RR, RBP(p=…), AP, nDCG, nDCG@k, P@k, R@k.",
    )
    command.add_argument("-m", "--measure", action="append", metavar="MEASURE", help="such as AP or P@10; repeatable")
    command.add_argument("--rho", action="append", metavar="R", help="the growth of the bands; repeatable (1.1 … 2.0)")
    command.add_argument("--depth", type=int, default=1000, metavar="N", help="the number of ranks (%(default)s)")
    command.add_argument("--gain", action="store_true", help="the gains over the ranking as well as the losses")
    command.add_argument("--format", choices=("text", "csv", "markdown"), default="text", help="(%(default)s)")
    command.set_defaults(run=_worst_case)

    command = commands.add_parser("demo", help="evaluate the embedded sample, to see why ties matter")
    command.set_defaults(run=_demo)
    return parser


def _digits(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) <= 17:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a whole number from 0 to 17")
    return int(text)


def _eval(arguments: argparse.Namespace) -> str:
    names = arguments.measure or DEFAULT_MEASURES
    if [arguments.qrels, *arguments.runs].count("-") > 1:
        raise InputError("-: standard input can be read once, found it several times")
    runs = [RunFile(path, arguments.score_dtype, arguments.duplicates) for path in arguments.runs]
    results = evaluate(
        arguments.qrels, runs, names, ties=arguments.ties, precision=arguments.precision,
        queries=arguments.queries, threads=arguments.threads,
    )  # fmt: skip
    options = {"header": arguments.measure is None} if arguments.format == "text" else {}
    return FORMATS[arguments.format](
        results, names, per_query=arguments.per_query, digits=arguments.digits, **options
    )


def _worst_case(arguments: argparse.Namespace) -> str:
    from tieaware.worst_case import table

    rhos = arguments.rho or [f"{1 + i / 10:.1f}" for i in range(1, 11)]
    measures = arguments.measure or WORST_CASE_MEASURES
    bounds = table(measures, rhos, arguments.depth, gain=arguments.gain)
    return {"text": lambda: f"{bounds}\n", "csv": bounds.csv, "markdown": bounds.to_markdown}[arguments.format]()


def _demo(arguments: argparse.Namespace) -> str:
    from tieaware.demo import demo

    return demo()


def _show_warning(message: Warning | str, *_: Any) -> None:
    sys.stderr.write(f"warning: {message}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, or 2 after a one-line error."""
    arguments = _parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            output = arguments.run(arguments)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return _write(output)


def _write(output: str) -> int:
    """Write all of the output, in UTF-8 and with the bytes of the identifiers as they were."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(output.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader has seen enough, as in `tieaware eval … | head`; Python's own flush at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())

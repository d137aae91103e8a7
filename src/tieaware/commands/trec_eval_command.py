"""The command ``tieaware trec_eval``: a replacement of trec_eval with its options and output."""

from __future__ import annotations

import argparse

from tieaware.checks.arguments import one_of, shown
from tieaware.commands import options
from tieaware.errors import InputError
from tieaware.inputs import read_qrels
from tieaware.inputs.runs.streamed import read_run_of_trec_eval
from tieaware.trec_eval import MEASURES, NICKNAMES, Evaluated, Line, evaluate_lines, lines, requests


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "trec_eval",
        help="evaluate a run with the options and output of trec_eval",
        description="Evaluate a run with the options, the output and the order of ties of trec_eval 10.",
        epilog=f"Measures: {', '.join(MEASURES)}; names of several measures: {', '.join(NICKNAMES)}.",
    )
    # As in trec_eval, the last value of an option that is repeated counts.
    command.register("action", None, argparse._StoreAction)
    options.add(command, options.QRELS)
    command.add_argument(
        "run_file", metavar="RUN", help="run file; its columns are query, Q0, document, rank (ignored), score, tag"
    )
    command.add_argument("-q", "--query_eval_wanted", action="store_true", help="print the values of each query too")
    command.add_argument("-n", "--nosummary", action="store_true", help="do not print the summary over all queries")
    command.add_argument(
        "-c", "--complete_rel_info_wanted", action="store_true",
        help="average over all judged queries, with 0 for queries that the run lacks",
    )  # fmt: skip
    command.add_argument(
        "-J", "--Judged_docs_only", action="store_true", help="remove unjudged documents from the run first"
    )
    command.add_argument(
        "-l", "--level_for_rel", dest="rel", type=options.whole, default=1, metavar="N",
        help="smallest relevant label (%(default)s)",
    )  # fmt: skip
    command.add_argument(
        "-M", "--Max_retrieved_per_topic", type=_positive, metavar="N",
        help="use only the first N documents of each query",
    )  # fmt: skip
    command.add_argument(
        "-N", "--Number_docs_in_coll", type=options.whole, default=0, metavar="N",
        help="number of documents in the collection, for the measure utility",
    )  # fmt: skip
    command.add_argument(
        "-m", "--measure", action="append", metavar="MEASURE",
        help="measures, such as map, P.5,10, ndcg_cut or all_trec; repeatable (default: official)",
    )  # fmt: skip
    command.add_argument(
        "-R", "--Rel_info_format", default="qrels", metavar="FORMAT", help="format of QRELS; only qrels is supported"
    )
    command.add_argument(
        "-T", "--Results_format", default="trec_results", metavar="FORMAT",
        help="format of RUN; only trec_results is supported",
    )  # fmt: skip
    options.add_ties(command, "trec_eval")
    options.add(command, *options.READING_OF_TREC_EVAL)
    command.set_defaults(run=_run)


def _positive(text: str) -> int:
    if (number := options.whole(text)) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {shown(text)}")
    return number


def _run(arguments: argparse.Namespace) -> str:
    one_of("Rel_info_format", arguments.Rel_info_format, ("qrels",))
    one_of("Results_format", arguments.Results_format, ("trec_results",))
    level = arguments.rel
    wanted = lines(requests(arguments.measure or ["official"]), level=level, n_collection=arguments.Number_docs_in_coll)
    options.check_one_stdin(arguments.qrels, arguments.run_file)
    qrels = read_qrels(arguments.qrels)
    if qrels.grades is not None:
        problem = "has labels that are not whole numbers, which trec_eval does not read; use tieaware eval"
        raise InputError(qrels.name, problem)
    run = read_run_of_trec_eval(arguments.run_file, arguments.score_dtype, arguments.duplicates)
    evaluated = evaluate_lines(
        qrels, run, wanted, ties=arguments.ties, level=level, complete=arguments.complete_rel_info_wanted,
        judged_only=arguments.Judged_docs_only, deepest=arguments.Max_retrieved_per_topic,
    )  # fmt: skip
    printed = _query_lines(evaluated) if arguments.query_eval_wanted else []
    if not arguments.nosummary:
        printed += _summary_lines(evaluated, run.tag or run.name)
    return "".join(printed)


def _query_lines(evaluated: Evaluated) -> list[str]:
    """Return the output lines of all queries, with the queries sorted by the bytes of their names as in trec_eval."""
    order = sorted(range(len(evaluated.queries)), key=lambda q: evaluated.queries[q].encode("utf-8", "surrogateescape"))
    printed = []
    for q in order:
        for i, line in enumerate(evaluated.lines):
            if line.of_queries:
                texts = evaluated.texts.get(i)
                value = f"'{texts[q]}'" if texts is not None else _formatted(line, evaluated.values[q, i])
                printed.append(f"{line.name:<22}\t{evaluated.queries[q]}\t{value}\n")
    return printed


def _summary_lines(evaluated: Evaluated, tag: str) -> list[str]:
    """Return the output lines of the summary over all queries."""
    summary = evaluated.summary()
    return [
        f"{line.name:<22}\tall\t{tag if line.is_tag else _formatted(line, summary[i])}\n"
        for i, line in enumerate(evaluated.lines)
        if line.of_all
    ]


def _formatted(line: Line, value: float) -> str:
    return f"{value:.0f}" if line.is_count else f"{value:6.4f}"

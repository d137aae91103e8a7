"""The command ``tieaware search``: the run of a retrieval method on an index."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tieaware.commands import options, retrieval_options, streams
from tieaware.errors import InputError
from tieaware.inputs.files.paths import source_name
from tieaware.inputs.trec.writer import check_ending
from tieaware.output.tables import Cell, Table, counted
from tieaware.runtime.progress import stage

if TYPE_CHECKING:
    from tieaware.retrieval import Costs, Method


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "search",
        help="search an index, exactly or by a method that saves work, and write a run",
        description="Search an index that tieaware index wrote, and print the run in TREC format. Its tag is the name "
        "of the method. tieaware eval evaluates the run.",
    )
    command.add_argument("index", metavar="INDEX", help="file that tieaware index or Index.save wrote")
    command.add_argument(
        "queries", metavar="QUERIES", nargs="?", help="file of topics; - reads standard input; or use --query"
    )
    command.add_argument(
        "--query", action="append", metavar="WORDS",
        help="words to search for, instead of a file of topics; repeatable: the queries are called 1, 2, …",
    )  # fmt: skip
    retrieval_options.add_format(command, "the topics")
    retrieval_options.add_topic_parts(command)
    retrieval_options.add_filters(command)
    command.add_argument(
        "--method", action="append", metavar="METHOD",
        help="search method, such as 'Champions(r=100)' (default: Exact())",
    )  # fmt: skip
    retrieval_options.add_weighting(command)
    command.add_argument(
        "--whole-ties", action="store_true",
        help="if documents tie at rank K, write all of them, not only those that come first in the index",
    )  # fmt: skip
    options.add_threads(command)
    command.add_argument(
        "--counts", action="store_true",
        help="print how many postings each query reads, how many documents it scores, and how many scores it compares, "
        "to standard error",
    )  # fmt: skip
    command.add_argument(
        "--out", metavar="RUN", type=options.local_file,
        help="write a file instead: Parquet if its name ends in .parquet, compressed if in .gz, .bz2 or .xz",
    )  # fmt: skip
    command.set_defaults(run=_run, epilog_of=retrieval_options.method_epilog)


def _run(arguments: argparse.Namespace) -> str:
    if (arguments.queries is None) == (arguments.query is None):
        raise InputError("", "either QUERIES or --query WORDS is required", argument="queries")
    if arguments.out is not None:
        retrieval_options.check_output(arguments.out, arguments.index, arguments.queries)
        if not arguments.out.endswith(".parquet"):
            check_ending(arguments.out)
    method, *others = retrieval_options.methods(arguments.method or ["Exact()"], arguments)
    if others:
        problem = "--method can be given only once: a run is made by one method; tieaware inexact compares several"
        raise InputError("", problem, argument="method")
    queries: Mapping[str, Any] = _queries(arguments)
    index = retrieval_options.loaded_index(arguments.index)
    try:
        with stage("searching"):
            if arguments.filters:
                queries = retrieval_options.parsed(index, queries, arguments.queries or "--query")
            run, costs = method.counted(
                index, queries, arguments.k, whole_ties=arguments.whole_ties, threads=arguments.threads
            )
    except InputError as error:
        raise _reworded(error, method, arguments) from None
    if arguments.counts:
        for line in str(_table(costs, list(queries))).splitlines():
            streams.say(line)
    n_without = sum(a == b for a, b in pairwise(run.offsets.tolist()))
    if n_without:
        streams.say(f"no document was found for {counted(n_without, 'query', 'queries')} of {len(queries)}")
    if arguments.out is None:
        return run.to_trec()
    run.write(arguments.out)
    streams.say(f"wrote {arguments.out}")
    return ""


def _reworded(error: InputError, method: Method, arguments: argparse.Namespace) -> InputError:
    """Return an error of a search for users of the command: it names the file of the index, or the option."""
    if error.where == "index":
        # The index lacks something that the method needs.
        return InputError(source_name(arguments.index), f"{error.problem} (see tieaware index --help)")
    if error.where in {each.name for each in fields(method)}:
        return error.at(f"{error.where} of {method}", "method")
    return error


def _queries(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the queries by id."""
    if arguments.queries is not None:
        return retrieval_options.topics_at(arguments.queries, arguments)
    for option in ("parts", "collection_format"):
        if getattr(arguments, option) is not None:
            raise InputError("", "--query has words, not a file of topics with a format and parts", argument=option)
    return {str(i): words for i, words in enumerate(arguments.query, 1)}


def _table(costs: Costs, queries: list[str]) -> Table:
    """Return the work for each query, and for all queries together."""
    columns = costs.postings, costs.documents, costs.comparisons
    rows: list[tuple[Cell, ...]] = [*zip(queries, *(each.tolist() for each in columns), strict=True)]
    rows.append(("all", *(int(each.sum()) for each in columns)))
    names = ("query", "postings read", "documents scored", "scores compared")
    return Table("Work of the search", names, rows)

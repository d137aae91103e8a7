"""The commands ``tieaware index``, ``tieaware search`` and ``tieaware inexact``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tieaware.commands import options, retrieval_options, streams
from tieaware.defaults import INEXACT_MEASURES, INEXACT_METHODS
from tieaware.errors import InputError
from tieaware.inputs.files.paths import source_name
from tieaware.inputs.trec.writer import check_ending
from tieaware.output.tables import Cell, Table, counted
from tieaware.runtime.progress import stage

if TYPE_CHECKING:
    from tieaware.retrieval import Costs, Index, Method


def add_index(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `tieaware index`."""
    command = commands.add_parser(
        "index",
        help="index documents, so that tieaware search can search them",
        description="Build an index of texts and write it to a file, which tieaware search and tieaware inexact read. "
        "Documents come from files and folders in the formats of test collections, plain or compressed. The file "
        "appears when it is complete.",
    )
    command.add_argument(
        "documents", metavar="DOCUMENTS", nargs="+",
        help="file of documents, or folder of such files, with its subfolders; - reads standard input",
    )  # fmt: skip
    command.add_argument(
        "--save", metavar="INDEX", required=True, type=options.local_file,
        help="file to write; it is replaced if it exists",
    )  # fmt: skip
    options.add(command, options.renamed("--out", "--save INDEX"))
    retrieval_options.add_format(command, "the documents")
    options.add(command, *retrieval_options.BUILDING)
    command.add_argument(
        "--no-zones", action="store_true",
        help="do not index title and body separately, which only WeightedZones needs: a smaller index",
    )  # fmt: skip
    command.add_argument(
        "--no-positions", action="store_true",
        help="do not store the positions of words, which only proximity and phrases need: a smaller index",
    )  # fmt: skip
    command.set_defaults(run=_index)


def _index(arguments: argparse.Namespace) -> str:
    options.check_one_stdin(*arguments.documents, arguments.quality or "")
    retrieval_options.check_output("save", arguments.save, *arguments.documents, arguments.quality)
    index = retrieval_options.built_index(
        arguments.documents, arguments, zones=not arguments.no_zones, positions=not arguments.no_positions
    )
    with stage("writing"):
        index.save(arguments.save)
    numbers = {"document": len(index), "term": len(index.terms), "posting": len(index.postings)}
    streams.say(f"wrote {arguments.save}: {', '.join(counted(n, what) for what, n in numbers.items())}")
    return ""


def add_search(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `tieaware search`."""
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
    options.add(command, *retrieval_options.TOPICS)
    command.add_argument(
        "--method", action="append", metavar="METHOD",
        help="search method, such as 'Champions(r=100)' (default: Exact())",
    )  # fmt: skip
    options.add(command, *retrieval_options.SEARCH)
    command.add_argument(
        "--whole-ties", action="store_true",
        help="if documents tie at rank K, write all of them, not only those that come first in the index",
    )  # fmt: skip
    options.add(command, options.THREADS)
    command.add_argument(
        "--counts", action="store_true",
        help="print how many postings each query reads, how many documents it scores, and how many scores it compares, "
        "to standard error",
    )  # fmt: skip
    options.add_run_file(command, "write a file instead")
    options.add(command, options.renamed("--out", "--run FILE"))
    command.set_defaults(run=_search, epilog_of=retrieval_options.method_epilog)


def _search(arguments: argparse.Namespace) -> str:
    if (arguments.queries is None) == (arguments.query is None):
        raise InputError("", "either QUERIES or --query WORDS is required", argument="queries")
    if arguments.run_file is not None:
        retrieval_options.check_output("run_file", arguments.run_file, arguments.index, arguments.queries)
        if not arguments.run_file.endswith(".parquet"):
            check_ending(arguments.run_file)
    method, *others = retrieval_options.methods(arguments.method or ["Exact()"], arguments)
    if others:
        problem = "--method can be given only once: a run is made by one method; tieaware inexact compares several"
        raise InputError("", problem, argument="method")
    index = retrieval_options.loaded_index(arguments.index)
    queries: Mapping[str, Any] = _queries(arguments, index)
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
    found, asked = counted(len(run.documents), "document"), counted(len(queries), "query", "queries")
    return options.run_text(run, arguments, f"{method} found {found} for {asked}")


def _reworded(error: InputError, method: Method, arguments: argparse.Namespace) -> InputError:
    """Return an error of a search for users of the command: it names the file of the index, or the option."""
    if error.where == "index":
        # The index lacks something that the method needs.
        return InputError(source_name(arguments.index), f"{error.problem} (see tieaware index --help)")
    if error.where in {each.name for each in fields(method)}:
        return error.at(f"{error.where} of {method}", "method")
    return error


def _queries(arguments: argparse.Namespace, index: Index) -> dict[str, str]:
    """Return the queries by id."""
    if arguments.queries is not None:
        return retrieval_options.topics_at(arguments.queries, arguments, index)
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


def add_inexact(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `tieaware inexact`."""
    command = commands.add_parser(
        "inexact",
        help="show what methods of inexact retrieval save and lose",
        description="Search a collection of texts exactly, and by methods with which search engines save work: "
        "champion lists, impact order, tiers, cluster pruning and others. Prints for each method how long it takes, "
        "how much of the index it reads, how well its ranking agrees with the exact one, and the measures, averaged "
        "over the orders of ties.",
    )
    command.add_argument(
        "collection", metavar="COLLECTION", help="file or folder of documents, or an index that tieaware index wrote"
    )
    command.add_argument("topics", metavar="TOPICS", help="file of topics")
    command.add_argument("qrels", metavar="QRELS", help="file of judgments")
    retrieval_options.add_format(command, "all three files")
    options.add(command, *retrieval_options.TOPICS)
    command.add_argument(
        "--method", action="append", metavar="METHOD",
        help=f"search method, such as 'Champions(r=100)'; repeatable (default: {', '.join(INEXACT_METHODS)})",
    )  # fmt: skip
    options.add(command, *retrieval_options.SEARCH, *retrieval_options.BUILDING)
    options.add_measures(command, INEXACT_MEASURES)
    options.add(command, options.THREADS)
    options.add_output(command)
    command.set_defaults(run=_inexact, epilog_of=retrieval_options.method_epilog)


def _inexact(arguments: argparse.Namespace) -> str:
    from tieaware import retrieval
    from tieaware.experiments import inexact

    options.check_one_stdin(arguments.collection, arguments.topics, arguments.qrels, arguments.quality or "")
    given = arguments.collection_format
    methods = retrieval_options.methods(arguments.method or INEXACT_METHODS, arguments)
    baseline = retrieval.Exact(weighting=arguments.weighting)
    qrels = retrieval.read_judgments(arguments.qrels, given or "trec")
    index = retrieval_options.index_of(arguments.collection, arguments)
    topics: Mapping[str, Any] = retrieval_options.topics_at(arguments.topics, arguments, index)
    if arguments.filters:
        topics = retrieval_options.parsed(index, topics, arguments.topics)
    outcome = inexact(
        index, topics, qrels, methods, arguments.measure or INEXACT_MEASURES, baseline=baseline, k=arguments.k,
        threads=arguments.threads,
    )  # fmt: skip
    return options.output(outcome, arguments)

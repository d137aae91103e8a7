"""The command ``tieaware inexact``: the savings and losses of inexact retrieval."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tieaware.commands import options
from tieaware.defaults import INEXACT_MEASURES, INEXACT_METHODS

if TYPE_CHECKING:
    from tieaware.retrieval import Index
    from tieaware.retrieval.collections import Format

# The file formats of tieaware.retrieval, repeated here: importing it would slow down the start of every command.
FORMATS: tuple[Format, ...] = ("trec", "jsonl", "tsv", "smart", "cranfield", "npl", "cacm")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "inexact",
        help="show what methods of inexact retrieval save and lose",
        description="Search a collection of texts exactly, and by methods with which search engines save work: "
        "champion lists, impact order, tiers, cluster pruning and others. Prints for each method how much of the "
        "index it reads, how well its ranking agrees with the exact one, and the measures, averaged over the orders "
        "of ties.",
    )
    command.add_argument(
        "collection", metavar="COLLECTION", help="file or folder of documents, or an index that Index.save wrote"
    )
    command.add_argument("topics", metavar="TOPICS", help="file of topics")
    command.add_argument("qrels", metavar="QRELS", help="file of judgments")
    command.add_argument(
        "--collection-format", choices=FORMATS, metavar="F",
        help=f"format of all three files: {', '.join(FORMATS)} (default: recognised from their content)",
    )  # fmt: skip
    command.add_argument(
        "--method", action="append", metavar="METHOD",
        help=f"search method, such as 'Champions(r=100)'; repeatable (default: {', '.join(INEXACT_METHODS)})",
    )  # fmt: skip
    command.add_argument(
        "--weighting", default="lnc.ltc", metavar="W",
        help="weights of terms: SMART notation such as lnc.ltc, bm25, or impact:BITS (%(default)s)",
    )  # fmt: skip
    command.add_argument("-k", type=int, default=1000, help="number of documents to find (%(default)s)")
    command.add_argument(
        "--stemmer", default="english", metavar="S", help="name of a PyStemmer stemmer, or none (%(default)s)"
    )
    command.add_argument(
        "--stop-words", default="lucene", choices=("lucene", "scikit-learn", "none"),
        help="list of words to leave out (%(default)s)",
    )  # fmt: skip
    options.add_measures(command, INEXACT_MEASURES)
    options.add_threads(command)
    options.add_output(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from tieaware import retrieval
    from tieaware.experiments import inexact

    options.check_one_stdin(arguments.collection, arguments.topics, arguments.qrels)
    given = arguments.collection_format
    methods = [
        retrieval.parse_method(text, weighting=arguments.weighting) for text in arguments.method or INEXACT_METHODS
    ]
    baseline = retrieval.Exact(weighting=arguments.weighting)
    topics = retrieval.read_topics(arguments.topics, given)
    qrels = retrieval.read_judgments(arguments.qrels, given or "trec")
    outcome = inexact(
        _index(arguments, given), topics, qrels, methods, arguments.measure or INEXACT_MEASURES, baseline=baseline,
        k=arguments.k, threads=arguments.threads,
    )  # fmt: skip
    return options.output(outcome, arguments)


def _index(arguments: argparse.Namespace, given: Format | None) -> Index:
    """Read the index, or build it from the documents."""
    from tieaware.experiments.evaluating import progress
    from tieaware.retrieval import Analyzer, Index, is_index_file, read_documents

    if is_index_file(arguments.collection):
        return Index.load(arguments.collection)
    stemmer, stop_words = (None if each == "none" else each for each in (arguments.stemmer, arguments.stop_words))
    documents = progress(read_documents(arguments.collection, given), "documents")
    return Index.build(documents, analyzer=Analyzer(stemmer=stemmer, stop_words=stop_words))

"""``tieaware inexact``: what methods of inexact retrieval save, and what they lose."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tieaware.commands import options
from tieaware.defaults import INEXACT_MEASURES, INEXACT_METHODS

if TYPE_CHECKING:
    from tieaware.retrieval import Index

_FORMATS = ("trec", "jsonl", "tsv", "smart", "cranfield", "npl", "cacm")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "inexact",
        help="search a collection inexactly, and show what each method saves and loses",
        description="Search a collection of texts exactly, and by the methods with which search engines save work: "
        "champion lists, impact order, tiers, cluster pruning and others. Prints what each method reads, how well its "
        "ranking agrees with the exact one, and what it is worth, ties resolved exactly.",
    )
    command.add_argument("collection", metavar="COLLECTION", help="the documents, or an index that Index.save wrote")
    command.add_argument("topics", metavar="TOPICS", help="the topics")
    command.add_argument("qrels", metavar="QRELS", help="the judgments")
    command.add_argument(
        "--collection-format", choices=_FORMATS, metavar="F",
        help=f"the format of all three, one of {', '.join(_FORMATS)} (default: what the files tell)",
    )  # fmt: skip
    command.add_argument(
        "--method", action="append", metavar="METHOD",
        help=f"such as 'Champions(r=100)'; repeatable (default: {', '.join(INEXACT_METHODS)})",
    )  # fmt: skip
    command.add_argument(
        "--weighting", default="lnc.ltc", metavar="W",
        help="what terms are worth: letters of SMART, bm25, or impact:8 (%(default)s)",
    )  # fmt: skip
    command.add_argument("-k", type=int, default=1000, help="how many documents to find (%(default)s)")
    command.add_argument(
        "--stemmer", default="english", metavar="S", help="a stemmer of PyStemmer, or none (%(default)s)"
    )
    command.add_argument(
        "--stop-words", default="lucene", choices=("lucene", "scikit-learn", "none"),
        help="which words to leave out (%(default)s)",
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


def _index(arguments: argparse.Namespace, given: str | None) -> Index:
    """Return the index, read or built."""
    from tieaware.experiments.evaluating import progress
    from tieaware.retrieval import Analyzer, Index, is_index_file, read_documents

    if is_index_file(arguments.collection):
        return Index.load(arguments.collection)
    stemmer, stop_words = (None if each == "none" else each for each in (arguments.stemmer, arguments.stop_words))
    documents = progress(read_documents(arguments.collection, given), "documents")
    return Index.build(documents, analyzer=Analyzer(stemmer=stemmer, stop_words=stop_words))

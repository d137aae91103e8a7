"""The command ``tieaware inexact``: the savings and losses of inexact retrieval."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from tieaware.commands import options, retrieval_options
from tieaware.defaults import INEXACT_MEASURES, INEXACT_METHODS


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
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
    retrieval_options.add_topic_parts(command)
    retrieval_options.add_filters(command)
    command.add_argument(
        "--method", action="append", metavar="METHOD",
        help=f"search method, such as 'Champions(r=100)'; repeatable (default: {', '.join(INEXACT_METHODS)})",
    )  # fmt: skip
    retrieval_options.add_weighting(command)
    retrieval_options.add_building(command)
    options.add_measures(command, INEXACT_MEASURES)
    options.add_threads(command)
    options.add_output(command)
    command.set_defaults(run=_run, epilog_of=retrieval_options.method_epilog)


def _run(arguments: argparse.Namespace) -> str:
    from tieaware import retrieval
    from tieaware.experiments import inexact

    options.check_one_stdin(arguments.collection, arguments.topics, arguments.qrels, arguments.quality or "")
    given = arguments.collection_format
    methods = retrieval_options.methods(arguments.method or INEXACT_METHODS, arguments)
    baseline = retrieval.Exact(weighting=arguments.weighting)
    topics: Mapping[str, Any] = retrieval_options.topics_at(arguments.topics, arguments)
    qrels = retrieval.read_judgments(arguments.qrels, given or "trec")
    index = retrieval_options.index_of(arguments.collection, arguments)
    if arguments.filters:
        topics = retrieval_options.parsed(index, topics, arguments.topics)
    outcome = inexact(
        index, topics, qrels, methods, arguments.measure or INEXACT_MEASURES, baseline=baseline, k=arguments.k,
        threads=arguments.threads,
    )  # fmt: skip
    return options.output(outcome, arguments)

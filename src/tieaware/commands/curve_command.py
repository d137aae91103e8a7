"""The command ``tieaware curve``: precision–recall and ROC curves."""

from __future__ import annotations

import argparse

from tieaware.commands import options


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "curve",
        help="draw precision–recall and ROC curves",
        description="Compute precision–recall or ROC curves for each query and on average. With --ties average, a "
        "curve is the expectation over all orders of tied documents.",
    )
    options.add_qrels(command)
    options.add_runs(command)
    command.add_argument(
        "--kind", choices=("precision-recall", "interpolated", "roc"), default="precision-recall",
        help="type of the curves (%(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--collection-size", type=options.whole, metavar="N",
        help="number of documents in the collection: ROC curves then show shares of all documents, not of the "
        "retrieved ones",
    )  # fmt: skip
    options.add_ties(command)
    command.add_argument(
        "--rel", type=options.label, default=1, metavar="N", help="smallest relevant label (%(default)s)"
    )
    options.add_consistent_only(command)
    options.add_threads(command)
    options.add_output(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import curves

    outcome = curves(
        arguments.qrels, options.run_files(arguments, arguments.qrels), arguments.kind,
        ties=arguments.ties, rel=arguments.rel, threads=arguments.threads,
        collection_size=arguments.collection_size, consistent_only=arguments.consistent_only,
    )  # fmt: skip
    return options.output(outcome, arguments)

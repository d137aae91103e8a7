"""The command ``tieaware index``: an index of texts, in a file."""

from __future__ import annotations

import argparse

from tieaware.commands import options, retrieval_options, streams
from tieaware.output.tables import counted
from tieaware.runtime.progress import stage


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
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
        "--out", metavar="INDEX", required=True, type=options.local_file,
        help="file to write; it is replaced if it exists",
    )  # fmt: skip
    retrieval_options.add_format(command, "the documents")
    retrieval_options.add_building(command)
    command.add_argument(
        "--no-zones", action="store_true",
        help="do not index title and body separately, which only WeightedZones needs: a smaller index",
    )  # fmt: skip
    command.add_argument(
        "--no-positions", action="store_true",
        help="do not store the positions of words, which only proximity and phrases need: a smaller index",
    )  # fmt: skip
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    options.check_one_stdin(*arguments.documents, arguments.quality or "")
    retrieval_options.check_output(arguments.out, *arguments.documents, arguments.quality)
    index = retrieval_options.built_index(
        arguments.documents, arguments, zones=not arguments.no_zones, positions=not arguments.no_positions
    )
    with stage("writing"):
        index.save(arguments.out)
    numbers = {"document": len(index), "term": len(index.terms), "posting": len(index.postings)}
    streams.say(f"wrote {arguments.out}: {', '.join(counted(n, what) for what, n in numbers.items())}")
    return ""

"""Judgments and runs, read from files, dicts, columns and tables."""

from tieaware.inputs.file_order import ORDERS, FileOrdered, Order, consistent
from tieaware.inputs.matching import Matched, check_numbers, differing, first_query, match, no_query_judged
from tieaware.inputs.qrels import Qrels
from tieaware.inputs.run import Run, RunSource, repeatable
from tieaware.inputs.run_dict import RunDict
from tieaware.inputs.run_file import RunFile
from tieaware.inputs.sources import (
    QrelsLike,
    RunLike,
    as_qrels,
    as_sources,
    source_named,
    sources_at,
    warn_of_parts,
)
from tieaware.inputs.swapped import asking_for_run, look_like_a_run, look_like_labels
from tieaware.inputs.trec import read_qrels, read_run
from tieaware.lists.identifiers import Identifiers

__all__ = [
    "ORDERS",
    "FileOrdered",
    "Identifiers",
    "Matched",
    "Order",
    "Qrels",
    "QrelsLike",
    "Run",
    "RunDict",
    "RunFile",
    "RunLike",
    "RunSource",
    "as_qrels",
    "as_sources",
    "asking_for_run",
    "check_numbers",
    "consistent",
    "differing",
    "first_query",
    "look_like_a_run",
    "look_like_labels",
    "match",
    "no_query_judged",
    "read_qrels",
    "read_run",
    "repeatable",
    "source_named",
    "sources_at",
    "warn_of_parts",
]

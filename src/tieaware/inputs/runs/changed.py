"""Runs whose lists are changed as they are read: ordered as in the input, or without excluded documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tieaware.errors import InputError
from tieaware.inputs.files.paths import Source
from tieaware.inputs.judgments.qrels import Qrels
from tieaware.inputs.runs.matching import match
from tieaware.inputs.runs.reading_options import Reading
from tieaware.inputs.runs.run import Run, RunSource
from tieaware.inputs.trec.reader import RankColumn
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.query_lists import Lists

# The value of the argument `exclude` that stands for the document with the id of its query.
SAME_ID = "same-id"


class Changed(RunSource):
    """A run whose chunks are changed by a function as they are read."""

    def __init__(self, source: RunSource, change: Callable[[Run], Run]) -> None:
        self._source = source
        self._change = change
        self.name: str = source.name
        self.path: Source | None = source.path
        self.reading: Reading = source.reading
        self.rereadable: bool = source.rereadable
        self.n_numbered: int | None = source.n_numbered

    def check_columns(self, n_columns: int, matrix: str, name: str) -> None:
        """Check the run; see `RunSource.check_columns`."""
        self._source.check_columns(n_columns, matrix, name)

    @property
    def full_name(self) -> str:
        """The longer name of the run."""
        return self._source.full_name

    def chunks(self) -> Iterator[RunSource]:
        """Yield the changed chunks of the run."""
        return (self._change(chunk.whole()) for chunk in self._source.chunks())

    def over_chunks(self, work: Callable[[RunSource], None], threads: int) -> None:
        """Call a function with each changed chunk of the run."""
        self._source.over_chunks(lambda chunk: work(self._change(chunk.whole())), threads)

    def whole(self) -> Run:
        """Read the entire run, and change it."""
        return self._change(self._source.whole())

    def ranks(self) -> RankColumn | None:
        """Read the rank column of the run."""
        return self._source.ranks()


def by_position(run: Run) -> Run:
    """Return the run with the scores -1, -2, … in each list, in the order of the input."""
    offsets = np.asarray(run.offsets)
    sizes = np.diff(offsets)
    scores = np.repeat(offsets[:-1], sizes) - np.arange(1, len(run.documents) + 1)
    return Run.of(Lists(run.queries, offsets, run.documents, scores.astype(np.float64)), run.name, run.tag)


def excluded_documents(exclude: Any, qrels: Qrels, read: Callable[[Any], Qrels], ids_as_text: bool) -> Qrels:
    """Return the documents that are not ranked for each query, as judgments whose labels mean nothing.

    Parameters
    ----------
    exclude : "same-id", or documents in any form of judgments
    qrels : Qrels
        The judgments. InputError is raised if an excluded document is relevant.
    read : callable
        Converts any form of judgments to Qrels.
    ids_as_text : bool
        Whether the identifiers match both text and integers.
    """
    if isinstance(exclude, str) and exclude == SAME_ID:
        queries, n = qrels.queries, len(qrels)
        documents = Identifiers.of(queries.data, queries.offsets, qrels.documents.kind)
        excluded = Qrels.of(Lists(queries, np.arange(n + 1), documents, np.ones(n, np.int32)), "exclude")
    else:
        try:
            excluded = read(exclude)
        except InputError as error:
            raise (error.at("exclude") if error.where == "qrels" else error) from None
    lists = Lists(excluded.queries, excluded.offsets, excluded.documents, np.zeros(len(excluded.documents)))
    matched = match(qrels, Run.of(lists.matching_any() if ids_as_text else lists, "exclude"))
    relevant = matched.labels > 0
    if relevant.any():
        row = int(relevant.argmax())
        query, document = lists.query_of(row), quoted(lists.documents[row])
        raise InputError("exclude", f"document {document} of query {query} is relevant; take it out of the judgments")
    return excluded


def without(excluded: Qrels, run: Run) -> Run:
    """Return the run without the excluded documents of its queries."""
    lists = match(excluded, run).lists
    rows = np.repeat(lists.offsets[:-1], np.diff(lists.judged_offsets)) + lists.positions
    if not len(rows):
        return run
    return Run.of(Lists(run.queries, run.offsets, run.documents, run.scores).without(rows), run.name, run.tag)

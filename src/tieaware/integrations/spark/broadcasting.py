"""Judgments that are collected and copied to every worker, which finds the labels of the documents of runs itself.

A join by Spark would take longer, although the names of all documents are sent to the workers: it converts every row
twice, and needs a job to copy the judgments to the executors.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Offsets
from tieaware.errors import InputError
from tieaware.inputs.judgments.qrels import Qrels
from tieaware.integrations.spark.checked_rows import CheckedRows, raised_by_rows
from tieaware.integrations.spark.installation import compute, pa
from tieaware.kernels import _identifiers, _join
from tieaware.lists.identifiers import Identifiers, quoted

# By default, at most this many judgments are copied. They take about a hundred megabytes per worker.
LARGEST = 1_000_000

# This setting of Spark is the number of bytes up to which Arrow data become part of the query plan. All threads of a
# session share the setting, so only one thread at a time may change it.
_LARGEST_IN_PLAN = "spark.sql.execution.arrow.localRelationThreshold"
_SETTING = threading.Lock()


class JudgedRows(NamedTuple):
    """The judged documents of lists."""

    # The number of the query of each list; -1 if the query is not judged.
    numbers: Integers
    # The rows of judged documents, ascending, and their labels: int32 or float64.
    judged: Integers
    labels: npt.NDArray[Any]


class CopiedJudgments:
    """Judgments that are part of the function that workers run.

    A worker receives them with each task, and keeps the last ones, so that it builds their index only once.
    """

    def __init__(self, qrels: Qrels, token: str | None = None) -> None:
        self.qrels = qrels
        self._token = token or uuid4().hex

    def __reduce__(self) -> tuple[Any, tuple[str, Qrels]]:
        return _received, (self._token, self.qrels)

    def match(self, queries: Identifiers, offsets: Offsets, documents: Identifiers) -> JudgedRows | int:
        """Find the judged documents of lists, given the query of each list, and the documents of all lists.

        If there are more judged documents than judgments, return the row of a judged document that already occurs in
        its list. Otherwise, such documents may be among the judged documents.
        """
        index, columns = self.qrels.index, (queries.data, queries.offsets, offsets)
        try:
            numbers, judged_offsets, positions, labels = _join.match(index, *columns, documents.data, documents.offsets)
        except ValueError:
            return self._repeated(queries, offsets, documents)
        judged = positions + np.repeat(offsets[:-1], np.diff(judged_offsets))
        grades = self.qrels.grades
        return JudgedRows(numbers, judged, labels if grades is None else grades.labels(labels))

    def _repeated(self, queries: Identifiers, offsets: Offsets, documents: Identifiers) -> int:
        """Return the row of a judged document that already occurs in its list."""
        repeated, first = _identifiers.duplicates(documents.data, documents.offsets, offsets).T
        kept = np.setdiff1d(np.arange(len(documents)), repeated)
        found = self.match(queries, np.searchsorted(kept, offsets), documents.take(kept))
        assert isinstance(found, JudgedRows)
        return int(repeated[np.isin(first, kept[found.judged])][0])


_last_received: tuple[str, CopiedJudgments] | None = None


def _received(token: str, qrels: Qrels) -> CopiedJudgments:
    """Return the judgments with this token: the ones that this worker already has, with their index, or these."""
    global _last_received
    if _last_received is None or _last_received[0] != token:
        _last_received = token, CopiedJudgments(qrels, token)
    return _last_received[1]


class BroadcastJudgments(NamedTuple):
    """Collected judgments, their highest label, and whether all labels are whole numbers."""

    judgments: CopiedJudgments
    # A data frame of Spark with one row for each query: query (its number), query_id (its name), judged (its labels).
    queries: Any
    highest: float
    are_whole: bool


def broadcast_judgments(judgments: CheckedRows, broadcast: bool | None) -> BroadcastJudgments | None:
    """Collect judgments from a frame, so that they can be copied to the workers; return None if they are not collected.

    `broadcast` is True to collect any number of judgments, False to collect none, None to collect up to LARGEST.
    """
    table = None if broadcast is False else _collected(judgments, broadcast)
    return None if table is None else _copied(table, judgments)


def _collected(judgments: CheckedRows, broadcast: bool | None) -> Any:
    """Return the judgments as an Arrow table; None if there are too many for broadcasting."""
    rows = judgments.frame.selectExpr("query", "document", f"{judgments.checked('label')} as label")
    with raised_by_rows(judgments.name):
        table = (rows if broadcast else rows.limit(LARGEST + 1)).toArrow()
    return table if broadcast or table.num_rows <= LARGEST else None


def _copied(table: Any, judgments: CheckedRows) -> BroadcastJudgments:
    """Make judgments from a collected table."""
    if table.num_rows == 0:
        raise InputError(judgments.name, "there are no judgments")
    judged = table.group_by(["query", "document"]).aggregate([("label", "min"), ("label", "max")])
    differ = judged.filter(compute.not_equal(judged["label_min"], judged["label_max"]))
    for row in differ.slice(0, 1).to_pylist():
        document, query = (quoted(str(row[name]).encode()) for name in ("document", "query"))
        found = f"{row['label_min']} and {row['label_max']}"
        raise InputError(judgments.name, f"document {document} of query {query} has different labels, {found}")
    qrels = Qrels.from_arrow(judged, query="query", doc="document", label="label_min", name=judgments.name)
    labels = judged["label_min"].to_numpy()
    are_whole = bool((labels == np.floor(labels)).all())
    queries = _outside_plan(_queries(qrels, judgments), judgments.frame.sparkSession)
    return BroadcastJudgments(CopiedJudgments(qrels), queries, float(labels.max()), are_whole)


def _queries(qrels: Qrels, judgments: CheckedRows) -> Any:
    """Return an Arrow table with the columns of `BroadcastJudgments.queries`."""
    n, is_text = len(qrels), judgments.types["query"] == "string"
    labels = pa.array(np.asarray(qrels.labels))
    columns = {
        "query": pa.array(np.arange(n)),
        "query_id": pa.array(qrels.queries.to_list(), pa.string() if is_text else pa.int64()),
        "judged": pa.LargeListArray.from_arrays(pa.array(np.asarray(qrels.offsets)), labels),
    }
    return pa.table(columns)


def _outside_plan(table: Any, spark: Any) -> Any:
    """Convert an Arrow table to a Spark data frame whose rows are not part of the query plan.

    If rows are part of a plan, Spark reads all of them again for each step that is added to the plan.
    """
    with _SETTING:
        largest = spark.conf.get(_LARGEST_IN_PLAN)
        spark.conf.set(_LARGEST_IN_PLAN, "0")
        try:
            return spark.createDataFrame(table)
        finally:
            spark.conf.set(_LARGEST_IN_PLAN, largest)

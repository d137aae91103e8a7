"""Evaluation of the chunks of a partition, in the worker that Spark has shuffled them to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware._evaluate import over_passes
from tieaware.checks.arrays import Integers, Offsets, Values, as_labels
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.errors import InputError
from tieaware.integrations.spark.installation import compute, pa
from tieaware.integrations.spark.packing import Announcement, numbered, repeated, unpacked, unpacked_names
from tieaware.kernels import _identifiers
from tieaware.lists.grades import GradedLabels, Grades, whole_or_real
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.judgments import JudgedLists, Judgments
from tieaware.measures import Measure
from tieaware.ties import TieRule

# About this many documents are evaluated in one call; more if a single list is longer.
DOCUMENTS_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Evaluation:
    """The measures and options of an evaluation."""

    measures: tuple[Measure, ...]
    # The tie rule, the score precision, and whether to compute the spread and chance.
    view: View
    # True if the results include a row for each judged query that a run does not answer.
    unanswered: bool
    # The types of the scores (float32 or float64) and of the labels (int32 or float64).
    dtype: str
    label_dtype: str
    # The names of the data frames, for messages.
    runs_name: str
    judgments_name: str
    # True if the runs have names in their data frame.
    are_named: bool

    def of_partition(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Evaluate the chunks of a partition, whose rows are sorted by query and run.

        First come the announcements, whose query is null. For each query, the first row holds the judgments (the
        query's name and all labels), and its run is null. Then follow the chunks of the query's lists.

        Each row of the result is a list, with the columns run, query_id, those of `columns`, and error, which is null.
        If the input is wrong, the last batch has a single row, which holds the message there, and null elsewhere.
        """
        partition = _Partition(self)
        announcement = Announcement()
        held: list[Any] = []
        n_documents = 0
        schema = None
        try:
            for batch in batches:
                schema = batch.schema
                if batch.column("query").null_count:
                    announcement.add_rows(batch.filter(batch.column("query").is_null()))
                    batch = batch.filter(batch.column("query").is_valid())
                if batch.num_rows == 0:
                    continue
                if partition.runs is None:
                    announcement.check(self.runs_name, self.judgments_name, self.are_named)
                    partition.runs = pa.array(sorted(announcement.runs), pa.string())
                held.append(batch)
                n_documents += batch.column("scores").nbytes // np.dtype(self.dtype).itemsize
                if n_documents >= DOCUMENTS_AT_ONCE:
                    complete, rest = partition.complete(pa.Table.from_batches(held))
                    if complete.num_rows:
                        yield from partition.values(complete, rest)
                    # The rest is not counted: it holds the chunks of one list, or only its first chunk.
                    held, n_documents = rest.to_batches(), 0
            if held:
                yield from partition.values(pa.Table.from_batches(held), None)
        except InputError as error:
            yield self._failure(str(error), schema)

    def _failure(self, message: str, schema: Any) -> Any:
        names = {name: pa.nulls(1, schema.field(name).type) for name in ("run", "query_id")}
        values = {name: pa.nulls(1, pa.float64()) for name in self.columns()}
        return pa.RecordBatch.from_pydict({**names, **values, "error": pa.array([message])})

    def columns(self) -> list[str]:
        """Return the names of the columns of values: value_0, value_1 … for the measures; then std_0 and so on."""
        return [f"{kind}_{i}" for kind in self.kinds for i in range(len(self.measures))]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of values of each measure: "value", and those of a spread and of chance."""
        return ("value", *self.view.outputs[1:])


class _Rows(NamedTuple):
    """The structure of a table of judgments and chunks: which rows belong to the same query and list."""

    # For each row, the number of its query.
    queries: Integers
    # True for the rows that hold the judgments of a query.
    are_judgments: npt.NDArray[np.bool_]
    # The first row of the chunks of each list, and each row of judgments.
    starts: Integers

    @classmethod
    def of(cls, table: Any) -> _Rows:
        n = table.num_rows
        query, run = (table.column(name).combine_chunks() for name in ("query", "run"))
        are_judgments = run.is_null().to_numpy(zero_copy_only=False)
        query_starts, query_numbers = numbered([query], n)
        run_starts, run_numbers = numbered([run.fill_null("")], n)
        queries = np.repeat(query_numbers, np.diff(np.append(query_starts, n)))
        runs = np.repeat(run_numbers, np.diff(np.append(run_starts, n)))
        runs[are_judgments] = -1
        differs = (queries[1:] != queries[:-1]) | (runs[1:] != runs[:-1])
        return cls(queries, are_judgments, np.flatnonzero(np.concatenate(([True], differs))))


@dataclass
class _Partition:
    """The evaluation of one partition, with the state that is passed from one table of its rows to the next."""

    evaluation: Evaluation
    # The names of all runs; None until all announcements are read.
    runs: Any = None
    # If the query that ended the last table continues in the next: the runs seen so far that answer it, bool[n_runs].
    answered: npt.NDArray[np.bool_] | None = None
    _passes: Any = field(init=False)

    def __post_init__(self) -> None:
        self._passes = passes([self.evaluation.view])

    def complete(self, table: Any) -> tuple[Any, Any]:
        """Split off the last list of a table, because it may continue in the next batch.

        Return two tables: the rows of the complete lists; and the judgments of the last list's query, followed by the
        rows of this list.
        """
        rows = _Rows.of(table)
        last = int(rows.starts[-1])
        judgments = np.flatnonzero(rows.are_judgments & (rows.queries == rows.queries[last]))
        rest = table.slice(last)
        if len(judgments) and judgments[0] < last:
            rest = pa.concat_tables([table.slice(int(judgments[0]), 1), rest])
            if last == judgments[0] + 1:
                last = int(judgments[0])
        return table.slice(0, last), rest

    def values(self, table: Any, rest: Any) -> Iterator[Any]:
        """Evaluate a table of judgments and the chunks of complete lists, and yield their values.

        `rest` are the rows after the table that have been read already; None at the end of the partition.
        """
        rows = _Rows.of(table)
        of_judged_query = np.isin(rows.queries, rows.queries[rows.are_judgments])
        if not of_judged_query.all():
            table = table.filter(pa.array(of_judged_query))
            if table.num_rows == 0:
                return
            rows = _Rows.of(table)
        query_of_row = np.cumsum(rows.are_judgments) - 1
        judgments = table.filter(rows.are_judgments)
        judged = unpacked(judgments.column("judged"), self.evaluation.label_dtype)
        labels, grades = GradedLabels.of(whole_or_real(judged.values, "label"))
        # Other partitions have the other judgments.
        all_judged = Judgments(as_labels(labels, "label"), judged.offsets, grades=grades, is_part=True)
        totals = Totals.of(self.evaluation.measures, all_judged)
        firsts = rows.starts[~rows.are_judgments[rows.starts]]
        queries = query_of_row[firsts]
        unanswered_queries, their_runs = self._unanswered(judgments, rest, queries, table, firsts)
        all_queries = np.concatenate((queries, unanswered_queries))
        names = {
            "run": _joined(table.column("run"), firsts, self.runs, their_runs),
            "query_id": judgments.column("query_id").take(all_queries).combine_chunks(),
        }
        n_chunks = np.diff(np.append(rows.starts, table.num_rows))[~rows.are_judgments[rows.starts]]
        chunks = table.filter(~rows.are_judgments)
        yield self._evaluated(chunks, n_chunks, len(unanswered_queries), totals.rows(all_queries), names, grades)

    def _unanswered(
        self, judgments: Any, rest: Any, queries: Integers, table: Any, firsts: Integers
    ) -> tuple[Integers, Integers]:
        """Return the pairs of a query and a run that does not answer it, as two arrays of numbers.

        If the last query of the table continues in `rest`, it is left out: the next table completes it.
        """
        if not self.evaluation.unanswered:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        answered = np.zeros((judgments.num_rows, len(self.runs)), bool)
        runs = compute.index_in(table.column("run").take(firsts), value_set=self.runs)
        answered[queries, runs.to_numpy()] = True
        if self.answered is not None:
            answered[0] |= self.answered
        self.answered = None
        n_finished = judgments.num_rows
        if rest is not None and rest.column("query")[0].equals(judgments.column("query")[n_finished - 1]):
            self.answered = answered[-1]
            n_finished -= 1
        found = np.nonzero(~answered[:n_finished])
        return found[0], found[1]

    def _evaluated(
        self, chunks: Any, n_chunks: Integers, n_unanswered: int, totals: Totals, names: dict[str, Any],
        grades: Grades | None,
    ) -> Any:  # fmt: skip
        """Evaluate lists (list i has n_chunks[i] chunks); append empty lists for unanswered queries."""
        evaluation = self.evaluation
        starts = np.cumsum(n_chunks) - n_chunks
        list_of_chunk = np.repeat(np.arange(len(n_chunks)), n_chunks)

        def list_offsets(sizes: Integers) -> Offsets:
            total = np.bincount(list_of_chunk, weights=sizes, minlength=len(n_chunks)).astype(np.int64)
            return np.concatenate(([0], np.cumsum(total), np.full(n_unanswered, sizes.sum()))).astype(np.int64)

        scores = unpacked(chunks.column("scores"), evaluation.dtype)
        positions = unpacked(chunks.column("positions"), np.int32)
        labels = unpacked(chunks.column("labels"), evaluation.label_dtype).values
        place_in_list = scores.offsets[:-1] - scores.offsets[starts][list_of_chunk]
        lists = JudgedLists(
            list_offsets(scores.sizes),
            list_offsets(positions.sizes),
            positions.values + np.repeat(place_in_list, positions.sizes),
            as_labels(labels, "label") if grades is None else grades.numbers(labels),
            grades=grades,
        )
        documents, n_named = unpacked_names(chunks.column("lengths"), chunks.column("names"))
        self._check_documents(documents, list_offsets(n_named), names)
        values_of_rows = scores.values
        if "places" in chunks.schema.names:
            rows = _by_place(unpacked(chunks.column("places"), np.int64).values, lists.offsets)
            lists, values_of_rows = _reordered(lists, rows), values_of_rows[rows]
            if evaluation.view.rule.by_document:
                documents = documents.take(rows)

        def order(rule: TieRule) -> Integers | None:
            return rule.order(documents, lists.offsets) if rule.by_document else None

        columns: dict[str, Values] = {}
        outputs = over_passes(evaluation.measures, lists, values_of_rows, totals, self._passes, order)
        for output, values in sorted(outputs, key=lambda each: each[0]):
            for i in range(len(evaluation.measures)):
                columns[f"{evaluation.kinds[output]}_{i}"] = np.ascontiguousarray(values[:, i])
        no_error = pa.nulls(len(lists.offsets) - 1, pa.string())
        return pa.RecordBatch.from_pydict({**names, **columns, "error": no_error})

    def _check_documents(self, documents: Identifiers, offsets: Offsets, names: dict[str, Any]) -> None:
        """Raise InputError if a document occurs twice in a list."""
        duplicates = _identifiers.duplicates(documents.data, documents.offsets, offsets, True)
        if not len(duplicates):
            return
        row = int(duplicates[0, 0])
        i = int(np.searchsorted(offsets, row, side="right")) - 1
        query, run = (names[name][i].as_py() for name in ("query_id", "run"))
        raise repeated(self.evaluation.runs_name, quoted(documents[row]), query, run)


def _joined(column: Any, rows: Integers, others: Any, other_rows: Integers) -> Any:
    """Return some rows of a column, followed by some rows of another column."""
    chosen = [column.take(pa.array(rows)), others.take(pa.array(other_rows))]
    return pa.concat_arrays([chunk for each in chosen for chunk in getattr(each, "chunks", [each])])


def _by_place(places: Integers, offsets: Offsets) -> Integers:
    """Return the rows of lists in the order of their places within each list: the order before Spark moved them."""
    return np.lexsort((places, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))))


def _reordered(lists: JudgedLists, rows: Integers) -> JudgedLists:
    """Return lists whose documents are put in another order within each list, given the row of each document."""
    n_judged = np.diff(lists.judged_offsets)
    new_row = np.empty_like(rows)
    new_row[rows] = np.arange(len(rows))
    moved = new_row[lists.positions + np.repeat(lists.offsets[:-1], n_judged)]
    ascending = np.argsort(moved)
    positions = moved[ascending] - np.repeat(lists.offsets[:-1], n_judged)
    return lists._replace(positions=positions, labels=lists.labels[ascending])

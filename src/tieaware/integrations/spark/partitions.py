"""Lists whose parts were brought together, evaluated: what runs where Spark has shuffled them to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware._evaluate import over_passes
from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.errors import InputError
from tieaware.integrations.spark.packing import EXTRA, content, names_of, numbered
from tieaware.kernels import _join
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.judgments import JudgedLists, Judgments
from tieaware.measures import Measure
from tieaware.runtime.extras import load
from tieaware.ties import TieRule

# So many documents are evaluated at a time, if the last list does not take more.
CHUNK = 1 << 18


@dataclass(frozen=True)
class Evaluation:
    """What is asked of lists.

    Parameters
    ----------
    measures : tuple of Measure
    view : View
        How scores are taken.
    silent : bool
        Whether every run has a value for every judged query.
    dtype : str
        Of the scores.
    named : str
        Of which documents the parts have names: "judged" ones, or "all".
    runs_name : str
        What messages call the runs.
    """

    measures: tuple[Measure, ...]
    view: View
    silent: bool
    dtype: str
    named: str
    runs_name: str

    def of_partition(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Evaluate a partition.

        Parameters
        ----------
        batches : iterable of pyarrow.RecordBatch
            Parts of lists, in the order of query and run; and before them, without a run, the judgments of the query:
            its name, all its labels, and the names of all runs. Those whose query is null are passed over.

        Yields
        ------
        pyarrow.RecordBatch
            run, query_id and a column for each number of the values, a list in each row. Of an error, which is the last
            that comes, there is the message alone, in the column error.
        """
        pa = load("pyarrow", EXTRA)
        partition = _Partition(self)
        held: list[Any] = []
        n = 0
        try:
            for batch in batches:
                if batch.column("query").null_count:
                    batch = batch.filter(batch.column("query").is_valid())
                if batch.num_rows == 0:
                    continue
                held.append(batch)
                n += batch.column("scores").nbytes // np.dtype(self.dtype).itemsize
                if n >= CHUNK:
                    complete, rest = partition.divided(pa.Table.from_batches(held))
                    if complete.num_rows:
                        yield from partition.values(complete, rest)
                    # What is left is of one list, or its first part.
                    held, n = rest.to_batches(), 0
            if held:
                yield from partition.values(pa.Table.from_batches(held), None)
        except InputError as error:
            yield self._failure(str(error), held[0].schema)

    def _failure(self, message: str, parts: Any) -> Any:
        pa = load("pyarrow", EXTRA)
        types = {name: parts.field(name).type for name in ("run", "query_id")}
        nothing = {name: pa.nulls(1, kind) for name, kind in types.items()}
        numbers = {name: pa.nulls(1, pa.float64()) for name in self.columns()}
        return pa.RecordBatch.from_pydict({**nothing, **numbers, "error": pa.array([message])})

    def columns(self) -> list[str]:
        """Name the columns of values: of each measure the value, and with a spread std, min and max."""
        return [f"{kind}_{i}" for kind in self.kinds for i in range(len(self.measures))]

    @property
    def kinds(self) -> tuple[str, ...]:
        """What there is of each measure."""
        return ("value", "std", "min", "max")[: self.view.n_outputs]


class _Rows(NamedTuple):
    """The rows of a table of parts: of which query each is, by number, and which has its judgments."""

    queries: Integers
    judged: npt.NDArray[np.bool_]
    # Where the rows of one list begin, or judgments are.
    starts: Integers

    @classmethod
    def of(cls, table: Any) -> _Rows:
        n = table.num_rows
        query, run = (table.column(name).combine_chunks() for name in ("query", "run"))
        judged = run.is_null().to_numpy(zero_copy_only=False)
        query_starts, query_numbers = numbered([query], n)
        run_starts, run_numbers = numbered([run.fill_null("")], n)
        queries = np.repeat(query_numbers, np.diff(np.append(query_starts, n)))
        runs = np.repeat(run_numbers, np.diff(np.append(run_starts, n)))
        runs[judged] = -1
        differs = (queries[1:] != queries[:-1]) | (runs[1:] != runs[:-1])
        return cls(queries, judged, np.flatnonzero(np.concatenate(([True], differs))))


@dataclass
class _Partition:
    """A partition, of which some lists are evaluated at a time."""

    asked: Evaluation
    # The names of all runs; and which of them were seen to answer the first query of what comes next.
    runs: Any = None
    answered: npt.NDArray[np.bool_] | None = None
    _passes: Any = field(init=False)

    def __post_init__(self) -> None:
        self._passes = passes([self.asked.view])

    def divided(self, table: Any) -> tuple[Any, Any]:
        """Return the parts of lists that are complete; and the others, after the judgments of their query."""
        pa = load("pyarrow", EXTRA)
        rows = _Rows.of(table)
        last = int(rows.starts[-1])
        of_query = np.flatnonzero(rows.judged & (rows.queries == rows.queries[last]))
        rest = table.slice(last)
        if len(of_query) and of_query[0] < last:
            rest = pa.concat_tables([table.slice(int(of_query[0]), 1), rest])
            if last == of_query[0] + 1:
                last = int(of_query[0])
        return table.slice(0, last), rest

    def values(self, table: Any, rest: Any) -> Iterator[Any]:
        """Evaluate parts of complete lists; yield their values.

        Parameters
        ----------
        table : pyarrow.Table
        rest : pyarrow.Table or None
            The parts that come next.
        """
        rows = _Rows.of(table)
        of_judged_query = np.isin(rows.queries, rows.queries[rows.judged])
        if not of_judged_query.all():
            table = table.filter(load("pyarrow", EXTRA).array(of_judged_query))
            if table.num_rows == 0:
                return
            rows = _Rows.of(table)
        judged_rows = np.flatnonzero(rows.judged)
        row_queries = np.cumsum(rows.judged) - 1
        if self.runs is None:
            self.runs = table.column("runs").combine_chunks().take([int(judged_rows[0])]).flatten()
        judgments = table.filter(rows.judged)
        labels = content(judgments.column("judged"), np.int32)
        totals = Totals.of(self.asked.measures, Judgments(labels.values, labels.offsets))
        firsts = rows.starts[~rows.judged[rows.starts]]
        queries = row_queries[firsts]
        silent_queries, silent_runs = self._silent(judgments, rest, queries, table, firsts)
        of_queries = np.concatenate((queries, silent_queries))
        names = {
            "run": _both(table.column("run"), firsts, self.runs, silent_runs),
            "query_id": judgments.column("query_id").take(of_queries).combine_chunks(),
        }
        of_lists = totals.rows(of_queries)
        n_parts = np.diff(np.append(rows.starts, table.num_rows))[~rows.judged[rows.starts]]
        yield self._evaluated(table.filter(~rows.judged), n_parts, len(silent_queries), of_lists, names)

    def _silent(
        self, judgments: Any, rest: Any, queries: Integers, table: Any, firsts: Integers
    ) -> tuple[Integers, Integers]:
        """Return (query, run) of every judged query on which a run is silent, as far as that is known."""
        if not self.asked.silent:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        compute = load("pyarrow.compute", EXTRA)
        answered = np.zeros((judgments.num_rows, len(self.runs)), bool)
        runs = compute.index_in(table.column("run").take(firsts), value_set=self.runs)
        answered[queries, runs.to_numpy()] = True
        if self.answered is not None:
            answered[0] |= self.answered
        self.answered = None
        known = judgments.num_rows
        if rest is not None and rest.column("query")[0].equals(judgments.column("query")[known - 1]):
            self.answered = answered[-1]
            known -= 1
        silent = np.nonzero(~answered[:known])
        return silent[0], silent[1]

    def _evaluated(self, parts: Any, n_parts: Integers, n_silent: int, totals: Totals, names: dict[str, Any]) -> Any:
        """Evaluate lists, so many parts of each, and after them empty ones."""
        asked = self.asked
        starts = np.cumsum(n_parts) - n_parts
        list_of_part = np.repeat(np.arange(len(n_parts)), n_parts)

        def over_lists(sizes: Integers) -> Offsets:
            total = np.bincount(list_of_part, weights=sizes, minlength=len(n_parts)).astype(np.int64)
            return np.concatenate(([0], np.cumsum(total), np.full(n_silent, sizes.sum()))).astype(np.int64)

        scores = content(parts.column("scores"), asked.dtype)
        positions, labels = (content(parts.column(name), np.int32) for name in ("positions", "labels"))
        before = scores.offsets[:-1] - scores.offsets[starts][list_of_part]
        lists = JudgedLists(
            over_lists(scores.sizes),
            over_lists(positions.sizes),
            positions.values + np.repeat(before, positions.sizes),
            labels.values,
        )
        documents, n_named = names_of(parts.column("lengths"), parts.column("names"))
        self._check_documents(documents, over_lists(n_named), names)
        places = content(parts.column("places"), np.int64).values if "places" in parts.schema.names else None

        def order(rule: TieRule) -> Integers | None:
            if rule.by_document:
                return rule.order(documents, lists.offsets)
            if places is None or not rule.by_position:
                return None
            sizes = np.diff(lists.offsets)
            by_place = np.lexsort((places, np.repeat(np.arange(len(sizes)), sizes)))
            ordered: Integers = by_place - np.repeat(lists.offsets[:-1], sizes)
            return ordered

        values: dict[str, Values] = {}
        tables = over_passes(asked.measures, lists, scores.values, totals, self._passes, order)
        for table, of_table in sorted(tables, key=lambda each: each[0]):
            for i in range(len(asked.measures)):
                values[f"{asked.kinds[table]}_{i}"] = np.ascontiguousarray(of_table[:, i])
        pa = load("pyarrow", EXTRA)
        return pa.RecordBatch.from_pydict({**names, **values, "error": pa.nulls(len(lists.offsets) - 1, pa.string())})

    def _check_documents(self, documents: Identifiers, offsets: Offsets, names: dict[str, Any]) -> None:
        """Raise InputError at a document that comes twice for a query."""
        found = _join.duplicates(documents.data, documents.offsets, offsets, True)
        if not len(found):
            return
        row = int(found[0, 0])
        of_list = int(np.searchsorted(offsets, row, side="right")) - 1
        query, run = (names[name][of_list].as_py() for name in ("query_id", "run"))
        name = quoted(documents[row])
        raise unexpected(
            self.asked.runs_name, "each document once for a query", f"{name} twice for query {query!r} of run {run!r}"
        )


def _both(column: Any, rows: Integers, others: Any, other_rows: Integers) -> Any:
    """Return some rows of a column, and then some of another."""
    pa = load("pyarrow", EXTRA)
    chosen = [column.take(pa.array(rows)), others.take(pa.array(other_rows))]
    return pa.concat_arrays([chunk for each in chosen for chunk in getattr(each, "chunks", [each])])

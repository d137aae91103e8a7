"""The code of Spark's workers, run without Spark: packing rows into chunks, and evaluating chunks."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from tests.spark.data import judgments, rankings

import tieaware
from tieaware.engine.views import View
from tieaware.inputs.judgments.qrels import Qrels
from tieaware.integrations.spark import broadcasting, packing, partitions
from tieaware.integrations.spark.broadcasting import CopiedJudgments
from tieaware.integrations.spark.packing import MOST_PARTS, Packing, keys_of_partitions
from tieaware.integrations.spark.partitions import Evaluation
from tieaware.lists.identifiers import Identifiers
from tieaware.measures import parse_measures

MEASURES = ("AP", "nDCG@5", "Bpref", "infAP", "NumRel", "ERR(judged_only=True)@3")


def rows_of(qrels, runs, all_names=False, looked_up=False):
    """Return the rows of runs in the form in which Spark passes them to the packing: joined with labels, or not."""
    joined = runs.merge(qrels, on=["query_id", "doc_id"], how="left")
    document = joined.doc_id if all_names or looked_up else joined.doc_id.where(joined.relevance.notna(), None)
    columns = {
        "run": pa.array(joined.system, pa.string()), "query": pa.array(joined.query_id, pa.string()),
        "score": pa.array(joined.score), "document": pa.array(document, pa.string()),
        "place": pa.array(np.arange(len(joined))),
    }  # fmt: skip
    if not looked_up:
        columns["label"] = pa.array(joined.relevance, pa.int32(), from_pandas=True)
    return pa.table(columns)


def packing_of(qrels=None, all_names=False, places=False):
    """Return how rows are packed. With judgments, the labels of documents are looked up."""
    return Packing(None if qrels is None else CopiedJudgments(Qrels.from_frame(qrels)), all_names, places, 3, "runs_df")


def partition(qrels, packed, n=7, copied=None):
    """Return batches of n rows, sorted as Spark sorts them: announcements; then each query's judgments and chunks."""
    table = pa.Table.from_batches(packed)
    if copied is None:
        # Spark finds the runs that answer judged queries.
        table = table.set_column(table.schema.get_field_index("answering"), "answering", table.column("runs"))
    table = table.add_column(table.num_columns, "query_id", pa.nulls(len(table), pa.string()))
    table = table.add_column(table.num_columns, "judged", pa.nulls(len(table), pa.list_(pa.int32())))
    of_queries = qrels.groupby("query_id", sort=False).relevance.apply(list)
    judged = {name: pa.nulls(len(of_queries), table.schema.field(name).type) for name in table.schema.names}
    judged["query_id"] = pa.array(of_queries.index, pa.string())
    judged["query"] = judged["query_id"] if copied is None else pa.array(np.arange(len(of_queries)))
    judged["judged"] = pa.array(of_queries.tolist(), pa.list_(pa.int32()))
    both = pa.concat_tables([pa.table(judged), table])
    keys = list(zip(*(both.column(name).to_pylist() for name in ("query", "run")), strict=True))
    in_order = sorted(range(len(keys)), key=lambda i: [(each is not None, each or 0) for each in keys[i]])
    return both.take(in_order).combine_chunks().to_batches(max_chunksize=n)


def evaluation(view, unanswered=True):
    names = ("runs_df", "qrels_df", True)
    return Evaluation(parse_measures(MEASURES), view, unanswered, "float64", "int32", *names)


def assert_as_on_one_machine(found, qrels, runs, **options):
    expected = tieaware.evaluate(qrels, runs, MEASURES, **options)
    rows = pa.Table.from_batches(found)
    lists_there = list(zip(rows.column("run").to_pylist(), rows.column("query_id").to_pylist(), strict=True))
    assert len(set(lists_there)) == len(lists_there) == np.count_nonzero(expected.answered)
    for kind, cube in expected.cubes().items():
        for i in range(len(MEASURES)):
            values = rows.column(f"{kind.removesuffix('s')}_{i}").to_numpy()
            for (run, query), value in zip(lists_there, values, strict=True):
                wanted = cube[expected.runs.index(run), expected.queries.index(query), i]
                np.testing.assert_array_equal(value, wanted, str((run, query, MEASURES[i], kind)))


@pytest.mark.parametrize("looked_up", [True, False])
@pytest.mark.parametrize(("rows_at_once", "documents_at_once"), [(1, 1), (50, 1), (50, 40), (10_000, 10_000)])
def test_lists_may_be_divided_anywhere(rows_at_once, documents_at_once, looked_up, monkeypatch):
    """A list may be divided by packing, by the size limit of chunks, by batches, and by evaluation."""
    monkeypatch.setattr(packing, "ROWS_AT_ONCE", rows_at_once)
    monkeypatch.setattr(packing, "LONGEST_CHUNK", 5)
    monkeypatch.setattr(partitions, "DOCUMENTS_AT_ONCE", documents_at_once)
    qrels, runs = judgments(), rankings()
    copied = qrels if looked_up else None
    rows = rows_of(qrels, runs, looked_up=looked_up).to_batches(max_chunksize=13)
    packed = list(packing_of(copied).of_partition(rows))
    for unanswered, queries in ((True, "judged"), (False, "both")):
        found = evaluation(View(spread=True), unanswered).of_partition(partition(qrels, packed, 2, copied))
        assert_as_on_one_machine(list(found), qrels, runs, spread=True, queries=queries)


@pytest.mark.parametrize("looked_up", [True, False])
@pytest.mark.parametrize("ties", ["trec_eval", "run_order", "pessimistic"])
def test_packing_keeps_the_order_that_a_tie_rule_needs(ties, looked_up, monkeypatch):
    monkeypatch.setattr(packing, "ROWS_AT_ONCE", 50)
    qrels, runs = judgments(), rankings()
    copied = qrels if looked_up else None
    rows = rows_of(qrels, runs, True, looked_up).to_batches(max_chunksize=13)
    packed = packing_of(copied, all_names=True, places=True).of_partition(rows)
    found = evaluation(View(ties)).of_partition(partition(qrels, packed, copied=copied))
    assert_as_on_one_machine(list(found), qrels, runs, ties=ties)


def test_chunks_keep_only_the_scores_of_unjudged_documents():
    qrels, runs = judgments(), rankings()
    n_judged = len(runs.merge(qrels, on=["query_id", "doc_id"]))
    n_scores = len(runs.merge(qrels.query_id.drop_duplicates()))
    assert 0 < n_judged < n_scores / 3 < len(runs) / 3
    for copied, wanted in ((qrels, n_scores), (None, len(runs))):
        rows = rows_of(qrels, runs, looked_up=copied is not None)
        packed = pa.Table.from_batches(packing_of(copied).of_partition(rows.to_batches()))
        sizes = {
            name: sum(map(len, packed.column(name).drop_null().to_pylist()))
            for name in ("scores", "positions", "lengths")
        }
        assert sizes == {"scores": 8 * wanted, "positions": 4 * n_judged, "lengths": 4 * n_judged}


def test_empty_input_gives_no_output():
    assert list(packing_of().of_partition(iter([]))) == []
    qrels, runs = judgments(), rankings()
    empty = rows_of(qrels, runs).slice(0, 0).to_batches() or [rows_of(qrels, runs).to_batches()[0].slice(0, 0)]
    assert list(packing_of().of_partition(empty)) == []
    assert list(evaluation(View()).of_partition(iter([]))) == []


def test_chunks_of_unjudged_queries_are_skipped():
    qrels, runs = judgments(), rankings()
    packed = list(packing_of().of_partition(rows_of(qrels, runs).to_batches()))
    # Only the judgments of the first query are given.
    rows = partition(qrels.iloc[:1], packed, n=1)
    unjudged = [batch for batch in rows if batch.column("query_id").null_count]
    assert len(unjudged) == len(rows) - 1 > 3
    assert list(evaluation(View()).of_partition(unjudged)) == []


@pytest.mark.parametrize("wide", [False, True])
def test_unpacking_reads_large_and_small_offsets_and_slices(wide):
    binary, of_lists = (pa.large_binary(), pa.large_list(pa.int32())) if wide else (pa.binary(), pa.list_(pa.int32()))
    values = [np.arange(n, dtype=np.int32) for n in (3, 0, 2, 1)]
    for column in (
        pa.chunked_array([[each.tobytes() for each in values], [None]], binary),
        pa.chunked_array([[each.tolist() for each in values], [None]], of_lists),
    ):
        for start in range(5):
            found = packing.unpacked(column.slice(start), np.int32)
            assert found.sizes.tolist() == [3, 0, 2, 1, 0][start:]
            assert found.values.tolist() == np.concatenate([*values[start:], []]).tolist()


def test_a_worker_keeps_the_judgments_that_it_received(monkeypatch):
    """The next task of the same evaluation uses their index; another evaluation has other judgments."""
    monkeypatch.setattr(broadcasting, "_last_received", None)
    first, second = (CopiedJudgments(Qrels.from_frame(judgments(seed=seed))) for seed in (1, 2))
    received = [pickle.loads(pickle.dumps(each)) for each in (first, first, second, first)]
    assert received[0] is received[1]
    assert received[0] is not received[3]
    for each, sent in zip(received, (first, first, second, first), strict=True):
        assert each.qrels.to_dict() == sent.qrels.to_dict()


def test_a_judged_document_that_is_in_a_list_more_often_than_it_is_judged():
    """An unjudged document that repeats, and comes first, is not the one that is named."""
    copied = CopiedJudgments(Qrels.from_dict({"q1": {"d1": 1}, "q2": {"d2": 1}}))
    queries, documents = ["q1", "q2"], ["d9", "d9", "d1", "d2", "d2", "d3"]
    queries, documents = map(Identifiers.from_sequence, (queries, documents))
    for offsets, row in (([0, 4, 6], None), ([0, 3, 6], 4)):
        found = copied.match(queries, np.array(offsets), documents)
        if row is None:
            assert (found.numbers.tolist(), found.judged.tolist()) == ([0, 1], [2, 4])
        else:
            assert found == row


def test_keys_of_parts_are_distinct():
    for n in (1, 2, 3, 200, MOST_PARTS):
        keys = keys_of_partitions(n)
        assert len(set(keys.tolist())) == n
        assert keys.min() >= 0

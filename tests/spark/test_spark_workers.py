"""The code of Spark's workers, run without Spark: packing rows into chunks, and evaluating chunks."""

import numpy as np
import pyarrow as pa
import pytest
from tests.spark.data import judgments, rankings

import tieaware
from tieaware.engine.views import View
from tieaware.integrations.spark import packing, partitions
from tieaware.integrations.spark.broadcasting import bit_filters
from tieaware.integrations.spark.partitions import Evaluation
from tieaware.measures import parse_measures

MEASURES = ("AP", "nDCG@5", "Bpref", "infAP", "NumRel", "ERR(judged_only=True)@3")


def rows_of(qrels, runs, named="judged"):
    """Return the rows of runs, joined with the judgments, in the form in which Spark passes them to the packing."""
    joined = runs.merge(qrels, on=["query_id", "doc_id"], how="left")
    label = pa.array(joined.relevance, pa.int32(), from_pandas=True)
    document = joined.doc_id if named == "all" else joined.doc_id.where(joined.relevance.notna(), None)
    columns = {
        "run": pa.array(joined.system, pa.string()), "query": pa.array(joined.query_id, pa.string()),
        "score": pa.array(joined.score), "label": label, "document": pa.array(document, pa.string()),
        "place": pa.array(np.arange(len(joined))),
    }  # fmt: skip
    return pa.table(columns)


def partition(qrels, packed, n=7):
    """Return batches of n rows, sorted as Spark sorts them: the judgments of a query, then the chunks of its lists."""
    table = pa.Table.from_batches(packed)
    table = table.add_column(table.num_columns, "query_id", pa.nulls(len(table), pa.string()))
    table = table.add_column(table.num_columns, "judged", pa.nulls(len(table), pa.list_(pa.int32())))
    table = table.add_column(table.num_columns, "runs", pa.nulls(len(table), pa.list_(pa.string())))
    names = sorted(set(table.column("run").to_pylist()))
    of_queries = qrels.groupby("query_id").relevance.apply(list)
    judged = {name: pa.nulls(len(of_queries), table.schema.field(name).type) for name in table.schema.names}
    judged["query"] = judged["query_id"] = pa.array(of_queries.index, pa.string())
    judged["judged"] = pa.array(of_queries.tolist(), pa.list_(pa.int32()))
    judged["runs"] = pa.array([names] * len(of_queries), pa.list_(pa.string()))
    both = pa.concat_tables([pa.table(judged), table])
    keys = list(zip(*(both.column(name).fill_null("").to_pylist() for name in ("query", "run")), strict=True))
    by_query = both.take(sorted(range(len(keys)), key=keys.__getitem__))
    return by_query.combine_chunks().to_batches(max_chunksize=n)


def evaluation(view, unanswered=True):
    return Evaluation(parse_measures(MEASURES), view, unanswered, "float64", "int32", "runs_df")


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


@pytest.mark.parametrize(("rows_at_once", "documents_at_once"), [(1, 1), (50, 1), (50, 40), (10_000, 10_000)])
def test_lists_may_be_divided_anywhere(rows_at_once, documents_at_once, monkeypatch):
    """A list may be divided by packing, by the size limit of chunks, by batches, and by evaluation."""
    monkeypatch.setattr(packing, "ROWS_AT_ONCE", rows_at_once)
    monkeypatch.setattr(packing, "LONGEST_CHUNK", 5)
    monkeypatch.setattr(partitions, "DOCUMENTS_AT_ONCE", documents_at_once)
    qrels, runs = judgments(), rankings()
    packed = list(packing.packed(rows_of(qrels, runs).to_batches(max_chunksize=13)))
    for unanswered, queries in ((True, "judged"), (False, "both")):
        found = evaluation(View(spread=True), unanswered).of_partition(partition(qrels, packed, n=2))
        assert_as_on_one_machine(list(found), qrels, runs, spread=True, queries=queries)


@pytest.mark.parametrize("ties", ["trec_eval", "run_order", "pessimistic"])
def test_packing_keeps_the_order_that_a_tie_rule_needs(ties, monkeypatch):
    monkeypatch.setattr(packing, "ROWS_AT_ONCE", 50)
    qrels, runs = judgments(), rankings()
    packed = packing.packed(rows_of(qrels, runs, "all").to_batches(max_chunksize=13))
    found = evaluation(View(ties)).of_partition(partition(qrels, packed))
    assert_as_on_one_machine(list(found), qrels, runs, ties=ties)


def test_chunks_keep_only_the_scores_of_unjudged_documents():
    qrels, runs = judgments(), rankings()
    packed = pa.Table.from_batches(packing.packed(rows_of(qrels, runs).to_batches()))
    n_judged = len(runs.merge(qrels, on=["query_id", "doc_id"]))
    assert 0 < n_judged < len(runs) / 3
    sizes = {name: sum(map(len, packed.column(name).to_pylist())) for name in ("scores", "positions", "lengths")}
    assert sizes == {"scores": 8 * len(runs), "positions": 4 * n_judged, "lengths": 4 * n_judged}


def test_empty_input_gives_no_output():
    assert list(packing.packed(iter([]))) == []
    qrels, runs = judgments(), rankings()
    empty = rows_of(qrels, runs).slice(0, 0).to_batches() or [rows_of(qrels, runs).to_batches()[0].slice(0, 0)]
    assert list(packing.packed(empty)) == []
    assert list(evaluation(View()).of_partition(iter([]))) == []


def test_chunks_of_unjudged_queries_are_skipped():
    qrels, runs = judgments(), rankings()
    packed = list(packing.packed(rows_of(qrels, runs).to_batches()))
    # Only the judgments of the first query are given.
    unjudged = [batch.slice(0, 1) for batch in partition(qrels.iloc[:1], packed) if batch.column("run").null_count == 0]
    assert unjudged
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


def test_bit_filters_reject_most_unjudged_documents():
    """The bit of each judged document is set. At most one in thirty other documents finds its bit set."""
    rng = np.random.default_rng(4)
    hashes = [rng.integers(-(2**63), 2**63, n) for n in (1, 2, 3, 20, 33, 1000)]
    bits = bit_filters(pa.chunked_array([pa.array(hashes[:2]), pa.array(hashes[2:])]))
    others = rng.integers(-(2**63), 2**63, 100_000)
    for judged, words in zip(hashes, bits.to_pylist(), strict=True):
        assert 64 * len(words) <= max(64 * len(judged), 64)
        is_set = np.unpackbits(np.array(words, np.int64).view(np.uint8), bitorder="little").astype(bool)
        found = [is_set[each & (64 * len(words) - 1)] for each in (judged, others)]
        assert found[0].all()
        assert found[1].mean() < 0.033

"""What runs in Spark's workers, without Spark: rows packed into parts, and lists of these evaluated."""

import numpy as np
import pyarrow as pa
import pytest
from tests.spark.data import judgments, rankings

import tieaware
from tieaware.engine.views import View
from tieaware.integrations import spark as door
from tieaware.integrations.spark import packing, partitions
from tieaware.integrations.spark.partitions import Evaluation
from tieaware.measures import parse_measures

MEASURES = ("AP", "nDCG@5", "Bpref", "infAP", "NumRel", "ERR(judged_only=True)@3")


def rows_of(qrels, runs, named="judged"):
    """The rows as Spark hands them over, joined with the judgments."""
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
    """The parts in the order that Spark brings them to, after the judgments of their query; so many in a batch."""
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


def asked(view, silent=True, named="judged"):
    return Evaluation(parse_measures(MEASURES), view, silent, "float64", named, "runs_df")


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


@pytest.mark.parametrize(("rows_at_once", "chunk"), [(1, 1), (50, 1), (50, 40), (10_000, 10_000)])
def test_lists_may_be_cut_anywhere(rows_at_once, chunk, monkeypatch):
    """Between packed blocks, into parts, between batches, and where they are evaluated."""
    monkeypatch.setattr(packing, "ROWS", rows_at_once)
    monkeypatch.setattr(packing, "LARGEST", 5)
    monkeypatch.setattr(partitions, "CHUNK", chunk)
    qrels, runs = judgments(), rankings()
    packed = list(packing.packed(rows_of(qrels, runs).to_batches(max_chunksize=13)))
    for silent, queries in ((True, "judged"), (False, "both")):
        found = asked(View(spread=True), silent).of_partition(partition(qrels, packed, n=2))
        assert_as_on_one_machine(list(found), qrels, runs, spread=True, queries=queries)


@pytest.mark.parametrize("ties", ["trec_eval", "run_order", "pessimistic"])
def test_an_order_of_documents_survives(ties, monkeypatch):
    monkeypatch.setattr(packing, "ROWS", 50)
    qrels, runs = judgments(), rankings()
    packed = packing.packed(rows_of(qrels, runs, "all").to_batches(max_chunksize=13))
    found = asked(View(ties), named="all").of_partition(partition(qrels, packed))
    assert_as_on_one_machine(list(found), qrels, runs, ties=ties)


def test_unjudged_documents_are_scores_alone():
    qrels, runs = judgments(), rankings()
    packed = pa.Table.from_batches(packing.packed(rows_of(qrels, runs).to_batches()))
    n_judged = len(runs.merge(qrels, on=["query_id", "doc_id"]))
    assert 0 < n_judged < len(runs) / 3
    of_all = {name: sum(map(len, packed.column(name).to_pylist())) for name in ("scores", "positions", "lengths")}
    assert of_all == {"scores": 8 * len(runs), "positions": 4 * n_judged, "lengths": 4 * n_judged}


def test_nothing_comes_of_nothing():
    assert list(packing.packed(iter([]))) == []
    qrels, runs = judgments(), rankings()
    empty = rows_of(qrels, runs).slice(0, 0).to_batches() or [rows_of(qrels, runs).to_batches()[0].slice(0, 0)]
    assert list(packing.packed(empty)) == []
    assert list(asked(View()).of_partition(iter([]))) == []


def test_parts_of_queries_without_judgments_are_passed_over():
    qrels, runs = judgments(), rankings()
    packed = list(packing.packed(rows_of(qrels, runs).to_batches()))
    # Of the queries after the first, whose judgments are left out.
    unjudged = [batch.slice(0, 1) for batch in partition(qrels.iloc[:1], packed) if batch.column("run").null_count == 0]
    assert unjudged
    assert list(asked(View()).of_partition(unjudged)) == []


@pytest.mark.parametrize("wide", [False, True])
def test_content_is_read_whatever_the_width_of_offsets_and_the_cut(wide):
    binary, of_lists = (pa.large_binary(), pa.large_list(pa.int32())) if wide else (pa.binary(), pa.list_(pa.int32()))
    values = [np.arange(n, dtype=np.int32) for n in (3, 0, 2, 1)]
    for column in (
        pa.chunked_array([[each.tobytes() for each in values], [None]], binary),
        pa.chunked_array([[each.tolist() for each in values], [None]], of_lists),
    ):
        for start in range(5):
            found = packing.content(column.slice(start), np.int32)
            assert found.sizes.tolist() == [3, 0, 2, 1, 0][start:]
            assert found.values.tolist() == np.concatenate([*values[start:], []]).tolist()


def test_few_documents_are_looked_for_that_are_not_judged():
    """Every judged one has its bit, and of others one in thirty at most has that of another; in lists of any size."""
    rng = np.random.default_rng(4)
    hashes = [rng.integers(-(2**63), 2**63, n) for n in (1, 2, 3, 20, 33, 1000)]
    bits = door._bits(pa.chunked_array([pa.array(hashes[:2]), pa.array(hashes[2:])]))
    others = rng.integers(-(2**63), 2**63, 100_000)
    for own, words in zip(hashes, bits.to_pylist(), strict=True):
        assert 64 * len(words) <= max(64 * len(own), 64)
        of_query = np.unpackbits(np.array(words, np.int64).view(np.uint8), bitorder="little").astype(bool)
        named = [of_query[each & (64 * len(words) - 1)] for each in (own, others)]
        assert named[0].all()
        assert named[1].mean() < 0.033

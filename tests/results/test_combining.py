"""Joining of results: shards of runs are evaluated separately, and the joined results have the bits of the whole."""

import itertools
import subprocess
import sys

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from support.errors import message_of
from test_results import same

import tieaware
from tieaware import InputError, Results
from tieaware.ties import RULES

RNG = np.random.default_rng(16)
N = 60
DOCUMENTS = [f"d{i}" for i in range(9)]
QRELS = {f"q{q}": {d: int(RNG.integers(-1, 3)) for d in RNG.choice(DOCUMENTS, 5, replace=False)} for q in range(N)}
# Neither run answers the queries whose number is a multiple of 5, and the last five queries are not judged.
RUNS = {
    name: {
        f"q{q}": {d: float(RNG.integers(0, 3)) for d in RNG.choice(DOCUMENTS, 1 + q % 7, replace=False)}
        for q in range(step, N + 5) if q % 5
    }
    for step, name in enumerate(("bm25", "dense"))
}  # fmt: skip
MEASURES = ["AP", "nDCG@3", "RR", "NumRel", "NumRet", "GMAP", "infAP", "AUC", "Judged@2", "ESL", "SetF"]


def shards(n):
    """Yield n shards, each with every n-th judged query of both runs, and a last shard without a judged query."""
    queries = [f"q{q}" for q in range(N + 5)]
    for i in range(n):
        chosen = set(queries[i:N:n])
        yield {name: {q: run[q] for q in run if q in chosen} for name, run in RUNS.items()}
    yield {name: {q: run[q] for q in run if q in queries[N:]} for name, run in RUNS.items()}


OPTIONS = [*({"ties": rule} for rule in RULES), {"spread": True}, {"precision": "decimals:0"}, {"chance": True}]
OPTIONS.append({"spread": True, "chance": True, "precision": "bands:2"})


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_joined_shards_equal_the_whole(options):
    results = [tieaware.evaluate(QRELS, shard, MEASURES, queries="shard", **options) for shard in shards(4)]
    assert results[-1].values.shape == (2, 0, len(MEASURES))
    assert np.isnan(results[-1].mean()).all()
    assert same(Results.concat(results, QRELS), tieaware.evaluate(QRELS, RUNS, MEASURES, **options))
    answered = tieaware.evaluate(QRELS, RUNS, MEASURES, queries="both", **options)
    joined = Results.concat(results)
    assert joined.provenance == answered.provenance
    assert set(joined.queries) == set(answered.queries)
    # The order of the shards does not matter.
    for order in itertools.islice(itertools.permutations(results), 0, None, 17):
        assert Results.concat(order).mean().tobytes() == answered.mean().tobytes()
        assert same(Results.concat(order, QRELS), Results.concat(results, QRELS))


def test_a_run_may_be_in_some_shards_only():
    """Runs, queries, or both may be distributed over the shards."""
    whole = tieaware.evaluate(QRELS, RUNS, MEASURES)
    cells = [
        tieaware.evaluate(QRELS, {name: run}, MEASURES, queries="shard")
        for shard in shards(3) for name, run in shard.items()
    ]  # fmt: skip
    assert same(Results.concat(cells, QRELS), whole)
    assert same(Results.concat([Results.concat(cells[:3]), Results.concat(cells[3:])], QRELS), whole)
    assert "results[1]: an earlier result already has run 'bm25' on" in message_of(Results.concat, [cells[0], cells[0]])
    with pytest.raises(InputError, match=r"results: query 'q.*' is not judged in qrels"):
        Results.concat(cells, {"other": {"d1": 1}})


def test_judgments_may_be_sharded_too():
    """Each shard gets the unanswered queries of its own judgments, in their order."""
    results = []
    for i, shard in enumerate(shards(3)):
        judged = {f"q{q}": QRELS[f"q{q}"] for q in range(i, N, 3)} if i < 3 else {"q0 of others": {"d1": 1}}
        result = tieaware.evaluate(judged, shard, MEASURES, queries="shard")
        results.append(Results.concat([result], judged))
    whole = tieaware.evaluate(QRELS, RUNS, MEASURES)
    assert Results.concat(results[:3]).mean().tobytes() == whole.mean().tobytes()
    assert results[3].queries == ("q0 of others",)
    assert results[3]["bm25", "NumRet", "q0 of others"] == 0


def test_only_shards_may_have_no_judged_query():
    nothing = {"bm25": {"not judged": {"d1": 1.0}}}
    for queries in ("judged", "both"):
        with pytest.raises(InputError, match="bm25: no query of this run is judged in qrels"):
            tieaware.evaluate(QRELS, nothing, "AP", queries=queries)
    result = tieaware.evaluate(QRELS, nothing, "AP", queries="shard")
    assert (result.runs, result.queries) == (("bm25",), ())
    assert result.to_arrow().num_rows == 0
    assert "0 queries" in repr(result)


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_shard_without_a_query_or_a_run_is_saved(tmp_path, suffix):
    table = pa.table({name: pa.array([], pa.string()) for name in ("run", "qid", "docno", "score")})
    for runs, shape in (({"bm25\udcff": {"not judged": {"d1": 1.0}}}, (1, 0, 1)), (table, (0, 0, 1))):
        result = tieaware.evaluate(QRELS, runs, "AP", queries="shard")
        assert result.values.shape == shape
        assert repr(result)
        result.save(tmp_path / f"result{suffix}")
        assert same(Results.load(tmp_path / f"result{suffix}"), result)
    assert "runs: there is no run" in message_of(tieaware.evaluate, QRELS, table, "AP")


def test_duckdb_shards_a_table(tmp_path):
    """A SQL filter on the hash of the query selects the rows of a shard, which may be none."""
    rows = [(name, q, d, score) for name, run in RUNS.items() for q, docs in run.items() for d, score in docs.items()]
    columns = dict(zip(("run", "query_id", "doc_id", "score"), zip(*rows, strict=True), strict=True))
    table = pa.table({name: list(column) for name, column in columns.items()})
    pyarrow.parquet.write_table(table, tmp_path / "runs.parquet")
    results = []
    for shard in range(200):
        table = duckdb.sql(f"FROM '{tmp_path}/runs.parquet' WHERE hash(query_id) % 200 = {shard}")
        results.append(tieaware.evaluate(QRELS, table, MEASURES, queries="shard"))
    assert min(map(len, results)) == 0
    whole = Results.concat(results, QRELS)
    assert same(Results.concat([whole[name] for name in RUNS]), tieaware.evaluate(QRELS, RUNS, MEASURES))


TASK = """
import sys, tieaware
folder, shard = sys.argv[1:]
result = tieaware.evaluate(f"{folder}/qrels", {"bm25": f"{folder}/{shard}.run"}, ["AP", "nDCG@3"], queries="shard")
result.save(f"{folder}/{shard}.npz")
"""


def test_results_of_several_processes_are_joined_from_files(tmp_path):
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {label}\n" for q in QRELS for d, label in QRELS[q].items()))
    for i, shard in enumerate(shards(2)):
        lines = [f"{q} Q0 {d} 0 {s} t\n" for q, docs in shard["bm25"].items() for d, s in docs.items()]
        (tmp_path / f"{i}.run").write_text("".join(lines))
    tasks = [subprocess.Popen([sys.executable, "-c", TASK, tmp_path, str(i)]) for i in range(3)]
    assert [task.wait() for task in tasks] == [0, 0, 0]
    whole = Results.concat([Results.load(path) for path in tmp_path.glob("*.npz")], tmp_path / "qrels")
    assert same(whole, tieaware.evaluate(QRELS, {"bm25": RUNS["bm25"]}, ["AP", "nDCG@3"]))


def test_the_first_result_that_fits_neither_way_is_named():
    """The first two results have the same runs; the third has neither these runs nor the queries of the first."""
    qrels = {f"q{q}": {"d1": 1} for q in range(6)}

    def result(name, queries):
        return tieaware.evaluate({q: qrels[q] for q in queries}, {name: {q: {"d1": 1.0} for q in queries}}, "AP")

    pair = [result("bm25", ["q0", "q1"]), result("bm25", ["q2", "q3"])]
    message = r"^results\[2\]: all results must have .*; this one shares no runs and no queries with results\[0\]$"
    with pytest.raises(InputError, match=message):
        Results.concat([*pair, result("dense", ["q4", "q5"])])
    runs = [result("bm25", ["q0", "q1"]), result("dense", ["q0", "q1"]), result("tct", ["q0", "q1"])]
    with pytest.raises(InputError, match=r"^results\[3\]: .* shares runs such as 'bm25' and queries such as 'q0' with"):
        Results.concat([*runs, result("bm25", ["q0"])])


def test_runs_that_join_complete_lists_give_a_warning():
    """RR of a run cut at two documents is RR@2, and RR of all scores is not."""
    pair = tieaware.Run.from_topk([[0, 1], [1, 0]], [[0.9, 0.5], [0.8, 0.1]])
    qrels = {0: {0: 1}, 1: {0: 1}}
    evaluator = tieaware.Evaluator([[1, 0, 0], [1, 0, 0]], ["RR"])
    cut = tieaware.evaluate(qrels, {"als": pair}, ["RR"])
    complete = evaluator.results({"dense": [[0.9, 0.5, 0.1], [0.1, 0.8, 0.5]]}, queries=cut.queries)
    with pytest.warns(UserWarning, match="^runs: RR has no cut-off, and compares runs with lists of all documents: "):
        joined = tieaware.Results.concat([cut, complete])
    assert not joined.provenance.complete_lists
    again = evaluator.results({"again": np.ones((2, 3))}, queries=cut.queries)
    assert tieaware.Results.concat([complete, again]).provenance.complete_lists

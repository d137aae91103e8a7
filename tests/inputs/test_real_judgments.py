"""Labels that are real numbers, in every form of judgments: the values have the bits of those of an Evaluator."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.errors import message_of
from support.table_files import write_columns

import tieaware
from tieaware import Evaluator, InputError, Qrels, evaluate, read_qrels
from tieaware.kernels import _dicts

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

MEASURES = [
    "nDCG@5", "DCG", "AP(rel=0.5)", "Q(rel=0.3)", "RBP(gains='label')", "ERR", "Bpref(rel=0.5)", "infAP(rel=0.5)",
]  # fmt: skip
GRADES = [-1.0, 0.0, 0.1, 0.3, 0.30000000000000004, 0.7, 1.0, 2.3]
N, DEPTH = 30, 20


def drawn(seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Draw the labels and scores of N lists, with many ties."""
    rng = np.random.default_rng(seed)
    return rng.choice(GRADES, (N, DEPTH)), rng.integers(0, 6, (N, DEPTH)) * 0.25


LABELS, SCORES = drawn()
QRELS = {f"q{i}": {f"d{j}": label for j, label in enumerate(row)} for i, row in enumerate(LABELS.tolist())}
RUN = {f"q{i}": {f"d{j}": score for j, score in enumerate(row)} for i, row in enumerate(SCORES.tolist())}
ROWS = [(query, document, label) for query, judged in QRELS.items() for document, label in judged.items()]
COLUMNS = {name: [row[i] for row in ROWS] for i, name in enumerate(("query_id", "doc_id", "label"))}
TREC = "".join(f"{query} 0 {document} {label!r}\n" for query, document, label in ROWS)


@pytest.fixture(scope="module")
def values():
    """The values of an Evaluator; in judgments, a negative label means "in the pool, but not judged"."""
    return Evaluator(np.where(LABELS < 0, -2.0, LABELS), MEASURES)(SCORES)


def in_file(path, text, suffix):
    file = path / f"qrels{suffix}"
    file.write_text(text)
    return file


def in_parts(path):
    for i in range(3):
        (path / f"part-{i}").write_text("".join(TREC.splitlines(keepends=True)[i * 200 : (i + 1) * 200]))
    return [path / f"part-{i}" for i in range(3)]


FORMS = {
    "dict": lambda path: QRELS,
    "dict of numpy": lambda path: {q: {d: np.float64(label) for d, label in row.items()} for q, row in QRELS.items()},
    "columns": lambda path: Qrels.from_columns(*COLUMNS.values()),
    "pandas": lambda path: pd.DataFrame(COLUMNS),
    "nullable": lambda path: pd.DataFrame(COLUMNS).astype({"label": "Float64"}),
    "objects": lambda path: pd.DataFrame(COLUMNS).astype({"label": object}),
    "polars": lambda path: pl.DataFrame(COLUMNS),
    "lazy": lambda path: pl.LazyFrame(COLUMNS),
    "arrow": lambda path: pa.table(COLUMNS),
    "batches": lambda path: pa.Table.from_batches(pa.table(COLUMNS).to_batches(max_chunksize=7)),
    "file": lambda path: in_file(path, TREC, ".txt"),
    "file object": lambda path: io.BytesIO(TREC.encode()),
    **{
        suffix: lambda path, suffix=suffix: write_columns(COLUMNS, path / f"qrels.{suffix}")
        for suffix in ("csv", "tsv", "jsonl", "parquet", "arrow", "arrows", "feather")
    },
    "parts": in_parts,
    "pickle": lambda path: pickle.loads(pickle.dumps(Qrels.from_dict(QRELS))),
    "again": lambda path: Qrels.from_dict(Qrels.from_dict(QRELS).to_dict()),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_judgments_has_the_same_values(form, values, tmp_path):
    judged = FORMS[form](tmp_path)
    np.testing.assert_array_equal(evaluate(judged, RUN, MEASURES).values[0], values)


def test_a_sparse_matrix_of_real_labels(values):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_array((LABELS.reshape(-1), np.tile(np.arange(DEPTH), N), np.arange(N + 1) * DEPTH), (N, DEPTH))
    numbered = {i: dict(enumerate(row)) for i, row in enumerate(SCORES.tolist())}
    np.testing.assert_array_equal(evaluate(matrix, numbered, MEASURES).values[0], values)
    assert Qrels.from_sparse(matrix).labels.tolist() == LABELS.reshape(-1).tolist()


@pytest.mark.parametrize("ties", ["average", "optimistic", "pessimistic"])
def test_threads_chunks_and_shards_change_no_bit(ties, tmp_path, monkeypatch):
    """Runs in files do not change a bit either, and neither do judgments that are divided among shards."""
    monkeypatch.setattr("tieaware.inputs.runs.streamed.CHUNK_ROWS", 50)
    path = tmp_path / "a.run"
    path.write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, listed in RUN.items() for d, s in listed.items()))
    known = evaluate(QRELS, RUN, MEASURES, ties=ties, threads=1)
    for threads in (1, 4):
        results = evaluate(QRELS, path, MEASURES, ties=ties, threads=threads, spread=ties == "average")
        np.testing.assert_array_equal(results.values, known.values)
    queries = list(QRELS)
    parts = [
        evaluate({q: QRELS[q] for q in some}, {q: RUN[q] for q in some}, MEASURES, ties=ties, queries="shard")
        for some in (queries[:7], queries[7:8], queries[8:])
    ]
    np.testing.assert_array_equal(tieaware.Results.concat(parts).values, known.values)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from([0.1, 0.2, 0.3, 0.7, 1 / 3, 1e-9, 5.0])),
             min_size=1, max_size=8, unique_by=lambda row: row[0]),
    st.randoms(),
)  # fmt: skip
def test_no_order_of_the_rows_changes_a_bit(rows, rng):
    run = {"q": dict.fromkeys("abcdefgh", 1.0)}
    measures = ["nDCG@3", "DCG", "RBP(gains='label')"]
    if max(label for _, label in rows) >= 0.1:
        measures.append("Q(rel=0.1)")
    first, second = (
        evaluate(Qrels.from_columns(["q"] * len(rows), *zip(*some, strict=True)), run, measures).values
        for some in (rows, rng.sample(rows, len(rows)))
    )
    np.testing.assert_array_equal(first, second)


def test_the_labels_of_judgments_are_those_that_were_given():
    qrels = Qrels.from_dict(QRELS)
    assert qrels.labels.dtype == np.float64
    assert qrels.to_dict() == QRELS
    assert not qrels.labels.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        qrels.judgments.labels[0] = 1
    assert qrels.judgments.labels.dtype == np.int32
    again = Qrels(qrels.queries, qrels.offsets, qrels.documents, qrels.labels)
    np.testing.assert_array_equal(again.judgments.labels, qrels.judgments.labels)
    # Whole numbers of any type stay integers.
    whole = Qrels.from_dict({"q": {"a": 1.0, "b": True, "c": np.float32(2)}})
    assert whole.labels.dtype == np.int32
    assert whole.grades is None
    assert read_qrels(io.BytesIO(b"q 0 a 1.0\nq 0 b 2e0\nq 0 c -0.0\n")).labels.tolist() == [1, 2, 0]


@pytest.mark.filterwarnings("ignore:labels. .* is negative")
def test_the_kernel_reads_real_labels_after_whole_ones():
    """It starts again with the list in which the first label that is not a whole number stands."""
    judged = {"p": {"a": 1, "b": 2}, "q": {"longer": 3, "c": 0.5, "d": True}, "r": {"e": 1.0, "f": -0.25}}
    assert _dicts.columns_of(judged) is not None
    assert Qrels.from_dict(judged).to_dict() == judged
    assert _dicts.columns_of({"p": {"a": 0.5}, "q": {"b": None}}) is None


@pytest.mark.parametrize("text", ["0.7", "+0.7", ".7", "7e-1", "0.70000000000000000000000", "-0.5", "1e-320"])
@pytest.mark.filterwarnings("ignore:labels. .* is negative")
def test_labels_in_files_are_rounded_like_numbers_of_python(text):
    assert read_qrels(io.BytesIO(f"q 0 d {text}\nq 0 e 0.25\n".encode())).labels.tolist() == [float(text), 0.25]


def test_the_range_of_real_labels():
    least = -(2.0**31)
    for judged in (
        {"q": {"a": least, "b": 0.5}}, {"q": {"a": 0.5, "b": least}}, io.BytesIO(b"q 0 a -2147483648.0\nq 0 b 0.5\n"),
        pd.DataFrame({"qid": ["q"] * 2, "docno": ["a", "b"], "label": [least, 0.5]}),
    ):  # fmt: skip
        assert sorted(tieaware.inputs.as_qrels(judged).labels.tolist()) == [least, 0.5]


MISSING = {"qid": ["q"] * 4, "docno": list("abcd"), "label": [0.5, None, 1.0, 0.0]}
NO_VALUE = "qrels: label[1]: expected a number, found a missing value"
# Judgments with a missing label, and the end of the error if this is not asked for.
MISSING_FORMS = {
    "arrow": (lambda path: pa.table(MISSING), NO_VALUE),
    "polars": (lambda path: pl.DataFrame(MISSING), NO_VALUE),
    "pandas": (lambda path: pd.DataFrame(MISSING), "qrels: label[1]: is NaN; pass missing='unjudged' if NaN means that "
               "a document is not judged"),
    "nullable": (lambda path: pd.DataFrame(MISSING).convert_dtypes(), "qrels: label[1]: the value is missing"),
    "csv": (lambda path: in_file(path, "qid,docno,label\nq,a,0.5\nq,b,\nq,c,1\nq,d,0\n", ".csv"),
            "qrels.csv: label[1]: expected a number, found an empty field"),
    "jsonl": (lambda path: write_columns(MISSING, path / "qrels.jsonl"),
              "qrels.jsonl:2: label: expected a number from -2147483648 to 2147483647, found None"),
    "trec": (lambda path: in_file(path, "q 0 a 0.5\nq 0 b NaN\nq 0 c 1\nq 0 d 0\n", ".txt"),
             "qrels.txt:2: the label, field 4, is NaN; read_qrels(path, missing='unjudged') reads it as unjudged"),
    "dict": (lambda path: {"q": dict(zip(MISSING["docno"], MISSING["label"], strict=True))},
             "qrels['q']['b']: expected a number from -2147483648 to 2147483647, found None"),
}  # fmt: skip


@pytest.mark.parametrize("form", MISSING_FORMS)
def test_missing_labels_are_unjudged_only_where_this_is_asked_for(form, tmp_path):
    made, message = MISSING_FORMS[form]
    judged, run = made(tmp_path), {"q": {"a": 1.0, "b": 2.0, "c": 2.0}}
    assert message_of(evaluate, judged, run, "nDCG").endswith(message)
    values = evaluate(judged, run, ["nDCG", "Judged@3"], missing="unjudged").values
    without = evaluate({"q": {"a": 0.5, "c": 1, "d": 0}}, run, ["nDCG", "Judged@3"])
    np.testing.assert_array_equal(values, without.values)
    if form != "dict":
        assert read_qrels(judged, missing="unjudged").labels.tolist() == [0.5, -1.0, 1.0, 0.0]


def test_missing_labels_in_columns():
    label = MISSING["label"]
    assert Qrels.from_columns(["q"] * 4, list("abcd"), label, missing="unjudged").labels.tolist() == [0.5, -1, 1, 0]
    assert Qrels.from_columns(["q"] * 2, list("ab"), [1, np.nan], missing="unjudged").labels.tolist() == [1, -1]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint32(), pa.float32(), pa.float64(), pa.bool_()])
def test_nulls_of_every_type(kind):
    """Nulls at the ends of slices are found, too."""
    label = pa.array([1, None, 0, None, None, 1]).cast(kind)
    table = pa.table({"qid": ["q"] * 6, "docno": list("abcdef"), "label": label})
    assert Qrels.from_arrow(table, missing="unjudged").labels.tolist() == [1, -1, 0, -1, -1, 1]
    assert Qrels.from_arrow(table.slice(1, 4), missing="unjudged").labels.tolist() == [-1, 0, -1, -1]


def test_a_column_of_nulls():
    nulls = pa.table({"qid": ["q"] * 2, "docno": list("ab"), "label": pa.nulls(2)})
    assert Qrels.from_arrow(nulls, missing="unjudged").labels.tolist() == [-1, -1]


def test_the_error_about_labels_below_rel_comes_once_and_not_for_shards():
    judged, run = {"q": {"a": 0.4, "b": 0.4}}, {"q": {"a": 1.0, "b": 1.0}}
    with pytest.raises(InputError, match=r"^AP: labels: are all below rel=1, .*; write for example AP\(rel=0\.4\)$"):
        evaluate(judged, {"x": run, "y": run}, ["nDCG", "AP", "P@1"])
    qrels = Qrels.from_dict(judged)
    assert evaluate(qrels, run, ["nDCG", "AP"], queries="shard").values.tolist() == [[[1.0, 0.0]]]
    assert message_of(evaluate, qrels, run, ["nDCG", "AP"]).startswith("AP: labels: are all below rel=1")


def test_scaled_labels_in_a_file_have_the_ndcg_of_pytrec_eval(tmp_path):
    """pytrec_eval takes whole labels only; nDCG does not change if all labels are multiplied by the same number."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(21)
    whole = {f"q{i}": {f"d{j}": int(rng.integers(0, 5)) for j in range(15)} for i in range(20)}
    run = {query: {f"d{j}": float(s) for j, s in enumerate(rng.permutation(25))} for query in whole}
    theirs = pytrec_eval.RelevanceEvaluator(whole, {"ndcg", "ndcg_cut.5"}).evaluate(run)
    lines = "".join(f"{q} 0 {d} {label * 0.07!r}\n" for q, judged in whole.items() for d, label in judged.items())
    result = evaluate(in_file(tmp_path, lines, ".txt"), run, ["ndcg", "ndcg_cut_5"])
    expected = [[theirs[query]["ndcg"], theirs[query]["ndcg_cut_5"]] for query in result.queries]
    np.testing.assert_allclose(result.values[0], expected, rtol=1e-13)
    from tieaware.integrations import pytrec_eval as face

    scaled = {query: {d: label * 0.07 for d, label in judged.items()} for query, judged in whole.items()}
    of_face = face.RelevanceEvaluator(scaled, {"ndcg", "ndcg_cut.5", "map"}, relevance_level=0.07).evaluate(run)
    of_whole = pytrec_eval.RelevanceEvaluator(whole, {"ndcg", "ndcg_cut.5", "map"}).evaluate(run)
    for query, values in of_whole.items():
        assert of_face[query] == pytest.approx(values, rel=1e-13)


def test_the_command_line_takes_real_labels(tmp_path, printed, refused):
    judged = in_file(tmp_path, "q1 0 d1 0.7\nq1 0 d2 0.2\n", ".txt")
    run = tmp_path / "a.run"
    run.write_text("q1 Q0 d1 1 1.0 a\nq1 Q0 d2 2 1.0 a\n")
    lines = printed("eval", judged, run, "-m", "AP(rel=0.5)", "-m", "nDCG").splitlines()
    assert [line.split()[-1] for line in lines] == ["0.7500", "0.8883"]
    error = refused("eval", judged, run, "-m", "AP", "-m", "P@1")
    assert error.startswith("AP: labels: are all below rel=1, so no document is relevant (the highest is 0.7); write")
    assert "which trec_eval does not read; use tieaware eval" in refused("trec_eval", judged, run)
    printed("curve", judged, run, "--rel", "0.5")


def test_other_uses_of_judgments_take_real_labels():
    from tieaware.experiments import assessors, pooling
    from tieaware.optimise import WeightedFusion
    from tieaware.retrieval import Index, rocchio

    documents = [("d1", "tie rank"), ("d2", "tie list"), ("d3", "rank order"), ("d4", "list")]
    index = Index.build(documents, analyzer=str.split)
    graded, binary = {"q": {"d1": 0.7, "d2": 0.2}}, {"q": {"d1": 1, "d2": 0}}
    first, second = (
        rocchio(index, {"q": "tie"}, some, rel=rel)["q"].weights for some, rel in ((graded, 0.5), (binary, 1))
    )
    np.testing.assert_array_equal(first, second)
    runs = {"a": {"q": {"d1": 2.0, "d2": 1.0}}, "b": {"q": {"d1": 1.0, "d2": 2.0}}}
    fusion = WeightedFusion(graded, runs, ["nDCG", "AP(rel=0.5)"])
    fused = tieaware.fuse(runs, weights=[0.75, 0.25])
    np.testing.assert_array_equal(fusion([0.75, 0.25]), evaluate(graded, fused, ["nDCG", "AP(rel=0.5)"]).values[0])
    pooled = pooling(runs, 2, qrels=graded, rel=0.5)
    assert [row[-1] for row in pooled.tables()["documents"].rows] == [0.7, 0.2]
    assert pooled.tables()["queries"].rows[0][-1] == 1.0
    other = {"q": {"d1": 0.7, "d2": 0.6}}
    outcome = assessors(graded, other, runs, "nDCG", rel=0.5)
    assert outcome.agreement.share == 0.5
    assert outcome.agreement.relevant.tolist() == [1, 2, 1, 2]

"""Exports of a run, which are read back as the same run."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from support.errors import message_of

import tieaware
from tieaware import Run

RUN = {"q2": {"d1": 0.1, "d2": 0.1, "d3": 7.0}, "q1": {"d2": -2.5}}
NAMES = st.text(st.characters(exclude_categories=["Cs", "Zs", "Cc"], exclude_characters="#"), min_size=1, max_size=3)


def test_a_dict_is_returned_as_it_was():
    for run in (RUN, {"q1": {}, "q2": {"d": 1.0}}):
        assert Run.from_dict(run).to_dict() == run
        assert list(Run.from_dict(run).to_dict()) == list(run)
    assert Run.from_columns([1, 1], [7, 5], [0.5, 0.25]).to_dict() == {1: {7: 0.5, 5: 0.25}}


@pytest.mark.parametrize("form", ["to_arrow", "to_pandas", "to_polars"])
def test_frames_are_read_back(form):
    pytest.importorskip({"to_arrow": "pyarrow"}.get(form, form[3:]))
    run = Run.from_columns([3, 3, 4], [1, 2, 1], np.array([0.5, 0.5, 0.1], np.float32))
    frame = getattr(run, form)()
    again = Run.from_frame(frame)
    assert again.to_dict() == run.to_dict()
    assert again.scores.dtype == np.float32


@given(
    run=st.dictionaries(
        NAMES,
        st.dictionaries(NAMES, st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4),
        min_size=1,
        max_size=3,
    )
)
def test_a_written_file_has_the_same_documents_scores_and_tied_order(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "a.run"
    Run.from_dict(run, name="my run").write(path)
    again = tieaware.read_run(path)
    assert again.to_dict() == run
    assert again.tag == "my_run"
    for query, scores in again.to_dict().items():
        assert list(scores) == sorted(run[query], key=lambda d: -run[query][d])
        assert list(scores.values()) == sorted(run[query].values(), reverse=True)


def test_parquet_is_read_back(tmp_path):
    pytest.importorskip("pyarrow")
    Run.from_dict(RUN).write(tmp_path / "a.parquet")
    assert tieaware.read_run(tmp_path / "a.parquet").to_dict() == RUN


def test_many_rows_are_written(tmp_path):
    n = 70_000
    scores = np.random.default_rng(1).integers(0, 50, n) / 7
    run = Run.from_columns(np.repeat(np.arange(7), n // 7), np.arange(n), scores)
    run.write(tmp_path / "a.run")
    again = tieaware.read_run(tmp_path / "a.run").to_dict()
    assert {int(q): {int(d): s for d, s in docs.items()} for q, docs in again.items()} == run.to_dict()


@pytest.mark.parametrize(("query", "document", "message"), [
    ("a b", "d", "run: query 'a b' cannot be written to a TREC file, which separates fields by white space: "
     "write a .parquet file instead"),
    ("q", "d\t1", "run: document 'd\\t1' cannot be written to a TREC file, which separates fields by white space: "
     "write a .parquet file instead"),
    ("#q", "d", "run: query '#q' cannot be written to a TREC file, where a line that begins with it is a comment: "
     "write a .parquet file instead"),
    ("q", "", "run: document '' cannot be written to a TREC file, which separates fields by white space: "
     "write a .parquet file instead"),
])  # fmt: skip
def test_identifiers_that_trec_files_cannot_hold_are_refused(query, document, message, tmp_path):
    path = tmp_path / "a.run"
    path.write_text("old")
    assert message_of(Run.from_dict({query: {document: 1.0}}).write, path) == message
    assert path.read_text() == "old"


@pytest.mark.parametrize(("ending", "magic"), [(".gz", b"\x1f\x8b"), (".bz2", b"BZh"), (".xz", b"\xfd7zXZ")])
def test_files_are_compressed_as_their_names_say(ending, magic, tmp_path):
    paths = [tmp_path / f"{i}.run{ending}" for i in range(2)]
    for path in paths:
        Run.from_dict(RUN).write(path)
    assert paths[0].read_bytes().startswith(magic)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert tieaware.read_run(paths[0]).to_dict() == RUN


OTHER = "use .run, .txt or .trec for a TREC file, or .parquet"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *((f"a.{ending}", OTHER) for ending in ("json", "jsonl", "CSV", "tsv", "csv.gz", "arrow", "feather")),
        ("a.run.zst", "cannot be compressed with zstd; write a .gz, .bz2 or .xz file"),
    ],
)
def test_endings_of_other_formats_are_refused(name, message, tmp_path):
    assert message_of(Run.from_dict(RUN).write, tmp_path / name).endswith(message)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a", "a.run", "a.txt", "a.trec", "a.res", "a.v2", "a.run.gz"])
def test_other_endings_give_trec_files(name, tmp_path):
    Run.from_dict(RUN, name="bm25").write(tmp_path / name)
    assert tieaware.read_run(tmp_path / name).tag == "bm25"

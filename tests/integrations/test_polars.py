"""The namespace of polars' frames, compared with `tieaware.evaluate`."""

import warnings

import numpy as np
import pytest

import tieaware
from tieaware import InputError
from tieaware.integrations.polars import FrameNamespace, install

polars = pytest.importorskip("polars")


@pytest.fixture
def frames():
    install()
    rng = np.random.default_rng(5)
    n = 400
    run = polars.DataFrame({
        "qid": np.repeat(np.arange(20), 20), "docno": [f"d{i}" for i in np.tile(np.arange(20), 20)],
        "score": rng.integers(0, 5, n) / 2.0,
    })  # fmt: skip
    qrels = run.select("qid", "docno").with_columns(label=polars.Series(rng.integers(0, 3, n)))
    return qrels, run


@pytest.mark.parametrize("options", [{}, {"spread": True}, {"ties": "optimistic", "precision": "decimals:0"}])
def test_frames_go_in_and_come_out_with_the_bits_of_evaluate(frames, options):
    qrels, run = frames
    expected = tieaware.evaluate(qrels, run, ["AP", "nDCG@5"], **options)
    for frame in (run, run.lazy()):
        values = frame.tieaware.evaluate(qrels, ["AP", "nDCG@5"], **options)
        assert values.equals(expected.to_polars())
        assert values.schema["query"] == polars.Int64
        np.testing.assert_array_equal(values["AP"].to_numpy(), expected.values[0, :, 0])
        means = frame.tieaware.means(qrels, ["AP", "nDCG@5"], **options)
        assert means.equals(expected.means().to_polars())
        assert means["nDCG@5"].item() == expected.mean()[0, 1]


def test_several_runs_have_rows_of_their_own(frames):
    qrels, run = frames
    both = polars.concat([run.with_columns(run=polars.lit(name)) for name in ("a", "b")])
    assert both.tieaware.means(qrels, "AP")["run"].to_list() == ["a", "b"]
    assert both.tieaware.evaluate(qrels, "AP").height == 40


def test_a_second_call_changes_nothing():
    install()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        install()
    assert polars.DataFrame.tieaware is polars.LazyFrame.tieaware is FrameNamespace


def test_errors_are_those_of_evaluate(frames):
    qrels, run = frames
    with pytest.raises(InputError) as expected:
        tieaware.evaluate(qrels, run.drop("score"), "AP")
    with pytest.raises(InputError) as found:
        run.drop("score").tieaware.evaluate(qrels, "AP")
    assert str(found.value) == str(expected.value)

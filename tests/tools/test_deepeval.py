"""The metrics for deepeval, in its own evaluation. deepeval has no retrieval metric that calls no language model."""

import asyncio

import pytest
from page_code import code_of

from tieaware import InputError
from tieaware.integrations.deepeval import metric


@pytest.fixture(autouse=True)
def _installed(monkeypatch, tmp_path):
    """Deepeval writes its results to the current folder."""
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("deepeval.test_case")


def case(**options):
    from deepeval.test_case import LLMTestCase

    given = {
        "input": "b", "actual_output": "an answer", "context": ["b"], "retrieval_context": ["a", "b"],
        "metadata": {"retrieval_scores": [1.0, 1.0]},
    }  # fmt: skip
    return LLMTestCase(**{**given, **options})


def test_ties_are_averaged_and_explained():
    ours = metric("RR", threshold=0.8)
    assert ours.measure(case()) == ours.score == 0.75
    assert (ours.__name__, ours.reason) == ("RR", "2 contexts tie: from 0.5000 to 1.0000")
    assert ours.score_breakdown == {"std": 0.25, "min": 0.5, "max": 1.0, "tied": 2}
    assert (ours.success, ours.is_successful()) == (False, False)
    assert asyncio.run(metric("RR", ties="optimistic").a_measure(case())) == 1.0
    assert metric("RR").measure(case(metadata=None)) == 0.5


def test_the_evaluation_of_deepeval_copies_metrics_with_their_threshold():
    from deepeval import assert_test, evaluate

    metrics = [metric("RR", 0.8), metric("MeanRank", 2), metric("MeanRank", 1), metric("P@1", None)]
    for asynchronous in (True, False):
        from deepeval.evaluate import AsyncConfig

        found = evaluate([case(), case()], metrics, async_config=AsyncConfig(run_async=asynchronous)).test_results
        for each in found:
            values = [(data.name, data.score, data.threshold, data.success) for data in each.metrics_data]
            assert values == [
                ("RR", 0.75, 0.8, False), ("MeanRank", 1.5, 2.0, True), ("MeanRank", 1.5, 1.0, False),
                ("P@1", 0.5, None, None),
            ]  # fmt: skip
    assert_test(case(), [metric("RR", 0.7)])
    with pytest.raises(AssertionError, match=r"RR \(score: 0\.75, threshold: 0\.8"):
        assert_test(case(), [metric("RR", 0.8)])


def test_contexts_with_their_sources_and_graders():
    from deepeval.test_case import RetrievedContextData

    sources = [RetrievedContextData(context=text, source="file") for text in "ab"]
    assert metric("RR").measure(case(retrieval_context=sources)) == 0.75

    def grader(question, texts):
        return [text == question for text in texts]

    assert metric("RR", grader=grader).measure(case(retrieval_context=sources, context=None)) == 0.75


def test_a_test_case_without_contexts_is_reported_or_skipped():
    from deepeval import evaluate
    from deepeval.errors import MissingTestCaseParamsError
    from deepeval.evaluate import ErrorConfig

    ours, bare = metric("RR"), case(context=None, retrieval_context=None)
    with pytest.raises(MissingTestCaseParamsError, match=r"^retrieval_context, context: needed by the metric RR$"):
        ours.measure(bare)
    assert ours.error == "retrieval_context, context: needed by the metric RR"
    assert ours.is_successful() is False
    found = evaluate([bare], [ours], error_config=ErrorConfig(skip_on_missing_params=True)).test_results
    assert not found[0].metrics_data
    assert ours.measure(case()) == 0.75
    assert ours.error is None


def test_wrong_arguments_are_errors():
    with pytest.raises(InputError, match="scores: must be one for each of 2 contexts; found 1"):
        metric("RR").measure(case(metadata={"retrieval_scores": [1.0]}))
    for wrong in (lambda: metric("XX"), lambda: metric("RR", ties="mean")):
        with pytest.raises(InputError):
            wrong()


def test_the_example_on_the_page():
    exec(code_of("rag", "integrations.deepeval"), {})

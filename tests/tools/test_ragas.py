"""The metrics for ragas, compared with its own that call no language model."""

import asyncio
from functools import partial

import numpy as np
import pytest
from page_code import code_of

from tieaware import InputError
from tieaware.integrations.ragas import metric

TIED = {"retrieved_context_ids": ["a", "b"], "reference_context_ids": ["b"], "retrieved_scores": [1.0, 1.0]}


@pytest.fixture(autouse=True)
def _installed(monkeypatch):
    monkeypatch.setenv("RAGAS_DO_NOT_TRACK", "true")
    pytest.importorskip("ragas.metrics.collections")


@pytest.mark.parametrize(("measure", "own"), [("SetP", "IDBasedContextPrecision"), ("SetR", "IDBasedContextRecall")])
def test_values_are_those_of_ragas(measure, own):
    """Identifiers may be numbers on one side and text on the other; ragas compares them as text."""
    from ragas import SingleTurnSample, metrics

    theirs, ours = getattr(metrics, own)(), metric(measure)
    assert ours.name == measure
    rng = np.random.default_rng(7)
    for row in range(20):
        retrieved = [int(each) for each in rng.permutation(20)[:10]]
        reference = [str(each) for each in rng.permutation(20)[: 1 + row % 4]]
        ids = {"retrieved_context_ids": retrieved, "reference_context_ids": reference}
        expected = theirs.single_turn_score(SingleTurnSample(**ids))
        for scores in ({}, {"retrieved_scores": rng.integers(0, 3, 10).tolist()}):
            assert ours.score(**ids, **scores).value == pytest.approx(expected, rel=1e-15)


def test_average_precision_is_ragas_context_precision():
    """Where all relevant contexts are retrieved. ragas adds 1e-10 to its denominator."""
    from ragas.metrics import NonLLMContextPrecisionWithReference

    # The class itself needs rapidfuzz, for texts that are only similar.
    average_precision = partial(NonLLMContextPrecisionWithReference._calculate_average_precision, None)
    rng = np.random.default_rng(8)
    for _ in range(20):
        verdicts = [1, *rng.integers(0, 2, 9).tolist()]
        rng.shuffle(verdicts)
        texts = [f"text {i}" for i in range(10)]
        graded = metric("AP", grader=lambda question, contexts, labels=verdicts: labels)
        found = graded.score(user_input="q", retrieved_contexts=texts)
        assert found.value == pytest.approx(average_precision(verdicts), rel=1e-9)
        assert found.reason == "no contexts tie"


def test_ties_are_averaged_and_explained():
    found = metric("RR").score(**TIED)
    assert (float(found), found.reason) == (0.75, "2 contexts tie: from 0.5000 to 1.0000")
    assert found.traces == {"output": {"std": 0.25, "min": 0.5, "max": 1.0, "tied": 2}}
    assert metric("RR", ties="pessimistic").score(**TIED).value == 0.5


def test_every_method_of_ragas_returns_the_same():
    """`score` works inside a running event loop, too, as in notebooks."""
    ours = metric("RR")

    async def inside():
        return [ours.score(**TIED), await ours.ascore(**TIED), *await ours.abatch_score([TIED, TIED])]

    assert [each.value for each in (*asyncio.run(inside()), *ours.batch_score([TIED]))] == [0.75] * 5


def test_texts_labels_and_graders():
    texts = {"retrieved_contexts": ["x", "y"], "retrieved_scores": [1.0, 2.0]}
    assert metric("RR").score(**texts, reference_contexts=["x"]).value == 0.5
    assert metric("DCG").score(**texts, reference_contexts={"x": 2, "y": 3}).value == pytest.approx(3 + 2 / np.log2(3))

    def grader(question, contexts):
        return [each == question for each in contexts]

    assert metric("RR", grader=grader).score(user_input="x", **texts).value == 0.5


def test_missing_columns_and_unknown_names_are_errors():
    with pytest.raises(InputError, match=r"^retrieved_context_ids: is needed with reference_context_ids, or "):
        metric("RR").score(retrieved_context_ids=["a"], reference_contexts=["a"])
    with pytest.raises(InputError, match=r"^retrieved_contexts: is needed by the grader$"):
        metric("RR", grader=lambda question, contexts: []).score(**TIED)
    with pytest.raises(TypeError, match="retrieved_score"):
        metric("RR").score(retrieved_context_ids=["a"], reference_context_ids=["a"], retrieved_score=[1.0])
    for wrong in (lambda: metric("XX"), lambda: metric("RR", ties="mean")):
        with pytest.raises(InputError):
            wrong()


def test_the_example_on_the_page():
    exec(code_of("rag", "integrations.ragas"), {})

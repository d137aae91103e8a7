"""Link prediction, compared with PyKEEN's evaluator on its smallest data set, with known positives filtered out."""

from pathlib import Path

import numpy as np
import pytest

from tieaware.integrations import link_prediction

PAGE = Path(__file__).parents[2] / "docs" / "tools" / "link_prediction.md"
MEASURES = {"mrr": "RR", "hits@1": "Hits@1", "hits@3": "Hits@3", "hits@10": "Hits@10"}


def evaluated(steps):
    """Return PyKEEN's metrics by rank type for a model with rounded scores, and the scores that were evaluated."""
    import torch
    from pykeen.datasets import Nations
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.models import TransE

    seen = []

    class Evaluator(RankBasedEvaluator):
        def process_scores_(self, hrt_batch, target, scores, true_scores=None, dense_positive_mask=None):
            itself = torch.zeros_like(scores, dtype=torch.bool)
            itself[torch.arange(len(scores)), hrt_batch[:, {"head": 0, "tail": 2}[target]]] = True
            seen.append((true_scores.flatten(), scores.clone(), torch.isnan(scores) | itself))
            super().process_scores_(hrt_batch, target, scores, true_scores, dense_positive_mask)

    class Coarse(TransE):
        def predict(self, *args, **kwargs):
            return torch.round(super().predict(*args, **kwargs) * steps)

    data = Nations()
    result = Evaluator().evaluate(
        Coarse(triples_factory=data.training, random_seed=0), data.testing.mapped_triples, use_tqdm=False,
        additional_filter_triples=[data.training.mapped_triples, data.validation.mapped_triples],
    )  # fmt: skip
    types = ("optimistic", "realistic", "pessimistic")
    reported = {kind: [result.get_metric(f"both.{kind}.{name}") for name in MEASURES] for kind in types}
    return reported, seen


def means(seen, ties="average"):
    rows = [
        link_prediction.evaluate(positive, scores, list(MEASURES.values()), exclude=mask.numpy(), ties=ties)
        for positive, scores, mask in seen
    ]
    return np.concatenate(rows).mean(axis=0)


def test_without_ties_values_equal_those_of_pykeen():
    reported, seen = evaluated(steps=1e6)
    assert sum(len(positive) for positive, _, _ in seen) > 300
    assert any((mask.sum(dim=1) > 1).any() for _, _, mask in seen)
    assert reported["optimistic"] == reported["pessimistic"]
    np.testing.assert_allclose(means(seen), reported["optimistic"], rtol=0, atol=1e-14)
    # PyKEEN computes the mean of both ranks in single precision.
    np.testing.assert_allclose(means(seen), reported["realistic"], rtol=0, atol=1e-7)


def test_with_ties_its_realistic_values_differ_from_the_averages():
    """Only PyKEEN's realistic values differ: the reciprocal of the mean rank is lower than the mean reciprocal rank."""
    reported, seen = evaluated(steps=0.25)
    for rule in ("optimistic", "pessimistic"):
        np.testing.assert_allclose(means(seen, rule), reported[rule], rtol=0, atol=1e-14)
    average, theirs = means(seen), np.array(reported["realistic"])
    assert theirs[0] < average[0] - 0.01
    assert (np.abs(theirs - average)[1:] > 0.01).any()
    columns = zip(MEASURES, reported["optimistic"], theirs, average, reported["pessimistic"], strict=True)
    table = "".join(f"| {name} | " + " | ".join(f"{value:.3f}" for value in row) + " |\n" for name, *row in columns)
    assert table in PAGE.read_text(encoding="utf-8")
    ranks = [
        1 + (((scores > p[:, None]) & ~mask).sum(dim=1) + ((scores >= p[:, None]) & ~mask).sum(dim=1)) / 2
        for p, scores, mask in seen
    ]
    by_definition = np.concatenate(ranks)
    expected = [(1 / by_definition).mean(), *((by_definition <= k).mean() for k in (1, 3, 10))]
    assert theirs == pytest.approx(expected, abs=1e-7)

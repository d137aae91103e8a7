"""Link prediction, compared with the evaluator of OGB, with torch tensors."""

import numpy as np
import pytest

from tieaware.integrations import link_prediction


def ranked(name, scores):
    """Return the results of OGB and of tieaware for the same scores."""
    from ogb import linkproppred

    return linkproppred.Evaluator(name).eval(scores), link_prediction.Evaluator(name).eval(scores)


@pytest.mark.parametrize("name", ["ogbl-citation2", "ogbl-wikikg2", "ogbl-biokg"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_without_ties_values_equal_those_of_ogb(name, dtype):
    """OGB and tieaware return float32 tensors under the same keys. All scores up to 256 are exact in bfloat16."""
    import torch

    scores = torch.from_numpy(np.random.default_rng(0).permuted(np.tile(np.arange(201), (300, 1)), axis=1)).to(
        getattr(torch, dtype)
    )
    theirs, ours = ranked(name, {"y_pred_pos": scores[:, 0], "y_pred_neg": scores[:, 1:]})
    assert list(ours) == list(theirs)
    for key, values in theirs.items():
        assert ours[key].dtype == values.dtype
        torch.testing.assert_close(ours[key], values, rtol=1e-7, atol=0)


def test_with_ties_ogb_reports_less_than_the_mean_reciprocal_rank():
    """OGB's values lie between those of the worst and the best order. Its RR is below the average over all orders."""
    import torch

    rng = np.random.default_rng(1)
    scores = {
        "y_pred_pos": torch.from_numpy(rng.integers(0, 9, 500)),
        "y_pred_neg": torch.from_numpy(rng.integers(0, 9, (500, 50))),
    }
    theirs, ours = ranked("ogbl-citation2", scores)
    worst, best = (
        link_prediction.Evaluator("ogbl-citation2", ties=rule).eval(scores) for rule in ("pessimistic", "optimistic")
    )
    for key, values in theirs.items():
        assert (worst[key] <= values + 1e-6).all()
        assert (values <= best[key] + 1e-6).all()
    assert (theirs["mrr_list"] <= ours["mrr_list"] + 1e-6).all()
    tied = (scores["y_pred_neg"] == scores["y_pred_pos"][:, None]).any(dim=1)
    assert (theirs["mrr_list"] < ours["mrr_list"])[tied].all()


@pytest.mark.parametrize(("name", "n_distinct"), [("ogbl-ppa", 10**6), ("ogbl-collab", 10**6), ("ogbl-ddi", 30)])
def test_hits_with_shared_negatives_equal_the_pessimistic_values(name, n_distinct):
    import torch

    rng = np.random.default_rng(2)
    positive, negative = rng.choice(n_distinct, 400), rng.choice(n_distinct, 900)
    for form in (np.asarray, torch.from_numpy):
        scores = {"y_pred_pos": form(positive), "y_pred_neg": form(negative)}
        theirs, ours = ranked(name, scores)
        assert link_prediction.Evaluator(name, ties="pessimistic").eval(scores) == pytest.approx(theirs, abs=1e-15)
        assert list(ours) == list(theirs)
        assert (ours == pytest.approx(theirs, abs=1e-15)) == (n_distinct == 10**6)


def test_the_area_under_the_roc_curve_equals_that_of_ogb():
    rng = np.random.default_rng(3)
    theirs, ours = ranked("ogbl-vessel", {"y_pred_pos": rng.integers(2, 9, 70), "y_pred_neg": rng.integers(0, 7, 90)})
    assert ours == pytest.approx(theirs, abs=1e-12)

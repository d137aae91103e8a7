"""The metric for torchmetrics: torchmetrics' values, exact averages under ties, and gathering from processes."""

import pickle
from functools import partial

import numpy as np
import pytest
from support.errors import message_of

import tieaware

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")
retrieval = pytest.importorskip("torchmetrics.retrieval")

from tieaware.integrations import torchmetrics as module  # noqa: E402 (torch is optional)
from tieaware.integrations.torchmetrics import RankingMetric  # noqa: E402

OWN = {
    "RR": retrieval.RetrievalMRR,
    "AP": retrieval.RetrievalMAP,
    "nDCG": retrieval.RetrievalNormalizedDCG,
    "nDCG@5": partial(retrieval.RetrievalNormalizedDCG, top_k=5),
    "P@5": partial(retrieval.RetrievalPrecision, top_k=5),
    "R@5": partial(retrieval.RetrievalRecall, top_k=5),
    "Success@5": partial(retrieval.RetrievalHitRate, top_k=5),
    "Rprec": retrieval.RetrievalRPrecision,
}


@pytest.fixture
def untied():
    """Positive scores without ties, labels and query numbers of 200 lists of 30; one list in five lacks relevant ones.

    Two updates, whose documents are shuffled together.
    """
    rng = np.random.default_rng(2287)
    scores = rng.permuted(np.tile(np.arange(1.0, 31), (200, 1)), axis=1)
    labels = (rng.random((200, 30)) < 0.15) & (np.arange(200) % 5 > 0)[:, None]
    order = rng.permutation(6000)
    flat = (scores.ravel(), labels.ravel().astype(np.int64), np.repeat(np.arange(200), 30))
    tensors = [torch.tensor(each[order]) for each in flat]
    return [[each[:2500] for each in tensors], [each[2500:] for each in tensors]]


def computed(metric, updates):
    for update in updates:
        metric.update(*update)
    return metric.compute()


@pytest.mark.parametrize("name", OWN)
def test_values_are_those_of_torchmetrics_where_nothing_ties(name, untied):
    expected = float(computed(OWN[name](), untied))
    assert 0 < expected < 1
    np.testing.assert_allclose(float(computed(RankingMetric(name), untied)), expected, rtol=1e-6)


@pytest.mark.parametrize(("action", "undefined"), [("neg", 0.0), ("pos", 1.0), ("skip", float("nan"))])
def test_queries_without_relevant_documents(action, undefined, untied):
    expected = float(computed(retrieval.RetrievalMRR(empty_target_action=action), untied))
    assert float(computed(RankingMetric("RR", undefined=undefined), untied)) == pytest.approx(expected, rel=1e-6)


def test_ndcg_is_that_of_torchmetrics_under_ties_too():
    scores, labels = torch.tensor([[3.0, 2.0, 2.0, 2.0, 1.0]]), torch.tensor([[0, 2, 0, 1, 1]])
    own = retrieval.RetrievalNormalizedDCG()
    own.update(scores, labels, torch.zeros_like(labels))
    assert float(computed(RankingMetric("nDCG"), [(scores, labels)])) == pytest.approx(float(own.compute()), rel=1e-6)


def test_constant_scores_earn_their_expectation():
    scores, labels = torch.full((1, 10), 0.5), torch.tensor([[1] + [0] * 9])
    assert float(computed(RankingMetric("RR"), [(scores, labels)])) == pytest.approx(np.mean(1 / np.arange(1, 11)))
    assert float(computed(RankingMetric("RR", ties="pessimistic"), [(scores, labels)])) == 0.1


def test_torchmetrics_takes_relevant_documents_with_scores_up_to_zero_as_nonrelevant():
    """Logits may be negative, so torchmetrics' values change if a constant is added to all scores."""
    labels, indexes = torch.tensor([0, 1]), torch.tensor([0, 0])
    for shift, expected in ((2.0, 0.5), (-2.0, 0.0)):
        own = retrieval.RetrievalMRR()
        own.update(torch.tensor([1.0, 0.5]) + shift, labels, indexes)
        assert float(own.compute()) == expected
        assert float(computed(RankingMetric("RR"), [(torch.tensor([1.0, 0.5]) + shift, labels, indexes)])) == 0.5


def test_rows_and_indexes_give_the_same_bits():
    rng = np.random.default_rng(3)
    scores, labels = torch.tensor(rng.integers(0, 5, (40, 20)) / 4), torch.tensor(rng.integers(-1, 3, (40, 20)))
    indexes = torch.arange(40)[:, None].expand(40, 20)
    measures = ["AP", "nDCG@10", "RR"]
    by_row = computed(RankingMetric(measures), [(scores[:15], labels[:15]), (scores[15:], labels[15:])])
    by_index = computed(RankingMetric(measures), [(scores, labels, indexes)])
    mixed = computed(RankingMetric(measures), [(scores[:15], labels[:15]), (scores[15:], labels[15:], indexes[15:])])
    expected = tieaware.Evaluator(labels, measures).mean(scores).tolist()
    for found in (by_row, by_index, mixed):
        assert list(found) == measures
        assert [float(each) for each in found.values()] == expected


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_scores_of_any_type_that_require_gradients(dtype):
    scores = torch.tensor([[0.5, 0.5, 0.25]], dtype=dtype, requires_grad=True)
    for update in ((scores, torch.tensor([[0, 1, 0]])), (scores, torch.tensor([[0, 1, 0]]), torch.zeros(1, 3).long())):
        metric = RankingMetric("RR")
        metric.update(*update)
        assert float(metric.compute()) == 0.75


def test_forward_reset_clone_and_pickle():
    metric = RankingMetric("RR", ties="optimistic")
    assert float(metric(torch.tensor([[1.0, 1.0]]), torch.tensor([[0, 1]]))) == 1.0
    assert float(metric(torch.tensor([[2.0, 1.0]]), torch.tensor([[0, 1]]))) == 0.5
    assert float(metric.compute()) == 0.75
    for copy in (metric.clone(), pickle.loads(pickle.dumps(metric))):
        assert type(copy) is RankingMetric
        assert float(copy.compute()) == 0.75
    metric.reset()
    assert message_of(metric.compute) == "compute: nothing was evaluated: call update first"


def test_collections_and_trackers():
    """A list of measures gives a dict, which a collection flattens; a tracker knows which values are better."""
    metrics = {"tied": RankingMetric(["RR", "P@1"]), "rank": RankingMetric("MeanRank")}
    collection = torchmetrics.MetricCollection(metrics)
    collection.update(torch.tensor([[1.0, 1.0]]), torch.tensor([[0, 1]]))
    assert {name: float(value) for name, value in collection.compute().items()} == {
        "RR": 0.75, "P@1": 0.5, "rank": 1.5,
    }  # fmt: skip
    assert RankingMetric("RR").higher_is_better is True
    assert RankingMetric("MeanRank").higher_is_better is False
    assert RankingMetric("RR MeanRank").higher_is_better is None
    assert torchmetrics.MetricTracker(RankingMetric("MeanRank")).maximize is False


def test_values_are_float32_where_the_device_has_no_float64():
    class Apple:
        type = "mps"

    class Recorded:
        def to(self, device):
            return device

    seen = {}
    tensor = module.load("torch", "torch").as_tensor

    def as_tensor(values, dtype):
        seen["dtype"] = tensor(values, dtype=dtype).dtype
        return Recorded()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "as_tensor", as_tensor)
        module._tensor(np.ones(1), Apple)
    assert seen["dtype"] == torch.float32


def in_process(rank, folder, updates):
    torch.distributed.init_process_group("gloo", f"file://{folder}/rendezvous", rank=rank, world_size=2)
    metric = RankingMetric(["RR", "AP"])
    metric.update(*updates[rank])
    found = {name: float(value) for name, value in metric.compute().items()}
    torch.distributed.destroy_process_group()
    with open(f"{folder}/{rank}", "w") as file:
        file.write(repr(found))


@pytest.mark.parametrize("by_row", [True, False])
def test_queries_are_gathered_from_processes(by_row, tmp_path):
    """The second process has other documents of the same queries (with indexes), or other queries (as rows)."""
    rng = np.random.default_rng(8)
    scores, labels = torch.tensor(rng.integers(0, 4, (6, 8)) / 2), torch.tensor(rng.integers(0, 2, (6, 8)))
    indexes = torch.arange(6)[:, None].expand(6, 8)
    if by_row:
        updates = [(scores[:2], labels[:2]), (scores[2:], labels[2:])]
    else:
        updates = [tuple(each[:, part].contiguous() for each in (scores, labels, indexes))
                   for part in (slice(0, 3), slice(3, 8))]  # fmt: skip
    torch.multiprocessing.spawn(in_process, (str(tmp_path), updates), nprocs=2)
    expected = tieaware.Evaluator(labels, ["RR", "AP"]).mean(scores).tolist()
    written = repr(dict(zip(["RR", "AP"], expected, strict=True)))
    assert [(tmp_path / rank).read_text() for rank in "01"] == [written, written]


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ((torch.ones(3), torch.ones(2)),
         "preds: must have the shape of target and indexes; found preds (3,), target (2,)"),
        ((torch.ones(2), torch.ones(2), torch.ones(3)),
         "preds: must have the shape of target and indexes; found preds (2,), target (2,), indexes (3,)"),
        ((torch.ones(3), torch.ones(3)), "indexes: is needed, unless each row of two-dimensional preds is a query"),
        ((torch.tensor([[1.0, torch.nan]]), torch.tensor([[0, 1]])),
         "scores: expected numbers, found NaN for document 1 of query 0"),
    ],
)  # fmt: skip
def test_unusable_updates_are_refused(update, message):
    assert message_of(RankingMetric("RR").update, *update) == message


def test_unknown_measures_and_options_are_refused_at_once():
    assert "unknown measure" in message_of(RankingMetric, "XX")
    assert "ties" in message_of(RankingMetric, "RR", ties="mean")
    with pytest.raises(AttributeError, match="has no attribute 'Metric'"):
        module.Metric  # noqa: B018

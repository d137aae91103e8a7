"""Evaluation of RecBole's models, with stand-ins that call the collector as RecBole's trainer does.

tests/tools/test_recommender_libraries.py compares the values with RecBole's own, where it is installed.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from tieaware import InputError
from tieaware.integrations.recbole import evaluate

INF = np.inf


class Trainer:
    """A trainer that evaluates batches (scores, users of the interaction, rows and columns of the positive items)."""

    def __init__(self):
        self.config = {"USER_ID_FIELD": "user_id"}
        self.model, self.options, self.collected = self, {}, []
        self.eval_collector = SimpleNamespace(
            eval_batch_collect=lambda *batch: self.collected.append(batch), get_data_struct=lambda: "struct"
        )

    def evaluate(self, data, **options):
        for scores, users, rows, columns in data.batches:
            self.eval_collector.eval_batch_collect(scores, {"user_id": users}, rows, columns)
        self.options = options, self.eval_collector.get_data_struct()


def data_of(*batches):
    dataset = SimpleNamespace(id2token=lambda field, numbers: [f"{field} {each}" for each in numbers])
    made = [(np.array(scores), *map(np.array, others)) for scores, *others in batches]
    return SimpleNamespace(dataset=dataset, batches=made)


# Item 0 is RecBole's padding. The history of the first user is item 1.
FULL = data_of(
    ([[-INF, -INF, 2.0, 2.0, 1.0], [-INF, 3.0, 2.0, 1.0, 0.0]], [7, 3], [0, 1, 1], [3, 1, 4]),
    ([[-INF, 1.0, 1.0, 1.0, 1.0]], [5], [0, 0], [2, 2]),
)


def test_lists_are_those_that_recbole_ranks():
    trainer = Trainer()
    own = trainer.eval_collector
    found = evaluate(trainer, FULL, ["RR", "R@1", "AUC"], spread=True, load_best_model=False)
    assert (found.runs, found.queries) == (("Trainer",), ("user_id 7", "user_id 3", "user_id 5"))
    assert found.values[0].tolist() == [[0.75, 0.5, 0.75], [1.0, 0.5, 0.5], [pytest.approx(25 / 48), 0.25, 0.5]]
    assert found.min[0, :, 0].tolist() == [0.5, 1.0, 0.25]
    assert trainer.options == ({"load_best_model": False}, "struct")
    assert len(trainer.collected) == 2
    assert trainer.eval_collector is own


def test_sampled_negatives_rank_among_themselves():
    """A user has a row in the interaction for each candidate, and -inf for all other items."""
    data = data_of(([[-INF, 1.0, 1.0, -INF], [-INF, 0.0, -INF, 2.0]], [4, 4, 9, 9], [0, 1], [1, 1]))
    found = evaluate(Trainer(), data, ["RR", "MeanRank"], name="BPR", ties="pessimistic")
    assert (found.runs, found.queries) == (("BPR",), ("user_id 4", "user_id 9"))
    assert found.values[0].tolist() == [[0.5, 2.0], [0.5, 2.0]]


def test_a_positive_item_that_recbole_masks_is_last():
    """It is in the ranking of RecBole, too, after all that have a score."""
    found = evaluate(Trainer(), data_of(([[-INF, -INF, 1.0, 2.0]], [1], [0], [1])), "RR")
    assert found.values.item() == 1 / 3


def test_precision_and_tie_rules():
    data = data_of(([[-INF, 1.0, 1.2]], [1], [0], [1]))
    assert evaluate(Trainer(), data, "RR").values.item() == 0.5
    assert evaluate(Trainer(), data, "RR", precision="decimals:0").values.item() == 0.75
    assert evaluate(Trainer(), data, "RR", precision="decimals:0", ties="optimistic").values.item() == 1.0


def test_errors():
    trainer = Trainer()
    own = trainer.eval_collector
    for data, message in (
        (data_of(), "eval_data: has no users"),
        (data_of(([1.0, 2.0], [1, 1], [0], [0])), "trainer: RecBole's eval_type must be RANKING: this"),
        (data_of(([[-INF, np.nan]], [1], [0], [1])), "scores.*: expected numbers, found NaN for document 1 "),
    ):
        with pytest.raises(InputError, match=f"^{message}"):
            evaluate(trainer, data, "RR")
        assert trainer.eval_collector is own
    trainer.options = {}
    for options in ({"ties": "mean"}, {"precision": "x"}):
        with pytest.raises(InputError):
            evaluate(trainer, FULL, "RR", **options)
    with pytest.raises(InputError, match="XX"):
        evaluate(trainer, FULL, "XX")
    assert trainer.options == {}

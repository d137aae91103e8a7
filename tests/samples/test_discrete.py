"""Generated lists with discrete scores."""


import numpy as np
import pytest

from tieaware import samples


def test_scores_are_distributed_like_in_degrees():
    scores, labels, offsets = samples.discrete_lists(2000, mean_length=200)
    assert (scores.dtype, labels.dtype, offsets.dtype) == (np.float64, np.int32, np.int64)
    assert len(scores) == len(labels) == offsets[-1]
    lengths = np.diff(offsets)
    assert len(lengths) == 2000
    assert lengths.min() == 100
    assert lengths.max() > 1000
    assert lengths.mean() == pytest.approx(200, rel=0.1)
    for score, share in enumerate([1 / 2, 1 / 6, 1 / 12]):
        assert np.mean(scores == score) == pytest.approx(share, rel=0.05)
    assert (scores == np.floor(scores)).all()
    assert (np.add.reduceat(labels, offsets[:-1]) > 0).all()
    assert set(labels) == {0, 1}
    assert labels.mean() == pytest.approx(0.02, rel=0.05)
    # Relevant documents have higher scores on average: the share with score 0 is about half of that of the others.
    assert np.mean(scores[labels > 0] == 0) == pytest.approx(1 / 4, rel=0.1)


def test_labels_can_be_graded_and_lists_depend_only_on_the_seed():
    lists, again = (samples.discrete_lists(300, seed=5, grades=3) for _ in range(2))
    assert all(map(np.array_equal, lists, again))
    assert set(lists.labels) == {0, 1, 2, 3}
    assert not np.array_equal(lists.offsets, samples.discrete_lists(300, seed=6).offsets)


@pytest.mark.parametrize(("mean_length", "relevant"), [(1, 0), (1, 1), (50, 0)])
def test_every_list_has_a_relevant_document_at_the_limits_of_the_arguments(mean_length, relevant):
    _, labels, offsets = samples.discrete_lists(100, mean_length=mean_length, relevant=relevant)
    assert np.diff(offsets).min() >= 1
    assert (np.add.reduceat(labels, offsets[:-1]) > 0).all()

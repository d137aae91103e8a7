"""Expected exposure with judged documents that lists do not hold, compared with enumeration and the paper's formula."""

import numpy as np
import pytest
from support.errors import message_of
from test_expected_exposure import policy

from tieaware import fairness

RNG = np.random.default_rng(31)


def metrics(own, target):
    return (own**2).sum(), (own * target).sum(), ((own - target) ** 2).sum()


def lists(n_queries, longest=4):
    """Yield scores, labels, judged labels and offsets; with each list, the labels of its unlisted documents."""
    for _ in range(n_queries):
        n, m = int(RNG.integers(0, longest)), int(RNG.integers(0, 4))
        yield RNG.integers(0, 3, n) / 2, RNG.choice([-1.0, 0.0, 0.7, 1.0, 2.0], n), RNG.choice([0.0, 0.7, 2.0], m)


def joined(found):
    """Return the arguments scores, labels, offsets and judgments for several lists."""
    scores, labels, others = (list(each) for each in zip(*found, strict=True))
    judged = [RNG.permutation(np.concatenate((a, b))) for a, b in zip(labels, others, strict=True)]
    ends = [np.cumsum([0, *map(len, each)]) for each in (scores, judged)]
    return np.concatenate(scores), np.concatenate(labels), ends[0], (np.concatenate(judged), ends[1])


def test_metrics_are_those_of_the_enumerated_policies():
    found = list(lists(60))
    scores, labels, offsets, judgments = joined(found)
    computed = fairness.expected_exposure(scores, labels, offsets, "RR", judgments=judgments)
    for q, (of_list, of_listed, others) in enumerate(found):
        own = np.concatenate((policy(of_list, lambda j: 1 / j)[0], np.zeros(len(others))))
        target = policy(np.maximum(np.concatenate((of_listed, others)), 0), lambda j: 1 / j)[0]
        np.testing.assert_allclose([each[q] for each in computed], metrics(own, target), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("amortised", [False, True])
def test_metrics_of_groups(amortised):
    found, names = list(lists(20)), ["a", "b", "longer"]
    scores, labels, offsets, _ = joined(found)
    groups = RNG.choice(names, len(scores))
    own, target, judged, of_judged, ends = [], [], [], [], [0]
    for q, (of_list, of_listed, others) in enumerate(found):
        all_labels = np.concatenate((of_listed, others))
        all_groups = np.concatenate((groups[offsets[q] : offsets[q + 1]], RNG.choice(names, len(others))))
        system = np.concatenate((policy(of_list, lambda j: 1 / j)[0], np.zeros(len(others))))
        ideal = policy(np.maximum(all_labels, 0), lambda j: 1 / j)[0]
        own.append([system[all_groups == name].sum() for name in names])
        target.append([ideal[all_groups == name].sum() for name in names])
        order = RNG.permutation(len(all_labels))
        judged.append(all_labels[order])
        of_judged.append(all_groups[order])
        ends.append(ends[-1] + len(order))
    computed = fairness.expected_exposure(
        scores, labels, offsets, "RR", groups=groups, amortised=amortised,
        judgments=(np.concatenate(judged), ends, np.concatenate(of_judged)),
    )  # fmt: skip
    own, target = np.array(own), np.array(target)
    if amortised:
        own, target = own.mean(axis=0, keepdims=True), target.mean(axis=0, keepdims=True)
    expected = np.array([metrics(*each) for each in zip(own, target, strict=True)]).T
    np.testing.assert_allclose(computed, expected, rtol=1e-12, atol=1e-14)


def test_formulas_of_the_paper():
    """Diaz and others: the target of the m relevant documents, listed or not, is (1 - γ^m) / (m (1 - γ))."""
    patience, m, n = 0.7, 4, 12
    labels = np.array([1, 0, 0, 1, 0])
    judged = np.array([1] * m + [0] * (n - m))
    system = patience ** np.arange(5)
    relevant = (1 - patience**m) / (m * (1 - patience))
    other = (patience**m - patience**n) / ((n - m) * (1 - patience))
    target = np.concatenate((np.where(labels == 1, relevant, other), [relevant] * (m - 2), [other] * (n - m - 3)))
    expected = np.array(metrics(np.concatenate((system, np.zeros(n - 5))), target)) * (1 - patience) ** 2
    found = fairness.expected_exposure(
        [5, 4, 3, 2, 1], labels, weights=f"RBP(p={patience})", judgments=(judged, [0, n])
    )
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-12)


def test_judgments_of_the_listed_documents_alone_change_nothing():
    scores, labels = RNG.integers(0, 4, (6, 9)).astype(float), RNG.integers(0, 3, (6, 9))
    groups = RNG.integers(0, 3, (6, 9))
    offsets = np.arange(7) * 9
    expected = fairness.expected_exposure(scores, labels)
    np.testing.assert_array_equal(
        fairness.expected_exposure(scores, labels, judgments=(labels.ravel(), offsets)), expected
    )
    expected = fairness.expected_exposure(scores, labels, groups=groups)
    judgments = labels.ravel(), offsets, groups.ravel()
    np.testing.assert_array_equal(
        fairness.expected_exposure(scores, labels, groups=groups, judgments=judgments), expected
    )


def test_lists_without_documents():
    found = fairness.expected_exposure([], [], [0, 0], weights="RR", judgments=([1.0, 1.0], [0, 2]))
    assert np.ravel(found).tolist() == [0.0, 0.0, 1.125]
    found = fairness.expected_exposure([], [], weights="RR", judgments=([], [0, 0]))
    assert np.ravel(found).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("judgments", "groups", "message"),
    [
        (5, None, "judgments: expected a pair (labels, offsets), found 5"),
        (([1, 0], [0, 2]), ["a", "b"], "judgments: expected a tuple (labels, offsets, groups), found"),
        (([1, 0, 0], [0, 2, 3]), None, "judgments: must have as many queries as the labels, 1; found 2"),
        (([1, 1], [0, 2]), None, "judgments: must include every judged document of the list; query 0 lacks some"),
        (([1, np.nan], [0, 2]), None, "labels of judgments[1]: expected a number, found NaN"),
        (([1, 0], [0, 2], ["a"]), ["a", "b"], "groups of judgments: must have the shape of the documents"),
        (([1, 0], [0, 2], [1, 2]), ["a", "b"], "groups of judgments: must have the type of the groups; found int, not"),
        (([1, 0], [0, 2], ["b", "a"]), ["a", "b"], "judgments: must include every judged document of the list"),
    ],
    ids=range(8),
)
def test_bad_judgments_are_refused(judgments, groups, message):
    found = message_of(fairness.expected_exposure, [2.0, 1.0], [1, 0], groups=groups, judgments=judgments)
    assert found.startswith(message)

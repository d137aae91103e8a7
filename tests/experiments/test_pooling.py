"""Pools of documents for assessment."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from tieaware import Run
from tieaware.experiments import pooling

pytest.importorskip("matplotlib")


def tied_runs(seed, n_runs=3):
    """Return small runs whose scores tie often, of two queries; one run answers only one of them."""
    rng = np.random.default_rng(seed)
    return {
        f"run {r}": {
            q: {f"d{d}": float(rng.integers(0, 3)) for d in rng.permutation(6)[: rng.integers(1, 6)]}
            for q in (("q1", "q2") if r else ("q2",))
        }
        for r in range(n_runs)
    }


def all_orders(scores):
    """Return every order of the documents that the scores allow."""
    values = sorted(set(scores.values()), reverse=True)
    groups = [list(permutations([d for d, s in scores.items() if s == value])) for value in values]
    return [[d for group in groups for d in group] for groups in product(*groups)]


def enumerate_pools(runs, depth):
    """Return each document's probability, and each run's expected number of unique documents, by query."""
    probability, unique = {}, {}
    for q in ("q1", "q2"):
        names = [name for name in runs if q in runs[name]]
        tops = []
        for name in names:
            orders = all_orders(runs[name][q])
            tops.append([frozenset(order[:depth]) for order in orders])
        total = int(np.prod([len(each) for each in tops]))
        for chosen in product(*tops):
            for d in frozenset().union(*chosen):
                probability[q, d] = probability.get((q, d), 0) + Fraction(1, total)
            for i, name in enumerate(names):
                others = frozenset().union(*chosen[:i], *chosen[i + 1 :])
                unique[name, q] = unique.get((name, q), 0) + Fraction(len(chosen[i] - others), total)
    return probability, unique


@pytest.mark.parametrize("depth", [1, 2, 3, 10])
@pytest.mark.parametrize("seed", range(4))
def test_probabilities_are_those_of_all_tie_orders(seed, depth):
    runs = tied_runs(seed)
    probability, unique = enumerate_pools(runs, depth)
    outcome = pooling(runs, depth, qrels={"q1": {"d1": 1, "d2": 0}, "q2": {f"d{i}": i % 2 for i in range(6)}})
    names = [(outcome.queries[q], d) for q, d in zip(outcome.query_of, outcome.documents, strict=True)]
    expected = {name: float(p) for name, p in probability.items()}
    assert dict(zip(names, outcome.probability, strict=True)) == pytest.approx(expected)
    assert (outcome.probability == 1.0).tolist() == [probability[name] == 1 for name in names]
    for i, q in enumerate(outcome.queries):
        assert outcome.expected[i] == pytest.approx(float(sum(p for (of, _), p in probability.items() if of == q)))
        assert outcome.whole_groups()[q] == [d for of, d in names if of == q]
        assert outcome.certain[i] == sum(p == 1 for (of, _), p in probability.items() if of == q)
        for r, name in enumerate(outcome.runs):
            assert outcome.unique[r, i] == pytest.approx(float(unique.get((name, q), 0)))
            assert outcome.contributed[r, i] == pytest.approx(min(depth, len(runs[name].get(q, ()))))
    assert (outcome.unique_relevant <= outcome.unique + 1e-12).all()


def test_without_ties_the_pool_is_the_union_of_the_first_documents():
    """The pool is the one that the textbook defines; the order of the runs changes nothing."""
    rng = np.random.default_rng(1)
    runs = {
        name: {f"q{q}": {f"d{d}": float(s) for d, s in zip(rng.permutation(60)[:40], rng.permutation(40), strict=True)}
               for q in range(4)}
        for name in "abc"
    }  # fmt: skip
    expected = {
        q: frozenset().union(*(sorted(run[q], key=run[q].get, reverse=True)[:10] for run in runs.values()))
        for q in runs["a"]
    }
    for given in (runs, dict(reversed(runs.items()))):
        outcome = pooling(given, 10)
        assert {q: frozenset(documents) for q, documents in outcome.whole_groups().items()} == expected
        assert not outcome.divided.any()
        assert (outcome.probability == 1.0).all()
        assert outcome.expected.tolist() == outcome.largest.tolist() == outcome.certain.tolist()
    assert outcome.verdict().endswith(
        "The depth divides no tie group, so the pool does not depend on the order of ties."
    )


def test_signed_zeros_and_infinities_tie_as_in_evaluation():
    outcome = pooling({"q": {"a": 0.0, "b": -0.0, "c": float("-inf"), "d": float("-inf")}}, 1)
    assert outcome.documents == ("a", "b")
    assert outcome.probability.tolist() == [0.5, 0.5]


def test_the_tables_count_documents_lists_and_labels():
    runs = {"a": {"q": {"d1": 2.0, "d2": 1.0, "d3": 1.0}}, "b": {"q": {"d2": 1.0}, "r": {"d9": 1.0}}}
    outcome = pooling(runs, 2, qrels={"q": {"d1": 1, "d2": 0}, "unanswered": {"d1": 1}})
    tables = outcome.tables()
    assert tables["runs"].columns[-1] == "unique relevant"
    assert tables["runs"].rows == [("a", 1, 1, 2, 3, 1.5, 1.0), ("b", 2, 0, 2, 2, 1.5, 0.0)]
    assert tables["queries"].rows == [("q", 2.5, 2, 3, 2.0, 1.0), ("r", 1.0, 1, 1, 0.0, 0.0)]
    assert tables["documents"].rows == [
        ("q", "d1", 1.0, 1, 1), ("q", "d2", 1.0, 2, 0), ("q", "d3", 0.5, 1, None), ("r", "d9", 1.0, 1, None)
    ]  # fmt: skip
    assert outcome.verdict() == (
        "The pool has 3.50 documents in expectation, 1.75 a query. The depth divides a tie group in 1 of 3 lists "
        "(33.3 %). 3 documents are pooled in every order of ties; with whole tie groups, the pool has 4 documents."
    )


def test_figures_show_sizes_and_unique_documents():
    runs = tied_runs(2)
    outcome = pooling(runs, 2, qrels={"q1": {"d1": 1}})
    sizes = outcome.plot()
    (line,) = sizes.get_lines()
    assert sorted(line.get_ydata()[:-1]) == pytest.approx(sorted(outcome.expected))
    bars = outcome.drawings()["unique"].plot().patches
    assert sorted(bar.get_width() for bar in bars[:3]) == pytest.approx(sorted(outcome.unique.sum(axis=1)))
    assert sorted(bar.get_width() for bar in bars[3:]) == pytest.approx(sorted(outcome.unique_relevant.sum(axis=1)))
    many = {f"run {i}": {"q": {f"d{i}": 1.0}} for i in range(70)}
    assert "Shown: the 60 of 70 runs with the most." in pooling(many).drawings()["unique"].caption


def test_empty_runs_make_an_empty_pool():
    outcome = pooling([Run.from_dict({}, name="a"), Run.from_dict({}, name="b")], 5, qrels={"q": {"d": 1}})
    assert (outcome.queries, outcome.documents, outcome.whole_groups()) == ((), (), {})
    assert str(outcome)
    assert {name: drawing.figure() for name, drawing in outcome.drawings().items()}


def test_identifiers_keep_their_types():
    runs = [Run.from_columns([3, 3], [7, 8], [1.0, 0.5], name="a"), Run.from_columns([3], [8], [1.0], name="b")]
    outcome = pooling(runs, 1)
    assert outcome.whole_groups() == {3: [7, 8]}


def test_a_document_of_many_runs_is_not_certain_and_equal_probabilities_do_not_depend_on_the_order_of_runs():
    """The product of the same four probabilities has another last bit in another order."""
    outcome = pooling({f"run {i}": {"q": {"d1": 1.0, "d2": 1.0}} for i in range(60)}, depth=1)
    assert outcome.certain.tolist() == [0]
    assert (outcome.probability < 1.0).all()
    runs = {}
    for i, (of_a, of_b) in enumerate(((3, 3), (13, 7), (11, 11), (7, 13))):
        runs[f"a {i}"] = {"q": {"a": 1.0, **{f"x{i}{j}": 1.0 for j in range(of_a - 1)}}}
        runs[f"b {i}"] = {"q": {"b": 1.0, **{f"y{i}{j}": 1.0 for j in range(of_b - 1)}}}
    outcome = pooling(runs, depth=1)
    assert outcome.documents[:2] == ("a", "b")
    assert outcome.probability[0] == outcome.probability[1]

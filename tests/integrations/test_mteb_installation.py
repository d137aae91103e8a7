"""Installation of the metrics in mteb, with modules that stand for mteb, whose packages are large."""

import sys
import types

import pytest

from tieaware import InputError
from tieaware.integrations import mteb as tie_aware

NAMES = ("calculate_retrieval_scores", "mrr", "recall_cap", "hole", "top_k_accuracy")


@pytest.fixture
def metrics(monkeypatch):
    """Put a package mteb with functions of these names into sys.modules."""
    made = [types.ModuleType(name) for name in ("mteb", "mteb._evaluators", "mteb._evaluators.retrieval_metrics")]
    for module in made:
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for name in NAMES:
        setattr(made[-1], name, types.FunctionType(compile("None", name, "eval"), {}, name))
    yield made[-1]
    tie_aware.uninstall()


def test_an_installation_that_fails_leaves_the_earlier_one_in_place(metrics, monkeypatch):
    """The tie rule may be unknown, or another version of mteb may lack a function."""
    own = {name: getattr(metrics, name) for name in NAMES}
    tie_aware.install("optimistic")
    installed = {name: getattr(metrics, name) for name in NAMES}
    assert all(installed[name].keywords == {"ties": "optimistic"} for name in NAMES)
    with pytest.raises(InputError):
        tie_aware.install("unknown")
    with monkeypatch.context() as lacking:
        lacking.delattr(metrics, "hole")
        with pytest.raises(AttributeError):
            tie_aware.install("pessimistic")
    assert {name: getattr(metrics, name) for name in NAMES} == installed
    tie_aware.install("pessimistic")
    assert all(getattr(metrics, name).keywords == {"ties": "pessimistic"} for name in NAMES)
    tie_aware.uninstall()
    assert {name: getattr(metrics, name) for name in NAMES} == own

"""All methods named `plot` are called in one way: the axes first, everything else by keyword."""

import inspect
import pkgutil
from importlib import import_module
from importlib.util import find_spec

import pytest

import tieaware
from tieaware.errors import InputError

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}}
RUNS = {"a": {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 1.0, "d1": 1.0}}, "b": {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}}


def plots():
    """Return all functions named `plot` that a class of the package defines, by their qualified names."""
    names = [each.name for each in pkgutil.walk_packages(tieaware.__path__, "tieaware.")]
    modules = [import_module(name) for name in names if find_spec(name).origin.endswith(".py")]
    classes = {value for module in modules for value in vars(module).values() if inspect.isclass(value)}
    ours = [each for each in classes if each.__module__.startswith("tieaware.") and "plot" in vars(each)]
    return {f"{each.__module__}.{each.__qualname__}": vars(each)["plot"] for each in ours}


def test_axes_come_first_and_everything_else_is_a_keyword():
    found = plots()
    assert {name.rpartition(".")[2] for name in found} >= {"Results", "Intervals", "Line", "Experiment", "Drawing"}
    for name, plot in found.items():
        _, axes, *others = inspect.signature(plot).parameters.values()
        assert (axes.name, axes.default) == ("ax", None), name
        assert all(each.kind is each.KEYWORD_ONLY for each in others), name


@pytest.mark.parametrize("wrong", ["RR", tieaware.RR])
def test_a_measure_in_the_place_of_the_axes_is_an_error_that_shows_the_call(wrong):
    result = tieaware.evaluate(QRELS, RUNS, ["RR", "AP"])
    evaluator = tieaware.Evaluator([[1, 0], [1, 0]], ["RR"])
    line = evaluator.between([[0.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.5]])
    for shown in (result, result.intervals(), line):
        with pytest.raises(InputError, match=r"^plot: the first argument is .* axes; type plot\(measure='RR'\)$"):
            shown.plot(wrong)


def test_intervals_take_any_spelling_of_a_measure():
    intervals = tieaware.evaluate(QRELS, RUNS, ["RR", "AP"]).intervals()
    for measure in ("AP", "map", tieaware.AP):
        assert intervals.plot(measure=measure).get_xlabel().startswith("AP\n")
    with pytest.raises(KeyError, match="no measure 'P@5'"):
        intervals.plot(measure="P@5")

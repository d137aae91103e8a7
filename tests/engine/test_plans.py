"""Plans of evaluations are cached, but only by values that cannot change."""

import pytest

from tieaware import InputError
from tieaware.engine.views import View, plan_of
from tieaware.precision import parse_precision


def view(ties="average", precision=None, spread=False, chance=False):
    return View.of(ties, precision, spread, chance)


def test_equal_arguments_have_one_plan():
    assert plan_of(["AP", "RR@10"], (view(),)) is plan_of(("AP", "RR@10"), (view(),))
    assert plan_of("AP RR@10", (view(),)) is plan_of(["AP", "RR@10"], (view(),))


@pytest.mark.parametrize(
    "other", [view("run_order"), view(precision="decimals:2"), view(spread=True), view(chance=True)]
)
def test_plans_differ_by_their_view(other):
    plan = plan_of("AP", (other,))
    assert plan.views == (other,)
    assert plan is not plan_of("AP", (view(),))
    assert plan.n_outputs == len(other.outputs)


def test_plans_differ_by_the_names_of_measures():
    assert plan_of("map", (view(),)).names == ("map",)
    assert plan_of("AP", (view(),)).names == ("AP",)
    assert plan_of("map", (view(),)).measures == plan_of("AP", (view(),)).measures


def test_a_list_may_change_after_a_call():
    measures = ["AP"]
    first = plan_of(measures, (view(),))
    measures.append("RR")
    assert [len(plan.names) for plan in (first, plan_of(measures, (view(),)))] == [1, 2]


def test_objects_are_not_shared():
    precision = parse_precision("decimals:2")
    assert view(precision=precision) is not view(precision=precision)
    assert not view(precision=precision).is_shared
    assert plan_of("AP", (view(precision=precision),)).views[0].precision is precision


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: view(spread=1), "spread: expected True or False, found 1"),
        (lambda: view(chance=0.0), "chance: expected True or False, found 0.0"),
        (lambda: view(ties=["average"]), "ties: expected one of "),
        (lambda: view(ties="run_order", spread=True), "ties: 'run_order' gives tied documents one order"),
        (lambda: plan_of(["AP", "XYZ"], (view(),)), "measure: unknown measure"),
        (lambda: plan_of(["AP", "AP"], (view(),)), "measures: must be different, but AP is given twice"),
        (lambda: plan_of([["AP"]], (view(),)), "measure: expected a name"),
    ],
)
def test_refusals_do_not_depend_on_the_cache(call, message):
    view(spread=True), view(spread=False), view(chance=False)
    for _ in range(2):
        with pytest.raises(InputError) as error:
            call()
        assert str(error.value).startswith(message)

"""Comparison of evaluators with the conformance set."""

import math

import pytest
from support.errors import message_of

import tieaware
from tieaware import conformance
from tieaware.ties import RULES

# `evaluate` warns if no document of a run is judged.
pytestmark = pytest.mark.filterwarnings("ignore:run. no document of this run is judged")

MEASURES = ["RR", "nDCG@3"]
CASES = [case for case in conformance.cases() if "real-labels" not in case.tags]


def exact_rule(rule, measures=MEASURES):
    return lambda qrels, run: tieaware.evaluate(qrels, run, measures, ties=rule).values[0, 0]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_recognised(rule):
    report = conformance.check(exact_rule(rule), MEASURES, among=CASES)
    assert report.followed() == report.followed("RR") == (rule,)
    assert report.differences == ()
    assert report.agreeing["RR", rule] == report.compared["RR"] == len(CASES)


def test_a_value_that_follows_no_rule_is_a_difference():
    among = conformance.cases("all-tied")[:1]
    report = conformance.check(lambda qrels, run: 0.6, "RR", among=among)
    assert report.followed() == ()
    (found,) = report.differences
    assert (found.case, found.measure, found.value, found.error) == (among[0], "RR", 0.6, "")
    assert str(found) == "all-tied-1-of-2-last, RR: 0.6; the mean is 0.75, the range 0.5 to 1"
    assert conformance.check(lambda qrels, run: 0.75001, "RR", among=among, tolerance=1e-4).followed() == ("average",)


def test_nan_follows_no_rule():
    report = conformance.check(lambda qrels, run: math.nan, "RR")
    assert len(report.differences) == len(conformance.cases())


def test_errors_are_recorded():
    def fails(qrels, run):
        raise KeyError("no such query")

    report = conformance.check(fails, MEASURES, among=conformance.cases("empty"))
    assert [each.error for each in report.differences] == ["KeyError: 'no such query'"] * 4
    assert "KeyError" in str(report.differences[0])


def test_a_function_may_change_its_arguments():
    def takes_all(qrels, run):
        value = exact_rule("average")(qrels, run)
        qrels.clear()
        next(iter(run.values())).clear()
        return value

    assert conformance.check(takes_all, MEASURES, among=CASES).followed() == ("average",)


def test_the_table_counts_cases():
    report = conformance.check(exact_rule("run_order", ["RR"]), ["RR"], rules=["run_order", "average"], among=CASES)
    assert report.table().columns == ("measure", "cases", "run_order", "average", "none")
    assert report.table().rows[0][:3] == ("RR", len(CASES), len(CASES))


def test_cases_with_labels_that_are_not_whole_have_no_err():
    report = conformance.check(exact_rule("average", ["ERR@3"]), ["ERR@3"])
    assert report.compared == {"ERR@3": len(CASES)}
    assert report.followed() == ("average",)


def returning(value):
    return lambda qrels, run: value


REAL = conformance.cases("real-labels")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: conformance.cases("cutoff"), "tags"),
        (lambda: conformance.check(returning(0.0), "MAP"), "measures"),
        (lambda: conformance.check(returning(0.0), []), "no case is left"),
        (lambda: conformance.check(returning(0.0), "ERR@3", among=REAL), "no case is left"),
        (lambda: conformance.check(returning(0.0), "RR", rules=["mean"]), "rules"),
        (lambda: conformance.check(returning(0.0), "RR", tolerance=-1), "tolerance"),
        (lambda: conformance.check(returning(None), "RR"), "function: expected a number"),
        (lambda: conformance.check(returning("high"), "RR"), "function: expected a number"),
        (lambda: conformance.check(returning([1.0]), MEASURES), "function: expected 2 numbers"),
        (lambda: conformance.check(returning(1.0), MEASURES), "function: expected 2 numbers"),
    ],
)
def test_wrong_arguments_are_errors(call, message):
    assert message in message_of(call)

"""The conformance set: its file, its format, and the reader."""

from fractions import Fraction
from pathlib import Path

import pytest
from support import conformance_values
from support.conformance_lists import lists

from tieaware import conformance
from tieaware.ties import RULES

CASES = conformance.cases()


def test_the_script_writes_the_same_file():
    assert conformance.path() == conformance_values.PATH
    assert conformance.path().read_bytes() == conformance_values.conformance_set().encode("ascii")


def test_the_file_is_small_and_says_its_licence():
    assert conformance.path().stat().st_size < 1_000_000
    assert '"licence": "CC0-1.0"' in conformance.path().read_text(encoding="ascii")
    assert "CC0 1.0 Universal" in (conformance.path().parent / "LICENSE").read_text(encoding="ascii")


def test_the_page_counts_cases_and_measures():
    page = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text(encoding="utf-8")
    assert f"any language: {len(CASES)}\nsmall rankings" in page
    assert f"the exact value of {len(conformance_values.MEASURES)} measures" in page
    assert f'"version": "{conformance_values.VERSION}"' in page


def test_the_reader_returns_the_lists():
    for case, given in zip(CASES, lists(), strict=True):
        assert (case.id, case.about, case.tags) == (given.name, given.about, given.tags)
        assert case.qrels == {case.id: given.judgments}
        assert [(d, s, type(s)) for d, s in case.run[case.id].items()] == [(d, s, type(s)) for d, s in given.run]
        assert str(list(case.run[case.id].values())) == str([score for _, score in given.run])  # 0.0 is not -0.0


def test_every_case_has_every_measure_that_is_defined_for_it():
    for case in CASES:
        whole = all(isinstance(label, int) for label in case.qrels[case.id].values())
        assert set(conformance_values.MEASURES) - set(case.values) == (set() if whole else {"ERR@3", "nERR@3"})


def test_values_are_consistent():
    for case in CASES:
        for measure, exact in case.values.items():
            assert exact.minimum <= exact.average <= exact.maximum
            assert {exact.optimistic, exact.pessimistic} == {exact.minimum, exact.maximum}
            assert all(exact.minimum <= getattr(exact, rule) <= exact.maximum for rule in RULES)
            assert (exact.variance == 0) == (exact.minimum == exact.maximum), (case.id, measure)


def test_values_by_hand():
    """Two documents tie, the second relevant: RR is 1 or 1/2, each in one of two orders."""
    exact = CASES[0].values["RR"]
    assert exact.average == Fraction(3, 4)
    assert exact.variance == Fraction(1, 16)
    assert (exact.run_order, exact.trec_eval, exact.docid_ascending) == (Fraction(1, 2), 1, Fraction(1, 2))
    # 1 / log2(3), and the mean of it and 1.
    text = conformance_values.values_of(lists()[0], "nDCG")
    assert text[0] == "0.815464876785728718549763557171"
    assert text[1] == "0.630929753571457437099527114343"


@pytest.mark.parametrize("tags", ["cut-off", ["zeros", "infinities"]])
def test_cases_are_chosen_by_tag(tags):
    chosen = conformance.cases(tags)
    assert 0 < len(chosen) < len(CASES)
    assert list(chosen) == [case for case in CASES if {*case.tags} & {*([tags] if isinstance(tags, str) else tags)}]


def test_callers_may_change_what_they_get():
    conformance.cases()[0].run["all-tied-1-of-2-last"].clear()
    assert conformance.cases()[0] == CASES[0]

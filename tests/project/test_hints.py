"""Errors for calls that new users try: each says what to type."""

import copy
import inspect
import pickle
import re

import numpy as np
import pytest

import tieaware
from tieaware import InputError, Qrels, Run, nDCG, samples, statistics
from tieaware.output.tables import Table

QRELS = {"q": {"d": 1}, "p": {"d": 1}}
RUN = {"q": {"d": 1.0, "e": 0.5}, "p": {"d": 1.0, "e": 1.0}}
SEVERAL = tieaware.evaluate(QRELS, {"a": RUN, "b": RUN}, "AP nDCG@10", spread=True)
ONE = tieaware.evaluate(QRELS, RUN, "AP RR")
READ = Run.from_dict(RUN)

HINTS = [
    (lambda: SEVERAL["AP_std"], KeyError, "write result.means()['a', 'AP_std'], or result.std for all queries"),
    (lambda: SEVERAL["b", "map_min"], KeyError, "write result.means()['b', 'AP_min'], or result.min for all queries"),
    (lambda: ONE["AP_std"], KeyError, "'AP_std' is a column of tables; evaluate with spread=True"),
    (lambda: SEVERAL.means()["a"], KeyError, "'a' is a row; write table['a', 'AP']"),
    (lambda: ONE["bm25", "AP"], KeyError, "pass {'bm25': run} to name it"),
    (lambda: SEVERAL.mean("AP"), TypeError, "or result.means()['a', 'AP'] for one of them"),
    (lambda: np.mean(ONE), TypeError, "write result.mean() for every run and measure"),
    (lambda: SEVERAL.means().AP, AttributeError, "write table['AP']"),
    (lambda: SEVERAL.means().sort("AP"), AttributeError, "write result.means(sort=measure)"),
    (lambda: Run(READ), TypeError, "the argument is already a run: use it as it is"),
    (lambda: Run(RUN), TypeError, "Run(): wrong arguments; write Run.from_dict({query: {document: score}})"),
    (lambda: Run("a.run"), TypeError, "write tieaware.read_run(path)"),
    (lambda: Qrels(QRELS), TypeError, "write Qrels.from_dict({query: {document: label}})"),
    (lambda: nDCG(10), TypeError, "write nDCG @ 10 for a cut-off"),
    (lambda: tieaware.AP("binary"), TypeError, "write AP(rel=..."),
    (lambda: statistics.paired_test(SEVERAL["a"], SEVERAL["b"]), InputError, "not Results; write result['a', 'AP']"),
    (lambda: statistics.all_pairs(SEVERAL), InputError, "must be numbers, not Results; write result['a', 'AP'] for"),
    (lambda: statistics.count_ties(READ), InputError, "write count_ties(run.scores, run.offsets)"),
    (lambda: statistics.count_ties(RUN), InputError, "write run = Run.from_dict(run) and count_ties(run.scores,"),
    (lambda: tieaware.worst_case(QRELS, RUN, "AP"), InputError, "write worst_case('AP', rho)"),
    (lambda: tieaware.evaluate(QRELS, RUN, "AP rel=2"), InputError, "write AP(rel=2)"),
    (lambda: samples.load("dl19"), FileNotFoundError, "load() reads the sample"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "hint"), HINTS, ids=[hint for *_, hint in HINTS])
def test_the_message_says_what_to_type(call, error, hint):
    with pytest.raises(error, match=re.escape(hint)):
        call()


def test_measures_in_place_of_precisions_are_noticed():
    experiments = pytest.importorskip("tieaware.experiments")
    for measures in ("AP", ["AP", "RR"]):
        hint = f"{measures!r} are measures; write precision(qrels, runs, 'bfloat16', {measures!r})"
        with pytest.raises(InputError, match=re.escape(hint)):
            experiments.precision(QRELS, RUN, measures)
    with pytest.raises(AttributeError, match=r"write experiments\.curves\(qrels, runs\)"):
        _ = experiments.curve


def test_hints_change_neither_signatures_nor_errors_from_within():
    assert list(inspect.signature(Run).parameters) == ["queries", "offsets", "documents", "scores", "name"]
    assert list(inspect.signature(nDCG).parameters) == ["cutoff", "parameters"]
    assert list(inspect.signature(ONE.mean).parameters) == ["weights"]
    with pytest.raises(InputError):
        nDCG(cutoff="ten")


def test_tables_are_copied_and_pickled():
    """Their look-up of missing attributes works before a copy has fields."""
    table = Table("Runs", ("run", "AP"), [("bm25", 0.25)])
    assert copy.copy(table).rows == copy.deepcopy(table).rows == pickle.loads(pickle.dumps(table)).rows == table.rows


def test_notebooks_complete_keys():
    assert SEVERAL._ipython_key_completions_() == ["a", "b"]
    assert ONE._ipython_key_completions_() == ["run", "AP", "RR"]
    assert ONE.means()._ipython_key_completions_() == ["run", "AP", "RR"]
